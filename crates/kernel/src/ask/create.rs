//! Creates an ask.

use std::collections::BTreeSet;

use crate::actor::Actor;
use crate::ask::assurance::check_silence;
use crate::ask::{
    Ask, AskToken, Assignee, Callback, Conversation, Dialect, Ending, OnExpiry, PostingAddress,
    Route, ScheduledEscalation,
};
use crate::audit::{Erasable, Salts};
use crate::command::{Envelope, NewAsk, NewOnExpiry};
use crate::directory::{Agent, Human, Project};
use crate::event::{AskEvent, Asked};
use crate::ids::{AskId, Subject};
use crate::refusal::Refusal;
use crate::routing::{RoutingInput, assignees};
use crate::text::{is_short, is_storable, is_storable_json};
use crate::time::{LONGEST_TIMEOUT, Time};
use crate::world::{Decision, Stop, World};

/// The maximum number of tags of an ask.
const MOST_TAGS: usize = 50;
/// The maximum number of reminders of an ask or a project.
pub(crate) const MOST_REMINDERS: usize = 20;
/// Without a deadline nothing but `stay_open` would ever take effect, and the agent would wait
/// indefinitely.
const NEEDS_TIMEOUT: &str = "stay_open, or timeout_seconds together with it";
/// The maximum length of a callback URL, in bytes.
const LONGEST_URL: usize = 2000;

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewAsk,
) -> Result<Decision, Stop> {
    let Actor::Agent { id, project, key, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only an agent can ask" }.into());
    };
    let agent = world.directory.agent(id).filter(|agent| agent.project == *project);
    let (Some(agent), Some(project)) = (agent, world.directory.project(project)) else {
        return Err(Refusal::NotAllowed { why: "this agent is not registered" }.into());
    };
    check(new)?;
    new.claims.as_ref().map_or(Ok(()), |claims| claims.check(project.envelopes))?;
    for means in new.posting_address.iter().map(|place| &place.contact_method).chain(&new.copies) {
        project.recipients.check_recipient(world.directory, agent, means)?;
    }
    let previous = new.follows.map(|id| previous_ask(world, envelope, new, id)).transpose()?;
    let conversation = previous.and_then(|previous| previous.conversation.as_ref());
    check_route(world, agent, new, conversation)?;

    let mut salts = envelope.salts.clone();
    let on_expiry = on_expiry(new, &mut salts)?;
    let kind = new.question.kind();
    let (tags, labels) = (&new.tags, &new.labels);
    let facts =
        RoutingInput { agent, route: &new.route, kind, priority: new.priority, tags, labels };
    // A conversation belongs to the person who started it: no substitute is asked, and there is no
    // escalation.
    let theirs = conversation.is_some_and(|conversation| conversation.is_reached_by(&new.route));
    let (seats, ladder) = match conversation.filter(|_| theirs) {
        Some(with) => (vec![Assignee::Person { human: with.with.clone() }], Vec::new()),
        None => {
            (assignees(world.directory, &facts, world.now), scheduled_escalations(world, project))
        }
    };

    let expires_at = new.timeout.map(|seconds| world.now.plus_seconds(seconds));
    let ask = AskId::new(envelope.fresh);
    let asked = Asked::new(agent, new.question.clone(), new.metadata.clone(), &mut salts);
    let asked = Asked {
        key: Some(*key),
        dialect: new.dialect,
        labels: new.labels.clone(),
        tags: new.tags.clone(),
        priority: new.priority,
        route: new.route.clone(),
        assignees: seats.clone(),
        expires_at,
        on_expiry,
        reminders: reminder_times(world, project, new, expires_at),
        escalation_steps: ladder,
        follows: new.follows,
        minimum_assurance: new
            .assurance
            .map_or(project.minimum_assurance, |wanted| wanted.max(project.minimum_assurance)),
        irreversible_assurance: project.irreversible_assurance,
        // Tokens that are created with an ask always belong to the agent that asks, whatever the
        // command says.
        grants: new
            .grants
            .iter()
            .map(|grant| AskToken::to_agent(grant.purpose, grant.hash))
            .collect(),
        inline: new.inline.clone(),
        callback: new
            .callback
            .clone()
            .map(|url| Callback { url: Erasable::new(url, &mut salts), key: *key }),
        verification: new.verification.clone(),
        posting_address: new
            .posting_address
            .clone()
            .map(|address| Box::new(Erasable::new(address, &mut salts))),
        conversation: conversation.cloned(),
        claims: new.claims.as_ref().map(|claims| claims.to_stored(project.envelopes, &mut salts)),
        ..asked
    };
    check_silence(project, &asked, &new.on_expiry)?;
    let mut decision = Decision::of(Subject::Ask(ask), AskEvent::Asked(Box::new(asked)));
    if let Some(previous) = previous {
        decision
            .happened
            .push((Subject::Ask(previous.id), AskEvent::Followed { next: ask }.into()));
    }
    // The first ask of a conversation records the newest one, so that no lookup has to follow the
    // whole conversation.
    if let Some(opening) = conversation.map(|conversation| conversation.opening)
        && new.follows != Some(opening)
    {
        world.ask(opening)?;
        decision.happened.push((Subject::Ask(opening), AskEvent::Followed { next: ask }.into()));
    }
    Ok(decision)
}

