//! Webhook endpoints and their deliveries.

use std::collections::BTreeSet;

use dialects::webhooks::TEST;
use kernel::ask::CallbackResult;
use kernel::directory::{
    Directory, NewWebhook, Webhook, WebhookDisabledReason, WebhookFormat, WebhookScope,
};
use kernel::{AgentId, AskId, Subject, Time, Topic, WebhookId};

use super::controls::{FormDraft, SelectOption};
use super::{
    FormButton, FormView, MAX_LIST_OPTIONS, RowAction, SettingsBlock, SettingsPage, SettingsRow,
};
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::VisibleText;
use crate::site::paths;

/// The labels of the fields of an endpoint, for problems.
pub const LABELS: &[(&str, &str)] = &[
    ("agent", "Whose requests"),
    ("project", "Whose requests"),
    ("url", "Address"),
    ("events", "What it hears of"),
    ("format", "Format"),
    ("description", "What it is for"),
];

/// Every format with its name.
const FORMATS: [(WebhookFormat, &str); 4] = [
    (WebhookFormat::Standard, "Standard Webhooks"),
    (WebhookFormat::Humanlayer, "HumanLayer"),
    (WebhookFormat::HumanlayerV1beta1, "HumanLayer v1beta1, the bare object"),
    (WebhookFormat::HumanlayerV1beta3, "HumanLayer v1beta3, conversations in one shape"),
];

/// A topic in plain words.
fn topic_words(topic: Topic) -> &'static str {
    match topic {
        Topic::Created => "was asked",
        Topic::Opened => "somebody looked",
        Topic::Claimed => "somebody took it",
        Topic::Commented => "somebody remarked something",
        Topic::ActionPicked => "somebody picked an action",
        Topic::Escalated => "more people are asked",
        Topic::Answered => "was answered",
        Topic::ChangesRequested => "changes are wanted",
        Topic::Defaulted => "the default was taken",
        Topic::Expired => "ran out",
        Topic::Cancelled => "was withdrawn",
        Topic::Revoked => "its receipt was called back",
        Topic::Started => "somebody wrote to the agent",
        Topic::Delegate => "the agent's runtime has to begin a run",
        Topic::Block => "it has to stop and wait",
        Topic::Resume => "it has to go on",
        Topic::Handoff => "it has to take over",
        Topic::Steer => "it has to take something into account",
        Topic::Stop => "it has to stop for good",
    }
}

/// The list of endpoints, and a form to add one.
pub fn list(
    webhooks: &[&Webhook],
    next: Option<String>,
    whose: &[SelectOption],
    filled: FormDraft<'_>,
) -> SettingsPage {
    let row = |webhook: &&Webhook| {
        let facts = match webhook.description.as_str() {
            "" => subject_label(&webhook.of),
            about => format!("{about} · {}", subject_label(&webhook.of)),
        };
        SettingsRow {
            title: VisibleText::of(&url_without_query(&webhook.url)),
            href: Some(paths::webhook(webhook.id)),
            mark: disabled_mark(webhook),
            facts: VisibleText::of(&facts),
            act: None,
        }
    };
    let mut blocks = Vec::new();
    if webhooks.is_empty() {
        blocks.push(SettingsBlock::Text(
            "Nobody is told yet. Agents can also wait or ask.".to_owned(),
        ));
    } else {
        blocks.push(SettingsBlock::Rows(webhooks.iter().map(row).collect()));
    }
    blocks.extend(
        next.map(|href| SettingsBlock::Link { href, label: "Show more endpoints".to_owned() }),
    );
    if whose.is_empty() {
        blocks.push(SettingsBlock::Text(
            "No agent is yours, so there is nothing to tell of.".to_owned(),
        ));
    } else {
        let mut fields = vec![
            filled
                .one_of("agent", "Whose requests", whose, "")
                .hint("An endpoint of a project hears of its agents that have none of their own."),
        ];
        fields.extend(shared_fields(filled, None));
        let add = FormView::new(paths::WEBHOOKS, fields, "Add it and show its secret once");
        blocks.push(SettingsBlock::Form(add.titled("Add an endpoint")));
    }
    SettingsPage {
        at: paths::WEBHOOKS,
        title: "Webhooks".to_owned(),
        lead: "Addresses that are told what happens to requests, in signed calls.".to_owned(),
        blocks,
        ..SettingsPage::default()
    }
}

