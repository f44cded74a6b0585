//! A person writes to an agent by answering its standing invitation, which starts a conversation.
//!
//! The invitation is an ask that no agent sent and about which no person is notified. It is asked
//! and answered in one decision, so that the message appears in the audit log, in lists and on a
//! receipt like any answer.

use serde_json::Value;

use crate::actor::Actor;
use crate::ask::{Assignee, Conversation, Route, Vote};
use crate::audit::Erasable;
use crate::command::{Envelope, PersonMessage};
use crate::event::{AskEvent, Asked};
use crate::ids::{AgentId, AskId, Subject};
use crate::question::{Answer, Question, QuestionBody, Reply};
use crate::refusal::Refusal;
use crate::text::{is_storable, is_storable_json};
use crate::world::{Decision, Stop, World};

/// The maximum length of a message, in characters.
pub const LONGEST: usize = 10_000;
/// The maximum size of the metadata, in bytes. It says where the message was written.
const MAX_METADATA_BYTES: usize = 8 * 1024;

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    agent: &AgentId,
    written: &PersonMessage,
) -> Result<Decision, Stop> {
    let Actor::Human { via, assurance, .. } = &envelope.actor else {
        let why = "only a person can write to an agent; this is an agent key";
        return Err(Refusal::NotAllowed { why }.into());
    };
    let (via, assurance) = (*via, *assurance);
    let person = world.directory.person(&envelope.actor)?;
    let agent = world.directory.agent(agent).filter(|agent| agent.accepts_messages_from(person));
    let agent = agent.ok_or(Refusal::NotFound { what: "agent" })?;
    if !agent.conversations {
        return Err(Refusal::NotAllowed { why: "this agent does not accept conversations" }.into());
    }
    let text = &written.text;
    if text.trim().is_empty() || text.chars().count() > LONGEST || !is_storable(text) {
        let expected = "1 to 10000 characters, without NUL";
        return Err(Refusal::Invalid { field: "text", expected }.into());
    }
    let beside = &written.metadata;
    let free = beside.iter().all(|(key, value)| is_storable(key) && is_storable_json(value));
    if !free || Value::Object(beside.clone()).to_string().len() > MAX_METADATA_BYTES {
        let expected = "at most 8 KiB without NUL characters";
        return Err(Refusal::Invalid { field: "metadata", expected }.into());
    }
    let invitation = Question::new(format!("Write to {}", agent.id), None, QuestionBody::Converse);
    let invitation = invitation
        .map_err(|error| Refusal::Invalid { field: error.field, expected: error.expected })?;
    let reply = Reply { answer: Answer::Replied { text: text.to_owned() }, comment: None };
    let reply = invitation.check(reply).map_err(Refusal::from)?.into_reply();

    let mut salts = envelope.salts.clone();
    let id = AskId::new(envelope.fresh);
    let asked = Asked {
        route: Route::Person { human: person.id.clone() },
        assignees: vec![Assignee::Person { human: person.id.clone() }],
        // A message that a person starts decides nothing that was asked, so its own assurance is
        // the minimum. If the agent needs more, it asks.
        minimum_assurance: assurance,
        conversation: Some(Conversation { opening: id, with: person.id.clone() }),
        ..Asked::new(agent, invitation, beside.clone(), &mut salts)
    };
    let vote = Box::new(Vote {
        reply: Erasable::new(reply, &mut salts),
        by: envelope.actor.to_ref(),
        via,
        assurance,
        at: world.now,
        attested: None,
        verification: None,
        passkey: None,
        shown: Some(envelope.shown),
        sender: envelope.sender(&mut salts),
    });
    let mut decision = Decision::of(Subject::Ask(id), AskEvent::Asked(Box::new(asked)));
    decision.happened.push((Subject::Ask(id), AskEvent::Answered { vote, decisive: true }.into()));
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Map;
    use ulid::Ulid;

    use super::*;
    use crate::actor::{ActorRef, Assurance};
    use crate::ask::Phase;
    use crate::command::{AskCommand, DirectoryCommand};
    use crate::directory::{
        NewHuman, NewProject, NewWebhook, Profile, WebhookFormat, WebhookScope,
    };
    use crate::follow_up::FollowUp;
    use crate::ids::WebhookId;
    use crate::receipt::Receipt;
    use crate::testing::{Cast, human};
    use crate::topic::Topic;

    fn bot() -> AgentId {
        "bot".parse().unwrap()
    }

    /// A2H-132: the message is asked and answered at once, by the person, and only the agent is
    /// notified.
    #[test]
    fn a_conversation_begins_with_an_answer_to_the_invitation() {
        let mut cast = Cast::new();
        let before = cast.follow_ups().len();
        let id = cast.write("mark", "bot", "Please refund order 7");
        let ask = cast.seen(id);
        assert_eq!(ask.phase(), Phase::Completed);
        assert!(ask.starts_conversation());
        let said = ask.deciding_answer().unwrap().reply.value().unwrap();
        assert_eq!(said.answer, Answer::Replied { text: "Please refund order 7".to_owned() });
        assert_eq!(cast.follow_ups().len(), before, "nobody is told");
        let record = cast.record_of(id);
        let names: Vec<&str> = record.iter().map(|event| event.what.name()).collect();
        assert_eq!(names, ["asked", "answered"]);
        assert!(record.iter().all(|event| event.by == ActorRef::Human(human("mark"))));
        assert!(Receipt::of(ask).is_some());
        // The agent's owner may read it, a colleague may not.
        let shown = |who: &str| ask.is_visible_to(&cast.human(who), cast.directory());
        assert!(shown("mark") && shown("olga") && !shown("nina"));
        assert!(
            ask.is_visible_to_key(&cast.agent("bot")) && !ask.is_visible_to_key(&cast.agent("spy"))
        );
    }

    #[test]
    fn who_may_write_to_whom() {
        let mut cast = Cast::new();
        let silent =
            cast.attempt(cast.human("mark"), AskCommand::Write(bot(), "hi".to_owned().into()));
        let why = "this agent does not accept conversations";
        assert_eq!(silent, Err(Refusal::NotAllowed { why }));
        cast.write("olga", "bot", "hi");
        for (id, admin, active, project) in [
            ("root", true, true, None),
            ("left", false, true, None),
            ("gone", false, false, Some("acme")),
        ] {
            cast.run(
                Actor::System,
                DirectoryCommand::SaveHuman(NewHuman {
                    id: human(id),
                    profile: Profile::default(),
                    admin,
                    active,
                    projects: project.map(|id| id.parse().unwrap()).into_iter().collect(),
                    groups: BTreeSet::new(),
                    skills: BTreeSet::new(),
                }),
            );
        }
        let mut write = |actor: Actor, agent: &str| {
            let agent = agent.parse().unwrap();
            let written = cast.attempt(actor, AskCommand::Write(agent, "hi".to_owned().into()));
            written.map_err(|refusal| refusal.code())
        };
        let person = |name: &str| Cast::new().human(name);
        for (actor, agent, outcome) in [
            (person("mark"), "bot", Ok(())),
            (person("olga"), "bot", Ok(())),
            (person("root"), "bot", Ok(())),
            (person("left"), "bot", Err("not-found")),
            (person("zoe"), "bot", Err("not-found")),
            (person("mark"), "nobody", Err("not-found")),
            (person("gone"), "bot", Err("not-allowed")),
            (Cast::new().agent("bot"), "bot", Err("not-allowed")),
            (Actor::System, "bot", Err("not-allowed")),
        ] {
            assert_eq!(write(actor.clone(), agent), outcome, "{actor:?} to {agent}");
        }
    }

    #[test]
    fn a_text_is_neither_empty_nor_a_document() {
        let mut cast = Cast::new();
        cast.write("mark", "bot", &"ü".repeat(LONGEST));
        let before = cast.records().len();
        for text in [String::new(), " \n".to_owned(), "ü".repeat(LONGEST + 1), "a\0b".to_owned()] {
            let refused = cast.attempt(cast.human("mark"), AskCommand::Write(bot(), text.into()));
            assert!(matches!(refused, Err(Refusal::Invalid { field: "text", .. })), "{refused:?}");
        }
        assert_eq!(cast.records().len(), before);
    }

    /// A2H-113, A2H-114: the origin is stored beside the message, is small, and is erased with the
    /// text.
    #[test]
    fn where_it_was_written_is_kept_with_it() {
        let mut cast = Cast::new();
        cast.write("mark", "bot", "so that it is open");
        let beside = |text: &str| Map::from_iter([("origin".to_owned(), Value::from(text))]);
        let mut write = |metadata| {
            let written = Box::new(PersonMessage { text: "hi".to_owned(), metadata });
            cast.attempt(cast.human("mark"), AskCommand::Write(bot(), written))
        };
        for (metadata, fits) in [
            (beside("by mail"), true),
            (beside(&"x".repeat(MAX_METADATA_BYTES)), false),
            (beside("a\0b"), false),
            (Map::from_iter([("a\0b".to_owned(), Value::Null)]), false),
        ] {
            let outcome = write(metadata);
            let refused = matches!(outcome, Err(Refusal::Invalid { field: "metadata", .. }));
            assert_eq!((outcome.is_ok(), refused), (fits, !fits));
        }
        let written =
            Box::new(PersonMessage { text: "hi".to_owned(), metadata: beside("by mail") });
        cast.run(cast.human("mark"), AskCommand::Write(bot(), written));
        let id = cast.newest();
        assert_eq!(cast.seen(id).metadata.value(), Some(&beside("by mail")));
        cast.run(Actor::System, AskCommand::Erase(id));
        assert_eq!(cast.seen(id).metadata.value(), None);
    }

    /// A message that no agent asked for needs no more assurance than it has; the receipt states
    /// it.
    #[test]
    fn the_floor_of_a_project_is_for_what_agents_ask() {
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { minimum_assurance: Assurance::Passkey, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let id = cast.write("mark", "bot", "hi");
        assert_eq!(cast.seen(id).deciding_answer().unwrap().assurance, Assurance::Session);
        assert_eq!(cast.seen(id).minimum_assurance, Assurance::Session);
    }

    #[test]
    fn endpoints_hear_one_thing() {
        let mut cast = Cast::new();
        for format in WebhookFormat::ALL {
            assert!(format.supports(Topic::Started));
        }
        let new = NewWebhook {
            id: WebhookId::new(Ulid::from(1_u128)),
            of: WebhookScope::Agent(bot()),
            url: "https://agent.example/hook".to_owned(),
            events: Topic::ALL.into(),
            format: WebhookFormat::Standard,
            description: String::new(),
            enabled: true,
        };
        cast.run(Actor::System, DirectoryCommand::SaveWebhook(new));
        let id = cast.write("mark", "bot", "hi");
        let told: Vec<_> = cast
            .follow_ups()
            .iter()
            .filter_map(|effect| {
                let FollowUp::Webhook { message: told, .. } = effect else { return None };
                Some((told.topic, told.ask))
            })
            .collect();
        assert_eq!(told, [(Some(Topic::Started), Some(id))]);
    }
}
