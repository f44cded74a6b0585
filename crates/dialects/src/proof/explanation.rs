//! A receipt in sentences for people: who decided what, with which assurance, through which channel
//! and when, the displayed text, and its place in the audit log. It claims no more than the server
//! knows.

use kernel::actor::{ActorRef, Assurance, AttestedIdentity, SenderVerification};
use kernel::ask::{DefaultAction, DisplayedContent};
use kernel::question::Answer;
use kernel::text::reveal;
use serde_json::{Map, Value};

use super::receipt::{ClaimedOutcome, ProofOfPerson, ReceiptClaims};

/// The claims of a receipt, in sentences. Hidden characters are made visible in every text.
pub fn explain(claims: &ReceiptClaims) -> Vec<String> {
    let mut said = match claims.outcome {
        ClaimedOutcome::Completed => completed(claims),
        ClaimedOutcome::Expired => vec![expired(claims)],
        ClaimedOutcome::Failed => {
            vec![format!("No one decided. The request expired at {} and failed.", claims.ended_at)]
        }
        ClaimedOutcome::Cancelled => cancelled(claims),
    };
    said.extend(asked(claims));
    said.push(format!(
        "In the audit record of {} this is event {}, with the hash {}.",
        claims.sub, claims.audit.seq, claims.audit.hash
    ));
    said.push(format!("{} signed this as {}.", claims.iss, claims.jti));
    said.iter().map(|sentence| reveal(sentence)).collect()
}

fn completed(claims: &ReceiptClaims) -> Vec<String> {
    let who = who(claims);
    let said = claims.answer.as_ref().map(AnswerPhrase::of).unwrap_or_default();
    let at = claims.ended_at;
    let mut said = match (&claims.by, claims.assurance) {
        (ActorRef::System, _) => vec![
            with_full_stop(format!(
                "No one decided. There was no answer by {at}, so the default that the agent had \
                 set in advance was taken: {}",
                said.thing
            )),
            "The default is not a decision: it shows that there was no answer in time, not that \
             anyone agreed."
                .to_owned(),
        ],
        (
            ActorRef::Human(_)
            | ActorRef::Agent(_)
            | ActorRef::LinkHolder
            | ActorRef::Relay
            | ActorRef::Guest,
            _,
        ) if claims.via.as_deref() == Some("script") => {
            vec![
                with_full_stop(format!("In a test, a script standing in for {who} {}", said.deed)),
                "No person decided: the server ran in development mode with scripted people."
                    .to_owned(),
            ]
        }
        (ActorRef::LinkHolder, Some(Assurance::AgentAttested)) => vec![
            with_full_stop(format!(
                "The holder of a review link that the agent received {}",
                said.deed
            )),
            format!(
                "The agent {} had this link and could use it, so Countersign cannot confirm that \
                 a person decided.",
                claims.agent
            ),
        ],
        // Older receipts have the same assurance for links that the agent received.
        (ActorRef::LinkHolder, _) => vec![
            with_full_stop(format!("{who} {}", said.deed)),
            match claims.shown {
                Some(_) => "Countersign sent this link to a verified address of a person and to \
                            no one else. Anyone who reads messages at that address could use it."
                    .to_owned(),
                None => "Nothing else is known about this person: the link may have been \
                         forwarded."
                    .to_owned(),
            },
        ],
        (ActorRef::Guest, Some(Assurance::Link)) if claims.shown.is_some() => vec![
            with_full_stop(format!("{who} {}", said.deed)),
            "The agent chose the address, and a person had verified it. The messaging service \
             identifies the person."
                .to_owned(),
        ],
        (ActorRef::Guest, _) => vec![
            with_full_stop(format!("{who} {}", said.deed)),
            "The messaging service identifies the person. The agent chose the address, and the \
             person is not a user of this server."
                .to_owned(),
        ],
        (ActorRef::Relay, _)
        | (ActorRef::Human(_) | ActorRef::Agent(_), Some(Assurance::AgentAttested)) => vec![
            with_full_stop(format!("According to the agent {}, {who} {}", claims.agent, said.deed)),
            "Only the agent reports this. Countersign had no contact with the person and cannot \
             confirm that a person decided."
                .to_owned(),
        ],
        (ActorRef::Human(_) | ActorRef::Agent(_), assurance) => {
            let sure = match claims.via.as_deref() {
                Some("email") => email_sentence(&who, assurance, claims.sender.as_ref()),
                Some(_) | None => None,
            };
            let sure = sure.unwrap_or_else(|| assurance_sentence(&who, assurance));
            vec![with_full_stop(format!("{who} {}", said.deed)), sure]
        }
    };
    if let ActorRef::Human(id) = &claims.by
        && id.as_str().starts_with("pool_member_")
    {
        said.push(format!(
            "{id} is a pseudonym for one member of the pool that was asked; agents do not see \
             names."
        ));
    }
    for ProofOfPerson { proof_type, provider, assurance, verified_at } in &claims.proofs {
        let sure = assurance.map(|level| format!(", with {level} assurance")).unwrap_or_default();
        said.push(format!(
            "{provider} proved ({proof_type}{sure}) that a person was present, verified at \
             {verified_at}; it does not prove who."
        ));
    }
    if !claims.redacted.is_empty() {
        let keys = claims.redacted.join(", ");
        said.push(format!(
            "Provided, but left out of this receipt because it is sensitive: {keys}."
        ));
    }
    if claims.comment_erased {
        said.push("The comment was erased together with its author's personal data.".to_owned());
    }
    if claims.evidence_erased {
        let evidence = match claims.assurance {
            Some(Assurance::Passkey) => "The signature of the passkey",
            _ => "The proof of who sent the email",
        };
        said.push(format!(
            "{evidence} was erased together with the person's data; only the issuer's statement \
             remains."
        ));
    }
    if let Some(comment) = &claims.comment {
        said.push(format!("Comment: “{comment}”"));
    }
    if claims.by != ActorRef::System {
        said.push(format!("The answer was given {} at {at}.", via_phrase(claims.via.as_deref())));
    }
    said
}

