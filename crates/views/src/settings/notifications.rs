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

/// The labels of the fields, for problems.
pub const LABELS: &[(&str, &str)] =
    &[("contacts", ADDRESS), ("via", VIA), ("every", EVERY), ("at", AT)];
const ADDRESS: &str = "Address";
const VIA: &str = "Where";
const CODE: &str = "You get a code there, to show that it is yours.";
const EVERY: &str = "What is not urgent";
const AT: &str = "Time of day, for once a day";

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
        [] => blocks.push(SettingsBlock::Text(
            "This server writes no mail: whoever runs it has not said how.".to_owned(),
        )),
        ["email"] => {
            let field = of("contacts").input("email", "contacts", ADDRESS, "");
            let add = FormView::new(
                paths::NOTIFICATION_SETTINGS,
                vec![field.hint(CODE)],
                "Add this address",
            );
            blocks.push(SettingsBlock::Form(add.titled("Add a mail address")));
        }
        kinds => blocks.push(SettingsBlock::Form(add(kinds, of("contacts")))),
    }
    blocks.push(SettingsBlock::Form(digest_form(settings.digest, of("every"))));
    blocks.push(SettingsBlock::Text(
        "You are told by the first of these. If that fails, or you do not open the request for a while \
         (2 minutes if it is critical, 5 if it is high, 15 otherwise), the next is tried. Not in your \
         quiet hours, unless it is critical. The inbox always shows everything."
            .to_owned(),
    ));
    let href = paths::PROFILE.to_owned();
    blocks.push(SettingsBlock::Link { href, label: "My quiet hours".to_owned() });
    SettingsPage {
        at: paths::NOTIFICATION_SETTINGS,
        title: "How I am told".to_owned(),
        lead: "By which means you learn that a request waits, and in which order they are tried."
            .to_owned(),
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
        buttons.push(("up", id(), "Try earlier"));
    }
    if !last {
        buttons.push(("down", id(), "Try later"));
    }
    if way.off {
        buttons.push(("on", id(), "Use it again"));
    } else if way.verified {
        buttons.push(("off", id(), "Do not use it"));
    }
    if way.removable {
        buttons.push(("remove", id(), "Remove it"));
    }
    let devices = way.means == ContactMethod::Devices;
    let (mark, facts) = match (way.off, way.carried, way.verified) {
        (true, ..) => (Some("off"), "You are not told here.".to_owned()),
        (_, false, _) if devices => (Some("unused"), "This server tells no devices.".to_owned()),
        (_, false, _) => (Some("unused"), "This server sends nothing there yet.".to_owned()),
        (_, _, false) => (Some("not verified"), "Nothing goes there yet.".to_owned()),
        _ if devices => (None, how_many(settings.devices)),
        _ => (None, "Verified.".to_owned()),
    };
    SettingsRow {
        title: VisibleText::of(&contact_method_name(&way.means)),
        href: devices.then(|| paths::DEVICES.to_owned()),
        mark,
        facts: VisibleText::of(&facts),
        act: Some(RowAction::Posts { action: paths::NOTIFICATION_SETTINGS.to_owned(), buttons }),
    }
}

fn how_many(devices: usize) -> String {
    match devices {
        0 => "None is told yet.".to_owned(),
        1 => "One is told.".to_owned(),
        n => format!("{n} are told."),
    }
}

/// The name of a contact method.
pub fn contact_method_name(means: &ContactMethod) -> String {
    match means {
        ContactMethod::Devices => "My devices".to_owned(),
        ContactMethod::Email(address) => format!("Mail to {address}"),
        ContactMethod::Slack(id) => format!("Slack, {id}"),
        ContactMethod::Sms(number) => format!("Text message to {number}"),
        ContactMethod::Whatsapp(number) => format!("WhatsApp, {number}"),
        ContactMethod::Telegram(id) => format!("Telegram, {id}"),
        ContactMethod::Ntfy(topic) => format!("ntfy, {topic}"),
        ContactMethod::Webhook(id) => format!("Webhook, {id}"),
    }
}

/// The form that adds a contact method of one of several kinds.
fn add(kinds: &[&'static str], filled: FormDraft<'_>) -> FormView {
    let choices: Vec<(String, String)> =
        kinds.iter().map(|kind| ((*kind).to_owned(), channel_label(kind).to_owned())).collect();
    let first = kinds.first().copied().unwrap_or_default();
    let fields = vec![
        filled.one_of("via", VIA, &choices, first),
        filled.text("contacts", ADDRESS, "").hint(
            "A mail address, a phone number such as +4930123456, or what you are called there, such \
             as U0123ABC in Slack. You get a code there, to show that it is yours.",
        ),
    ];
    FormView::new(paths::NOTIFICATION_SETTINGS, fields, "Add this address").titled("Add an address")
}

/// The form that verifies a contact method.
fn verification_form(way: &ContactMethodView, filled: FormDraft<'_>) -> SettingsBlock {
    let field = filled.text(&code_field(&way.id), "Code", "");
    let mut form = FormView::new(
        paths::NOTIFICATION_SETTINGS,
        vec![field.hint("Six digits, which count once and for ten minutes.")],
        "Verify this address",
    );
    form.hidden.push(("verify", way.id.to_string()));
    let (sends, label) = (Some(("send", "1")), "Send me a code".to_owned());
    form.buttons.push(FormButton { tone: "plain", sends, label });
    let address = way.means.address().unwrap_or_default();
    SettingsBlock::Form(form.titled(&format!("Show that {address} is yours")))
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
    let choice = |sent: &str, shown: &str| (sent.to_owned(), shown.to_owned());
    let choices = [
        choice("hour", "Together, once an hour"),
        choice("day", "Together, once a day"),
        choice("off", "Each at once"),
    ];
    let fields = vec![
        filled
            .one_of("every", EVERY, &choices, every)
            .hint("Requests of low priority; everything else is told at once."),
        filled.input("time", "at", AT, &at),
    ];
    let mut form = FormView::new(paths::NOTIFICATION_SETTINGS, fields, "Save how often");
    form.hidden.push(("digest", "1".to_owned()));
    form.titled("What can wait")
}

/// Parses the digest form.
pub fn read(form: &SubmittedForm) -> Result<DigestFrequency, FormProblems> {
    let text = |name| form.value(name).map(str::trim).unwrap_or_default();
    let mut problem = FormProblems::default();
    let wrong = |problem: &mut FormProblems, field: &str, label: &str, message: &str| {
        problem.add(
            ProblemLocation::Field(field.to_owned()),
            Some(VisibleText::of(label)),
            message,
        );
    };
    match text("every") {
        "off" => return Ok(DigestFrequency::Off),
        "hour" => return Ok(DigestFrequency::Hour),
        "day" => match text("at").parse() {
            Ok(at) => return Ok(DigestFrequency::Day { at }),
            Err(_) => wrong(&mut problem, "at", AT, "Expected a time of day such as 08:30."),
        },
        _ => wrong(&mut problem, "every", EVERY, "Expected one of these."),
    }
    Err(problem)
}