fn check(new: &NewAsk) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    if new.timeout.is_some_and(|seconds| seconds > LONGEST_TIMEOUT) {
        return invalid("timeout_seconds", "at most 100 years");
    }
    if new.timeout.is_none()
        && new.on_expiry != NewOnExpiry::StayOpen
        && states_deadline(new.dialect)
    {
        return invalid("on_expiry", NEEDS_TIMEOUT);
    }
    if new.reminders.len() > MOST_REMINDERS {
        return invalid("reminders", "at most 20 reminders");
    }
    let free = new.metadata.iter().all(|(key, value)| is_storable(key) && is_storable_json(value));
    if !free {
        return invalid("metadata", "strings without NUL characters");
    }
    if new.tags.len() > MOST_TAGS || !new.tags.iter().all(|tag| !tag.is_empty() && is_short(tag)) {
        return invalid("tags", "at most 50 non-empty strings of at most 200 bytes each");
    }
    if !new.callback.as_deref().is_none_or(|url| is_storable(url) && url.len() <= LONGEST_URL) {
        return invalid("callback", "a URL of at most 2000 bytes without NUL characters");
    }
    new.posting_address.as_ref().map_or(Ok(()), PostingAddress::check)?;
    let labels = [&new.labels.agent, &new.labels.project];
    if !labels.into_iter().flatten().all(|label| is_short(label)) {
        return invalid("labels", "texts of at most 200 bytes");
    }
    new.verification.as_ref().map_or(Ok(()), |policy| policy.check())
}

/// Whether the agents of a dialect set the deadline together with the action on expiry. HXP defines
/// `timeout_seconds: 0` with every `fallback`, and in A2H the deadline comes from the operator's
/// setting.
fn states_deadline(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Native | Dialect::Hitl | Dialect::Hacp => true,
        Dialect::HxpExecution | Dialect::A2h => false,
    }
}

/// Checks that the people the agent names exist. In HXP a group is free data; an ask for an unknown
/// group goes to the owner.
fn check_route(
    world: &World<'_>,
    agent: &Agent,
    new: &NewAsk,
    conversation: Option<&Conversation>,
) -> Result<(), Refusal> {
    let project = &agent.project;
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    match &new.route {
        Route::Person { human } => {
            let asked = world.directory.human(human).filter(|human| human.active);
            let wrote = conversation.is_some_and(|conversation| conversation.with == *human);
            let reachable = |human: &Human| {
                human.projects.contains(project) || (wrote && agent.accepts_messages_from(human))
            };
            if !asked.is_some_and(reachable) {
                return invalid("route.human", "a person who is a member of this project");
            }
        }
        Route::Pool { group: Some(group) } if new.dialect != Dialect::HxpExecution => {
            let (mut people, none) = (world.directory.humans(), BTreeSet::new());
            if !people.any(|human| human.active && human.qualifies(project, Some(group), &none)) {
                return invalid("route.group", "a group with members in this project");
            }
        }
        Route::Owner | Route::Delegate | Route::Pool { .. } => {}
    }
    Ok(())
}