/// The sentence for a person who answered by email, if the assurance needs a different one there.
/// Older receipts have the assurance `channel` for every email.
fn email_sentence(
    who: &str,
    assurance: Option<Assurance>,
    sender: Option<&SenderVerification>,
) -> Option<String> {
    match (assurance, sender) {
        (Some(Assurance::Channel), Some(SenderVerification::Dkim { domain })) => Some(format!(
            "The email came from a verified address of {who}: a DKIM signature of {domain} covers \
             its sender and all of its text. Countersign relies on {domain} to prevent anyone \
             else from sending from that address."
        )),
        (Some(Assurance::Channel), Some(SenderVerification::Arc { domain, sealer })) => {
            Some(format!(
                "The email came from a verified address of {who}: {sealer}, a forwarder the operator \
                 trusts, sealed (ARC) that it had a DKIM signature of {domain}. Countersign relies on \
                 both."
            ))
        }
        (Some(Assurance::Link), _) => Some(format!(
            "The email was sent to a reply address that Countersign had sent only to a verified \
             address of {who}. The sender was not verified: anyone who reads email at that \
             address could answer."
        )),
        _ => None,
    }
}

/// The assurance, in plain words.
fn assurance_sentence(who: &str, assurance: Option<Assurance>) -> String {
    match assurance {
        Some(Assurance::Passkey) => {
            format!("{who} proved who they are with a passkey, for this very question.")
        }
        Some(Assurance::Session) => format!(
            "{who} was signed in or used a personal token. No further proof was required for this \
             question."
        ),
        Some(Assurance::Channel) => format!(
            "The channel of the answer identifies the person as {who}; Countersign relies on it."
        ),
        Some(Assurance::Link) => {
            format!("Anyone with the review link could answer; that it was {who} was not verified.")
        }
        Some(Assurance::AgentAttested) => {
            format!("Only the agent reports that it was {who}; Countersign did not verify it.")
        }
        Some(Assurance::None) | None => format!("There is no evidence that it was {who}."),
    }
}

fn via_phrase(via: Option<&str>) -> String {
    match via {
        Some("web") => "through the web page".to_owned(),
        Some("api") => "through the API".to_owned(),
        Some("cli") => "through the countersign command".to_owned(),
        Some("push") => "from a push notification".to_owned(),
        Some("link") => "with the review link".to_owned(),
        Some("inline") => "through the agent, with its submit token,".to_owned(),
        Some("timer") => "by the clock".to_owned(),
        Some("script") => "from a script".to_owned(),
        Some(other) => format!("through {other}"),
        None => "through an unrecorded interface".to_owned(),
    }
}

fn expired(claims: &ReceiptClaims) -> String {
    let rule = match claims.report {
        Some(DefaultAction::Skip) => "continue without it",
        Some(DefaultAction::Approve) => {
            "continue as if it had been approved, although no one approved it"
        }
        Some(DefaultAction::Reject) => {
            "continue as if it had been rejected, although no one rejected it"
        }
        Some(DefaultAction::Abort) => "stop",
        None => "decide for itself",
    };
    let at = claims.ended_at;
    format!("No one decided. The request expired at {at}, and the agent was instructed to {rule}.")
}

fn cancelled(claims: &ReceiptClaims) -> Vec<String> {
    let who = match &claims.by {
        ActorRef::System => "Countersign itself".to_owned(),
        ActorRef::Agent(id) => format!("The agent {id}"),
        ActorRef::Human(id) => id.to_string(),
        ActorRef::LinkHolder => "The holder of the review link".to_owned(),
        ActorRef::Relay => "Someone the agent speaks for".to_owned(),
        ActorRef::Guest => "Someone at the address that the agent chose".to_owned(),
    };
    let at = claims.ended_at;
    let mut said = vec![format!(
        "No one decided. {who} cancelled the request at {at} before it was answered."
    )];
    said.extend(claims.reason.as_ref().map(|reason| format!("Reason: “{reason}”")));
    said
}

