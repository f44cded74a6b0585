//! Names, channels and urgency in plain words, and agent text made safe to show.

use std::fmt;

use kernel::actor::{AttestedIdentity, SenderVerification};
use kernel::ask::{DefaultAction, Priority, RecordedAnswer};
use kernel::audit::Erasable;
use kernel::directory::{Directory, Human};
use kernel::question::QuestionKind;
use kernel::text::reveal;
use kernel::{ActorRef, AnswerInterface, Assurance, HumanId};

use crate::locale::{self, Argument, FluentValue, HtmlArgument};

/// Text from outside, with hidden characters made visible. Templates escape it
/// like everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleText(String);

impl VisibleText {
    /// Makes a whole text safe to show.
    pub fn of(text: &str) -> Self {
        Self(reveal(text))
    }

    /// The first `most` characters, for a list that links to the whole text.
    pub fn beginning(text: &str, most: usize) -> Self {
        let text = text.trim();
        let mut short: String = text.chars().take(most).collect();
        if short.len() < text.len() {
            short.truncate(short.trim_end().len());
            short.push('…');
        }
        Self::of(&short)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number of lines on a screen, if lines wrap at 90 characters.
    pub fn lines(&self) -> usize {
        self.0.lines().map(|line| 1 + line.chars().count() / 90).sum()
    }
}

impl AsRef<str> for VisibleText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Argument for VisibleText {
    fn argument(&self) -> FluentValue<'_> {
        self.as_str().argument()
    }
}

impl HtmlArgument for VisibleText {
    fn html_argument(&self) -> FluentValue<'_> {
        self.as_str().html_argument()
    }
}

impl fmt::Display for VisibleText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A person's name, their id if the name is unknown, or a note that they were erased.
pub fn person_name(directory: &Directory, id: &HumanId) -> String {
    let human = directory.human(id);
    if human.is_some_and(Human::is_erased) {
        return t!("person-erased");
    }
    let profile = human.and_then(|human| human.profile.value());
    match profile.map(|profile| profile.name.trim()) {
        Some(name) if !name.is_empty() => reveal(name),
        Some(_) | None => id.to_string(),
    }
}

/// The name of the actor.
pub fn actor_name(directory: &Directory, by: &ActorRef) -> String {
    match by {
        ActorRef::Human(id) => person_name(directory, id),
        ActorRef::Agent(id) => t!("actor-agent", id = id.to_string()),
        ActorRef::LinkHolder => t!("actor-link-holder"),
        ActorRef::Relay => t!("actor-relay"),
        ActorRef::Guest => t!("actor-guest"),
        ActorRef::System => "Countersign".to_owned(),
    }
}

/// The user that an agent claims to act for, in the agent's words.
pub fn attested_user(attested: &AttestedIdentity) -> String {
    let AttestedIdentity { platform, platform_user_id, display_name, .. } = attested;
    let name = display_name.as_ref().unwrap_or(platform_user_id);
    format!("{} ({})", reveal(name), reveal(platform))
}

/// The channel of an answer.
pub fn channel_name(via: AnswerInterface) -> String {
    match via {
        AnswerInterface::Web => t!("via-web"),
        AnswerInterface::Cli => t!("via-terminal"),
        AnswerInterface::Push => t!("via-notification"),
        AnswerInterface::Slack => t!("via-slack"),
        AnswerInterface::Email => t!("via-email"),
        AnswerInterface::Sms => t!("via-sms"),
        AnswerInterface::Whatsapp => t!("via-whatsapp"),
        AnswerInterface::Telegram => t!("via-telegram"),
        AnswerInterface::Webhook => t!("via-webhook"),
        AnswerInterface::Api => t!("via-api"),
        AnswerInterface::Link => t!("via-link"),
        AnswerInterface::Inline => t!("via-agent"),
        AnswerInterface::Timer => t!("via-timer"),
        AnswerInterface::Script => t!("via-script"),
    }
}

/// How certain the identity of the answerer is. An unknown person who answers on a platform did not
/// hold a review link: the server contacted them at an address that the agent chose.
pub fn assurance_words(answer: &RecordedAnswer) -> String {
    let RecordedAnswer { assurance, via, by, .. } = answer;
    let sender = answer.sender.as_deref().and_then(Erasable::value);
    match (assurance, via, by, sender) {
        (Assurance::Channel, _, _, Some(SenderVerification::Dkim { domain })) => {
            t!("assurance-dkim", domain = reveal(domain))
        }
        (Assurance::Channel, _, _, Some(SenderVerification::Arc { domain, sealer })) => {
            t!("assurance-arc", domain = reveal(domain), sealer = reveal(sealer))
        }
        (Assurance::Link, AnswerInterface::Email, ActorRef::Human(_), _) => {
            t!("assurance-reply-address")
        }
        _ => assurance_label(*assurance, *via),
    }
}

