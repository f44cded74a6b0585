//! Adds and changes webhook endpoints, rotates their secrets, and tests them.

use std::collections::BTreeSet;

use super::{Directory, Webhook, WebhookDisabledReason, WebhookFormat, WebhookScope};
use crate::actor::Actor;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{Subject, WebhookId};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable};
use crate::topic::Topic;
use crate::world::{Decision, Stop, World};

/// The maximum length of a URL, in bytes.
const LONGEST_URL: usize = 2000;
/// The maximum number of endpoints of one agent or project. More are probably a mistake in a
/// script.
const MOST: usize = 20;
/// The longest time a previous secret keeps signing, in seconds.
const LONGEST_GRACE: u64 = 7 * 24 * 60 * 60;

/// The new state of a webhook endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// Its id, which the caller generated if it is new.
    pub id: WebhookId,
    /// Whose asks it receives events of; this cannot change.
    pub of: WebhookScope,
    /// The URL of the endpoint. The server decides whether it may call this URL.
    pub url: String,
    /// The topics it receives.
    pub events: BTreeSet<Topic>,
    /// The format of its deliveries.
    pub format: WebhookFormat,
    /// The purpose of the endpoint, as its owner describes it.
    pub description: String,
    /// Whether deliveries are enabled.
    pub enabled: bool,
}

pub(crate) fn save(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewWebhook,
) -> Result<Decision, Stop> {
    let directory = world.directory;
    let known = directory.had_webhook(new.id);
    let before = known.then(|| manageable(world, envelope, new.id)).transpose()?;
    if before.is_some_and(|before| before.of != new.of) {
        let expected = "the agent or project of the endpoint, which cannot be changed";
        return Err(Refusal::Invalid { field: "agent", expected }.into());
    }
    // If the agent does not exist, only an administrator passes this check.
    if !directory.manages_webhooks(&envelope.actor, &new.of) {
        let why = "only an administrator or the owner of the agent can do this";
        return Err(Refusal::NotAllowed { why }.into());
    }
    check(directory, new)?;
    if before.is_none() && directory.webhooks_of(&new.of).count() >= MOST {
        let expected = "at most 20 endpoints for one agent or project";
        return Err(Refusal::Invalid { field: "agent", expected }.into());
    }
    let NewWebhook { id, of, url, events, format, description, .. } = new.clone();
    let still = before.and_then(|before| before.disabled).unwrap_or(WebhookDisabledReason::ByHand);
    let webhook = Webhook {
        id,
        of,
        url,
        events,
        format,
        description,
        created_at: before.map_or(world.now, |before| before.created_at),
        generation: before.map_or(1, |before| before.generation),
        previous_until: before.and_then(|before| before.previous_until),
        disabled: (!new.enabled).then_some(still),
        removed: false,
    };
    Ok(Decision::of(Subject::Webhook(id), DirectoryEvent::WebhookSaved(Box::new(webhook))))
}

fn check(directory: &Directory, new: &NewWebhook) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    match &new.of {
        WebhookScope::Agent(agent) if directory.agent(agent).is_none() => {
            return invalid("agent", "the ID of an existing agent");
        }
        WebhookScope::Project(project) if directory.project(project).is_none() => {
            return invalid("project", "the ID of an existing project");
        }
        WebhookScope::Agent(_) | WebhookScope::Project(_) => {}
    }
    if new.url.is_empty() || new.url.len() > LONGEST_URL || !is_storable(&new.url) {
        return invalid("url", "a URL of at most 2000 bytes without NUL characters");
    }
    if new.events.is_empty() {
        return invalid("events", "at least one event");
    }
    if !new.events.iter().all(|topic| new.format.supports(*topic)) {
        return invalid(
            "events",
            "topics that HumanLayer's formats support: ask.answered, ask.changes_requested, \
             ask.defaulted, ask.expired, ask.cancelled, conversation.started",
        );
    }
    if !is_short(&new.description) {
        return invalid("description", "a string of at most 200 bytes without NUL characters");
    }
    Ok(())
}

/// Replaces the secret. The previous one also signs for `grace` seconds, so that the receiver can
/// switch without missing a delivery.
pub(crate) fn rotate(
    world: &World<'_>,
    envelope: &Envelope,
    id: WebhookId,
    grace: u64,
) -> Result<Decision, Stop> {
    manageable(world, envelope, id)?;
    if grace > LONGEST_GRACE {
        let expected = "at most 604800 seconds (one week)";
        return Err(Refusal::Invalid { field: "grace_seconds", expected }.into());
    }
    let until = (grace > 0).then(|| world.now.plus_seconds(grace));
    Ok(Decision::of(Subject::Webhook(id), DirectoryEvent::WebhookRotated { until }))
}

