//! `POST /agent/function_calls/{call_id}/respond`, `POST /agent/human_contacts/{call_id}/respond`:
//! an agent passes on a person's answer (A2H-044, A2H-045, A2H-052 to A2H-058).
//!
//! The answer is recorded as attested by the agent alone. The server sets `requested_at`,
//! `responded_at` and the rest of the status and ignores the values in the body.

use kernel::actor::AttestedIdentity;
use kernel::question::{Answer, Question, QuestionBody, Reply};
use kernel::{AgentId, Ask};

use super::channel;
use super::create::{OTHER, storable};
use super::errors::A2hWireError;
use super::parse::Members;
use super::view::member;

pub fn read_function_response(
    bytes: &[u8],
    question: &Question,
    agent: &AgentId,
) -> Result<(Reply, AttestedIdentity), A2hWireError> {
    let body = storable(bytes)?;
    let status = Members::new(&body, "");
    let approved = status.flag("approved")?;
    let approved = approved.ok_or_else(|| status.bad("approved", "true or false"))?;
    let comment = status.text("comment")?.map(ToOwned::to_owned);
    let option = status.text("reject_option_name")?.map(ToOwned::to_owned);
    let known = match question.body() {
        QuestionBody::Approve { reject_options, .. } => reject_options.as_slice(),
        QuestionBody::Choose { .. }
        | QuestionBody::Provide { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => &[],
    };
    if let Some(name) = &option {
        let bad = |expected: &str| Err(status.bad("reject_option_name", expected));
        if approved {
            return bad("null, because a rejection reason does not apply to an approval");
        }
        if !known.iter().any(|choice| choice.id == *name) {
            return bad("the name of one of the call's reject_options, or null");
        }
    }
    let answer =
        if approved { Answer::Approved { edits: None } } else { Answer::Rejected { option } };
    Ok((Reply { answer, comment }, attested(status, agent)?))
}

pub fn read_contact_response(
    bytes: &[u8],
    ask: &Ask,
    agent: &AgentId,
) -> Result<(Reply, AttestedIdentity), A2hWireError> {
    let body = storable(bytes)?;
    let status = Members::new(&body, "");
    let response = status.required("response")?.to_owned();
    let name = status.text("response_option_name")?;
    let question = ask.question.value().ok_or_else(A2hWireError::gone)?;
    let reply = match question.body() {
        QuestionBody::Choose { options, .. } => {
            let only = options.choices().iter().filter(|choice| choice.id != OTHER).count() == 1;
            let id = match name {
                Some(name) if options.contains(name) => name,
                None if only && options.contains(OTHER) => OTHER,
                Some(_) | None => {
                    let expected = "the name of one of the contact's response_options";
                    return Err(status.bad("response_option_name", expected));
                }
            };
            Reply {
                answer: Answer::Chosen { options: vec![id.to_owned()] },
                comment: Some(response),
            }
        }
        QuestionBody::Approve { .. }
        | QuestionBody::Provide { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => {
            if name.is_some() {
                return Err(status.bad(
                    "response_option_name",
                    "null, because this contact has no response_options",
                ));
            }
            Reply { answer: Answer::Replied { text: response }, comment: None }
        }
    };
    Ok((reply, attested(status, agent)?))
}

/// The person's name as the agent attests it, from `user_info` if present (A2H-063).
fn attested(status: Members<'_>, agent: &AgentId) -> Result<AttestedIdentity, A2hWireError> {
    let user = status.object("user_info")?.map(|user| Members::new(user, "user_info"));
    let name = user.map(|user| user.either(&["name", "display_name", "username"])).transpose()?;
    Ok(AttestedIdentity {
        via: "a2h_respond".to_owned(),
        platform: "a2h".to_owned(),
        platform_user_id: agent.to_string(),
        display_name: name.flatten().filter(|name| !name.trim().is_empty()),
    })
}

// `POST /agent/…/{call_id}/escalate_email`: the agent cannot wait (A2H-035, A2H-046, A2H-100 to
// A2H-105).

/// Why the agent cannot wait, and the addresses it wants to notify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailEscalation {
    /// The agent's message.
    pub message: String,
    /// The addresses without duplicates.
    pub addresses: Vec<String>,
}

impl EmailEscalation {
    /// The recorded text: the agent's message, and the addresses that belong to no known person.
    pub fn recorded_text(&self, strangers: &[&str]) -> String {
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

pub fn parse_escalation(bytes: &[u8]) -> Result<EmailEscalation, A2hWireError> {
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
    Ok(EmailEscalation { message, addresses })
}
