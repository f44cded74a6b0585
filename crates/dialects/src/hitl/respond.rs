//! `POST /hitl/v1/reviews/{case_id}/respond`, `…/submit` and `…/cancel`: turns the body into a
//! [`Reply`]. Sections 7, 7.5 and 10.

use kernel::actor::AttestedIdentity;
use kernel::question::{Answer, Question, QuestionBody, Reply};
use kernel::spelling::suggestion;
use kernel::{Ask, Refusal};
use serde_json::{Map, Value};

use super::errors::{HitlWireError, code};
use super::evidence::{self, SubmittedEvidence};
use super::parse::{Members, object};
use super::question::RESPONSE;
use super::types::{CaseType, HitlAction};
use super::{HitlVersion, policy};

const CHANNELS: [&str; 5] = [
    "telegram_inline_button",
    "slack_block_action",
    "discord_component",
    "whatsapp_reply_button",
    "teams_adaptive_card",
];
const PLATFORMS: [&str; 5] = ["telegram", "slack", "discord", "whatsapp", "teams"];
/// The members that can hold the comment of an answer. Types and examples use different names.
const WORDS: [&str; 3] = ["feedback", "note", "reason"];

type Object = Map<String, Value>;

/// An answer as sent, before it is checked against the question.
#[derive(Debug, Clone, PartialEq)]
pub struct HitlResponse {
    body: Object,
}

pub fn read_respond(bytes: &[u8]) -> Result<HitlResponse, HitlWireError> {
    Ok(HitlResponse { body: object(bytes)? })
}

/// The reason and the token in the body of a cancel, which may be empty.
pub fn parse_cancel(bytes: &[u8]) -> Result<(Option<String>, Option<String>), HitlWireError> {
    if bytes.trim_ascii().is_empty() {
        return Ok((None, None));
    }
    let body = object(bytes)?;
    let members = Members::new(&body, "");
    members.only(&["reason", "token"])?;
    let reason = members.text("reason")?.filter(|text| !text.trim().is_empty());
    Ok((reason.map(ToOwned::to_owned), members.text("token")?.map(ToOwned::to_owned)))
}

impl HitlResponse {
    /// The review token, if a page sends it in the body.
    pub fn token(&self) -> Option<&str> {
        self.body.get("token").and_then(Value::as_str)
    }

    /// The proofs sent with the answer. An error if the case requires none (HITL-224).
    pub fn evidence(&self, ask: &Ask) -> Result<Vec<SubmittedEvidence>, HitlWireError> {
        let members = Members::new(&self.body, "");
        let proofs = evidence::evidence(members)?;
        if !proofs.is_empty() && ask.verification.is_none() {
            let expected = "no value, because this case has no verification_policy";
            return Err(members.bad(evidence::FIELD, expected));
        }
        Ok(proofs)
    }

    /// Rejects unknown members. Proofs are allowed since 0.8.
    fn only(&self, ask: &Ask, known: &[&str]) -> Result<(), HitlWireError> {
        let proofs = (HitlVersion::of(ask) == HitlVersion::V08).then_some(evidence::FIELD);
        let known: Vec<&str> = known.iter().copied().chain(proofs).collect();
        Members::new(&self.body, "").only(&known)
    }

    /// A person's answer from the page: `{action, data?}` (HITL-060). `redeem` replaces the
    /// references to uploaded files with the files, before the answer is checked against the
    /// question.
    pub fn by_person(
        &self,
        ask: &Ask,
        redeem: impl FnOnce(Reply) -> Result<Reply, Refusal>,
    ) -> Result<Reply, HitlWireError> {
        let members = Members::new(&self.body, "");
        let action = action(members, ask)?;
        self.only(ask, &["action", "data", "token"])?;
        reply(members, action, ask, redeem)
    }

    /// The answer that an agent passes on, and the person it attests (HITL-071, HITL-074).
    pub fn by_relay(&self, ask: &Ask) -> Result<(Reply, AttestedIdentity), HitlWireError> {
        let members = Members::new(&self.body, "");
        let action = action(members, ask)?;
        self.only(ask, &["action", "data", "submitted_via", "submitted_by"])?;
        // First check whether this action may be submitted inline at all.
        if !ask.inline.as_ref().is_some_and(|may| may.contains(&action.stance)) {
            return Err(HitlWireError::refused(&Refusal::NotInline));
        }
        let via = one_of(members, "submitted_via", &CHANNELS)?;
        let by = members.object("submitted_by")?.ok_or_else(|| {
            members.bad("submitted_by", "an object with `platform` and `platform_user_id`")
        })?;
        let by = Members::new(by, "submitted_by");
        by.only(&["platform", "platform_user_id", "display_name"])?;
        let attested = AttestedIdentity {
            via,
            platform: one_of(by, "platform", &PLATFORMS)?,
            platform_user_id: by.required("platform_user_id")?.to_owned(),
            display_name: by.text("display_name")?.map(ToOwned::to_owned),
        };
        Ok((reply(members, action, ask, Ok)?, attested))
    }
}

