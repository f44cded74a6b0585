//! Where I am told that something waits: `/settings/devices`.

use ::channels::DeliveryError;
use ::channels::push::{InvalidSubscription, PushSubscription};
use axum::extract::{Query, Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use kernel::audit::Digest;
use notify::devices::{Added, FULL};
use store::Device;

use super::super::{Page, Visitor};
use super::{Asked, Instead, framed, saved};
use crate::http::{App, Shared};
use views::Submitted;
use views::answer_form::problem::{FormProblem, Place};
use views::settings::SettingsPage;
use views::settings::devices::{DeviceView, page};
use views::site::paths;

pub(super) async fn show(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    app.devices_page(&visitor, asked.done(), FormProblem::default()).await
}

/// Adds this device, removes one, or tries all of them.
pub(super) async fn change(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, form) = app.acting(from, paths::DEVICES).await?;
    if let Some(id) = form.value("remove") {
        let devices = app.notifier.devices.of(&visitor.human.id).await?;
        let name = id.parse::<Digest>().ok();
        let own = name.filter(|name| devices.iter().any(|(device, _)| device.name == *name));
        // Removed already, or none of theirs: the list shows what there is.
        if let Some(name) = own {
            app.gateway.store().forget_device(name).await?;
        }
        return Ok(saved(paths::DEVICES));
    }
    if form.value("test").is_some() {
        return app.try_devices(&visitor).await;
    }
    match app.enrol(&visitor, &form).await? {
        Ok(()) => Ok(saved(paths::DEVICES)),
        Err(problem) => app.devices_page(&visitor, None, problem).await,
    }
}

fn problem(message: &str) -> FormProblem {
    let mut problem = FormProblem::default();
    problem.add(Place::Page, None, message);
    problem
}

impl App {
    /// Has the browser of this visit told.
    async fn enrol(
        &self,
        visitor: &Visitor,
        form: &Submitted,
    ) -> Result<Result<(), FormProblem>, Instead> {
        let Some(push) = &self.notifier.channels.push else {
            return Ok(Err(problem("This server tells no devices.")));
        };
        let text = |name| form.value(name).unwrap_or_default().to_owned();
        let directory = self.gateway.directory();
        let label = directory.key(visitor.session).map(|key| key.label.clone());
        let address = PushSubscription {
            endpoint: text("endpoint"),
            p256dh: text("p256dh"),
            auth: text("auth"),
            label: label.unwrap_or_default(),
        };
        // A browser has one: what it had before is of no use.
        for (device, _) in self.notifier.devices.of(&visitor.human.id).await? {
            if device.key == Some(visitor.session) {
                self.gateway.store().forget_device(device.name).await?;
            }
        }
        let key = Some(visitor.session);
        Ok(match self.notifier.devices.add(push, &visitor.human.id, key, address).await? {
            Added::Kept(_) => Ok(()),
            Added::Wrong(InvalidSubscription { field, expected }) => Err(problem(&format!(
                "This browser\u{2019}s push service cannot be used: {field} should be {expected}."
            ))),
            Added::Full => Err(problem(&format!("Not added: {FULL}."))),
        })
    }

    /// Sends a test to each, and says what came of it.
    async fn try_devices(&self, visitor: &Visitor) -> Page {
        let (mut taken, mut failed) = (0, FormProblem::default());
        if let Some(push) = &self.notifier.channels.push {
            for (device, address) in self.notifier.devices.of(&visitor.human.id).await? {
                let error = match self.notifier.devices.test(push, device.name).await? {
                    Ok(()) => {
                        taken += 1;
                        continue;
                    }
                    Err(DeliveryError::Gone { .. }) => {
                        "it is not there any more and is told nothing from now on"
                    }
                    Err(DeliveryError::Later { .. }) => {
                        "its push service does not take it now; try again later"
                    }
                    Err(DeliveryError::Never { .. }) => {
                        "its push service refuses it; turn notices on anew there"
                    }
                };
                failed.add(Place::Page, None, format!("{}: {error}.", address.label));
            }
        }
        let done = match taken {
            0 => None,
            1 => Some("Sent to one device; it shows in a moment".to_owned()),
            n => Some(format!("Sent to {n} devices; it shows in a moment")),
        };
        self.devices_page(visitor, done, failed).await
    }

    async fn devices_page(
        &self,
        visitor: &Visitor,
        done: Option<String>,
        problems: FormProblem,
    ) -> Result<Response, Instead> {
        let devices = self.notifier.devices.of(&visitor.human.id).await?;
        let key = self.notifier.channels.push.as_ref().map(|push| push.key());
        let view = |(device, address): &(Device, PushSubscription)| DeviceView {
            name: device.name.to_string(),
            label: address.label.clone(),
            service: address.service(),
            added_at: device.made_at,
            this: device.key == Some(visitor.session),
        };
        let devices: Vec<_> = devices.iter().map(view).collect();
        let shown = page(&devices, key, self.gateway.now());
        Ok(framed(visitor, &SettingsPage { done, problems, ..shown }))
    }
}
