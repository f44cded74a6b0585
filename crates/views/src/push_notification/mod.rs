//! The content of a push notification: who asks, in the server's words, and the question, in the
//! agent's words; or how the request ended.
//!
//! It has buttons only if it shows the whole question and a simple answer is enough. In all other
//! cases it links to the page.

use kernel::ask::Priority;
use kernel::directory::Directory;
use kernel::follow_up::NotificationReason;
use kernel::question::{Question, QuestionBody};
use kernel::text::is_hidden;
use kernel::{Ask, Time};
use serde::Serialize;

use crate::answer::outcome::OutcomeView;
use crate::components::claims::wants_verification;
use crate::components::facts::{Fact, FactList, FactValue};
use crate::components::wording::VisibleText;
use crate::message_card::{
    MessageCard, WaitingRequests, marked_irreversible, marked_urgent, phrase,
};
use crate::site::paths;

/// The longest question that is shown in full: about as much as phones and desktops show.
const MAX_WHOLE_CHARS: usize = 180;
/// How many characters of a longer question are shown.
const BEGINNING: usize = 140;
/// How many requests of a digest are shown, and how many characters of each.
const LINES: usize = 3;
const LINE: usize = 60;

/// The payload for a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PushNotification {
    pub title: String,
    /// The agent's text.
    pub body: String,
    /// A later notification with the same tag replaces this one.
    pub tag: String,
    /// The path that it opens.
    pub url: String,
    /// Whether it only reports the end of a request: it replaces the earlier notification and
    /// makes no sound.
    pub over: bool,
    /// Whether it stays until the person dismisses it.
    pub urgent: bool,
    /// The token that its buttons answer with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

impl PushNotification {
    /// The notification about a waiting request.
    pub fn waiting_request(ask: &Ask, why: NotificationReason) -> Self {
        let urgent = ask.priority == Priority::Critical;
        let title = marked_urgent(ask, occasion(why, phrase(ask)));
        let body = whole_question(ask).unwrap_or_else(|| {
            let prompt = ask.question.value().map(Question::prompt);
            let beginning = VisibleText::beginning(prompt.unwrap_or_default(), BEGINNING);
            format!("{beginning}\n{}", t!("push-open"))
        });
        Self { urgent, ..Self::for_ask(ask, title, body) }
    }

    /// The notification about a closed request: who decided what.
    pub fn closed_request(ask: &Ask, directory: &Directory, now: Time) -> Option<Self> {
        let outcome = OutcomeView::of(ask, directory, now)?;
        let changes = outcome.changes();
        let title = match outcome.who {
            Some(who) => t!("card-outcome-by", outcome = outcome.headline, who = who),
            None => outcome.headline,
        };
        let prompt = ask.question.value().map(Question::prompt);
        let asked = VisibleText::beginning(prompt.unwrap_or_default(), BEGINNING).to_string();
        // An approval with changes differs from the original question.
        let body = match changes {
            Some(changes) => {
                let changes = VisibleText::beginning(&changes, BEGINNING);
                let asked = t!("push-changed-asked", prompt = asked);
                format!("{asked}\n{}", t!("push-changed", changes = changes))
            }
            None => asked,
        };
        Some(Self { over: true, ..Self::for_ask(ask, title, body) })
    }

    /// The digest of low-priority requests: their number, and the first of them.
    pub fn digest(waiting: &WaitingRequests) -> Self {
        let title = waiting.title();
        let line = |ask: &Ask| {
            let prompt = ask.question.value().map(Question::prompt).unwrap_or_default();
            let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
            let agent = marked_irreversible(ask, ask.agent.to_string());
            format!("{agent}: {}", VisibleText::beginning(&line, LINE))
        };
        let lines: Vec<String> = waiting.asks.iter().take(LINES).map(line).collect();
        let body = lines.join("\n");
        let (tag, url) = ("gathered".to_owned(), paths::INBOX.to_owned());
        Self { title, body, tag, url, over: false, urgent: false, answer: None }
    }

    /// The content of a card, without buttons.
    pub fn of_card(card: &MessageCard) -> Self {
        Self {
            title: card.title.clone(),
            body: VisibleText::beginning(&card.words, BEGINNING).to_string(),
            tag: card.link.clone(),
            url: card.link.clone(),
            over: false,
            urgent: card.urgent,
            answer: None,
        }
    }

    /// The test notification for a device.
    pub fn test() -> Self {
        Self {
            title: t!("push-test"),
            body: t!("push-test-text"),
            tag: "test".to_owned(),
            url: paths::INBOX.to_owned(),
            over: false,
            urgent: false,
            answer: None,
        }
    }

