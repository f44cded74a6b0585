//! Whether an email came from the address it names as its sender.
//!
//! A reply address proves that somebody read what was sent to a person. Who that somebody is, `From:` says,
//! and anybody can write anything there. It counts only if the domain of the sender signed it (DKIM), or a
//! forwarder the operator trusts says that it was signed (ARC).
//!
//! ```text
//! Reader ──▶ SenderClaim (read strictly, no network) ──▶ SenderVerifier (keys from the DNS) ──▶ verified
//! ```
//!
//! | file | what |
//! |---|---|
//! | `headers.rs` | headers and addresses read strictly: what two readers could take for two things is refused |
//! | `results.rs` | what an ARC set says about the signatures of an email |
//! | `verify.rs` | the signatures, with keys from the DNS |

mod headers;
mod results;
#[cfg(test)]
mod tests;
mod verify;

pub use verify::{Dns, SenderSettings, SenderVerifier};

use super::reply_address::ReplyAddresses;
use crate::sender_claim::{SenderClaim, UnverifiedSender};
use headers::Fields;

impl SenderClaim {
    /// Reads strictly whom an email is from. `token` is that of the reply address it came to, and
    /// `sender` the address that was found in it: where the two readings differ, neither counts.
    pub(super) fn read(
        raw: &[u8],
        replies: &ReplyAddresses,
        token: &str,
        sender: &str,
    ) -> Result<Self, UnverifiedSender> {
        let raw = headers::with_crlf(raw).ok_or(UnverifiedSender::Malformed)?;
        let fields = Fields::read(&raw).ok_or(UnverifiedSender::Malformed)?;
        if !fields.has("dkim-signature") && !fields.has("arc-seal") {
            return Err(UnverifiedSender::Unsigned);
        }
        let from = fields.only("from").ok_or(UnverifiedSender::Senders)?;
        let from = headers::addresses(from).ok_or(UnverifiedSender::Senders)?;
        let [from] = from.as_slice() else { return Err(UnverifiedSender::Senders) };
        if !from.eq_ignore_ascii_case(sender) {
            return Err(UnverifiedSender::Senders);
        }
        // Each of these may occur once (RFC 5322, 3.6). A second one would not be signed, and readers
        // disagree about which of the two counts.
        for name in
            ["to", "cc", "subject", "message-id", "content-type", "content-transfer-encoding"]
        {
            if fields.has(name) && fields.only(name).is_none() {
                return Err(UnverifiedSender::Malformed);
            }
        }
        // A signed email can be delivered again, to another address. So the reply address itself must be
        // in a line that is signed, and as an address: a name before an address says nothing.
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

    /// Whether a signature covers everything by which an email is told from another: the sender, the
    /// reply address, the subject, which may be part of what is said, and the `Message-ID` it is known by.
    fn is_covered_by(&self, signed: &[String]) -> bool {
        let has = |name: &str| signed.iter().any(|header| header.trim().eq_ignore_ascii_case(name));
        has("from")
            && has(self.addressed_in)
            && has("message-id")
            && (has("subject") || !self.has_subject)
    }

    /// Whether a domain speaks for the sender: it is the sender's domain, or one above it. Whoever has
    /// the domain above also decides which keys the domain below has.
    fn is_aligned_with(&self, signer: &str) -> bool {
        let signer = signer.to_ascii_lowercase();
        let above = || {
            let prefix = self.domain.strip_suffix(signer.as_str());
            prefix.is_some_and(|prefix| prefix.ends_with('.'))
        };
        headers::is_domain(&signer) && (signer == self.domain || above())
    }
}
