//! Whether a receipt matches the installation's records. A signature proves who signed; this
//! comparison also exposes receipts that were signed with a stolen key.

use kernel::actor::By;
use kernel::ask::Ask;
use kernel::receipt::Receipt;
use serde_json::Value;

use super::receipt::{Names, ReceiptClaims};
use crate::hxp_execution::is_pseudonym;

/// Claims that may differ from today's record: the URL of the installation, the date of a receipt
/// from a server whose clock was changed, and data erased with a person.
const MAY_DIFFER: [&str; 6] = ["iss", "iat", "comment", "comment_erased", "reason", "sender"];

/// How a receipt differs from the record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Differs {
    /// The installation has no such request.
    #[error("this installation has no such request")]
    Unknown,
    /// The recorded request is still open.
    #[error("the request it is about is still open")]
    Open,
    /// A claim differs from the record.
    #[error("its `{0}` is not what this installation recorded")]
    Claim(String),
}

/// Compares a receipt with the request of its `sub`.
pub fn compare(claims: &ReceiptClaims, ask: Option<&Ask>) -> Result<(), Differs> {
    let ask = ask.ok_or(Differs::Unknown)?;
    let recorded = Receipt::of(ask).ok_or(Differs::Open)?;
    let place = &claims.audit;
    if (place.seq, place.hash) != (recorded.place.seq, recorded.place.hash) {
        return Err(Differs::Claim("audit".to_owned()));
    }
    let Some(ours) = ReceiptClaims::of(ask, &claims.iss, Names::Shown) else {
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
        return other.map_or(Ok(()), |(name, _)| Err(Differs::Claim(name.to_owned())));
    };
    let hidden = matches!(&claims.by, By::Human(name) if ask.is_pooled() && is_pseudonym(name));
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
            return Err(Differs::Claim(name.to_owned()));
        }
    }
    for (name, erased) in [("comment", "comment_erased"), ("sender", "evidence_erased")] {
        match (theirs.get(name), ours.get(name)) {
            (Some(theirs), Some(ours)) if theirs != ours => {
                return Err(Differs::Claim(name.to_owned()));
            }
            (Some(_), None) if ours.get(erased).is_none() => {
                return Err(Differs::Claim(name.to_owned()));
            }
            _ => {}
        }
    }
    Ok(())
}

fn members(claims: &ReceiptClaims) -> Value {
    serde_json::to_value(claims).unwrap_or_default()
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
        ReceiptClaims::of(ask, "https://old.example", Names::Shown).unwrap()
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
        let differs = Err(Differs::Claim("sender".to_owned()));
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
        let hidden = ReceiptClaims::of(&ask, "https://old.example", Names::Hidden(b"secret"));
        assert_eq!(compare(&hidden.unwrap(), Some(&ask)), Ok(()));
    }

    #[test]
    fn what_was_never_recorded_is_told_apart() {
        let (mut cast, ask) = answered(Some("Go"));
        let genuine = receipt(&ask);
        assert_eq!(compare(&genuine, None), Err(Differs::Unknown));
        let open = cast.ask(new_ask());
        assert_eq!(compare(&genuine, Some(cast.seen(open))), Err(Differs::Open));
        let forged = |forge: fn(&mut ReceiptClaims)| {
            let mut claims = genuine.clone();
            forge(&mut claims);
            compare(&claims, Some(&ask))
        };
        let claim = |name: &str| Err(Differs::Claim(name.to_owned()));
        assert_eq!(forged(|claims| claims.audit.hash = Digest::of(b"x")), claim("audit"));
        assert_eq!(forged(|claims| claims.audit.seq += 1), claim("audit"));
        assert_eq!(forged(|claims| claims.answer = Some(Answer::REJECTED)), claim("answer"));
        assert_eq!(forged(|claims| claims.answer = None), claim("answer"));
        assert_eq!(forged(|claims| claims.by = By::System), claim("by"));
        assert_eq!(forged(|claims| claims.prompt.push('!')), claim("prompt"));
        assert_eq!(forged(|claims| claims.ended_at = Time::from_millis(0)), claim("ended_at"));
        assert_eq!(forged(|claims| claims.comment = Some("Never".to_owned())), claim("comment"));
        assert_eq!(forged(|claims| claims.iss.push('x')), Ok(()), "the address may have changed");
    }
}
