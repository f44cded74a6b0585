//! Names on the wire: `user_…` for people, `agent_…` for agents, `system` for neither.
//!
//! Our own ids may have such a prefix or not. They are shown with it, and read with or without. An
//! id that matches exactly takes precedence.

use kernel::directory::Directory;
use kernel::task::Party;
use kernel::{Actor, ActorRef, AgentId, HumanId};

use super::errors::{HacpError, code};

const PERSON: &str = "user_";
const AGENT: &str = "agent_";

/// The wire name of a person.
pub fn person(id: &HumanId) -> String {
    prefixed(PERSON, id.as_str())
}

/// The wire name of an agent.
pub fn agent(id: &AgentId) -> String {
    prefixed(AGENT, id.as_str())
}

/// The wire name of an assignee.
pub fn party(party: &Party) -> String {
    match party {
        Party::Human(id) => person(id),
        Party::Agent(id) => agent(id),
    }
}

/// The wire name of an actor. An unidentified actor has a description instead.
pub fn by(by: &ActorRef) -> String {
    match by {
        ActorRef::Human(id) => person(id),
        ActorRef::Agent(id) => agent(id),
        ActorRef::LinkHolder => "link_holder".to_owned(),
        ActorRef::Relay => "relay".to_owned(),
        ActorRef::Guest => "guest".to_owned(),
        ActorRef::System => "system".to_owned(),
    }
}

fn prefixed(prefix: &str, id: &str) -> String {
    if id.starts_with(prefix) { id.to_owned() } else { format!("{prefix}{id}") }
}

/// The ids that a name may refer to, the exact one first.
fn spelled<'t>(prefix: &str, name: &'t str) -> impl Iterator<Item = &'t str> {
    [Some(name), name.strip_prefix(prefix)].into_iter().flatten()
}

pub(super) fn find_person(directory: &Directory, name: &str) -> Option<HumanId> {
    spelled(PERSON, name).filter_map(|id| id.parse().ok()).find(|id| directory.human(id).is_some())
}

pub(super) fn find_agent(directory: &Directory, name: &str) -> Option<AgentId> {
    spelled(AGENT, name).filter_map(|id| id.parse().ok()).find(|id| directory.agent(id).is_some())
}

/// The person or agent of this name. The prefix decides between them; a name without a prefix must
/// be unambiguous.
pub(super) fn find_party(directory: &Directory, name: &str) -> Option<Party> {
    let person = || find_person(directory, name).map(Party::Human);
    let agent = || find_agent(directory, name).map(Party::Agent);
    if name.starts_with(PERSON) {
        return person();
    }
    if name.starts_with(AGENT) {
        return agent();
    }
    match (person(), agent()) {
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) | (Some(_), Some(_)) => None,
    }
}

/// The credential identifies the caller. A parameter may repeat the caller's name, but is rejected
/// if it names someone else.
pub(super) fn check_caller(actor: &Actor, field: &str, name: &str) -> Result<(), HacpError> {
    let caller = actor.to_ref();
    if name == by(&caller) || name == caller.to_string() {
        return Ok(());
    }
    let message = format!(
        "{field}: the credential identifies the actor as {}; leave this parameter out",
        by(&caller)
    );
    Err(HacpError::new(code::UNAUTHORIZED, message).with("field", field.into()))
}