fn assurance_label(assurance: Assurance, via: AnswerInterface) -> String {
    let reached = match via {
        AnswerInterface::Slack
        | AnswerInterface::Email
        | AnswerInterface::Sms
        | AnswerInterface::Whatsapp
        | AnswerInterface::Telegram
        | AnswerInterface::Webhook => true,
        AnswerInterface::Web
        | AnswerInterface::Cli
        | AnswerInterface::Push
        | AnswerInterface::Api
        | AnswerInterface::Link
        | AnswerInterface::Inline
        | AnswerInterface::Timer
        | AnswerInterface::Script => false,
    };
    match assurance {
        Assurance::None => t!("assurance-none"),
        Assurance::AgentAttested if reached => t!("assurance-address-of-agent"),
        Assurance::AgentAttested if via == AnswerInterface::Link => t!("assurance-link-of-agent"),
        Assurance::AgentAttested => t!("assurance-agent-attested"),
        Assurance::Link if reached => t!("assurance-reached-for-agent"),
        Assurance::Link => t!("assurance-link"),
        Assurance::Channel => t!("assurance-channel"),
        Assurance::Session => t!("assurance-session"),
        Assurance::Passkey => t!("assurance-passkey"),
    }
}

/// An urgency as a word, and as a shape that does not depend on colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urgency {
    pub word: String,
    /// A shape that is hidden from screen readers.
    pub shape: &'static str,
    /// The style class.
    pub class: &'static str,
}

impl From<Priority> for Urgency {
    fn from(priority: Priority) -> Self {
        let (word, shape, class) = match priority {
            Priority::Critical => (t!("urgency-critical"), "◆", "critical"),
            Priority::High => (t!("urgency-high"), "▲", "high"),
            Priority::Normal => (t!("urgency-normal"), "●", "normal"),
            Priority::Low => (t!("urgency-low"), "▽", "low"),
        };
        Self { word, shape, class }
    }
}

/// The kind of question, as a label for the person.
pub fn kind(kind: QuestionKind) -> String {
    match kind {
        QuestionKind::Approve => t!("kind-approve"),
        QuestionKind::Choose => t!("kind-choose"),
        QuestionKind::Provide => t!("kind-provide"),
        QuestionKind::Confirm => t!("kind-confirm"),
        QuestionKind::Escalate => t!("kind-escalate"),
        QuestionKind::Converse => t!("kind-converse"),
    }
}

/// The agent's action if no person answers, as a sentence.
pub fn default_action(action: DefaultAction) -> String {
    match action {
        DefaultAction::Skip => t!("default-skip"),
        DefaultAction::Approve => t!("default-approve"),
        DefaultAction::Reject => t!("default-reject"),
        DefaultAction::Abort => t!("default-abort"),
    }
}

/// The label of a confirmation's "yes" button, in place of the protocol's own label.
pub fn go_ahead() -> String {
    t!("confirm-go-ahead")
}

/// The label of the "no" button.
pub fn do_not_go_ahead() -> String {
    t!("confirm-do-not-go-ahead")
}

/// Whether the labels of a confirmation are the protocol's own, which do not name the action.
pub fn are_protocol_labels(yes: &str, no: &str) -> bool {
    (yes, no) == ("Confirm", "Cancel")
}

/// The longest subject on a button, in characters; longer ones are shown above the button.
const LONGEST_SUBJECT: usize = 80;

/// The subject of a question, short enough for a button: "Should I deploy v2?" becomes "deploy v2".
/// `None` if it is too long.
pub fn subject(prompt: &str) -> Option<VisibleText> {
    let text = prompt.trim().trim_end_matches(['?', '.', ':']).trim_end();
    let text = without_opening(text).trim();
    let fits = !text.is_empty() && !text.contains('\n') && text.chars().count() <= LONGEST_SUBJECT;
    fits.then(|| VisibleText::of(text))
}