/// One of these names, or a custom one that starts with `x-`.
fn one_of(members: Members<'_>, key: &str, known: &[&str]) -> Result<String, HitlWireError> {
    let text = members.present(key).and_then(Value::as_str);
    let custom = |text: &str| text.strip_prefix("x-").is_some_and(|rest| !rest.is_empty());
    text.filter(|text| known.contains(text) || custom(text))
        .map(ToOwned::to_owned)
        .ok_or_else(|| members.bad(key, &policy::named_or_custom(text, known)))
}

fn action(members: Members<'_>, ask: &Ask) -> Result<HitlAction, HitlWireError> {
    let kind = CaseType::of(ask);
    let offers = kind.offers();
    let missing = || HitlWireError::named(400, code::MISSING_ACTION, "action", &offers);
    let name = members.present("action").ok_or_else(missing)?;
    let wrong = || {
        let names: Vec<&str> = offers.split(", ").collect();
        let meant = suggestion(name.as_str().unwrap_or_default(), names.into_iter());
        HitlWireError::named(400, code::INVALID_ACTION, "action", &format!("{offers}{meant}"))
    };
    name.as_str().and_then(|name| kind.action(name)).ok_or_else(wrong)
}

fn reply(
    members: Members<'_>,
    action: HitlAction,
    ask: &Ask,
    redeem: impl FnOnce(Reply) -> Result<Reply, Refusal>,
) -> Result<Reply, HitlWireError> {
    let none = Map::new();
    let data = members.object("data")?.unwrap_or(&none);
    let question = ask.question.value().ok_or_else(HitlWireError::no_case)?;
    let (answer, comment) = answer(action, data, question)?;
    let said =
        redeem(Reply { answer, comment }).map_err(|refusal| HitlWireError::refused(&refusal))?;
    let checked = question.check(said);
    checked
        .map(kernel::question::CheckedReply::into_reply)
        .map_err(|error| HitlWireError::answer(&error))
}

fn answer(
    action: HitlAction,
    data: &Object,
    question: &Question,
) -> Result<(Answer, Option<String>), HitlWireError> {
    let data = AnswerMembers(Members::new(data, "data"));
    Ok(match (action.name, question.body()) {
        ("approve", _) => {
            let comment = data.comment(&["edits"])?;
            (Answer::Approved { edits: data.0.object("edits")?.cloned() }, comment)
        }
        ("edit", _) => {
            let comment = data.comment(&["edits"])?;
            (Answer::ChangesRequested { edits: data.0.object("edits")?.cloned() }, comment)
        }
        ("reject", _) => (Answer::REJECTED, data.comment(&[])?),
        ("select", _) => {
            let comment = data.comment(&["selected"])?;
            let options = match data.0.present("selected") {
                Some(Value::String(one)) => vec![one.clone()],
                _ => data.0.texts("selected")?.ok_or_else(|| {
                    data.0.bad("selected", "a list of the IDs of the chosen items")
                })?,
            };
            (Answer::Chosen { options }, comment)
        }
        ("confirm", QuestionBody::Confirm { items, .. }) => {
            let comment = data.comment(&["confirmed_items"])?;
            // The page lists every item, so a confirmation without a selection confirms all of
            // them.
            let all = || items.iter().map(|item| item.id.clone()).collect();
            let confirmed = data.0.texts("confirmed_items")?.unwrap_or_else(all);
            (Answer::Confirmed { items: confirmed }, comment)
        }
        ("cancel", _) => (Answer::Declined, data.comment(&[])?),
        ("retry", _) => {
            let comment = data.comment(&["modified_params"])?;
            let params = data.0.object("modified_params")?.cloned().unwrap_or_default();
            (Answer::Retry { params }, comment)
        }
        ("skip", _) => (Answer::Skip, data.comment(&[])?),
        ("abort", _) => (Answer::Abort, data.comment(&[])?),
        ("submit", QuestionBody::Provide { .. }) => {
            // Every object deserializes as values; the form checks them.
            let values = serde_json::from_value(Value::Object(data.0.map().clone()));
            (Answer::Provided { values: values.unwrap_or_default() }, None)
        }
        ("submit", QuestionBody::Converse) => {
            let comment = data.comment(&[RESPONSE])?;
            let text = data.0.text(RESPONSE)?.unwrap_or_default().to_owned();
            (Answer::Replied { text }, comment)
        }
        // A type and its question come from the same table, so no other pair exists.
        (_, _) => return Err(HitlWireError::internal()),
    })
}

/// `data` of an answer.
struct AnswerMembers<'m>(Members<'m>);

impl AnswerMembers<'_> {
    /// The comment of the answer, under any of its names. Unknown members are rejected, because the
    /// server must not appear to accept a field that it ignores.
    fn comment(&self, known: &[&str]) -> Result<Option<String>, HitlWireError> {
        let all: Vec<&str> = known.iter().copied().chain(WORDS).collect();
        self.0.only(&all)?;
        let mut given = WORDS.into_iter().filter(|key| self.0.present(key).is_some());
        let Some(key) = given.next() else { return Ok(None) };
        if let Some(twice) = given.next() {
            return Err(self.0.bad(twice, &format!("no value, because `{key}` is also present")));
        }
        Ok(self.0.text(key)?.map(ToOwned::to_owned))
    }
}