/// The question, and the hashes that identify it.
fn asked(claims: &ReceiptClaims) -> Vec<String> {
    let ReceiptClaims { agent, project, prompt, kind, .. } = claims;
    let mut said = vec![format!(
        "The agent {agent} of the project {project} had asked at {} ({}): “{prompt}”",
        claims.asked_at,
        kind.as_str()
    )];
    if claims.taken_up_at > claims.asked_at {
        said.push(format!("A person claimed it at {}.", claims.taken_up_at));
    }
    said.push(displayed(claims));
    said
}

/// What the person saw where they answered, as far as the server knows.
fn displayed(claims: &ReceiptClaims) -> String {
    let ReceiptClaims { question_sha256: question, shown_sha256: shown, .. } = claims;
    let whole = format!("The whole question has the SHA-256 {question}");
    match (claims.outcome, claims.shown) {
        (ClaimedOutcome::Completed, Some(DisplayedContent::Question)) => format!(
            "{whole}. The answer page displayed all of it; the displayed text has the SHA-256 \
             {shown}."
        ),
        (ClaimedOutcome::Completed, Some(DisplayedContent::Summary)) => format!(
            "{whole}. It was answered where Countersign displays only part of a question, so this \
             receipt makes no claim about the displayed text."
        ),
        (ClaimedOutcome::Completed, Some(DisplayedContent::Nothing)) => format!(
            "{whole}. Countersign did not display it where it was answered, so this receipt makes \
             no claim about the displayed text."
        ),
        (ClaimedOutcome::Completed, None) => {
            format!("{whole}; the text shown to people has the SHA-256 {shown}.")
        }
        (ClaimedOutcome::Expired | ClaimedOutcome::Failed | ClaimedOutcome::Cancelled, _) => {
            format!("{whole}; the text on its page has the SHA-256 {shown}.")
        }
    }
}

fn who(claims: &ReceiptClaims) -> String {
    match &claims.by {
        ActorRef::Human(id) => id.to_string(),
        ActorRef::LinkHolder => "The holder of the review link".to_owned(),
        ActorRef::Agent(_) | ActorRef::Relay | ActorRef::Guest => match &claims.attested {
            Some(AttestedIdentity { platform, platform_user_id, display_name, .. }) => {
                let called = display_name.as_ref().map(|name| format!(" (“{name}”)"));
                format!("{platform_user_id} of {platform}{}", called.unwrap_or_default())
            }
            None => "a person".to_owned(),
        },
        ActorRef::System => "nobody".to_owned(),
    }
}

/// An answer as a verb phrase and as a noun.
#[derive(Default)]
struct AnswerPhrase {
    deed: String,
    thing: String,
}

impl AnswerPhrase {
    fn of(answer: &Answer) -> Self {
        let plain = |deed: &str, thing: &str, more: &str| Self {
            deed: format!("{deed}{more}"),
            thing: format!("{thing}{more}"),
        };
        match answer {
            Answer::Approved { edits: None } => plain("approved it", "approval", ""),
            Answer::Approved { edits: Some(edits) } => {
                let more = format!(" with changes, with these changed details: {}", pairs(edits));
                plain("approved it", "approval", &more)
            }
            Answer::Rejected { option: None } => plain("rejected it", "rejection", ""),
            Answer::Rejected { option: Some(option) } => {
                plain("rejected it", "rejection", &format!(", for the reason “{option}”"))
            }
            Answer::ChangesRequested { edits } => {
                let more = edits
                    .as_ref()
                    .map_or_else(String::new, |edits| format!(", such as these: {}", pairs(edits)));
                plain("asked for changes", "a request for changes", &more)
            }
            Answer::Chosen { options } => plain("chose ", "the choice ", &options.join(", ")),
            Answer::Provided { values } if values.is_empty() => {
                plain("provided no value that is shown here", "no value that is shown here", "")
            }
            Answer::Provided { values } => {
                plain("provided ", "the values ", &pairs(values.as_map()))
            }
            Answer::Confirmed { items } if items.is_empty() => {
                plain("confirmed it", "confirmation", "")
            }
            Answer::Confirmed { items } => {
                plain("confirmed ", "confirmation of ", &items.join(", "))
            }
            Answer::Declined => plain("declined", "a refusal", ""),
            Answer::Retry { params } => {
                let more = if params.is_empty() {
                    String::new()
                } else {
                    format!(" with {}", pairs(params))
                };
                plain("chose to try again", "trying again", &more)
            }
            Answer::Skip => plain("chose to skip this step", "skipping this step", ""),
            Answer::Abort => plain("chose to stop", "stopping", ""),
            Answer::Replied { text } => plain("answered ", "the answer ", &format!("“{text}”")),
        }
    }
}

/// Adds a full stop, unless the sentence ends with a quotation.
fn with_full_stop(sentence: String) -> String {
    if sentence.ends_with('”') { sentence } else { sentence + "." }
}

fn pairs(map: &Map<String, Value>) -> String {
    let pair = |(key, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), |text| format!("“{text}”"));
        format!("{key} = {value}")
    };
    map.iter().map(pair).collect::<Vec<_>>().join(", ")
}
