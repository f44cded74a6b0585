//! A person's contact methods, their order, and the frequency of the digest.

use dialects::native::ContactMethodView;
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, DigestFrequency};

use super::controls::FormDraft;
use super::{FormButton, FormView, RowAction, SettingsBlock, SettingsPage, SettingsRow};
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::wording::VisibleText;
use crate::request::channel_label;
use crate::site::paths;

/// The label of a field.
pub fn label(field: &str) -> Option<String> {
    Some(match field {
        "contacts" => t!("settings-notifications-address"),
        "via" => t!("settings-notifications-via"),
        "every" => t!("settings-notifications-digest"),
        "at" => t!("settings-notifications-digest-time"),
        _ => return None,
    })
}

fn labeled(field: &str) -> String {
    label(field).unwrap_or_default()
}

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct NotificationsPage<'a> {
    /// The person's contact methods.
    pub ways: &'a [ContactMethodView],
    /// How often the digest is sent.
    pub digest: DigestFrequency,
    /// How many devices have push notifications.
    pub devices: usize,
    /// The kinds of contact methods that this server supports: email, platforms.
    pub kinds: &'a [&'static str],
}

pub fn page(settings: &NotificationsPage<'_>, filled: FormDraft<'_>) -> SettingsPage {
    // The entered values belong only to the form that was submitted.
    let of = |field: &str| {
        let form = filled.form.filter(|form| form.value(field).is_some());
        FormDraft { form, ..filled }
    };
    let last = settings.ways.len().saturating_sub(1);
    let rows = settings.ways.iter().enumerate();
    let rows = rows.map(|(n, way)| row(settings, way, n == 0, n == last)).collect();
    let mut blocks = vec![SettingsBlock::Rows(rows)];
    let unproven = |way: &&ContactMethodView| !way.verified && way.carried;
    blocks.extend(
        settings
            .ways
            .iter()
            .filter(unproven)
            .map(|way| verification_form(way, of(&code_field(&way.id)))),
    );
    match settings.kinds {
        [] => blocks.push(SettingsBlock::Text(t!("settings-notifications-no-email"))),
        ["email"] => {
            let field = of("contacts").input("email", "contacts", &labeled("contacts"), "");
            let add = FormView::new(
                paths::NOTIFICATION_SETTINGS,
                vec![field.hint(t!("settings-notifications-code-hint"))],
                t!("settings-notifications-add"),
            );
            let add = add.titled(t!("settings-notifications-add-email-title"));
            blocks.push(SettingsBlock::Form(add));
        }
        kinds => blocks.push(SettingsBlock::Form(add(kinds, of("contacts")))),
    }
    blocks.push(SettingsBlock::Form(digest_form(settings.digest, of("every"))));
    blocks.push(SettingsBlock::Text(t!("settings-notifications-note")));
    let href = paths::PROFILE.to_owned();
    blocks.push(SettingsBlock::Link { href, label: t!("settings-notifications-quiet-hours") });
    SettingsPage {
        at: paths::NOTIFICATION_SETTINGS,
        title: t!("settings-notifications"),
        lead: t!("settings-notifications-lead"),
        blocks,
        ..SettingsPage::default()
    }
}

fn row(
    settings: &NotificationsPage<'_>,
    way: &ContactMethodView,
    first: bool,
    last: bool,
) -> SettingsRow {
    let id = || way.id.to_string();
    let mut buttons = Vec::new();
    if !first {
        buttons.push(("up", id(), t!("settings-notifications-earlier")));
    }
    if !last {
        buttons.push(("down", id(), t!("settings-notifications-later")));
    }
    if way.off {
        buttons.push(("on", id(), t!("settings-notifications-use")));
    } else if way.verified {
        buttons.push(("off", id(), t!("settings-notifications-do-not-use")));
    }
    if way.removable {
        buttons.push(("remove", id(), t!("settings-remove")));
    }
    let devices = way.means == ContactMethod::Devices;
    let (mark, facts) = match (way.off, way.carried, way.verified) {
        (true, ..) => {
            (Some(t!("settings-notifications-off")), t!("settings-notifications-off-facts"))
        }
        (_, false, _) if devices => {
            (Some(t!("settings-notifications-unused")), t!("settings-notifications-no-push"))
        }
        (_, false, _) => {
            (Some(t!("settings-notifications-unused")), t!("settings-notifications-no-channel"))
        }
        (_, _, false) => (
            Some(t!("settings-notifications-unverified")),
            t!("settings-notifications-unverified-facts"),
        ),
        _ if devices => (None, t!("settings-notifications-devices", count = settings.devices)),
        _ => (None, t!("settings-notifications-verified")),
    };
    SettingsRow {
        title: VisibleText::of(&contact_method_name(&way.means)),
        href: devices.then(|| paths::DEVICES.to_owned()),
        mark,
        facts: VisibleText::of(&facts),
        act: Some(RowAction::Posts { action: paths::NOTIFICATION_SETTINGS.to_owned(), buttons }),
    }
}

