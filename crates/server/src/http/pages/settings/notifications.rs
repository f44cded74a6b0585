//! Notification settings: `/settings/notices`.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::response::Response;
use channels::ChannelRegistry;
use gateway::Gateway;
use kernel::DirectoryCommand;
use kernel::audit::Digest;
use kernel::directory::{Contact, ContactMethod, NewNotificationPreferences};
use notify::devices::DeviceRegistry;
use notify::people::contact_methods::{ContactMethods, digest_cadence};
use notify::people::verification_codes::{CodeSent, VerificationCodes};
use store::CodeCheck;
use views::SubmittedForm;
use views::answer_form::problem::{FormProblems, ProblemLocation};
use views::components::wording::VisibleText;
use views::settings::SettingsPage;
use views::settings::controls::FormDraft;
use views::settings::notifications::{
    NotificationsPage, code_field, contact_method_name, label, page, read,
};
use views::site::paths;
use views::t;

use super::{PageError, SettingsQuery, empty_form, framed, saved};
use crate::http::pages::settings::run_form_command;
use crate::http::pages::visitor::Visitors;
use crate::http::pages::{PageResult, Visitor};

pub(super) async fn show(
    State(channels): State<Arc<ChannelRegistry>>,
    State(devices): State<DeviceRegistry>,
    State(contacts): State<ContactMethods>,
    Query(asked): Query<SettingsQuery>,
    visitor: Visitor,
) -> PageResult {
    notices_page(&channels, &devices, &contacts, &visitor, asked.done(), empty_form()).await
}

/// Moves a contact method up or down, turns it off or on, adds or removes an address, sends a code
/// or checks one, or sets the cadence of the digest.
pub(super) async fn change(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(channels): State<Arc<ChannelRegistry>>,
    State(devices): State<DeviceRegistry>,
    State(contacts): State<ContactMethods>,
    State(codes): State<VerificationCodes>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::NOTIFICATION_SETTINGS).await?;
    let me = visitor.human.id.clone();
    if let Some(id) = form.value("verify") {
        return verify_page(&channels, &devices, &contacts, &codes, &visitor, &form, id).await;
    }
    let command = if let Some(moved) = reordered(&contacts, &visitor, &form) {
        DirectoryCommand::SaveNotices(moved)
    } else if let Some(id) = form.value("remove") {
        // An address that was already removed, or is not theirs, changes nothing: the list is shown
        // again.
        let Some(gone) = contact_method(&contacts, &visitor, id) else {
            return Ok(saved(paths::NOTIFICATION_SETTINGS));
        };
        DirectoryCommand::RemoveContact(me, gone)
    } else if let Some(address) = form.value("contacts") {
        let via = form.value("via").unwrap_or("email");
        let Some(contact) = Contact::of_kind(via, address.trim()) else {
            let place = ProblemLocation::Field("via".to_owned());
            let problems = FormProblems::one(place, t!("settings-option-expected"));
            return wrong_notices(&channels, &devices, &contacts, &visitor, &form, problems).await;
        };
        DirectoryCommand::AddContact(me, contact)
    } else {
        match read(&form) {
            Ok(digest) => {
                let (order, off) = (None, None);
                DirectoryCommand::SaveNotices(NewNotificationPreferences {
                    human: me,
                    order,
                    off,
                    digest: Some(digest),
                })
            }
            Err(problems) => {
                return wrong_notices(&channels, &devices, &contacts, &visitor, &form, problems)
                    .await;
            }
        }
    };
    match run_form_command(&gateway, &visitor, Ok(command), label).await? {
        Ok(()) => Ok(saved(paths::NOTIFICATION_SETTINGS)),
        Err(problems) => {
            wrong_notices(&channels, &devices, &contacts, &visitor, &form, problems).await
        }
    }
}

/// A contact method of the visitor, by its id.
fn contact_method(contacts: &ContactMethods, visitor: &Visitor, id: &str) -> Option<ContactMethod> {
    let mark: Digest = id.parse().ok()?;
    let ways = contacts.list(&visitor.human);
    ways.into_iter().find(|way| way.id == mark).map(|way| way.means)
}

