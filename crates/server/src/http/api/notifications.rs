//! A person's own notification settings: `/api/v1/me/notices`, `/api/v1/me/contacts`.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use dialects::native::{CodeBody, NotificationSettingsBody, NotificationSettingsView};
use gateway::Gateway;
use gateway::auth::Denied;
use kernel::audit::Digest;
use kernel::directory::{Contact, ContactMethod, Human};
use kernel::{Actor, DirectoryCommand, Refusal};
use notify::people::contact_methods::{ContactMethods, digest_cadence};
use notify::people::verification_codes::{CodeSent, VerificationCodes};
use store::CodeCheck;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{JsonBody, PersonCaller};
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(notices, save_notices))
        .routes(routes!(add_contact))
        .routes(routes!(remove_contact))
        .routes(routes!(send_code))
        .routes(routes!(verify))
}

/// Read the caller's notification settings.
#[utoipa::path(
    get,
    path = "/api/v1/me/notices",
    operation_id = "getNotices",
    responses((status = 200, description = "The object", body = NotificationSettingsView)),
)]
async fn notices(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    OwnAccount { me, .. }: OwnAccount,
) -> Result<Response, ApiProblem> {
    notification_settings(&gateway, &contacts, &me)
}

/// Change the caller's notification settings.
///
/// They set the order of contact methods, which of them are turned off, and the digest for requests
/// of priority `low`: `off` for immediate notifications, `hour`, or `day` at a time of day in the
/// caller's time zone. Fields that are left out do not change.
#[utoipa::path(
    put,
    path = "/api/v1/me/notices",
    operation_id = "putNotices",
    request_body(
        content = NotificationSettingsBody,
        example = json!({ "order": ["devices"], "digest": { "every": "day", "at": "08:30" } }),
    ),
    responses((status = 200, description = "The updated object", body = NotificationSettingsView)),
)]
async fn save_notices(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    OwnAccount { actor, me }: OwnAccount,
    JsonBody(body): JsonBody<NotificationSettingsBody>,
) -> Result<Response, ApiProblem> {
    gateway.run(actor, DirectoryCommand::SaveNotices(body.of(me.id.clone()))).await?;
    notification_settings(&gateway, &contacts, &me)
}

/// Add a contact method of the caller.
///
/// The server sends requests to it only after it is verified with a code.
#[utoipa::path(
    post,
    path = "/api/v1/me/contacts",
    operation_id = "addContact",
    request_body(
        content = Contact,
        example = json!({ "via": "email", "address": "ada@example.com" }),
    ),
    responses(
        (status = 201, description = "Added", body = NotificationSettingsView),
        (status = 409, description = "`exists`: the person already has this contact method"),
    ),
)]
async fn add_contact(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    OwnAccount { actor, me }: OwnAccount,
    JsonBody(new): JsonBody<Contact>,
) -> Result<Response, ApiProblem> {
    gateway.run(actor, DirectoryCommand::AddContact(me.id.clone(), new)).await?;
    Ok((StatusCode::CREATED, notification_settings(&gateway, &contacts, &me)?).into_response())
}

/// Remove a contact method of the caller.
#[utoipa::path(
    delete,
    path = "/api/v1/me/contacts/{id}",
    operation_id = "removeContact",
    responses((status = 204, description = "Removed")),
)]
async fn remove_contact(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    OwnAccount { actor, me }: OwnAccount,
) -> Result<Response, ApiProblem> {
    let gone = own_contact_method(&me, &id)?;
    gateway.run(actor, DirectoryCommand::RemoveContact(me.id, gone)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Send a verification code to a contact method of the caller.
///
/// The code has six digits, works once within ten minutes, and replaces earlier codes.
#[utoipa::path(
    post,
    path = "/api/v1/me/contacts/{id}/code",
    operation_id = "sendCode",
    responses(
        (status = 204, description = "The code was sent"),
        (status = 403, description = "`not-allowed`: this server does not support this kind of \
                                      contact method"),
        (status = 503, description = "`unavailable`: the channel did not accept the message"),
    ),
)]
async fn send_code(
    State(codes): State<VerificationCodes>,
    PathParam(id): PathParam<String>,
    OwnAccount { me, .. }: OwnAccount,
) -> Result<Response, ApiProblem> {
    let to = own_contact_method(&me, &id)?;
    match codes.send(&me, &to).await? {
        CodeSent::Sent => Ok(StatusCode::NO_CONTENT.into_response()),
        CodeSent::NoChannel => {
            let why = "this server does not support this kind of contact method";
            Err(Refusal::NotAllowed { why }.into())
        }
        CodeSent::Wait(wait) => Err(Denied::TooFast(wait).into()),
        CodeSent::Failed => Err(ApiProblem::new(503, "unavailable")
            .detail("the code could not be sent; try again later, or another address")),
    }
}

/// Verify a contact method of the caller with the code from the message.
#[utoipa::path(
    post,
    path = "/api/v1/me/contacts/{id}/verify",
    operation_id = "verifyContact",
    request_body(content = CodeBody, example = json!({ "code": "042137" })),
    responses(
        (status = 200, description = "Verified", body = NotificationSettingsView),
        (
            status = 422,
            description = "`invalid-field`: the code is wrong or expired; after five wrong codes, \
                           request a new one",
        ),
    ),
)]
async fn verify(
    State(gateway): State<Gateway>,
    State(contacts): State<ContactMethods>,
    State(codes): State<VerificationCodes>,
    PathParam(id): PathParam<String>,
    OwnAccount { actor, me }: OwnAccount,
    JsonBody(body): JsonBody<CodeBody>,
) -> Result<Response, ApiProblem> {
    let of = own_contact_method(&me, &id)?;
    let expected = match codes.check_code(&actor, &me, &of, &body.code).await? {
        CodeCheck::Right => return notification_settings(&gateway, &contacts, &me),
        CodeCheck::Wrong { left: 0 } | CodeCheck::Gone => {
            "a valid code; the code has expired, so request a new one"
        }
        CodeCheck::Wrong { .. } => "the code of the latest message",
    };
    Err(ApiProblem::new(422, "invalid-field")
        .detail(format!("code: expected {expected}"))
        .field("code", expected))
}

/// The contact method with this id, if it is an address of this person.
fn own_contact_method(me: &Human, id: &str) -> Result<ContactMethod, Refusal> {
    let mark: Option<Digest> = id.parse().ok();
    let known =
        me.profile.value().map(kernel::directory::Profile::contact_methods).unwrap_or_default();
    let mut own = known.into_iter().filter(|means| *means != ContactMethod::Devices);
    own.find(|means| Some(means.digest()) == mark).ok_or(Refusal::NotFound { what: "contact" })
}

/// The calling person, and their entry in the directory.
struct OwnAccount {
    actor: Actor,
    me: Human,
}

impl FromRequestParts<AppState> for OwnAccount {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        let PersonCaller { id, actor } = PersonCaller::from_request_parts(parts, shared).await?;
        let me = shared.core.gateway.directory().human(&id).cloned().ok_or(Denied::Unknown)?;
        Ok(Self { actor, me })
    }
}

/// A person's current notification settings.
fn notification_settings(
    gateway: &Gateway,
    contacts: &ContactMethods,
    me: &Human,
) -> Result<Response, ApiProblem> {
    let directory = gateway.directory();
    let me = directory.human(&me.id).ok_or(Denied::Unknown)?;
    let view = NotificationSettingsView { ways: contacts.list(me), digest: digest_cadence(me) };
    Ok(Json(view).into_response())
}
