//! Whether a receipt matches the installation's records. A signature proves who signed; this
//! comparison also exposes receipts that were signed with a stolen key.

use kernel::actor::ActorRef;
use kernel::ask::Ask;
use kernel::audit::Digest;
use kernel::receipt::Receipt;
use kernel::seal::{self, Block};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::jwks::Jwks;
use super::jws::{self, ProofError};
use super::receipt::{NameDisclosure, ReceiptClaims};
use crate::hxp_execution::is_pseudonym;

/// Claims that may differ from today's record: the URL of the installation, the date of a receipt
/// from a server whose clock was changed, and data erased with a person.
const MAY_DIFFER: [&str; 6] = ["iss", "iat", "comment", "comment_erased", "reason", "sender"];

/// How a receipt differs from the record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordMismatch {
    /// The installation has no such request.
    #[error("this installation does not have this request")]
    Unknown,
    /// The recorded request is still open.
    #[error("the request it is about is still open")]
    Open,
    /// A claim differs from the record.
    #[error("its `{0}` differs from the record of this installation")]
    Claim(String),
}

/// Compares a receipt with the request of its `sub`.
pub fn compare(claims: &ReceiptClaims, ask: Option<&Ask>) -> Result<(), RecordMismatch> {
    let ask = ask.ok_or(RecordMismatch::Unknown)?;
    let recorded = Receipt::of(ask).ok_or(RecordMismatch::Open)?;
    let place = &claims.audit;
    if (place.seq, place.hash) != (recorded.place.seq, recorded.place.hash) {
        return Err(RecordMismatch::Claim("audit".to_owned()));
    }
    let Some(ours) = ReceiptClaims::of(ask, &claims.iss, NameDisclosure::Shown) else {
        // The text was erased. Only the hash of the event, which covers the text, remains.
        let Receipt { project, agent, kind, asked_at, ended_at, .. } = recorded;
        let same = [
            ("project", claims.project == project),
            ("agent", claims.agent == agent),
            ("kind", claims.kind == kind),
            ("asked_at", claims.asked_at == asked_at),
            ("ended_at", claims.ended_at == ended_at),
        ];
        let other = same.into_iter().find(|(_, same)| !same);
        return other.map_or(Ok(()), |(name, _)| Err(RecordMismatch::Claim(name.to_owned())));
    };
    let hidden =
        matches!(&claims.by, ActorRef::Human(name) if ask.is_pooled() && is_pseudonym(name));
    let (theirs, ours) = (members(claims), members(&ours));
    // An older receipt lacks the claims of later versions, so this compares the claims that the
    // receipt has, and those that decide its meaning.
    let decisive =
        ["answer", "report", "redacted"].into_iter().filter(|name| ours.get(*name).is_some());
    let names = theirs.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let compared = names
        .chain(decisive)
        .filter(|name| !(MAY_DIFFER.contains(name) || hidden && *name == "by"));
    for name in compared {
        if theirs.get(name) != ours.get(name) {
            return Err(RecordMismatch::Claim(name.to_owned()));
        }
    }
    for (name, erased) in [("comment", "comment_erased"), ("sender", "evidence_erased")] {
        match (theirs.get(name), ours.get(name)) {
            (Some(theirs), Some(ours)) if theirs != ours => {
                return Err(RecordMismatch::Claim(name.to_owned()));
            }
            (Some(_), None) if ours.get(erased).is_none() => {
                return Err(RecordMismatch::Claim(name.to_owned()));
            }
            _ => {}
        }
    }
    Ok(())
}

fn members(claims: &ReceiptClaims) -> Value {
    serde_json::to_value(claims).unwrap_or_default()
}

// `GET /api/v1/asks/{id}/receipt/proof`: proves that the event a receipt names is in a sealed
// block of the audit log.

/// The path from one record to the signed root of its block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inclusion {
    /// The record.
    pub record: LinkedRecord,
    /// The position in the feed.
    pub position: u64,
    /// The index among the leaves of the block.
    pub index: u64,
    /// The sibling hashes on the path to the root.
    pub path: Vec<Digest>,
    /// The signed block.
    pub block: String,
}

/// One link of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LinkedRecord))]
pub struct LinkedRecord {
    /// The subject of the chain.
    pub subject: String,
    /// The position in the chain.
    pub seq: u64,
    /// The hash of the previous record.
    pub prev: Digest,
    /// The hash of this record.
    pub hash: Digest,
    /// The hashed bytes, with commitments instead of text. Agents do not get them if they would
    /// name the people of a pool; the proof does not require them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// Why a proof of inclusion is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InclusionError {
    /// The record does not have the hash it claims.
    #[error("the record does not have the hash it claims")]
    Hash,
    /// The record is not the event that the receipt names.
    #[error("the record is not the event this receipt names")]
    OtherEvent,
    /// The block is not valid.
    #[error("the block is not valid: {0}")]
    Block(ProofError),
    /// The path does not lead to the root of the block.
    #[error("the path does not lead from the record to the root of the block")]
    Path,
}