/// The fields that the forms for new and existing endpoints share.
fn shared_fields(filled: FormDraft<'_>, known: Option<&Webhook>) -> Vec<super::FieldView> {
    let formats: Vec<SelectOption> = (FORMATS.iter())
        .map(|(format, words)| (format.as_str().to_owned(), (*words).to_owned()))
        .collect();
    let topics: Vec<SelectOption> = (Topic::ALL.iter())
        .map(|topic| (topic.to_string(), format!("{topic}: {}", topic_words(*topic))))
        .collect();
    let (url, about) = known.map_or(("", ""), |known| (&known.url, &known.description));
    let format = known.map_or(WebhookFormat::Standard, |known| known.format);
    let heard: BTreeSet<Topic> =
        known.map_or_else(|| Topic::DEFAULT.into(), |known| known.events.clone());
    let is_heard = |sent: &str| heard.iter().any(|topic| topic.as_str() == sent);
    vec![
        filled
            .input("url", "url", "Address", url)
            .hint("Over https, where anybody could reach it.")
            .mark_required(),
        filled.one_of("format", "Format", &formats, format.as_str()),
        filled.some_of("events", "What it hears of", &topics, is_heard),
        filled.text("description", "What it is for", about),
    ]
}

/// The page of one endpoint.
pub fn page(
    webhook: &Webhook,
    deliveries: &[WebhookDeliveryView],
    next: Option<String>,
    now: Time,
    filled: FormDraft<'_>,
) -> SettingsPage {
    let path = paths::webhook(webhook.id);
    let mut blocks = Vec::new();
    if let Some(why) = webhook.disabled {
        let words = match why {
            WebhookDisabledReason::ByHand => "It is disabled: it is told nothing.".to_owned(),
            WebhookDisabledReason::Gone => format!(
                "{}. What it did not take is below, and can be sent once you have enabled it.",
                capital(why.reason())
            ),
        };
        blocks.push(SettingsBlock::Text(words));
    }
    blocks.push(SettingsBlock::Heading("What it was told".to_owned()));
    if deliveries.is_empty() {
        blocks.push(SettingsBlock::Text("Nothing yet, or nothing for 30 days.".to_owned()));
    } else {
        let again = webhook.disabled.is_none();
        blocks.push(SettingsBlock::Rows(
            deliveries.iter().map(|one| one.row(&path, now, again)).collect(),
        ));
    }
    blocks.extend(next.map(|href| SettingsBlock::Link { href, label: "Show older".to_owned() }));
    if webhook.disabled.is_none() {
        let test = FormView::new(format!("{path}/test"), Vec::new(), "Send a test");
        blocks.push(SettingsBlock::Form(test.titled("Try it out")));
    }
    let mut fields = shared_fields(filled, Some(webhook));
    let enabled = webhook.disabled.is_none();
    fields.push(filled.flag("enabled", "Enabled", "It is told what happens", enabled));
    let change = FormView::new(path.clone(), fields, "Save the endpoint");
    blocks.push(SettingsBlock::Form(change.titled("The endpoint")));
    let mut rotate = FormView::new(
        format!("{path}/rotate"),
        Vec::new(),
        "Replace the secret; the old one signs for a day as well",
    );
    let leaked = "The old one leaked: it must not sign any more".to_owned();
    let sends = Some(("grace_seconds", "0"));
    rotate.buttons.push(FormButton { tone: "no", sends, label: leaked });
    blocks.push(SettingsBlock::Form(rotate.titled("Its secret")));
    blocks.push(SettingsBlock::Link {
        href: format!("{path}/remove"),
        label: "Remove this endpoint".to_owned(),
    });
    blocks.push(SettingsBlock::Link {
        href: paths::WEBHOOKS.to_owned(),
        label: "Back to all endpoints".to_owned(),
    });
    SettingsPage {
        at: paths::WEBHOOKS,
        title: url_without_query(&webhook.url),
        lead: format!(
            "{}. Secret number {}.",
            capital(&subject_label(&webhook.of)),
            webhook.generation
        ),
        blocks,
        ..SettingsPage::default()
    }
}