/// The ask that this one continues. It must be visible to the agent's key and not be continued
/// already. In HITL only an answered case gets another round (HITL-143); an open one is to be
/// answered, and an expired or cancelled one is asked again.
fn previous_ask<'a>(
    world: &World<'a>,
    envelope: &Envelope,
    new: &NewAsk,
    id: AskId,
) -> Result<&'a Ask, Stop> {
    let ask = world.ask(id)?;
    if !ask.is_visible_to_key(&envelope.actor) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    let answered = matches!(ask.ending(), Some(Ending::Completed(_)));
    if new.dialect == Dialect::Hitl && !answered {
        let why = "only an answered request can be continued";
        return Err(Refusal::NotOver { why }.into());
    }
    if ask.followed_by.is_some() {
        return Err(Refusal::Exists { what: "follow-up" }.into());
    }
    Ok(ask)
}

fn on_expiry(new: &NewAsk, salts: &mut Salts) -> Result<OnExpiry, Stop> {
    Ok(match &new.on_expiry {
        NewOnExpiry::StayOpen => OnExpiry::StayOpen,
        NewOnExpiry::Fail => OnExpiry::Fail,
        NewOnExpiry::Report(action) => OnExpiry::Report { action: *action },
        NewOnExpiry::Answer(reply) => {
            let reply = new.question.check(reply.clone()).map_err(Refusal::from)?.into_reply();
            OnExpiry::Answer { reply: Erasable::new(reply, salts) }
        }
    })
}

/// The agent's own reminders, or else those of the project that fall before the deadline.
fn reminder_times(
    world: &World<'_>,
    project: &Project,
    new: &NewAsk,
    expires_at: Option<Time>,
) -> Vec<Time> {
    if new.reminders.is_empty() {
        let usual = project.reminders.iter().map(|after| world.now.plus_seconds(*after));
        return usual.filter(|at| expires_at.is_none_or(|end| *at < end)).collect();
    }
    let mut times: Vec<_> = new.reminders.iter().copied().filter(|at| *at > world.now).collect();
    times.sort_unstable();
    times.dedup();
    times
}

