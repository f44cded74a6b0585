//! A person's own devices for push notifications: `/api/v1/me/push`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use channels::push::{InvalidSubscription, PushSubscription, WebPush};
use channels::{ChannelRegistry, DeliveryError};
use dialects::native::{DeviceListView, DeviceTestResult, DeviceTestView, DeviceView, NewDevice};
use gateway::Gateway;
use kernel::audit::Digest;
use kernel::{HumanId, Refusal};
use notify::devices::{AddDeviceResult, TOO_MANY_DEVICES};
use store::Device;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{JsonBody, PersonCaller};
use crate::http::callers::Callers;
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(devices, add_device))
        .routes(routes!(remove_device))
        .routes(routes!(try_device))
}

/// List the caller's devices for push notifications.
#[utoipa::path(
    get,
    path = "/api/v1/me/push",
    operation_id = "listDevices",
    responses((status = 200, description = "The whole list", body = DeviceListView)),
)]
async fn devices(
    State(channels): State<Arc<ChannelRegistry>>,
    State(devices): State<notify::devices::DeviceRegistry>,
    PersonCaller { id: me, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let devices = devices.devices_of(&me).await?;
    let devices = devices.iter().map(|(device, address)| view(device, address)).collect();
    let key = channels.push.as_ref().map(|push| push.key().to_owned());
    Ok(Json(DeviceListView { key, devices }).into_response())
}

/// Add a device for push notifications.
///
/// The body is the JSON of a browser's `PushSubscription`. The device gets notifications while the
/// credential that added it is valid. Adding a device again replaces it, even if another person
/// added it before.
#[utoipa::path(
    post,
    path = "/api/v1/me/push",
    operation_id = "addDevice",
    request_body(
        content = NewDevice,
        example = json!({
            "endpoint": "https://push.example.net/send/aGVsbG8",
            "keys": {
                "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                "auth": "BTBZMqHH6r4Tts7J_aSIgg",
            },
            "label": "my phone",
        }),
    ),
    responses(
        (status = 201, description = "Added", body = DeviceView),
        (status = 403, description = "`not-allowed`: push notifications are turned off, or the \
                                      person already has ten devices"),
    ),
)]
async fn add_device(
    State(callers): State<Callers>,
    State(channels): State<Arc<ChannelRegistry>>,
    State(devices): State<notify::devices::DeviceRegistry>,
    headers: HeaderMap,
    PersonCaller { id: me, .. }: PersonCaller,
    JsonBody(new): JsonBody<NewDevice>,
) -> Result<Response, ApiProblem> {
    let push = pushing(&channels)?;
    let NewDevice { endpoint, keys, label, expiration_time: _ } = new;
    let address = PushSubscription { endpoint, p256dh: keys.p256dh, auth: keys.auth, label };
    let key = callers.key(&headers);
    match devices.add(push, &me, key, address.clone()).await? {
        AddDeviceResult::Kept(device) => {
            Ok((StatusCode::CREATED, Json(view(&device, &address))).into_response())
        }
        AddDeviceResult::Wrong(InvalidSubscription { field, expected }) => {
            Err(Refusal::Invalid { field, expected }.into())
        }
        AddDeviceResult::Full => Err(Refusal::NotAllowed { why: TOO_MANY_DEVICES }.into()),
    }
}

/// Remove a device of the caller.
#[utoipa::path(
    delete,
    path = "/api/v1/me/push/{id}",
    operation_id = "removeDevice",
    responses((status = 204, description = "Removed")),
)]
async fn remove_device(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    PersonCaller { id: me, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let device = own_device(&gateway, &me, &id).await?;
    gateway.store().forget_device(device).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Send a test notification to a device of the caller.
#[utoipa::path(
    post,
    path = "/api/v1/me/push/{id}/test",
    operation_id = "testDevice",
    responses((status = 200, description = "The response of the push \
                                            service", body = DeviceTestView)),
)]
async fn try_device(
    State(gateway): State<Gateway>,
    State(channels): State<Arc<ChannelRegistry>>,
    State(devices): State<notify::devices::DeviceRegistry>,
    PathParam(id): PathParam<String>,
    PersonCaller { id: me, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let device = own_device(&gateway, &me, &id).await?;
    let (result, error) = match devices.test(pushing(&channels)?, device).await? {
        Ok(()) => (DeviceTestResult::Taken, None),
        Err(DeliveryError::Gone { .. }) => (DeviceTestResult::Gone, None),
        Err(DeliveryError::Later { why, .. }) => (DeviceTestResult::Later, Some(why)),
        Err(DeliveryError::Never { why }) => (DeviceTestResult::Refused, Some(why)),
    };
    Ok(Json(DeviceTestView { result, error }).into_response())
}

fn view(device: &Device, address: &PushSubscription) -> DeviceView {
    DeviceView {
        id: device.name,
        label: address.label.clone(),
        service: address.service(),
        added_at: device.made_at,
    }
}

fn pushing(channels: &ChannelRegistry) -> Result<&WebPush, ApiProblem> {
    let why = "push notifications are turned off on this server; see the setting push";
    channels.push.as_deref().ok_or_else(|| Refusal::NotAllowed { why }.into())
}

async fn own_device(gateway: &Gateway, me: &HumanId, id: &str) -> Result<Digest, ApiProblem> {
    let name = id.parse::<Digest>().ok();
    let device = match name {
        Some(name) => gateway.store().device(name).await?,
        None => None,
    };
    let own = device.filter(|device| device.human == *me);
    Ok(own.ok_or(Refusal::NotFound { what: "device" })?.name)
}