/// The order and the disabled contact methods after the pressed button.
fn reordered(
    contacts: &ContactMethods,
    visitor: &Visitor,
    form: &SubmittedForm,
) -> Option<NewNotificationPreferences> {
    let pressed =
        ["up", "down", "off", "on"].into_iter().find(|name| form.value(name).is_some())?;
    let ways = contacts.list(&visitor.human);
    let mut order: Vec<ContactMethod> = ways.iter().map(|way| way.means.clone()).collect();
    let mut off: std::collections::BTreeSet<ContactMethod> =
        ways.iter().filter(|way| way.off).map(|way| way.means.clone()).collect();
    let place = ways.iter().position(|way| form.value(pressed) == Some(&way.id.to_string()));
    // A contact method that was removed meanwhile is not moved.
    if let Some((place, means)) = place.zip(place.and_then(|place| order.get(place).cloned())) {
        match pressed {
            "up" if place > 0 => order.swap(place, place - 1),
            "down" if place + 1 < order.len() => order.swap(place, place + 1),
            "off" => drop(off.insert(means)),
            "on" => drop(off.remove(&means)),
            _ => {}
        }
    }
    let (order, off) = (Some(order), Some(off));
    Some(NewNotificationPreferences { human: visitor.human.id.clone(), order, off, digest: None })
}

/// Sends a code, or checks the code that the person entered.
async fn verify_page(
    channels: &ChannelRegistry,
    devices: &DeviceRegistry,
    contacts: &ContactMethods,
    codes: &VerificationCodes,
    visitor: &Visitor,
    form: &SubmittedForm,
    id: &str,
) -> PageResult {
    let Some(means) = contact_method(contacts, visitor, id) else {
        return Ok(saved(paths::NOTIFICATION_SETTINGS));
    };
    let field = code_field(&means.digest());
    let message = if form.value("send").is_some() {
        match codes.send(&visitor.human, &means).await? {
            CodeSent::Sent => {
                let done = Some(t!("settings-code-sent", contact = contact_method_name(&means)));
                return notices_page(channels, devices, contacts, visitor, done, empty_form())
                    .await;
            }
            CodeSent::NoChannel => t!("settings-code-no-channel"),
            CodeSent::Wait(_) => t!("settings-code-too-many"),
            CodeSent::Failed => t!("settings-code-failed"),
        }
    } else {
        let code = form.value(&field).unwrap_or_default();
        match codes.check_code(&visitor.actor, &visitor.human, &means, code).await? {
            CodeCheck::Right => return Ok(saved(paths::NOTIFICATION_SETTINGS)),
            CodeCheck::Wrong { left: 1.. } => t!("settings-code-wrong"),
            CodeCheck::Wrong { left: 0 } | CodeCheck::Gone => {
                t!("settings-code-gone")
            }
        }
    };
    let mut problems = FormProblems::default();
    problems.add(
        ProblemLocation::Field(field),
        Some(VisibleText::of(&t!("settings-notifications-code"))),
        message,
    );
    wrong_notices(channels, devices, contacts, visitor, form, problems).await
}

async fn wrong_notices(
    channels: &ChannelRegistry,
    devices: &DeviceRegistry,
    contacts: &ContactMethods,
    visitor: &Visitor,
    form: &SubmittedForm,
    problems: FormProblems,
) -> PageResult {
    let filled = FormDraft { form: Some(form), problems: &problems };
    notices_page(channels, devices, contacts, visitor, None, filled).await
}

async fn notices_page(
    channels: &ChannelRegistry,
    devices: &DeviceRegistry,
    contacts: &ContactMethods,
    visitor: &Visitor,
    done: Option<String>,
    filled: FormDraft<'_>,
) -> Result<Response, PageError> {
    let me = &visitor.human;
    let kinds: Vec<&str> = channels.addressable().map(|channel| channel.name()).collect();
    let told = NotificationsPage {
        ways: &contacts.list(me),
        digest: digest_cadence(me),
        devices: devices.devices_of(&me.id).await?.len(),
        kinds: &kinds,
    };
    let shown = page(&told, filled);
    let problems = filled.problems.clone();
    Ok(framed(visitor, &SettingsPage { done, problems, ..shown }))
}
