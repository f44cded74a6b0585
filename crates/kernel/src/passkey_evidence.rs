//! The statement a passkey signs when a person confirms an answer, and its evidence. Anyone who has
//! the evidence and the receipt can check the signature without trusting the server.

use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::audit::{Digest, canonical};
use crate::ids::{AskId, HumanId, KeyId};
use crate::question::{Answer, Question, QuestionBody, Reply};
use crate::receipt::QuestionDigests;

/// The version of [`AnswerStatement`].
pub const VERSION: u64 = 1;
/// The prefix of the hashed bytes of a challenge, so that no other signature of a passkey can pass
/// for an answer.
pub const DOMAIN: &[u8] = b"countersign passkey answer v1\0";

/// What a person confirms with a passkey. The WebAuthn challenge is the hash of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AnswerStatement {
    /// The version of this statement, 1.
    pub v: u64,
    /// The ask that is answered.
    pub ask: AskId,
    /// The person who answers.
    pub human: HumanId,
    /// The SHA-256 of the canonical JSON of the question, as in the receipt.
    pub question_sha256: Digest,
    /// The SHA-256 of the text that the person was shown, as in the receipt.
    pub shown_sha256: Digest,
    /// The SHA-256 of the canonical JSON of the answer as the receipt shows it: an object with
    /// `answer`, `comment` if there is one, and `redacted` if a sensitive value was left out.
    pub answer_sha256: Digest,
    /// 32 random bytes, so that every challenge is new.
    pub nonce: Digest,
}

impl AnswerStatement {
    /// The statement about an answer as it will be recorded. `None` once the question was erased,
    /// or if the reply does not answer it.
    pub fn of(ask: &Ask, human: &HumanId, reply: &Reply, nonce: Digest) -> Option<Self> {
        let exhibit = QuestionDigests::of(ask)?;
        let question = ask.question.value()?;
        let reply = question.check(reply.clone()).ok()?.into_reply();
        let (reply, redacted) = without_secrets(reply, Some(question));
        Some(Self {
            v: VERSION,
            ask: ask.id,
            human: human.clone(),
            question_sha256: exhibit.question,
            shown_sha256: exhibit.shown,
            answer_sha256: answer_digest(&reply.answer, reply.comment.as_deref(), &redacted),
            nonce,
        })
    }

    /// The WebAuthn challenge that commits to this statement.
    pub fn challenge(&self) -> Digest {
        Digest::of(&[DOMAIN, &canonical(self)].concat())
    }
}

/// The hash of an answer as a receipt shows it.
pub fn answer_digest(answer: &Answer, comment: Option<&str>, redacted: &[String]) -> Digest {
    #[derive(Serialize)]
    struct Answered<'a> {
        answer: &'a Answer,
        #[serde(skip_serializing_if = "Option::is_none")]
        comment: Option<&'a str>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        redacted: &'a [String],
    }
    Digest::of_json(&Answered { answer, comment, redacted })
}

/// The evidence that a passkey signed a statement. All byte strings are base64url without padding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PasskeyEvidence {
    /// The passkey, as the audit log names its enrolment.
    pub key: KeyId,
    /// The credential id of the authenticator.
    pub credential_id: String,
    /// The public key of the credential, as a COSE key in its one canonical encoding.
    pub public_key: String,
    /// The authenticator data that was signed.
    pub authenticator_data: String,
    /// The client data that was signed.
    pub client_data_json: String,
    /// The signature over authenticator data and the hash of the client data.
    pub signature: String,
    /// The relying party id the passkey was made for.
    pub rp_id: String,
    /// The origin of the page on which the answer was confirmed.
    pub origin: String,
    /// The statement that the person confirmed.
    pub statement: AnswerStatement,
}

impl PasskeyEvidence {
    /// Whether it is small enough to be stored: an assertion has about a kilobyte.
    pub(crate) fn is_small(&self) -> bool {
        let parts = [
            &self.credential_id,
            &self.public_key,
            &self.authenticator_data,
            &self.client_data_json,
            &self.signature,
            &self.rp_id,
            &self.origin,
        ];
        parts.into_iter().all(|part| part.len() <= 8192)
    }
}

/// A reply without its sensitive values, and the keys of those values.
pub fn without_secrets(reply: Reply, question: Option<&Question>) -> (Reply, Vec<String>) {
    let Answer::Provided { values } = reply.answer else { return (reply, Vec::new()) };
    let form = question.and_then(|question| match question.body() {
        QuestionBody::Provide { form } => Some(form),
        QuestionBody::Approve { .. }
        | QuestionBody::Choose { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => None,
    });
    // Values that the form does not know are left out too.
    let open = |key: &str| {
        let field = form.and_then(|form| form.field(key));
        field.is_some_and(|field| !field.is_sensitive())
    };
    let (shown, hidden): (Vec<_>, Vec<_>) =
        values.into_map().into_iter().partition(|(key, _)| open(key));
    // Values are any JSON object, so reading one back cannot fail; if it did, none would be shown.
    let values = serde_json::from_value(serde_json::Value::Object(shown.into_iter().collect()));
    let answer = Answer::Provided { values: values.unwrap_or_default() };
    let redacted = hidden.into_iter().map(|(key, _)| key).collect();
    (Reply { answer, comment: reply.comment }, redacted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Cast, human, new_ask, no, yes};

    #[test]
    fn a_challenge_commits_to_every_part() {
        let mut cast = Cast::new();
        let (one, other) = (cast.ask(new_ask()), cast.ask(new_ask()));
        let of = |id, name: &str, reply: &Reply, nonce: u8| {
            AnswerStatement::of(cast.seen(id), &human(name), reply, Digest([nonce; 32])).unwrap()
        };
        let said = Reply { comment: Some("ok".to_owned()), ..*yes() };
        let all = [
            of(one, "olga", &yes(), 1),
            of(other, "olga", &yes(), 1),
            of(one, "mark", &yes(), 1),
            of(one, "olga", &no(), 1),
            of(one, "olga", &said, 1),
            of(one, "olga", &yes(), 2),
        ];
        let challenges: std::collections::BTreeSet<_> =
            all.iter().map(|statement| statement.challenge().to_string()).collect();
        assert_eq!(challenges.len(), all.len());
        // These bytes are hashed: another purpose would have another prefix.
        let text = String::from_utf8(canonical(&all[0])).unwrap();
        let hashed = [b"countersign passkey answer v1\0", text.as_bytes()].concat();
        assert_eq!(all[0].challenge(), Digest::of(&hashed));
    }

    #[test]
    fn what_does_not_answer_cannot_be_stated() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let wrong = Reply { answer: Answer::Skip, comment: None };
        assert_eq!(AnswerStatement::of(cast.seen(id), &human("olga"), &wrong, Digest::ZERO), None);
    }
}
