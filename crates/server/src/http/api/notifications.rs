//! A person's own notification settings: `/api/v1/me/notices`, `/api/v1/me/contacts`.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
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

use crate::http::Shared;
use crate::http::api::extract::{JsonBody, Person};
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
    responses((status = 200, description = "As it is", body = NoticesView)),
)]
async fn notices(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    Myself { me, .. }: Myself,
) -> Result<Response, Problem> {
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
    request_body(
        content = NoticesBody,
        example = json!({ "order": ["devices"], "digest": { "every": "day", "at": "08:30" } }),
    ),
    responses((status = 200, description = "As it is now", body = NoticesView)),
)]
async fn save_notices(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    Myself { actor, me }: Myself,
    JsonBody(body): JsonBody<NoticesBody>,
) -> Result<Response, Problem> {
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
    request_body(
        content = Contact,
        example = json!({ "via": "email", "address": "ada@example.com" }),
    ),
    responses(
        (status = 201, description = "Added", body = NoticesView),
        (status = 409, description = "`exists`: it is there already"),
    ),
)]
async fn add_contact(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    Myself { actor, me }: Myself,
    JsonBody(new): JsonBody<Contact>,
) -> Result<Response, Problem> {
    gateway.run(actor, DirectoryCommand::AddContact(me.id.clone(), new)).await?;
    Ok((StatusCode::CREATED, notification_settings(&gateway, &contacts, &me)?).into_response())
}

/// Remove an address of mine; nothing goes there any more.
#[utoipa::path(
    delete,
    path = "/api/v1/me/contacts/{id}",
    operation_id = "removeContact",
    responses((status = 204, description = "It is gone")),
)]
async fn remove_contact(
    State(gateway): State<Gateway>,
    Named(id): Named<String>,
    Myself { actor, me }: Myself,
) -> Result<Response, Problem> {
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
    responses(
        (status = 204, description = "It is on its way"),
        (status = 403, description = "`not-allowed`: this server sends nothing to such an address"),
        (status = 503, description = "`unavailable`: whoever carries it did not take it"),
    ),
)]
async fn send_code(
    State(codes): State<VerificationCodes>,
    Named(id): Named<String>,
    Myself { me, .. }: Myself,
) -> Result<Response, Problem> {
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
    request_body(content = CodeBody, example = json!({ "code": "042137" })),
    responses(
        (status = 200, description = "It is mine", body = NoticesView),
        (
            status = 422,
            description = "`invalid-field`: another code was sent, or none counts any more; after \
                five tries none does",
        ),
    ),
)]
async fn verify(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    State(codes): State<VerificationCodes>,
    Named(id): Named<String>,
    Myself { actor, me }: Myself,
    JsonBody(body): JsonBody<CodeBody>,
) -> Result<Response, Problem> {
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
struct Myself {
    actor: Actor,
    me: Human,
}

impl FromRequestParts<Shared> for Myself {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let Person { id, actor } = Person::from_request_parts(parts, shared).await?;
        let me = shared.core.gateway.directory().human(&id).cloned().ok_or(Denied::Unknown)?;
        Ok(Self { actor, me })
    }
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
