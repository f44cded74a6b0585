//! A person's own notification settings: `/api/v1/me/notices`, `/api/v1/me/contacts`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{CodeBody, NoticesBody, NoticesView};
use gateway::Gateway;
use gateway::auth::Denied;
use kernel::audit::Digest;
use kernel::directory::{Contact, Human, Means};
use kernel::{Actor, DirectoryCommand, Refusal};
use notify::people::contact_methods::{ContactMethods, digest_cadence};
use notify::people::verification_codes::{CodeSent, VerificationCodes};
use store::CodeTried;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::Shared;
use crate::http::api::json;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(notices, save_notices))
        .routes(routes!(add_contact))
        .routes(routes!(remove_contact))
        .routes(routes!(send_code))
        .routes(routes!(verify))
}

/// Read how I am told that something waits for me.
#[utoipa::path(
    get,
    path = "/api/v1/me/notices",
    operation_id = "getNotices",
    tag = "people",
    responses((status = 200, description = "As it is", body = NoticesView)),
    security(("human_token" = [])),
)]
async fn notices(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    State(contacts): State<ContactMethods>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, me) = me(&gateway, &callers, &headers).await?;
    notification_settings(&gateway, &contacts, &me)
}

/// Say how I want to be told.
///
/// By which means first, by which not at all, and how often of what can wait (`low`): `off` for each at
/// once, `hour`, or `day` at a time of day in my time zone. What is left out stays as it is.
#[utoipa::path(
    put,
    path = "/api/v1/me/notices",
    operation_id = "putNotices",
    tag = "people",
    request_body(
        content = NoticesBody,
        example = json!({ "order": ["devices"], "digest": { "every": "day", "at": "08:30" } }),
    ),
    responses((status = 200, description = "As it is now", body = NoticesView)),
    security(("human_token" = [])),
)]
async fn save_notices(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    State(contacts): State<ContactMethods>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (actor, me) = me(&gateway, &callers, &headers).await?;
    let body: NoticesBody = json(&config, body).await?;
    gateway.run(actor, DirectoryCommand::SaveNotices(body.of(me.id.clone()))).await?;
    notification_settings(&gateway, &contacts, &me)
}

/// Add an address of mine.
///
/// Nothing goes there before I have shown that it is mine, with a code.
#[utoipa::path(
    post,
    path = "/api/v1/me/contacts",
    operation_id = "addContact",
    tag = "people",
    request_body(
        content = Contact,
        example = json!({ "via": "email", "address": "ada@example.com" }),
    ),
    responses(
        (status = 201, description = "Added", body = NoticesView),
        (status = 409, description = "`exists`: it is there already"),
    ),
    security(("human_token" = [])),
)]
async fn add_contact(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    State(contacts): State<ContactMethods>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (actor, me) = me(&gateway, &callers, &headers).await?;
    let new: Contact = json(&config, body).await?;
    gateway.run(actor, DirectoryCommand::AddContact(me.id.clone(), new)).await?;
    Ok((StatusCode::CREATED, notification_settings(&gateway, &contacts, &me)?).into_response())
}

/// Remove an address of mine; nothing goes there any more.
#[utoipa::path(
    delete,
    path = "/api/v1/me/contacts/{id}",
    operation_id = "removeContact",
    tag = "people",
    params(("id" = Digest, Path, description = "The address")),
    responses((status = 204, description = "It is gone")),
    security(("human_token" = [])),
)]
async fn remove_contact(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (actor, me) = me(&gateway, &callers, &headers).await?;
    let gone = own(&me, &id)?;
    gateway.run(actor, DirectoryCommand::RemoveContact(me.id, gone)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Have a code sent to an address of mine.
///
/// It has six digits, counts once and for ten minutes, and takes the place of any that was sent before.
#[utoipa::path(
    post,
    path = "/api/v1/me/contacts/{id}/code",
    operation_id = "sendCode",
    tag = "people",
    params(("id" = Digest, Path, description = "The address")),
    responses(
        (status = 204, description = "It is on its way"),
        (status = 403, description = "`not-allowed`: this server sends nothing to such an address"),
        (status = 503, description = "`unavailable`: whoever carries it did not take it"),
    ),
    security(("human_token" = [])),
)]
async fn send_code(
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    State(codes): State<VerificationCodes>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, me) = me(&gateway, &callers, &headers).await?;
    let to = own(&me, &id)?;
    match codes.send(&me, &to).await? {
        CodeSent::Sent => Ok(StatusCode::NO_CONTENT.into_response()),
        CodeSent::NoChannel => {
            let why = "this server sends nothing to such an address";
            Err(Refusal::NotAllowed { why }.into())
        }
        CodeSent::Wait(wait) => Err(Denied::TooFast(wait).into()),
        CodeSent::Failed => Err(Problem::new(503, "unavailable")
            .detail("the code could not be sent; try again later, or another address")),
    }
}

/// Show that an address is mine, with the code that was sent there.
#[utoipa::path(
    post,
    path = "/api/v1/me/contacts/{id}/verify",
    operation_id = "verifyContact",
    tag = "people",
    params(("id" = Digest, Path, description = "The address")),
    request_body(content = CodeBody, example = json!({ "code": "042137" })),
    responses(
        (status = 200, description = "It is mine", body = NoticesView),
        (
            status = 422,
            description = "`invalid-field`: another code was sent, or none counts any more; after \
                five tries none does",
        ),
    ),
    security(("human_token" = [])),
)]
async fn verify(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    State(contacts): State<ContactMethods>,
    State(codes): State<VerificationCodes>,
    Named(id): Named<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (Parts { headers, .. }, body) = request.into_parts();
    let (actor, me) = me(&gateway, &callers, &headers).await?;
    let body: CodeBody = json(&config, body).await?;
    let of = own(&me, &id)?;
    let expected = match codes.enter(&actor, &me, &of, &body.code).await? {
        CodeTried::Right => return notification_settings(&gateway, &contacts, &me),
        CodeTried::Wrong { left: 0 } | CodeTried::Gone => {
            "a code that counts; none does any more, so have another sent"
        }
        CodeTried::Wrong { .. } => "the code that was sent last",
    };
    Err(Problem::new(422, "invalid-field")
        .detail(format!("code: expected {expected}"))
        .field("code", expected))
}

/// The contact method with this id, if it is an address of this person.
fn own(me: &Human, id: &str) -> Result<Means, Refusal> {
    let mark: Option<Digest> = id.parse().ok();
    let known = me.profile.value().map(kernel::directory::Profile::means).unwrap_or_default();
    let mut own = known.into_iter().filter(|means| *means != Means::Devices);
    own.find(|means| Some(means.mark()) == mark).ok_or(Refusal::NotFound { what: "contact" })
}

/// The calling person, and their entry in the directory.
async fn me(
    gateway: &Gateway,
    callers: &Callers,
    headers: &HeaderMap,
) -> Result<(Actor, Human), Problem> {
    let actor = callers.person(headers).await?;
    let Actor::Human { id, .. } = &actor else { return Err(Denied::Unknown.into()) };
    let me = gateway.directory().human(id).cloned().ok_or(Denied::Unknown)?;
    Ok((actor, me))
}

/// A person's current notification settings.
fn notification_settings(
    gateway: &Gateway,
    contacts: &ContactMethods,
    me: &Human,
) -> Result<Response, Problem> {
    let directory = gateway.directory();
    let me = directory.human(&me.id).ok_or(Denied::Unknown)?;
    let view = NoticesView { ways: contacts.list(me), digest: digest_cadence(me) };
    Ok(Json(view).into_response())
}
