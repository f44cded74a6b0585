//! `POST /agent/…/{call_id}/escalate_email`: the agent cannot wait (A2H-035, A2H-046, A2H-100 to
//! A2H-105).

use kernel::Ask;

use super::channel;
use super::create::storable;
use super::errors::WireError;
use super::parse::Members;
use super::view::member;

/// Why the agent cannot wait, and the addresses it wants to notify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// The agent's message.
    pub message: String,
    /// The addresses without duplicates.
    pub addresses: Vec<String>,
}

impl Escalation {
    /// The recorded text: the agent's message, and the addresses that belong to no known person.
    pub fn words(&self, strangers: &[&str]) -> String {
        if strangers.is_empty() {
            return self.message.clone();
        }
        format!("{}\n\nAlso meant for: {}", self.message, strangers.join(", "))
    }
}

/// The addresses that the call itself names.
pub fn addresses(ask: &Ask) -> Vec<String> {
    let channel = member(ask, "channel").unwrap_or_default();
    let email = channel.as_object().and_then(|channel| channel::read_map(channel, "").ok());
    email.map(|channel| channel.addresses).unwrap_or_default()
}

pub fn parse_escalation(bytes: &[u8]) -> Result<Escalation, WireError> {
    let body = storable(bytes)?;
    let escalation = Members::new(&body, "");
    let message = escalation.required("escalation_msg")?.to_owned();
    let channel = channel::read(escalation, "channel")?;
    let mut addresses: Vec<String> = Vec::new();
    let further = channel::read_recipients(escalation)?;
    let all = channel.addresses.into_iter().chain(further.into_iter().map(|one| one.address));
    for address in all {
        let same = |known: &String| known.eq_ignore_ascii_case(&address);
        if !addresses.iter().any(same) {
            addresses.push(address);
        }
    }
    Ok(Escalation { message, addresses })
}