#[derive(Debug, Clone)]
pub struct WebhookDeliveryView {
    /// The id of its message, the same in every attempt.
    pub id: String,
    /// The event; `None` for a test.
    pub topic: Option<Topic>,
    /// The request of the event.
    pub ask: Option<AskId>,
    pub status: DeliveryStatusView,
    /// When the next attempt is made.
    pub next_at: Option<Time>,
    /// The number of attempts.
    pub attempts: usize,
    pub last: Option<DeliveryAttemptView>,
}

#[derive(Debug, Clone)]
pub struct DeliveryAttemptView {
    pub at: Time,
    pub result: CallbackResult,
    /// The beginning of the endpoint's response, if it refused.
    pub response: Option<String>,
}

/// The state of a delivery.
#[derive(Debug, Clone, Copy)]
pub enum DeliveryStatusView {
    /// The server will retry.
    Waiting,
    /// The endpoint accepted it.
    Done,
    /// The server will not retry.
    Dead,
}

impl WebhookDeliveryView {
    fn row(&self, path: &str, now: Time, again: bool) -> SettingsRow {
        let when = |at: Time| RelativeTime::new(at, now).words;
        let last = self.last.as_ref().map(|attempt| {
            let came = match &attempt.result {
                CallbackResult::Taken { status } => format!("taken with {status}"),
                CallbackResult::Refused { status } => format!("answered {status}"),
                CallbackResult::Unreached { error } => error.clone(),
            };
            let response = attempt.response.as_ref().map(|text| format!(": {text}"));
            format!(" · {} {came}{}", when(attempt.at), response.unwrap_or_default())
        });
        let next = self.next_at.map(|at| format!(" · tried again {}", when(at)));
        let tries = match self.attempts {
            1 => "1 attempt".to_owned(),
            n => format!("{n} attempts"),
        };
        let facts = format!(
            "{} · {tries}{}{}",
            self.id,
            last.unwrap_or_default(),
            next.unwrap_or_default()
        );
        let act = RowAction::Post {
            action: format!("{path}/redeliver"),
            sends: ("delivery", self.id.clone()),
            label: "Send again",
        };
        SettingsRow {
            title: VisibleText::of(self.topic.map_or(TEST, Topic::as_str)),
            href: self.ask.map(paths::request),
            mark: Some(match self.status {
                DeliveryStatusView::Waiting => "waiting",
                DeliveryStatusView::Done => "taken",
                DeliveryStatusView::Dead => "given up",
            }),
            facts: VisibleText::of(&facts),
            act: again.then_some(act),
        }
    }
}

