//! Verifies that an email came from the address it names as its sender.
//!
//! A reply address proves that the sender read a message to a person. `From:` says who the sender
//! is, but anyone can write anything there. It counts only if the domain of the sender signed it
//! (DKIM), or if a forwarder the operator trusts says that it was signed (ARC).
//!
//! ```text
//! Reader ──▶ SenderClaim (read strictly, no network) ──▶ SenderVerifier (keys from the DNS) ──▶ verified
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `headers.rs` | parses headers and addresses strictly, and rejects ambiguous ones |
//! | `results.rs` | the statements of an ARC set about the signatures of an email |
//! | `verify.rs` | verifies the signatures with keys from the DNS |

mod headers;
mod results;
#[cfg(test)]
mod tests;
mod verify;

pub use verify::{Dns, SenderSettings, SenderVerifier};

use super::reply_address::ReplyAddresses;
use crate::sender_claim::{SenderClaim, UnverifiedSender};
use headers::HeaderFields;

impl SenderClaim {
    /// Reads the sender of an email strictly. `token` is that of the reply address it arrived at,
    /// and `sender` the address that the reader found. If the two readings differ, neither counts.
    pub(super) fn read(
        raw: &[u8],
        replies: &ReplyAddresses,
        token: &str,
        sender: &str,
    ) -> Result<Self, UnverifiedSender> {
        let raw = headers::with_crlf(raw).ok_or(UnverifiedSender::Malformed)?;
        let fields = HeaderFields::read(&raw).ok_or(UnverifiedSender::Malformed)?;
        if !fields.has("dkim-signature") && !fields.has("arc-seal") {
            return Err(UnverifiedSender::Unsigned);
        }
        let from = fields.only("from").ok_or(UnverifiedSender::Senders)?;
        let from = headers::addresses(from).ok_or(UnverifiedSender::Senders)?;
        let [from] = from.as_slice() else { return Err(UnverifiedSender::Senders) };
        if !from.eq_ignore_ascii_case(sender) {
            return Err(UnverifiedSender::Senders);
        }
        // Each of these may occur once (RFC 5322, 3.6). A second one would not be signed, and
        // parsers disagree about which one counts.
        for name in
            ["to", "cc", "subject", "message-id", "content-type", "content-transfer-encoding"]
        {
            if fields.has(name) && fields.only(name).is_none() {
                return Err(UnverifiedSender::Malformed);
            }
        }
        // A signed email can be delivered again, to another address. The reply address must
        // therefore be in a signed header, and as an address: a display name does not count.
        let addressed_in = ["to", "cc"].into_iter().find(|name| {
            let named = fields.only(name).and_then(headers::addresses).unwrap_or_default();
            named.iter().any(|address| replies.token_of(address).as_deref() == Some(token))
        });
        let addressed_in = addressed_in.ok_or(UnverifiedSender::NotAddressed)?;
        let (_, domain) = from.rsplit_once('@').ok_or(UnverifiedSender::Senders)?;
        Ok(Self {
            domain: domain.to_ascii_lowercase(),
            fields: fields.len(),
            addressed_in,
            has_subject: fields.has("subject"),
            raw: raw.into(),
        })
    }

    /// Whether a signature covers everything that identifies an email: the sender, the reply
    /// address, the subject, which may be part of the message, and the `Message-ID`.
    fn is_covered_by(&self, signed: &[String]) -> bool {
        let has = |name: &str| signed.iter().any(|header| header.trim().eq_ignore_ascii_case(name));
        has("from")
            && has(self.addressed_in)
            && has("message-id")
            && (has("subject") || !self.has_subject)
    }

    /// Whether a domain may sign for the sender: it is the sender's domain, or a parent of it. The
    /// owner of the parent domain also controls the keys of the subdomain.
    fn is_aligned_with(&self, signer: &str) -> bool {
        let signer = signer.to_ascii_lowercase();
        let above = || {
            let prefix = self.domain.strip_suffix(signer.as_str());
            prefix.is_some_and(|prefix| prefix.ends_with('.'))
        };
        headers::is_domain(&signer) && (signer == self.domain || above())
    }
}