impl Inclusion {
    /// Checks everything: the record's hash, that it is the receipt's event, the path, and the
    /// block.
    pub fn check(&self, receipt: &ReceiptClaims, trusted: &Jwks) -> Result<Block, InclusionError> {
        let record = &self.record;
        let is_linked = |body: &String| {
            Digest::of(&[record.prev.0.as_slice(), body.as_bytes()].concat()) == record.hash
        };
        if !record.body.as_ref().is_none_or(is_linked) {
            return Err(InclusionError::Hash);
        }
        let same = record.subject == receipt.sub.to_string()
            && record.seq == receipt.audit.seq
            && record.hash == receipt.audit.hash;
        if !same {
            return Err(InclusionError::OtherEvent);
        }
        let block: Block =
            jws::open(&self.block, super::BLOCK, trusted).map_err(InclusionError::Block)?;
        let placed = block.first.checked_add(self.index) == Some(self.position);
        if placed && seal::proves(record.hash, self.index, block.count, &self.path, block.root) {
            Ok(block)
        } else {
            Err(InclusionError::Path)
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Time;
    use kernel::audit::Digest;
    use kernel::question::{Answer, Reply};
    use kernel::testing::{Cast, new_ask, yes};
    use kernel::{AskCommand, DirectoryCommand};

    use super::*;

    fn answered(comment: Option<&str>) -> (Cast, Ask) {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let reply = Reply { comment: comment.map(str::to_owned), ..*yes() };
        cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply)));
        let ask = cast.seen(id).clone();
        (cast, ask)
    }

    fn receipt(ask: &Ask) -> ReceiptClaims {
        ReceiptClaims::of(ask, "https://old.example", NameDisclosure::Shown).unwrap()
    }

    /// The sender verification of an email may be erased later, but not forged.
    #[test]
    fn a_sender_fits_its_record() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let sender =
            |domain: &str| Some(kernel::SenderVerification::Dkim { domain: domain.to_owned() });
        cast.sender = sender("olga.example");
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        let genuine = receipt(cast.seen(id));
        assert_eq!(genuine.sender, sender("olga.example"));
        assert_eq!(compare(&genuine, Some(cast.seen(id))), Ok(()));
        let forged = ReceiptClaims { sender: sender("evil.example"), ..genuine.clone() };
        let differs = Err(RecordMismatch::Claim("sender".to_owned()));
        assert_eq!(compare(&forged, Some(cast.seen(id))), differs);
        let (_, unverified) = answered(None);
        let forged = ReceiptClaims { sender: sender("olga.example"), ..receipt(&unverified) };
        assert_eq!(compare(&forged, Some(&unverified)), differs);
        cast.sender = None;
        cast.give_agent("bot", "mark");
        cast.run(kernel::Actor::System, DirectoryCommand::EraseHuman("olga".parse().unwrap()));
        cast.run(kernel::Actor::System, AskCommand::EraseWords(id, "olga".parse().unwrap()));
        let erased = receipt(cast.seen(id));
        assert!(erased.sender.is_none() && erased.evidence_erased);
        assert_eq!(compare(&genuine, Some(cast.seen(id))), Ok(()));
    }

    #[test]
    fn a_genuine_receipt_fits_its_record() {
        let (_, ask) = answered(Some("Go"));
        assert_eq!(compare(&receipt(&ask), Some(&ask)), Ok(()));
        let hidden =
            ReceiptClaims::of(&ask, "https://old.example", NameDisclosure::Hidden(b"secret"));
        assert_eq!(compare(&hidden.unwrap(), Some(&ask)), Ok(()));
    }

    #[test]
    fn what_was_never_recorded_is_told_apart() {
        let (mut cast, ask) = answered(Some("Go"));
        let genuine = receipt(&ask);
        assert_eq!(compare(&genuine, None), Err(RecordMismatch::Unknown));
        let open = cast.ask(new_ask());
        assert_eq!(compare(&genuine, Some(cast.seen(open))), Err(RecordMismatch::Open));
        let forged = |forge: fn(&mut ReceiptClaims)| {
            let mut claims = genuine.clone();
            forge(&mut claims);
            compare(&claims, Some(&ask))
        };
        let claim = |name: &str| Err(RecordMismatch::Claim(name.to_owned()));
        assert_eq!(forged(|claims| claims.audit.hash = Digest::of(b"x")), claim("audit"));
        assert_eq!(forged(|claims| claims.audit.seq += 1), claim("audit"));
        assert_eq!(forged(|claims| claims.answer = Some(Answer::REJECTED)), claim("answer"));
        assert_eq!(forged(|claims| claims.answer = None), claim("answer"));
        assert_eq!(forged(|claims| claims.by = ActorRef::System), claim("by"));
        assert_eq!(forged(|claims| claims.prompt.push('!')), claim("prompt"));
        assert_eq!(forged(|claims| claims.ended_at = Time::from_millis(0)), claim("ended_at"));
        assert_eq!(forged(|claims| claims.comment = Some("Never".to_owned())), claim("comment"));
        assert_eq!(forged(|claims| claims.iss.push('x')), Ok(()), "the address may have changed");
    }
}
