//! The person's devices for push notifications: `/settings/devices`.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::response::Response;
use channels::push::{InvalidSubscription, PushSubscription};
use channels::{ChannelRegistry, DeliveryError};
use gateway::Gateway;
use kernel::audit::Digest;
use kernel::quota::MOST_DEVICES;
use notify::devices::{AddDeviceResult, DeviceRegistry};
use store::Device;
use views::SubmittedForm;
use views::answer_form::problem::{FormProblems, ProblemLocation};
use views::settings::SettingsPage;
use views::settings::devices::{DeviceRow, page};
use views::site::paths;
use views::t;

use super::{PageError, SettingsQuery, framed, saved};
use crate::http::pages::visitor::Visitors;
use crate::http::pages::{PageResult, Visitor};

pub(super) async fn show(
    State(gateway): State<Gateway>,
    State(channels): State<Arc<ChannelRegistry>>,
    State(devices): State<DeviceRegistry>,
    Query(asked): Query<SettingsQuery>,
    visitor: Visitor,
) -> PageResult {
    devices_page(&gateway, &channels, &devices, &visitor, asked.done(), FormProblems::default())
        .await
}

/// Adds this device, removes one, or sends a test to all of them.
pub(super) async fn change(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(channels): State<Arc<ChannelRegistry>>,
    State(devices): State<DeviceRegistry>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::DEVICES).await?;
    if let Some(id) = form.value("remove") {
        let devices = devices.devices_of(&visitor.human.id).await?;
        let name = id.parse::<Digest>().ok();
        let own = name.filter(|name| devices.iter().any(|(device, _)| device.name == *name));
        // A device that was already removed, or is not theirs, changes nothing: the list is shown
        // again.
        if let Some(name) = own {
            gateway.store().forget_device(name).await?;
        }
        return Ok(saved(paths::DEVICES));
    }
    if form.value("test").is_some() {
        return try_devices(&gateway, &channels, &devices, &visitor).await;
    }
    match enrol(&gateway, &channels, &devices, &visitor, &form).await? {
        Ok(()) => Ok(saved(paths::DEVICES)),
        Err(problem) => devices_page(&gateway, &channels, &devices, &visitor, None, problem).await,
    }
}

fn problem(message: &str) -> FormProblems {
    let mut problem = FormProblems::default();
    problem.add(ProblemLocation::Page, None, message);
    problem
}

/// Subscribes the visitor's browser to push notifications.
async fn enrol(
    gateway: &Gateway,
    channels: &ChannelRegistry,
    devices: &DeviceRegistry,
    visitor: &Visitor,
    form: &SubmittedForm,
) -> Result<Result<(), FormProblems>, PageError> {
    let Some(push) = &channels.push else {
        return Ok(Err(problem(&t!("settings-notifications-no-push"))));
    };
    let text = |name| form.value(name).unwrap_or_default().to_owned();
    let directory = gateway.directory();
    let label = directory.key(visitor.session).map(|key| key.label.clone());
    let address = PushSubscription {
        endpoint: text("endpoint"),
        p256dh: text("p256dh"),
        auth: text("auth"),
        label: label.unwrap_or_default(),
    };
    // A browser has one subscription, so the previous one is useless.
    for (device, _) in devices.devices_of(&visitor.human.id).await? {
        if device.key == Some(visitor.session) {
            gateway.store().forget_device(device.name).await?;
        }
    }
    let key = Some(visitor.session);
    Ok(match devices.add(push, &visitor.human.id, key, address).await? {
        AddDeviceResult::Kept(_) => Ok(()),
        AddDeviceResult::Wrong(InvalidSubscription { field, expected }) => {
            Err(problem(&t!("settings-device-invalid", field = field, expected = expected)))
        }
        AddDeviceResult::Full => Err(problem(&t!("settings-devices-full", count = MOST_DEVICES))),
    })
}

/// Sends a test to each device, and reports the results.
async fn try_devices(
    gateway: &Gateway,
    channels: &ChannelRegistry,
    devices: &DeviceRegistry,
    visitor: &Visitor,
) -> PageResult {
    let (mut taken, mut failed) = (0_u32, FormProblems::default());
    if let Some(push) = &channels.push {
        for (device, address) in devices.devices_of(&visitor.human.id).await? {
            let error = match devices.test(push, device.name).await? {
                Ok(()) => {
                    taken += 1;
                    continue;
                }
                Err(DeliveryError::Gone { .. }) => {
                    t!("settings-device-test-gone", device = address.label)
                }
                Err(DeliveryError::Later { .. }) => {
                    t!("settings-device-test-later", device = address.label)
                }
                Err(DeliveryError::Never { .. }) => {
                    t!("settings-device-test-never", device = address.label)
                }
            };
            failed.add(ProblemLocation::Page, None, error);
        }
    }
    let done = (taken > 0).then(|| t!("settings-devices-tested", count = taken));
    devices_page(gateway, channels, devices, visitor, done, failed).await
}

async fn devices_page(
    gateway: &Gateway,
    channels: &ChannelRegistry,
    devices: &DeviceRegistry,
    visitor: &Visitor,
    done: Option<String>,
    problems: FormProblems,
) -> Result<Response, PageError> {
    let devices = devices.devices_of(&visitor.human.id).await?;
    let key = channels.push.as_ref().map(|push| push.key());
    let view = |(device, address): &(Device, PushSubscription)| DeviceRow {
        name: device.name.to_string(),
        label: address.label.clone(),
        service: address.service(),
        added_at: device.made_at,
        this: device.key == Some(visitor.session),
    };
    let devices: Vec<_> = devices.iter().map(view).collect();
    let shown = page(&devices, key, gateway.now());
    Ok(framed(visitor, &SettingsPage { done, problems, ..shown }))
}