/// The name of a contact method.
pub fn contact_method_name(means: &ContactMethod) -> String {
    match means {
        ContactMethod::Devices => t!("settings-devices"),
        ContactMethod::Email(address) => t!("settings-contact-email", address = address),
        ContactMethod::Slack(id) => t!("settings-contact-slack", address = id),
        ContactMethod::Sms(number) => t!("settings-contact-sms", address = number),
        ContactMethod::Whatsapp(number) => t!("settings-contact-whatsapp", address = number),
        ContactMethod::Telegram(id) => t!("settings-contact-telegram", address = id),
        ContactMethod::Ntfy(topic) => t!("settings-contact-ntfy", address = topic),
        ContactMethod::Webhook(id) => t!("settings-contact-webhook", address = id),
    }
}

/// The form that adds a contact method of one of several kinds.
fn add(kinds: &[&'static str], filled: FormDraft<'_>) -> FormView {
    let choices: Vec<(String, String)> =
        kinds.iter().map(|kind| ((*kind).to_owned(), channel_label(kind))).collect();
    let first = kinds.first().copied().unwrap_or_default();
    let fields = vec![
        filled.one_of("via", &labeled("via"), &choices, first),
        filled
            .text("contacts", &labeled("contacts"), "")
            .hint(t!("settings-notifications-address-hint")),
    ];
    FormView::new(paths::NOTIFICATION_SETTINGS, fields, t!("settings-notifications-add"))
        .titled(t!("settings-notifications-add-title"))
}

/// The form that verifies a contact method.
fn verification_form(way: &ContactMethodView, filled: FormDraft<'_>) -> SettingsBlock {
    let field = filled.text(&code_field(&way.id), &t!("settings-notifications-code"), "");
    let mut form = FormView::new(
        paths::NOTIFICATION_SETTINGS,
        vec![field.hint(t!("settings-notifications-code-digits"))],
        t!("settings-notifications-verify"),
    );
    form.hidden.push(("verify", way.id.to_string()));
    let (sends, label) = (Some(("send", "1")), t!("settings-notifications-send-code"));
    form.buttons.push(FormButton { tone: "plain", sends, label });
    let address = way.means.address().unwrap_or_default();
    SettingsBlock::Form(form.titled(t!("settings-notifications-verify-title", address = address)))
}

/// The name of the field for the code of this contact method.
pub fn code_field(id: &Digest) -> String {
    format!("code.{}", id.to_string().get(..12).unwrap_or_default())
}

fn digest_form(digest: DigestFrequency, filled: FormDraft<'_>) -> FormView {
    let (every, at) = match digest {
        DigestFrequency::Off => ("off", String::new()),
        DigestFrequency::Hour => ("hour", String::new()),
        DigestFrequency::Day { at } => ("day", at.to_string()),
    };
    let choices = [
        ("hour".to_owned(), t!("settings-notifications-digest-hour")),
        ("day".to_owned(), t!("settings-notifications-digest-day")),
        ("off".to_owned(), t!("settings-notifications-digest-off")),
    ];
    let fields = vec![
        filled
            .one_of("every", &labeled("every"), &choices, every)
            .hint(t!("settings-notifications-digest-hint")),
        filled.input("time", "at", &labeled("at"), &at),
    ];
    let mut form = FormView::new(
        paths::NOTIFICATION_SETTINGS,
        fields,
        t!("settings-notifications-digest-save"),
    );
    form.hidden.push(("digest", "1".to_owned()));
    form.titled(t!("settings-notifications-digest-title"))
}

/// Parses the digest form.
pub fn read(form: &SubmittedForm) -> Result<DigestFrequency, FormProblems> {
    let text = |name| form.value(name).map(str::trim).unwrap_or_default();
    let mut problem = FormProblems::default();
    let wrong = |problem: &mut FormProblems, field: &str, message: String| {
        problem.add(
            ProblemLocation::Field(field.to_owned()),
            Some(VisibleText::of(&labeled(field))),
            message,
        );
    };
    match text("every") {
        "off" => return Ok(DigestFrequency::Off),
        "hour" => return Ok(DigestFrequency::Hour),
        "day" => match text("at").parse() {
            Ok(at) => return Ok(DigestFrequency::Day { at }),
            Err(_) => wrong(&mut problem, "at", t!("settings-time-expected")),
        },
        _ => wrong(&mut problem, "every", t!("settings-option-expected")),
    }
    Err(problem)
}
