//! Webhook endpoints and their deliveries.

use std::collections::BTreeSet;

use dialects::webhooks::TEST;
use kernel::ask::CallbackResult;
use kernel::directory::{Directory, Disabled, Format, Hears, NewWebhook, Webhook};
use kernel::{AgentId, AskId, Subject, Time, Topic, WebhookId};

use super::controls::{Choice, Filled};
use super::{Act, Block, Button, CHOICES, FormView, Row, SettingsPage};
use crate::answer_form::problem::{FormProblem, Place};
use crate::answer_form::submitted::Submitted;
use crate::components::when::When;
use crate::components::words::Words;
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
const FORMATS: [(Format, &str); 4] = [
    (Format::Standard, "Standard Webhooks"),
    (Format::Humanlayer, "HumanLayer"),
    (Format::HumanlayerV1beta1, "HumanLayer v1beta1, the bare object"),
    (Format::HumanlayerV1beta3, "HumanLayer v1beta3, conversations in one shape"),
];

/// A topic in plain words.
fn words(topic: Topic) -> &'static str {
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
    whose: &[Choice],
    filled: Filled<'_>,
) -> SettingsPage {
    let row = |webhook: &&Webhook| {
        let facts = match webhook.description.as_str() {
            "" => hears(&webhook.of),
            about => format!("{about} · {}", hears(&webhook.of)),
        };
        Row {
            title: Words::of(&place(&webhook.url)),
            href: Some(paths::webhook(webhook.id)),
            mark: mark(webhook),
            facts: Words::of(&facts),
            act: None,
        }
    };
    let mut blocks = Vec::new();
    if webhooks.is_empty() {
        blocks.push(Block::Text("Nobody is told yet. Agents can also wait or ask.".to_owned()));
    } else {
        blocks.push(Block::Rows(webhooks.iter().map(row).collect()));
    }
    blocks.extend(next.map(|href| Block::Link { href, label: "Show more endpoints".to_owned() }));
    if whose.is_empty() {
        blocks.push(Block::Text("No agent is yours, so there is nothing to tell of.".to_owned()));
    } else {
        let mut fields = vec![
            filled
                .one_of("agent", "Whose requests", whose, "")
                .hint("An endpoint of a project hears of its agents that have none of their own."),
        ];
        fields.extend(common(filled, None));
        let add = FormView::new(paths::WEBHOOKS, fields, "Add it and show its secret once");
        blocks.push(Block::Form(add.titled("Add an endpoint")));
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
fn common(filled: Filled<'_>, known: Option<&Webhook>) -> Vec<super::FieldView> {
    let formats: Vec<Choice> = (FORMATS.iter())
        .map(|(format, words)| (format.as_str().to_owned(), (*words).to_owned()))
        .collect();
    let topics: Vec<Choice> = (Topic::ALL.iter())
        .map(|topic| (topic.to_string(), format!("{topic}: {}", words(*topic))))
        .collect();
    let (url, about) = known.map_or(("", ""), |known| (&known.url, &known.description));
    let format = known.map_or(Format::Standard, |known| known.format);
    let heard: BTreeSet<Topic> =
        known.map_or_else(|| Topic::USUAL.into(), |known| known.events.clone());
    let is_heard = |sent: &str| heard.iter().any(|topic| topic.as_str() == sent);
    vec![
        filled
            .input("url", "url", "Address", url)
            .hint("Over https, where anybody could reach it.")
            .needed(),
        filled.one_of("format", "Format", &formats, format.as_str()),
        filled.some_of("events", "What it hears of", &topics, is_heard),
        filled.text("description", "What it is for", about),
    ]
}

/// The page of one endpoint.
pub fn page(
    webhook: &Webhook,
    deliveries: &[Delivery],
    next: Option<String>,
    now: Time,
    filled: Filled<'_>,
) -> SettingsPage {
    let path = paths::webhook(webhook.id);
    let mut blocks = Vec::new();
    if let Some(why) = webhook.disabled {
        let words = match why {
            Disabled::ByHand => "It is disabled: it is told nothing.".to_owned(),
            Disabled::Gone => format!(
                "{}. What it did not take is below, and can be sent once you have enabled it.",
                capital(why.reason())
            ),
        };
        blocks.push(Block::Text(words));
    }
    blocks.push(Block::Heading("What it was told".to_owned()));
    if deliveries.is_empty() {
        blocks.push(Block::Text("Nothing yet, or nothing for 30 days.".to_owned()));
    } else {
        let again = webhook.disabled.is_none();
        blocks.push(Block::Rows(deliveries.iter().map(|one| one.row(&path, now, again)).collect()));
    }
    blocks.extend(next.map(|href| Block::Link { href, label: "Show older".to_owned() }));
    if webhook.disabled.is_none() {
        let test = FormView::new(format!("{path}/test"), Vec::new(), "Send a test");
        blocks.push(Block::Form(test.titled("Try it out")));
    }
    let mut fields = common(filled, Some(webhook));
    let enabled = webhook.disabled.is_none();
    fields.push(filled.flag("enabled", "Enabled", "It is told what happens", enabled));
    let change = FormView::new(path.clone(), fields, "Save the endpoint");
    blocks.push(Block::Form(change.titled("The endpoint")));
    let mut rotate = FormView::new(
        format!("{path}/rotate"),
        Vec::new(),
        "Replace the secret; the old one signs for a day as well",
    );
    let leaked = "The old one leaked: it must not sign any more".to_owned();
    let sends = Some(("grace_seconds", "0"));
    rotate.buttons.push(Button { tone: "no", sends, label: leaked });
    blocks.push(Block::Form(rotate.titled("Its secret")));
    blocks.push(Block::Link {
        href: format!("{path}/remove"),
        label: "Remove this endpoint".to_owned(),
    });
    blocks.push(Block::Link {
        href: paths::WEBHOOKS.to_owned(),
        label: "Back to all endpoints".to_owned(),
    });
    SettingsPage {
        at: paths::WEBHOOKS,
        title: place(&webhook.url),
        lead: format!("{}. Secret number {}.", capital(&hears(&webhook.of)), webhook.generation),
        blocks,
        ..SettingsPage::default()
    }
}

#[derive(Debug, Clone)]
pub struct Delivery {
    /// The id of its message, the same in every attempt.
    pub id: String,
    /// The event; `None` for a test.
    pub topic: Option<Topic>,
    /// The request of the event.
    pub ask: Option<AskId>,
    pub status: DeliveryStatus,
    /// When the next attempt is made.
    pub next_at: Option<Time>,
    /// The number of attempts.
    pub attempts: usize,
    pub last: Option<DeliveryAttempt>,
}

#[derive(Debug, Clone)]
pub struct DeliveryAttempt {
    pub at: Time,
    pub result: CallbackResult,
    /// The beginning of the endpoint's response, if it refused.
    pub response: Option<String>,
}

/// The state of a delivery.
#[derive(Debug, Clone, Copy)]
pub enum DeliveryStatus {
    /// The server will retry.
    Waiting,
    /// The endpoint accepted it.
    Done,
    /// The server will not retry.
    Dead,
}

impl Delivery {
    fn row(&self, path: &str, now: Time, again: bool) -> Row {
        let when = |at: Time| When::new(at, now).words;
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
        let act = Act::Post {
            action: format!("{path}/redeliver"),
            sends: ("delivery", self.id.clone()),
            label: "Send again",
        };
        Row {
            title: Words::of(self.topic.map_or(TEST, Topic::as_str)),
            href: self.ask.map(paths::request),
            mark: Some(match self.status {
                DeliveryStatus::Waiting => "waiting",
                DeliveryStatus::Done => "taken",
                DeliveryStatus::Dead => "given up",
            }),
            facts: Words::of(&facts),
            act: again.then_some(act),
        }
    }
}

/// The page that shows a new secret once.
pub fn revealed(webhook: WebhookId, secret: &str) -> SettingsPage {
    SettingsPage {
        at: paths::WEBHOOKS,
        title: "The secret of this endpoint".to_owned(),
        lead: "Whoever has it can check that a call comes from here, and could forge one."
            .to_owned(),
        blocks: vec![
            Block::Secret { label: "Signing secret".to_owned(), value: secret.to_owned() },
            Block::Text(
                "Check every call with a library for Standard Webhooks; docs/webhooks.md shows how."
                    .to_owned(),
            ),
            Block::Link { href: paths::webhook(webhook), label: "Go to the endpoint".to_owned() },
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
            Words::of(&place(&webhook.url))
        ),
        blocks: vec![Block::Form(form), Block::Link { href: path, label: "Keep it".to_owned() }],
        ..SettingsPage::default()
    }
}

/// The agents and projects that a person can add an endpoint for: their own agents, and for
/// administrators every agent and project.
pub fn whose<'a>(
    directory: &'a Directory,
    agents: impl Iterator<Item = &'a AgentId>,
    admin: bool,
) -> Vec<Choice> {
    let agents = agents.take(CHOICES).map(|id| Hears::Agent(id.clone()));
    let projects = directory.projects().take(if admin { CHOICES } else { 0 });
    let projects = projects.map(|project| Hears::Project(project.id.clone()));
    let choice = |of: Hears| (subject(&of).to_string(), hears(&of));
    agents.chain(projects).map(choice).collect()
}

fn subject(of: &Hears) -> Subject {
    match of {
        Hears::Agent(id) => Subject::Agent(id.clone()),
        Hears::Project(id) => Subject::Project(id.clone()),
    }
}

fn hears(of: &Hears) -> String {
    match of {
        Hears::Agent(id) => format!("the agent {id}"),
        Hears::Project(id) => format!("the project {id}"),
    }
}

fn mark(webhook: &Webhook) -> Option<&'static str> {
    webhook.disabled.map(|why| match why {
        Disabled::ByHand => "disabled",
        Disabled::Gone => "gone",
    })
}

/// A URL without its query and fragment, which may contain secrets.
fn place(url: &str) -> String {
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
    form: &Submitted,
    id: WebhookId,
    known: Option<&Webhook>,
) -> Result<NewWebhook, FormProblem> {
    let wrong = |field: &str, label: &str, message: &str| {
        let mut problem = FormProblem::default();
        problem.add(Place::Field(field.to_owned()), Some(Words::of(label)), message.to_owned());
        problem
    };
    let of = match known {
        Some(known) => known.of.clone(),
        None => match form.value("agent").and_then(|text| text.parse().ok()) {
            Some(Subject::Agent(id)) => Hears::Agent(id),
            Some(Subject::Project(id)) => Hears::Project(id),
            _ => {
                return Err(wrong("agent", "Whose requests", "Expected one of the list."));
            }
        },
    };
    let format =
        Format::ALL.into_iter().find(|format| Some(format.as_str()) == form.value("format"));
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
