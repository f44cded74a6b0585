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

/// The label of a field of an endpoint.
pub fn label(field: &str) -> Option<String> {
    Some(match field {
        "agent" | "project" => t!("settings-webhooks-scope"),
        "url" => t!("settings-webhooks-url"),
        "events" => t!("settings-webhooks-events"),
        "format" => t!("settings-webhooks-format"),
        "description" => t!("settings-webhooks-description"),
        _ => return None,
    })
}

fn labeled(field: &str) -> String {
    label(field).unwrap_or_default()
}

fn format_label(format: WebhookFormat) -> String {
    match format {
        WebhookFormat::Standard => t!("settings-webhooks-format-standard"),
        WebhookFormat::Humanlayer => t!("settings-webhooks-format-humanlayer"),
        WebhookFormat::HumanlayerV1beta1 => t!("settings-webhooks-format-humanlayer-v1beta1"),
        WebhookFormat::HumanlayerV1beta3 => t!("settings-webhooks-format-humanlayer-v1beta3"),
    }
}

/// A topic in plain words.
fn topic_words(topic: Topic) -> String {
    match topic {
        Topic::Created => t!("settings-topic-created"),
        Topic::Opened => t!("settings-topic-opened"),
        Topic::Claimed => t!("settings-topic-claimed"),
        Topic::Commented => t!("settings-topic-commented"),
        Topic::ActionPicked => t!("settings-topic-action-picked"),
        Topic::Escalated => t!("settings-topic-escalated"),
        Topic::Answered => t!("settings-topic-answered"),
        Topic::ChangesRequested => t!("settings-topic-changes-requested"),
        Topic::Defaulted => t!("settings-topic-defaulted"),
        Topic::Expired => t!("settings-topic-expired"),
        Topic::Cancelled => t!("settings-topic-cancelled"),
        Topic::Revoked => t!("settings-topic-revoked"),
        Topic::Started => t!("settings-topic-started"),
        Topic::Delegate => t!("settings-topic-delegate"),
        Topic::Block => t!("settings-topic-block"),
        Topic::Resume => t!("settings-topic-resume"),
        Topic::Handoff => t!("settings-topic-handoff"),
        Topic::Steer => t!("settings-topic-steer"),
        Topic::Stop => t!("settings-topic-stop"),
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
        blocks.push(SettingsBlock::Text(t!("settings-webhooks-none")));
    } else {
        blocks.push(SettingsBlock::Rows(webhooks.iter().map(row).collect()));
    }
    blocks
        .extend(next.map(|href| SettingsBlock::Link { href, label: t!("settings-webhooks-more") }));
    if whose.is_empty() {
        blocks.push(SettingsBlock::Text(t!("settings-webhooks-no-agent")));
    } else {
        let mut fields = vec![
            filled
                .one_of("agent", &labeled("agent"), whose, "")
                .hint(t!("settings-webhooks-scope-hint")),
        ];
        fields.extend(shared_fields(filled, None));
        let add = FormView::new(paths::WEBHOOKS, fields, t!("settings-webhooks-add"));
        blocks.push(SettingsBlock::Form(add.titled(t!("settings-webhooks-add-title"))));
    }
    SettingsPage {
        at: paths::WEBHOOKS,
        title: t!("settings-webhooks"),
        lead: t!("settings-webhooks-lead"),
        blocks,
        ..SettingsPage::default()
    }
}