/// The page that shows a new secret once.
pub fn secret_page(webhook: WebhookId, secret: &str) -> SettingsPage {
    SettingsPage {
        at: paths::WEBHOOKS,
        title: "The secret of this endpoint".to_owned(),
        lead: "Whoever has it can check that a call comes from here, and could forge one."
            .to_owned(),
        blocks: vec![
            SettingsBlock::Secret { label: "Signing secret".to_owned(), value: secret.to_owned() },
            SettingsBlock::Text(
                "Check every call with a library for Standard Webhooks; docs/webhooks.md shows how."
                    .to_owned(),
            ),
            SettingsBlock::Link { href: paths::webhook(webhook), label: "Go to the endpoint".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// The confirmation before an endpoint is removed.
pub fn remove(webhook: &Webhook) -> SettingsPage {
    let path = paths::webhook(webhook.id);
    let mut form = FormView::new(format!("{path}/remove"), Vec::new(), "Remove it now");
    for button in &mut form.buttons {
        button.tone = "no";
    }
    SettingsPage {
        at: paths::WEBHOOKS,
        title: "Remove an endpoint".to_owned(),
        lead: format!(
            "{}: it is told nothing any more, from this moment on, and what waits for it is dropped.",
            VisibleText::of(&url_without_query(&webhook.url))
        ),
        blocks: vec![
            SettingsBlock::Form(form),
            SettingsBlock::Link { href: path, label: "Keep it".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// The agents and projects that a person can add an endpoint for: their own agents, and for
/// administrators every agent and project.
pub fn subject_options<'a>(
    directory: &'a Directory,
    agents: impl Iterator<Item = &'a AgentId>,
    admin: bool,
) -> Vec<SelectOption> {
    let agents = agents.take(MAX_LIST_OPTIONS).map(|id| WebhookScope::Agent(id.clone()));
    let projects = directory.projects().take(if admin { MAX_LIST_OPTIONS } else { 0 });
    let projects = projects.map(|project| WebhookScope::Project(project.id.clone()));
    let choice = |of: WebhookScope| (subject(&of).to_string(), subject_label(&of));
    agents.chain(projects).map(choice).collect()
}

fn subject(of: &WebhookScope) -> Subject {
    match of {
        WebhookScope::Agent(id) => Subject::Agent(id.clone()),
        WebhookScope::Project(id) => Subject::Project(id.clone()),
    }
}

fn subject_label(of: &WebhookScope) -> String {
    match of {
        WebhookScope::Agent(id) => format!("the agent {id}"),
        WebhookScope::Project(id) => format!("the project {id}"),
    }
}

fn disabled_mark(webhook: &Webhook) -> Option<&'static str> {
    webhook.disabled.map(|why| match why {
        WebhookDisabledReason::ByHand => "disabled",
        WebhookDisabledReason::Gone => "gone",
    })
}

/// A URL without its query and fragment, which may contain secrets.
fn url_without_query(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// Parses the form of a new endpoint or of an existing one.
pub fn read(
    form: &SubmittedForm,
    id: WebhookId,
    known: Option<&Webhook>,
) -> Result<NewWebhook, FormProblems> {
    let wrong = |field: &str, label: &str, message: &str| {
        let mut problem = FormProblems::default();
        problem.add(
            ProblemLocation::Field(field.to_owned()),
            Some(VisibleText::of(label)),
            message.to_owned(),
        );
        problem
    };
    let of = match known {
        Some(known) => known.of.clone(),
        None => match form.value("agent").and_then(|text| text.parse().ok()) {
            Some(Subject::Agent(id)) => WebhookScope::Agent(id),
            Some(Subject::Project(id)) => WebhookScope::Project(id),
            _ => {
                return Err(wrong("agent", "Whose requests", "Expected one of the list."));
            }
        },
    };
    let format =
        WebhookFormat::ALL.into_iter().find(|format| Some(format.as_str()) == form.value("format"));
    let Some(format) = format else {
        return Err(wrong("format", "Format", "Expected one of the list."));
    };
    let events = form.values("events");
    let events =
        events.filter_map(|name| Topic::ALL.into_iter().find(|topic| topic.as_str() == name));
    let line = |name: &str| form.value(name).unwrap_or_default().trim().to_owned();
    Ok(NewWebhook {
        id,
        of,
        url: line("url"),
        events: events.collect(),
        format,
        description: line("description"),
        enabled: known.is_none() || form.value("enabled").is_some(),
    })
}