/// Sends a test event that belongs to no ask.
pub(crate) fn test(
    world: &World<'_>,
    envelope: &Envelope,
    id: WebhookId,
) -> Result<Decision, Stop> {
    let webhook = manageable(world, envelope, id)?;
    if webhook.disabled.is_some() {
        let why = "this endpoint is disabled; enable it first";
        return Err(Refusal::NotAllowed { why }.into());
    }
    Ok(Decision::of(Subject::Webhook(id), DirectoryEvent::WebhookTested))
}

/// Records that an endpoint answered that it is gone. The server no longer calls it.
pub(crate) fn disable_gone(
    world: &World<'_>,
    envelope: &Envelope,
    id: WebhookId,
) -> Result<Decision, Stop> {
    if envelope.actor != Actor::System {
        let why = "only the server records the deliveries of a webhook endpoint";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let webhook = manageable(world, envelope, id)?;
    if webhook.disabled.is_some() {
        return Ok(Decision::default());
    }
    Ok(Decision::of(Subject::Webhook(id), DirectoryEvent::WebhookGone))
}

pub(crate) fn remove(
    world: &World<'_>,
    envelope: &Envelope,
    id: WebhookId,
) -> Result<Decision, Stop> {
    manageable(world, envelope, id)?;
    Ok(Decision::of(Subject::Webhook(id), DirectoryEvent::WebhookRemoved))
}

/// An endpoint the actor may manage. For other actors it does not exist.
fn manageable<'a>(
    world: &World<'a>,
    envelope: &Envelope,
    id: WebhookId,
) -> Result<&'a Webhook, Refusal> {
    let known = world.directory.webhook(id);
    known
        .filter(|webhook| world.directory.manages_webhooks(&envelope.actor, &webhook.of))
        .ok_or(Refusal::NotFound { what: "webhook" })
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::command::{AskCommand, DirectoryCommand, NewAsk, NewOnExpiry};
    use crate::follow_up::FollowUp;
    use crate::question::{Answer, Reply};
    use crate::task::{AgentInput, TaskCommand};
    use crate::testing::{Cast, new_ask, new_task, no, yes};

    fn hook(of: WebhookScope) -> NewWebhook {
        NewWebhook {
            id: WebhookId::new(Ulid::from(0_u128)),
            of,
            url: "https://agent.example/hook".to_owned(),
            events: Topic::ALL.into(),
            format: WebhookFormat::Standard,
            description: String::new(),
            enabled: true,
        }
    }

    fn bot() -> WebhookScope {
        WebhookScope::Agent("bot".parse().unwrap())
    }

    fn acme() -> WebhookScope {
        WebhookScope::Project("acme".parse().unwrap())
    }

    fn save(cast: &mut Cast, actor: Actor, new: NewWebhook) -> WebhookId {
        let last = cast.directory().webhooks_after(None).last();
        let id = WebhookId::new(Ulid::from(last.map_or(0, |last| last.id.ulid().0) + 1));
        cast.run(actor, DirectoryCommand::SaveWebhook(NewWebhook { id, ..new }));
        id
    }

    /// The endpoint, topic and id of each delivery.
    fn told(cast: &Cast) -> Vec<(WebhookId, Option<Topic>, String)> {
        let tell = |effect: &FollowUp| {
            let FollowUp::Webhook { webhook, message: told } = effect else { return None };
            Some((*webhook, told.topic, told.id.clone()))
        };
        cast.follow_ups().iter().filter_map(tell).collect()
    }

    #[test]
    fn every_topic_is_told_once_under_the_id_of_its_event() {
        let mut cast = Cast::new();
        let id = save(&mut cast, Actor::System, hook(bot()));
        let olga = || Cast::new().human("olga");
        let ask = cast.ask(new_ask());
        cast.run(olga(), AskCommand::Open(ask));
        cast.run(olga(), AskCommand::Progress(ask, None));
        cast.run(olga(), AskCommand::Claim(ask));
        cast.run(olga(), AskCommand::Comment(ask, "hm".to_owned()));
        cast.run(olga(), AskCommand::Answer(ask, no()));
        cast.run(Actor::System, AskCommand::Revoke(ask, "mistaken".to_owned()));
        let changes = cast.ask(new_ask());
        let comment = Some("smaller".to_owned());
        let change = Box::new(Reply { answer: Answer::CHANGES, comment });
        cast.run(olga(), AskCommand::Answer(changes, change));
        let withdrawn = cast.ask(new_ask());
        cast.run(cast.agent("bot"), AskCommand::Cancel(withdrawn, None));
        let expiring = |on_expiry| NewAsk { timeout: Some(5), on_expiry, ..new_ask() };
        let failed = cast.ask(expiring(NewOnExpiry::Fail));
        let defaulted = cast.ask(expiring(NewOnExpiry::Answer(*yes())));
        cast.advance(5);
        cast.run(Actor::System, AskCommand::Expire(failed));
        cast.run(Actor::System, AskCommand::Expire(defaulted));
        let heard = told(&cast);
        let topics: Vec<Topic> = heard.iter().filter_map(|(_, topic, _)| *topic).collect();
        let mut expected = vec![
            Topic::Created,
            Topic::Opened,
            Topic::Claimed,
            Topic::Commented,
            Topic::Answered,
            Topic::Revoked,
        ];
        expected.extend([Topic::Created, Topic::ChangesRequested]);
        expected.extend([Topic::Created, Topic::Cancelled]);
        expected.extend([Topic::Created, Topic::Created, Topic::Expired, Topic::Defaulted]);
        assert_eq!(topics, expected);
        assert!(heard.iter().all(|(to, ..)| *to == id));
        let ids: BTreeSet<&String> = heard.iter().map(|(_, _, id)| id).collect();
        assert_eq!(ids.len(), heard.len(), "an id names one event");
        assert_eq!(heard[1].2, format!("msg_{}_2", ask.ulid()));
    }

    #[test]
    fn a_project_hears_of_agents_without_an_endpoint_of_their_own() {
        let mut cast = Cast::new();
        let default = save(&mut cast, Actor::System, hook(acme()));
        cast.ask(new_ask());
        cast.ask_as("spy", new_ask());
        let own = save(&mut cast, Actor::System, hook(bot()));
        cast.ask(new_ask());
        cast.run(Actor::System, DirectoryCommand::RemoveWebhook(own));
        cast.ask(new_ask());
        let heard: Vec<WebhookId> = told(&cast).into_iter().map(|(to, ..)| to).collect();
        assert_eq!(heard, [default, own, default]);
    }

    #[test]
    fn what_was_not_wanted_and_who_is_disabled_is_not_told() {
        let mut cast = Cast::new();
        let few = NewWebhook { events: [Topic::Answered].into(), ..hook(bot()) };
        let id = save(&mut cast, Actor::System, few.clone());
        let ask = cast.ask(new_ask());
        assert_eq!(told(&cast), []);
        let off = NewWebhook { id, enabled: false, ..few.clone() };
        cast.run(Actor::System, DirectoryCommand::SaveWebhook(off));
        cast.run(cast.human("olga"), AskCommand::Answer(ask, yes()));
        assert_eq!(told(&cast), []);
        let tested = cast.attempt(Actor::System, DirectoryCommand::TestWebhook(id));
        assert!(matches!(tested, Err(Refusal::NotAllowed { .. })));
        let on = NewWebhook { id, ..few };
        cast.run(Actor::System, DirectoryCommand::SaveWebhook(on));
        cast.run(Actor::System, DirectoryCommand::TestWebhook(id));
        assert_eq!(told(&cast).len(), 1);
        cast.run(Actor::System, DirectoryCommand::WebhookGone(id));
        let state = |cast: &Cast| cast.directory().webhook(id).unwrap().disabled;
        assert_eq!(state(&cast), Some(WebhookDisabledReason::Gone));
        let forged = cast.attempt(cast.human("olga"), DirectoryCommand::WebhookGone(id));
        assert!(matches!(forged, Err(Refusal::NotAllowed { .. })));
    }

    #[test]
    fn owners_keep_those_of_their_agents_and_nobody_elses() {
        let mut cast = Cast::new();
        let olga = cast.human("olga");
        let id = save(&mut cast, olga.clone(), hook(bot()));
        for (who, of) in [("olga", acme()), ("zoe", bot()), ("mark", bot())] {
            let refused = cast.attempt(cast.human(who), DirectoryCommand::SaveWebhook(hook(of)));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{who}");
        }
        for command in [
            DirectoryCommand::RotateWebhook(id, 0),
            DirectoryCommand::TestWebhook(id),
            DirectoryCommand::RemoveWebhook(id),
            DirectoryCommand::SaveWebhook(NewWebhook { id, ..hook(bot()) }),
        ] {
            for who in [cast.human("zoe"), cast.agent("bot")] {
                let refused = cast.attempt(who, command.clone());
                assert_eq!(refused, Err(Refusal::NotFound { what: "webhook" }));
            }
        }
        cast.run(olga.clone(), DirectoryCommand::RemoveWebhook(id));
        let again = cast.attempt(olga, DirectoryCommand::RemoveWebhook(id));
        assert_eq!(again, Err(Refusal::NotFound { what: "webhook" }));
    }

    #[test]
    fn a_secret_is_replaced_and_signs_a_while_longer() {
        let mut cast = Cast::new();
        let id = save(&mut cast, Actor::System, hook(bot()));
        let now = cast.now();
        let state = |cast: &Cast| {
            let webhook = cast.directory().webhook(id).unwrap();
            (webhook.generation, webhook.previous_until)
        };
        assert_eq!(state(&cast), (1, None));
        cast.run(Actor::System, DirectoryCommand::RotateWebhook(id, 60));
        assert_eq!(state(&cast), (2, Some(now.plus_seconds(60))));
        cast.run(Actor::System, DirectoryCommand::SaveWebhook(NewWebhook { id, ..hook(bot()) }));
        assert_eq!(state(&cast), (2, Some(now.plus_seconds(60))), "saving leaves it alone");
        cast.run(Actor::System, DirectoryCommand::RotateWebhook(id, 0));
        assert_eq!(state(&cast), (3, None));
        let long =
            cast.attempt(Actor::System, DirectoryCommand::RotateWebhook(id, LONGEST_GRACE + 1));
        assert!(matches!(long, Err(Refusal::Invalid { field: "grace_seconds", .. })));
    }

    /// HACP §5: the agent's own endpoints receive the contracts of its runtime, or else those of
    /// the task's project; and only the topics they subscribed to.
    #[test]
    fn what_a_runtime_has_to_do_is_told_like_anything_else() {
        let mut cast = Cast::new();
        let of_project = save(&mut cast, Actor::System, hook(acme()));
        let task = cast.written(new_task());
        let assign = TaskCommand::Assign(task, "bot".parse().unwrap(), AgentInput::default());
        cast.run_task(cast.human("olga"), assign);
        let few = NewWebhook { events: [Topic::Stop].into(), ..hook(bot()) };
        let own = save(&mut cast, Actor::System, few);
        cast.run_task(cast.human("olga"), TaskCommand::Cancel(task, None));
        let contracts = cast.contracts(task);
        let told = told(&cast);
        let expected: Vec<_> = [(of_project, Topic::Delegate), (own, Topic::Stop)]
            .into_iter()
            .zip(&contracts)
            .map(|((to, topic), contract)| (to, Some(topic), format!("msg_{}", contract.id())))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_not_acceptable_is_said() {
        let mut cast = Cast::new();
        let nobody = WebhookScope::Agent("nobody".parse().unwrap());
        let nowhere = WebhookScope::Project("nowhere".parse().unwrap());
        let contact = WebhookFormat::Humanlayer;
        for (field, new) in [
            ("agent", hook(nobody)),
            ("project", hook(nowhere)),
            ("url", NewWebhook { url: String::new(), ..hook(bot()) }),
            ("url", NewWebhook { url: "x".repeat(LONGEST_URL + 1), ..hook(bot()) }),
            ("events", NewWebhook { events: BTreeSet::new(), ..hook(bot()) }),
            ("events", NewWebhook { format: contact, ..hook(bot()) }),
            ("description", NewWebhook { description: "a\0b".to_owned(), ..hook(bot()) }),
        ] {
            let refused = cast.attempt(Actor::System, DirectoryCommand::SaveWebhook(new));
            let named = matches!(refused, Err(Refusal::Invalid { field: of, .. }) if of == field);
            assert!(named, "{field}: {refused:?}");
        }
        let ends = Topic::ENDINGS.into();
        let id = save(
            &mut cast,
            Actor::System,
            NewWebhook { format: contact, events: ends, ..hook(bot()) },
        );
        let moved = NewWebhook { id, ..hook(acme()) };
        let refused = cast.attempt(Actor::System, DirectoryCommand::SaveWebhook(moved));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "agent", .. })));
        for _ in 1..MOST {
            save(&mut cast, Actor::System, hook(bot()));
        }
        let many = cast.attempt(Actor::System, DirectoryCommand::SaveWebhook(hook(bot())));
        assert!(matches!(many, Err(Refusal::Invalid { field: "agent", .. })));
    }
}