/// The fields that the forms for new and existing endpoints share.
fn shared_fields(filled: FormDraft<'_>, known: Option<&Webhook>) -> Vec<super::FieldView> {
    let formats =
        WebhookFormat::ALL.map(|format| (format.as_str().to_owned(), format_label(format)));
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
            .input("url", "url", &labeled("url"), url)
            .hint(t!("settings-webhooks-url-hint"))
            .mark_required(),
        filled.one_of("format", &labeled("format"), &formats, format.as_str()),
        filled.some_of("events", &labeled("events"), &topics, is_heard),
        filled.text("description", &labeled("description"), about),
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
            WebhookDisabledReason::ByHand => t!("settings-webhook-disabled-by-hand"),
            WebhookDisabledReason::Gone => t!("settings-webhook-disabled-gone"),
        };
        blocks.push(SettingsBlock::Text(words));
    }
    blocks.push(SettingsBlock::Heading(t!("settings-webhook-deliveries")));
    if deliveries.is_empty() {
        blocks.push(SettingsBlock::Text(t!("settings-webhook-no-deliveries")));
    } else {
        let again = webhook.disabled.is_none();
        blocks.push(SettingsBlock::Rows(
            deliveries.iter().map(|one| one.row(&path, now, again)).collect(),
        ));
    }
    blocks
        .extend(next.map(|href| SettingsBlock::Link { href, label: t!("settings-webhook-older") }));
    if webhook.disabled.is_none() {
        let test = FormView::new(format!("{path}/test"), Vec::new(), t!("settings-webhook-test"));
        blocks.push(SettingsBlock::Form(test.titled(t!("settings-webhook-test-title"))));
    }
    let mut fields = shared_fields(filled, Some(webhook));
    let enabled = webhook.disabled.is_none();
    let (label, yes) = (t!("settings-webhook-enabled"), t!("settings-webhook-enabled-yes"));
    fields.push(filled.flag("enabled", &label, &yes, enabled));
    let change = FormView::new(path.clone(), fields, t!("settings-webhook-save"));
    blocks.push(SettingsBlock::Form(change.titled(t!("settings-webhook-title"))));
    let mut rotate =
        FormView::new(format!("{path}/rotate"), Vec::new(), t!("settings-webhook-rotate"));
    let leaked = t!("settings-webhook-rotate-leaked");
    let sends = Some(("grace_seconds", "0"));
    rotate.buttons.push(FormButton { tone: "no", sends, label: leaked });
    blocks.push(SettingsBlock::Form(rotate.titled(t!("settings-webhook-secret"))));
    blocks.push(SettingsBlock::Link {
        href: format!("{path}/remove"),
        label: t!("settings-webhook-remove"),
    });
    blocks.push(SettingsBlock::Link {
        href: paths::WEBHOOKS.to_owned(),
        label: t!("settings-webhooks-back"),
    });
    SettingsPage {
        at: paths::WEBHOOKS,
        title: url_without_query(&webhook.url),
        lead: match &webhook.of {
            WebhookScope::Agent(id) => {
                t!("settings-webhook-lead-agent", agent = id.as_str(), number = webhook.generation)
            }
            WebhookScope::Project(id) => t!(
                "settings-webhook-lead-project",
                project = id.as_str(),
                number = webhook.generation
            ),
        },
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
            let at = when(attempt.at);
            // A status is a code, not a number with separators.
            let came = match &attempt.result {
                CallbackResult::Taken { status } => {
                    t!("settings-delivery-accepted", at = at, status = status.to_string())
                }
                CallbackResult::Refused { status } => {
                    t!("settings-delivery-refused", at = at, status = status.to_string())
                }
                CallbackResult::Unreached { error } => {
                    t!("settings-delivery-unreached", at = at, error = error)
                }
            };
            match &attempt.response {
                Some(text) => format!("{came}: {text}"),
                None => came,
            }
        });
        let next = self.next_at.map(|at| t!("settings-delivery-next", at = when(at)));
        let attempts = t!("settings-delivery-attempts", count = self.attempts);
        let facts = [Some(self.id.clone()), Some(attempts), last, next];
        let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let act = RowAction::Post {
            action: format!("{path}/redeliver"),
            sends: ("delivery", self.id.clone()),
            label: t!("settings-delivery-again"),
        };
        SettingsRow {
            title: VisibleText::of(self.topic.map_or(TEST, Topic::as_str)),
            href: self.ask.map(paths::request),
            mark: Some(match self.status {
                DeliveryStatusView::Waiting => t!("settings-delivery-waiting"),
                DeliveryStatusView::Done => t!("settings-delivery-done"),
                DeliveryStatusView::Dead => t!("settings-delivery-dead"),
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
        title: t!("settings-webhook-secret-title"),
        lead: t!("settings-webhook-secret-lead"),
        blocks: vec![
            SettingsBlock::Secret {
                label: t!("settings-webhook-secret-label"),
                value: secret.to_owned(),
            },
            SettingsBlock::Text(t!("settings-webhook-secret-verify")),
            SettingsBlock::Link {
                href: paths::webhook(webhook),
                label: t!("settings-webhook-to-endpoint"),
            },
        ],
        ..SettingsPage::default()
    }
}

/// The confirmation before an endpoint is removed.
pub fn remove(webhook: &Webhook) -> SettingsPage {
    let path = paths::webhook(webhook.id);
    let mut form =
        FormView::new(format!("{path}/remove"), Vec::new(), t!("settings-webhook-remove-button"));
    for button in &mut form.buttons {
        button.tone = "no";
    }
    SettingsPage {
        at: paths::WEBHOOKS,
        title: t!("settings-webhook-remove-title"),
        lead: t!(
            "settings-webhook-remove-lead",
            url = VisibleText::of(&url_without_query(&webhook.url))
        ),
        blocks: vec![
            SettingsBlock::Form(form),
            SettingsBlock::Link { href: path, label: t!("settings-webhook-keep") },
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
        WebhookScope::Agent(id) => t!("settings-webhooks-agent", agent = id.as_str()),
        WebhookScope::Project(id) => t!("settings-webhooks-project", project = id.as_str()),
    }
}

fn disabled_mark(webhook: &Webhook) -> Option<String> {
    webhook.disabled.map(|why| match why {
        WebhookDisabledReason::ByHand => t!("settings-webhooks-disabled"),
        WebhookDisabledReason::Gone => t!("settings-webhooks-gone"),
    })
}

/// A URL without its query and fragment, which may contain secrets.
fn url_without_query(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// Parses the form of a new endpoint or of an existing one.
pub fn read(
    form: &SubmittedForm,
    id: WebhookId,
    known: Option<&Webhook>,
) -> Result<NewWebhook, FormProblems> {
    let not_listed = |field: &str| {
        let mut problem = FormProblems::default();
        problem.add(
            ProblemLocation::Field(field.to_owned()),
            Some(VisibleText::of(&labeled(field))),
            t!("settings-option-expected"),
        );
        problem
    };
    let of = match known {
        Some(known) => known.of.clone(),
        None => match form.value("agent").and_then(|text| text.parse().ok()) {
            Some(Subject::Agent(id)) => WebhookScope::Agent(id),
            Some(Subject::Project(id)) => WebhookScope::Project(id),
            _ => return Err(not_listed("agent")),
        },
    };
    let format =
        WebhookFormat::ALL.into_iter().find(|format| Some(format.as_str()) == form.value("format"));
    let Some(format) = format else {
        return Err(not_listed("format"));
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