    fn for_ask(ask: &Ask, title: String, body: String) -> Self {
        let (tag, url) = (ask.id.to_string(), paths::request(ask.id));
        Self { title, body, tag, url, over: false, urgent: false, answer: None }
    }

    /// The JSON for the service worker.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Whether a notification may have buttons: it shows the whole question, and the answer needs no
/// edits, no reason, no proof and no confirmation.
pub fn allows_buttons(ask: &Ask) -> bool {
    let plain = ask.question.value().is_some_and(|question| match question.body() {
        QuestionBody::Approve { editable, reject_requires_reason, .. } => {
            !editable.is_any() && !reject_requires_reason
        }
        QuestionBody::Choose { .. }
        | QuestionBody::Provide { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => false,
    });
    plain
        && !ask.needs_confirmation()
        && ask.verification.is_none()
        && !wants_verification(ask)
        && ask.allows_bulk().is_ok()
        && whole_question(ask).is_some()
}

/// The whole question of an approval, if a notification can show it.
fn whole_question(ask: &Ask) -> Option<String> {
    let question = ask.question.value()?;
    let QuestionBody::Approve { details, .. } = question.body() else { return None };
    if question.context().is_some_and(|context| !context.trim().is_empty()) {
        return None;
    }
    let facts = FactList::of(details, "notice");
    let line = |fact: &Fact| match &fact.value {
        FactValue::Line(value) | FactValue::Link(value) => Some(format!("{}: {value}", fact.key)),
        FactValue::Block(_) => None,
    };
    let prompt = question.prompt().trim();
    let mut lines = vec![prompt.to_owned()];
    for fact in facts.headline.iter().chain(&facts.rows) {
        lines.push(line(fact)?);
    }
    let text = lines.join("\n");
    let shown = !prompt.contains('\n') && !prompt.contains(is_hidden);
    (shown && text.chars().count() <= MAX_WHOLE_CHARS).then_some(text)
}

fn occasion(why: NotificationReason, title: String) -> String {
    match why {
        NotificationReason::Asked => title,
        NotificationReason::Assigned => t!("push-assigned", title = title),
        NotificationReason::Reminder => t!("push-reminder", title = title),
        NotificationReason::Escalated => t!("push-escalated", title = title),
    }
}

#[cfg(test)]
mod tests {
    use kernel::command::{AskCommand, DirectoryCommand, NewAsk};
    use kernel::directory::NewProject;
    use kernel::question::Editable;
    use kernel::testing::{Cast, new_ask, no};
    use kernel::{Actor, Assurance};
    use serde_json::{Value, json};

    use super::*;

    fn approve(prompt: &str, details: &Value) -> NewAsk {
        with(prompt, None, details, false, false)
    }

    fn with(
        prompt: &str,
        context: Option<&str>,
        details: &Value,
        editable: bool,
        reject_requires_reason: bool,
    ) -> NewAsk {
        let details = details.as_object().unwrap().clone();
        let editable = Editable::Flag(editable);
        let reject_options = Vec::new();
        let body =
            QuestionBody::Approve { details, editable, reject_requires_reason, reject_options };
        let question = Question::new(prompt, context.map(str::to_owned), body).unwrap();
        NewAsk { question, ..new_ask() }
    }

    fn doubtful() -> Box<kernel::ask::NewExperienceEnvelope> {
        let mut claims = kernel::testing::claims();
        claims.content.insert("transparency".to_owned(), json!({ "verification_needed": true }));
        claims
    }

    #[test]
    fn a_notification_says_who_in_our_words_and_what_in_theirs() {
        let mut cast = Cast::new();
        let id = cast.ask(approve("Refund Ada?", &json!({ "amount": 120, "currency": "EUR" })));
        let notification =
            PushNotification::waiting_request(cast.seen(id), NotificationReason::Asked);
        assert_eq!(notification.title, "bot wants your approval");
        assert_eq!(notification.body, "Refund Ada?\nAmount: 120 EUR\nCurrency: EUR");
        assert_eq!((notification.tag, notification.url), (id.to_string(), format!("/asks/{id}")));
        let reminder =
            PushNotification::waiting_request(cast.seen(id), NotificationReason::Reminder);
        assert_eq!(reminder.title, "Still waiting: bot wants your approval");
        let urgent = NewAsk { priority: Priority::Critical, ..approve("Refund?", &json!({})) };
        let urgent = cast.ask(urgent);
        let notification =
            PushNotification::waiting_request(cast.seen(urgent), NotificationReason::Assigned);
        assert_eq!(notification.title, "Urgent: Assigned to you: bot wants your approval");
        assert!(notification.urgent && !notification.over);
        let fatal = cast.ask(approve("Drop it?", &json!({ "reversible": false })));
        let notification =
            PushNotification::waiting_request(cast.seen(fatal), NotificationReason::Asked);
        assert_eq!(notification.title, "bot wants your approval (can't be undone)");
        cast.run(cast.human("olga"), AskCommand::Answer(id, no()));
        let over =
            PushNotification::closed_request(cast.seen(id), cast.directory(), cast.now()).unwrap();
        assert_eq!((&*over.title, &*over.body), ("Rejected by olga", "Refund Ada?"));
        assert!(over.over);
    }

    /// The question's values differ from the approved ones.
    #[test]
    fn an_edited_approval_says_what_was_approved() {
        let mut cast = Cast::new();
        let new = with("Send to 18240 people?", None, &json!({ "to": 18240 }), true, false);
        let id = cast.ask(new);
        let edits = Some(json!({ "to": 500 }).as_object().unwrap().clone());
        let answer = kernel::question::Answer::Approved { edits };
        let reply = Box::new(kernel::question::Reply { answer, comment: None });
        cast.run(cast.human("olga"), AskCommand::Answer(id, reply));
        let over =
            PushNotification::closed_request(cast.seen(id), cast.directory(), cast.now()).unwrap();
        assert_eq!(over.title, "Approved with changes by olga");
        assert_eq!(over.body, "Asked: Send to 18240 people?\nApproved with: To: 18240 → 500");
    }

    #[test]
    fn what_can_wait_is_told_together() {
        let mut cast = Cast::new();
        let ids = ["a\nb", "c", "d", "e"].map(|prompt| cast.ask(approve(prompt, &json!({}))));
        let asks = ids.map(|id| cast.seen(id).clone()).to_vec();
        let notification =
            PushNotification::digest(&WaitingRequests { asks: asks.clone(), more: 7 });
        assert_eq!(notification.title, "11 requests wait for you");
        assert_eq!(notification.body, "bot: a b\nbot: c\nbot: d");
        assert_eq!((&*notification.url, notification.urgent), ("/", false));
        let one = PushNotification::digest(&WaitingRequests { asks: asks[..1].to_vec(), more: 0 });
        assert_eq!(one.title, "One request waits for you");
    }

    /// A shortened text is marked as such, and control characters are made visible.
    #[test]
    fn what_is_cut_says_so() {
        let mut cast = Cast::new();
        let id = cast.ask(approve(&"x".repeat(181), &json!({})));
        let body = PushNotification::waiting_request(cast.seen(id), NotificationReason::Asked).body;
        assert_eq!(body, format!("{}…\nOpen it to read all of it.", "x".repeat(BEGINNING)));
        let id = cast.ask(approve("pay\u{202e}", &json!({})));
        let body = PushNotification::waiting_request(cast.seen(id), NotificationReason::Asked).body;
        assert!(body.starts_with("pay⟨U+202E⟩"), "{body}");
    }

    #[test]
    fn buttons_stand_only_where_a_plain_word_answers_all_of_it() {
        let mut cast = Cast::new();
        let short = || approve("Refund Ada?", &json!({ "amount": 120 }));
        let nested = json!({ "order": { "lines": [1, 2, 3] } });
        let long = json!({ "note": "x".repeat(200) });
        for (what, new, expected) in [
            ("short", short(), true),
            ("as long as can be", approve(&"x".repeat(180), &json!({})), true),
            ("too long", approve(&"x".repeat(181), &json!({})), false),
            ("details too long", approve("Refund?", &long), false),
            ("details in blocks", approve("Refund?", &nested), false),
            ("two lines", approve("Refund?\nNow", &json!({})), false),
            ("hidden characters", approve("Refund\u{200b}?", &json!({})), false),
            ("context", with("Refund?", Some("Because"), &json!({}), false, false), false),
            ("editable", with("Refund?", None, &json!({ "n": 1 }), true, false), false),
            ("a reason", with("Refund?", None, &json!({}), false, true), false),
            ("irreversible", approve("Drop?", &json!({ "irreversible": true })), false),
            ("critical", NewAsk { priority: Priority::Critical, ..short() }, false),
            ("high", NewAsk { priority: Priority::High, ..short() }, true),
            ("to be verified", NewAsk { claims: Some(doubtful()), ..short() }, false),
            (
                "said to be sure",
                NewAsk { claims: Some(kernel::testing::claims()), ..short() },
                true,
            ),
            (
                "no approval",
                NewAsk {
                    question: Question::new("?", None, QuestionBody::Converse).unwrap(),
                    ..new_ask()
                },
                false,
            ),
        ] {
            let id = cast.ask(new);
            assert_eq!(allows_buttons(cast.seen(id)), expected, "{what}");
        }
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { minimum_assurance: Assurance::Passkey, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let id = cast.ask(short());
        assert!(!allows_buttons(cast.seen(id)), "a passkey is demanded");
    }
}
