//! An agent continues a conversation that a person started. The ask goes to that person and follows
//! the newest ask of the conversation, answered or not.

use crate::ask::Route;
use crate::ask::create;
use crate::command::{Envelope, NewAsk};
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    conversation: AskId,
    new: &NewAsk,
) -> Result<Decision, Stop> {
    let unknown = Refusal::NotFound { what: "conversation" };
    let opening = match world.ask(conversation) {
        Err(Stop::Refused(_)) => return Err(unknown.into()),
        found => found?,
    };
    let begun = opening.conversation.as_ref().filter(|_| opening.starts_conversation());
    let Some(begun) = begun.filter(|_| opening.is_visible_to_key(&envelope.actor)) else {
        return Err(unknown.into());
    };
    // The conversation determines both fields.
    for (field, given) in [("route", new.route != Route::Owner), ("follows", new.follows.is_some())]
    {
        if given {
            let expected = "no value, because the conversation determines it";
            return Err(Refusal::Invalid { field, expected }.into());
        }
    }
    let there = world.directory.human(&begun.with).zip(world.directory.agent(&opening.agent));
    if !there.is_some_and(|(person, agent)| agent.accepts_messages_from(person)) {
        let why = "the person who began this conversation is no longer in the project";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let follows = Some(opening.latest.unwrap_or(opening.id));
    let route = Route::Person { human: begun.with.clone() };
    create::decide(world, envelope, &NewAsk { route, follows, ..new.clone() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::actor::Actor;
    use crate::ask::Assignee;
    use crate::command::{AskCommand, DirectoryCommand};
    use crate::directory::{
        Absence, EscalationStep, NewHuman, NewProfile, NewProject, Profile, ProfileSettings,
    };
    use crate::follow_up::{FollowUp, NotificationReason};
    use crate::question::{Answer, Question, QuestionBody, Reply};
    use crate::testing::{Cast, human, new_ask, yes};

    fn talk(text: &str) -> NewAsk {
        NewAsk { question: Question::new(text, None, QuestionBody::Converse).unwrap(), ..new_ask() }
    }

    /// A2H-131, A2H-133: each reply follows the newest ask, answered or not, and goes to the person
    /// who started the conversation.
    #[test]
    fn a_conversation_goes_on_from_its_newest_ask() {
        let mut cast = Cast::new();
        let opening = cast.write("mark", "bot", "Refund order 7");
        let first = cast.reply(opening, talk("Which amount?"));
        let said = Answer::Replied { text: "all of it".to_owned() };
        let said = Box::new(Reply { answer: said, comment: None });
        cast.run(cast.human("mark"), AskCommand::Answer(first, said));
        let second = cast.reply(opening, talk("Working on it"));
        let third = cast.reply(opening, new_ask());
        for (id, follows, followed_by) in [
            (opening, None, Some(first)),
            (first, Some(opening), Some(second)),
            (second, Some(first), Some(third)),
            (third, Some(second), None),
        ] {
            let ask = cast.seen(id);
            assert_eq!((ask.follows, ask.followed_by), (follows, followed_by));
            assert_eq!(ask.conversation, cast.seen(opening).conversation);
            assert_eq!(ask.starts_conversation(), id == opening);
            assert_eq!(ask.assignees, [Assignee::Person { human: human("mark") }]);
        }
        assert_eq!(cast.seen(opening).latest, Some(third));
        assert!(cast.seen(second).is_open(), "each waits for its own answer");
        cast.run(cast.human("mark"), AskCommand::Answer(third, yes()));
        let told = cast.follow_ups().iter().any(|effect| {
            matches!(effect, FollowUp::Notify { ask, why: NotificationReason::Asked, .. } if *ask == first)
        });
        assert!(told, "the person is told of a reply");
    }

    /// Every way to continue an ask of a conversation continues the conversation.
    #[test]
    fn a_plain_follow_up_belongs_to_the_conversation() {
        let mut cast = Cast::new();
        let opening = cast.write("mark", "bot", "Refund order 7");
        let asked_owner = cast.ask(NewAsk { follows: Some(opening), ..new_ask() });
        assert_eq!(cast.seen(asked_owner).assignees, [Assignee::Person { human: human("olga") }]);
        let reply = cast.reply(opening, talk("Olga says yes"));
        assert_eq!(cast.seen(reply).follows, Some(asked_owner));
    }

    #[test]
    fn only_what_a_person_began_within_reach_is_replied_to() {
        let mut cast = Cast::new();
        let opening = cast.write("mark", "bot", "hi");
        let (reply, plain) = (cast.reply(opening, talk("yes?")), cast.ask(new_ask()));
        let nothing = AskId::new(ulid::Ulid::from(u128::MAX));
        let unknown = Err(Refusal::NotFound { what: "conversation" });
        for (agent, id) in [("spy", opening), ("bot", reply), ("bot", plain)] {
            let refused =
                cast.attempt(cast.agent(agent), AskCommand::Reply(id, Box::new(talk("x"))));
            assert_eq!(refused, unknown, "{agent}");
        }
        let refused =
            cast.attempt(cast.agent("bot"), AskCommand::Reply(nothing, Box::new(talk("x"))));
        assert!(matches!(refused, Err(Refusal::NotFound { .. })));
        let person =
            cast.attempt(cast.human("mark"), AskCommand::Reply(opening, Box::new(talk("x"))));
        assert_eq!(person, unknown);
        for (new, field) in [
            (NewAsk { follows: Some(plain), ..talk("x") }, "follows"),
            (NewAsk { route: Route::Delegate, ..talk("x") }, "route"),
        ] {
            let refused =
                cast.attempt(cast.agent("bot"), AskCommand::Reply(opening, Box::new(new)));
            assert!(matches!(refused, Err(Refusal::Invalid { field: f, .. }) if f == field));
        }
    }

    fn save(cast: &mut Cast, id: &str, active: bool, projects: &[&str]) {
        cast.run(
            Actor::System,
            DirectoryCommand::SaveHuman(NewHuman {
                id: human(id),
                profile: Profile::default(),
                admin: false,
                active,
                projects: projects.iter().map(|id| id.parse().unwrap()).collect(),
                groups: BTreeSet::new(),
                skills: BTreeSet::new(),
            }),
        );
    }

    #[test]
    fn whoever_left_is_not_written_to() {
        let mut cast = Cast::new();
        let (of_mark, of_olga) = (cast.write("mark", "bot", "hi"), cast.write("olga", "bot", "hi"));
        let goes_on = |cast: &mut Cast, id| {
            cast.attempt(cast.agent("bot"), AskCommand::Reply(id, Box::new(talk("hello")))).is_ok()
        };
        save(&mut cast, "mark", true, &["rival"]);
        assert!(!goes_on(&mut cast, of_mark));
        save(&mut cast, "mark", true, &["acme"]);
        assert!(goes_on(&mut cast, of_mark));
        save(&mut cast, "mark", false, &["acme"]);
        assert!(!goes_on(&mut cast, of_mark));
        // The owner of the agent need not be a member of its project.
        save(&mut cast, "olga", true, &[]);
        assert!(goes_on(&mut cast, of_olga));
    }

    /// Replies go to the person who wrote: no substitute is asked, and there is no escalation.
    #[test]
    fn a_conversation_is_between_two() {
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let ladder =
            vec![EscalationStep { after: 60, assignee: Assignee::Person { human: human("nina") } }];
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { escalation_steps: ladder, ..plain }),
        );
        let absence = Absence { delegate: Some(human("nina")), ..Absence::default() };
        let about = Some(ProfileSettings { absence: Some(absence), ..ProfileSettings::default() });
        let away = NewProfile { human: human("mark"), name: None, about };
        cast.run(Actor::System, DirectoryCommand::SaveProfile(away));
        let opening = cast.write("mark", "bot", "hi");
        let reply = cast.reply(opening, talk("hello"));
        assert_eq!(cast.seen(reply).assignees, [Assignee::Person { human: human("mark") }]);
        assert_eq!(cast.seen(reply).escalation_steps, []);
    }

    /// The text is erased, but the conversation still exists.
    #[test]
    fn an_erased_opening_is_still_one() {
        let mut cast = Cast::new();
        let opening = cast.write("mark", "bot", "hi");
        cast.run(Actor::System, AskCommand::Erase(opening));
        assert!(cast.seen(opening).question.value().is_none());
        let stored = serde_json::to_string(cast.seen(opening)).unwrap();
        assert!(!stored.contains("\"hi\""));
        let reply = cast.reply(opening, talk("hello"));
        assert_eq!(cast.seen(reply).follows, Some(opening));
    }
}