/// Removes the opening with which a question asks for permission.
fn without_opening(text: &str) -> &str {
    let openings = [
        "should i ",
        "shall i ",
        "may i ",
        "can i ",
        "could i ",
        "is it ok to ",
        "ok to ",
        "approve ",
        "please approve ",
        "do you want me to ",
        "do you approve ",
    ];
    let opening = openings.iter().find(|opening| {
        text.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening))
    });
    opening.and_then(|opening| text.get(opening.len()..)).unwrap_or(text)
}

/// Words for destructive actions. They select a colour, and require the second step for a
/// confirmation whose "no" label contains one of them.
const DESTRUCTIVE: [&str; 18] = [
    "delete",
    "drop",
    "destroy",
    "remove",
    "erase",
    "wipe",
    "purge",
    "truncate",
    "terminate",
    "revoke",
    "kill",
    "shred",
    "overwrite",
    "uninstall",
    "discard",
    "deprovision",
    "nuke",
    "reformat",
];

/// Words that negate the word after them.
const NEGATIONS: [&str; 8] = ["not", "never", "no", "without", "don", "dont", "cannot", "won"];
/// Words that negate the word before them.
const NOTHING: [&str; 3] = ["nothing", "none", "no"];

/// Whether a label or a question names a destructive action: "Delete 3 volumes", "Yes, delete all",
/// "Run `DROP TABLE users`?". "Delete nothing" and "Do not delete it" do not.
pub fn is_destructive(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_one_of =
        |word: Option<&&str>, list: &[&str]| word.is_some_and(|word| list.contains(word));
    words.iter().enumerate().any(|(n, word)| {
        // "don't delete" is three words: `don`, `t` and the verb.
        let before = [1, 2].map(|back| n.checked_sub(back).and_then(|place| words.get(place)));
        DESTRUCTIVE.contains(word)
            && !is_one_of(words.get(n + 1), &NOTHING)
            && !before.into_iter().any(|word| is_one_of(word, &NEGATIONS))
    })
}

/// The text in place of erased text.
pub(crate) fn erased() -> VisibleText {
    VisibleText::of(&t!("text-erased"))
}

/// A number of bytes as people write it.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = bytes.saturating_mul(10) / unit;
            let size = format!("{}.{}", tenths / 10, tenths % 10);
            format!("{} {name}", locale::decimal(&size).unwrap_or(size))
        }
        None => t!("size-bytes", n = bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destructive_verbs_are_found_unless_they_are_denied() {
        for (text, expected) in [
            ("Delete 3 volumes", true),
            ("DROP TABLE users", true),
            ("Should I drop the table?", true),
            ("  “Wipe” the disk", true),
            ("Deleted items are listed", false),
            ("Keep everything, delete nothing", false),
            ("Permanently delete all customer data in eu-1?", true),
            ("Please delete the production backups", true),
            ("Run `DELETE FROM users` on prod", true),
            ("Yes, delete all 3", true),
            ("Delete nothing", false),
            ("Do not delete it", false),
            ("Don't drop the table", false),
            ("Deploy without removing anything", false),
            ("Deploy v2", false),
            ("", false),
        ] {
            assert_eq!(is_destructive(text), expected, "{text}");
        }
    }

    #[test]
    fn subjects_fit_a_button_or_are_left_out() {
        let shown = |prompt: &str| subject(prompt).map(|words| words.to_string());
        assert_eq!(shown("Should I deploy v2.1.0?").as_deref(), Some("deploy v2.1.0"));
        assert_eq!(shown("Refund order 7?").as_deref(), Some("Refund order 7"));
        assert_eq!(shown("Approve ?").as_deref(), Some("Approve"));
        assert_eq!(shown("é").as_deref(), Some("é"));
        assert_eq!(shown("pay\u{202e}?").as_deref(), Some("pay⟨U+202E⟩"));
        assert_eq!(shown("one\ntwo"), None);
        assert_eq!(shown(&"x".repeat(81)), None);
        assert_eq!(shown("?"), None);
    }

    #[test]
    fn beginnings_say_that_they_are_cut() {
        assert_eq!(VisibleText::beginning("short", 10).as_str(), "short");
        assert_eq!(VisibleText::beginning("one two three", 8).as_str(), "one two…");
        assert_eq!(VisibleText::beginning("aé\u{200b}", 3).as_str(), "aé⟨U+200B⟩");
    }

    #[test]
    fn sizes_as_people_say_them() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (1024, "1.0 KiB"),
            (1_572_864, "1.5 MiB"),
            (1 << 30, "1.0 GiB"),
        ] {
            assert_eq!(size(bytes), words);
        }
    }
}