fn scheduled_escalations(world: &World<'_>, project: &Project) -> Vec<ScheduledEscalation> {
    let rung = |seat: &Assignee, after| ScheduledEscalation {
        at: world.now.plus_seconds(after),
        assignee: seat.clone(),
    };
    project.escalation_steps.iter().map(|step| rung(&step.assignee, step.after)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::ActorRef;
    use crate::ask::{AskState, DefaultAction, Phase};
    use crate::command::{AskCommand, DirectoryCommand};
    use crate::directory::NewProject;
    use crate::follow_up::FollowUp;
    use crate::follow_up::NotificationReason;
    use crate::testing::{Cast, human, new_ask};

    #[test]
    fn an_ask_begins_pending_and_tells_its_owner() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let ask = cast.seen(id);
        assert_eq!(ask.state, AskState::Pending);
        assert_eq!(ask.phase(), Phase::Waiting);
        assert_eq!(ask.head.seq, 1);
        let Actor::Agent { key, .. } = cast.agent("bot") else { panic!() };
        assert_eq!(ask.key, Some(key));
        let seat = Assignee::Person { human: human("olga") };
        assert!(matches!(
            cast.follow_ups().last(),
            Some(FollowUp::Notify { assignee: told, why: NotificationReason::Asked, .. }) if *told == seat
        ));
    }

    /// Asks stored before tokens, relays and callbacks existed are read and written unchanged.
    #[test]
    fn an_ask_that_needs_no_tokens_is_stored_as_ever() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), AskCommand::Answer(id, crate::testing::yes()));
        let stored = serde_json::to_string(cast.seen(id)).unwrap();
        for new in ["grants", "inline", "callback", "attested", "reminded_at", "callbacks"] {
            assert!(!stored.contains(&format!("\"{new}\"")), "{new} in {stored}");
        }
        assert_eq!(serde_json::from_str::<Ask>(&stored).unwrap(), *cast.seen(id));
        let mut before = serde_json::to_value(cast.seen(id)).unwrap();
        before["asked"].as_object_mut().unwrap().remove("key").unwrap();
        assert_eq!(serde_json::from_value::<Ask>(before).unwrap().key, None);
    }

    /// An action on expiry has no effect without a deadline, so only `stay_open` is accepted then.
    /// HXP and A2H allow them to be set separately.
    #[test]
    fn what_happens_at_a_deadline_needs_one() {
        let mut cast = Cast::new();
        let silences = [
            NewOnExpiry::StayOpen,
            NewOnExpiry::Fail,
            NewOnExpiry::Answer(*crate::testing::yes()),
            NewOnExpiry::Report(DefaultAction::Skip),
        ];
        for on_expiry in silences {
            for (dialect, timeout) in [
                (Dialect::Native, Some(60)),
                (Dialect::Native, None),
                (Dialect::Hitl, None),
                (Dialect::HxpExecution, None),
                (Dialect::A2h, None),
            ] {
                let new = NewAsk { dialect, timeout, on_expiry: on_expiry.clone(), ..new_ask() };
                let asked = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(new)));
                let never = timeout.is_none() && on_expiry != NewOnExpiry::StayOpen;
                if never && matches!(dialect, Dialect::Native | Dialect::Hitl) {
                    let expected = NEEDS_TIMEOUT;
                    let refused = Err(Refusal::Invalid { field: "on_expiry", expected });
                    assert_eq!(asked, refused, "{on_expiry:?}");
                } else {
                    assert!(asked.is_ok(), "{dialect:?} {timeout:?} {on_expiry:?}");
                }
            }
        }
    }

    #[test]
    fn people_and_the_system_do_not_ask() {
        let mut cast = Cast::new();
        for actor in [cast.human("olga"), Actor::System] {
            let refused = cast.attempt(actor, AskCommand::Create(Box::new(new_ask())));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })));
        }
    }

    #[test]
    fn a_follow_up_is_linked_both_ways_and_only_once() {
        let mut cast = Cast::new();
        let first = cast.ask(new_ask());
        let second = cast.ask(NewAsk { follows: Some(first), ..new_ask() });
        assert_eq!(cast.seen(first).followed_by, Some(second));
        assert_eq!(cast.seen(second).follows, Some(first));
        let again = NewAsk { follows: Some(first), ..new_ask() };
        let refused = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(again)));
        assert_eq!(refused, Err(Refusal::Exists { what: "follow-up" }));
    }

    /// HITL-140, HITL-141, HITL-143.
    #[test]
    fn a_hitl_case_continues_only_what_was_answered() {
        let mut cast = Cast::new();
        let next = |id| NewAsk { dialect: Dialect::Hitl, follows: Some(id), ..new_ask() };
        let (open, withdrawn, answered) =
            (cast.ask(new_ask()), cast.ask(new_ask()), cast.ask(new_ask()));
        cast.run(cast.agent("bot"), AskCommand::Cancel(withdrawn, None));
        cast.run(cast.human("olga"), AskCommand::Answer(answered, crate::testing::no()));
        for early in [open, withdrawn] {
            let refused =
                cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(next(early))));
            assert!(matches!(refused, Err(Refusal::NotOver { .. })), "{refused:?}");
        }
        let before = cast.seen(answered).head.seq;
        let second = cast.ask(next(answered));
        assert_eq!(cast.seen(answered).followed_by, Some(second));
        assert!(cast.seen(answered).head.seq > before, "its version, and so its tag, changes");
    }

    #[test]
    fn a_follow_up_of_another_projects_ask_finds_nothing() {
        let mut cast = Cast::new();
        let first = cast.ask(new_ask());
        let stolen = NewAsk { follows: Some(first), ..new_ask() };
        let refused = cast.attempt(cast.agent("spy"), AskCommand::Create(Box::new(stolen)));
        assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
    }

    #[test]
    fn a_default_on_silence_can_be_switched_off() {
        use crate::question::{Answer, Reply};
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { default_on_silence: false, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let reply = Reply { answer: Answer::Approved { edits: None }, comment: None };
        let new = NewAsk { timeout: Some(5), on_expiry: NewOnExpiry::Answer(reply), ..new_ask() };
        let refused = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(new)));
        assert_eq!(refused, Err(Refusal::DefaultForbidden));
        // §12.6: the server does not take this default, and the agent must not execute it.
        for (action, allowed) in [
            (DefaultAction::Approve, false),
            (DefaultAction::Reject, true),
            (DefaultAction::Skip, true),
            (DefaultAction::Abort, true),
        ] {
            let on_expiry = NewOnExpiry::Report(action);
            let new = NewAsk { timeout: Some(5), on_expiry, ..new_ask() };
            let asked = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(new)));
            assert_eq!(asked.is_ok(), allowed, "{action:?}");
        }
    }

    #[test]
    fn a_key_asks_only_in_its_agents_project() {
        let mut cast = Cast::new();
        let Actor::Agent { id, key, scope: reach, .. } = cast.agent("spy") else { panic!() };
        let astray = Actor::Agent { id, key, scope: reach, project: "acme".parse().unwrap() };
        let refused = cast.attempt(astray, AskCommand::Create(Box::new(new_ask())));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
    }

    #[test]
    fn a_named_group_has_members_unless_the_name_is_free_data() {
        let mut cast = Cast::new();
        let expected = "a group with members in this project";
        let refused = Err(Refusal::Invalid { field: "route.group", expected });
        for (group, dialect, outcome) in [
            ("legal", Dialect::Native, Ok(())),
            ("nobody", Dialect::Native, refused.clone()),
            ("nobody", Dialect::Hitl, refused),
            ("nobody", Dialect::HxpExecution, Ok(())),
        ] {
            let route = Route::Pool { group: group.parse().ok() };
            let new = NewAsk { dialect, route, ..new_ask() };
            let asked = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(new)));
            assert_eq!(asked, outcome, "{group} {dialect:?}");
        }
    }

    #[test]
    fn limits() {
        let mut cast = Cast::new();
        for (new, field) in [
            (NewAsk { timeout: Some(LONGEST_TIMEOUT + 1), ..new_ask() }, "timeout_seconds"),
            (NewAsk { tags: ["x".repeat(201)].into(), ..new_ask() }, "tags"),
            (
                NewAsk {
                    metadata: serde_json::json!({"a": ["\0"]}).as_object().unwrap().clone(),
                    ..new_ask()
                },
                "metadata",
            ),
            (NewAsk { route: Route::Person { human: human("zoe") }, ..new_ask() }, "route.human"),
        ] {
            let refused = cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(new)));
            assert!(
                matches!(refused, Err(Refusal::Invalid { field: f, .. }) if f == field),
                "{field}: {refused:?}"
            );
        }
        let ten_years = NewAsk { timeout: Some(10 * 365 * 86_400), ..new_ask() };
        let id = cast.ask(ten_years);
        assert!(cast.seen(id).expires_at.is_some());
        assert_eq!(
            cast.record_of(id).last().map(|e| e.by.clone()),
            Some(ActorRef::Agent("bot".parse().unwrap()))
        );
    }

    #[test]
    fn the_project_reminds_where_the_agent_does_not_say_when() {
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let reminders = [60, 600, 3600].into();
        cast.run(Actor::System, DirectoryCommand::SaveProject(NewProject { reminders, ..plain }));
        let now = cast.now();
        let at = |seconds| now.plus_seconds(seconds);
        for (own, timeout, reminded) in [
            (vec![], None, vec![at(60), at(600), at(3600)]),
            // Never after the deadline.
            (vec![], Some(600), vec![at(60)]),
            (vec![], Some(30), vec![]),
            // The agent's own reminders win.
            (vec![at(7)], None, vec![at(7)]),
        ] {
            let new = NewAsk { reminders: own, timeout, ..new_ask() };
            let id = cast.ask(new);
            assert_eq!(cast.seen(id).reminders, reminded, "{timeout:?}");
        }
    }
}
