//! The sender that an inbound email claims to be from. `email::sender` reads and verifies it.

use std::fmt;
use std::sync::Arc;

/// An email with exactly one sender, whose domain may have signed it.
#[derive(Clone, PartialEq)]
pub struct SenderClaim {
    /// The raw email, with CRLF at the end of each line.
    pub(crate) raw: Arc<[u8]>,
    /// The number of header fields that the strict parser finds.
    pub(crate) fields: usize,
    /// The domain of the sender, in lower case.
    pub(crate) domain: String,
    /// The header that names the reply address.
    pub(crate) addressed_in: &'static str,
    /// Whether the email has a subject.
    pub(crate) has_subject: bool,
}

impl fmt::Debug for SenderClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderClaim").field("domain", &self.domain).finish_non_exhaustive()
    }
}

/// Why the sender of an email was not verified. The messages address the person who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnverifiedSender {
    /// The operator disabled sender verification.
    #[error("this server does not verify the senders of emails")]
    Disabled,
    /// The email has no signature of the sender's domain.
    #[error("the email has no DKIM signature of its sender's domain")]
    Unsigned,
    /// The headers can be read in more than one way.
    #[error("the headers of the email are not well-formed")]
    Malformed,
    /// The email does not have exactly one sender.
    #[error("the email does not have exactly one From address")]
    Senders,
    /// The email is not from a verified address of the person.
    #[error("the email was not sent from one of your verified addresses")]
    OtherAddress,
    /// No signed header names the reply address.
    #[error("the To and Cc lines of the email do not name the reply address")]
    NotAddressed,
    /// The signature does not cover a header that must not change.
    #[error(
        "the DKIM signature leaves out the sender, the recipient, the subject or the Message-ID"
    )]
    NotCovered,
    /// The signature covers only the beginning of the text.
    #[error("the DKIM signature covers only a part of the email")]
    PartialBody,
    /// The signature expired.
    #[error("the DKIM signature expired")]
    Expired,
    /// The body differs from the signed one.
    #[error("the text of the email was changed after it was signed")]
    Changed,
    /// The signature is wrong, or uses an obsolete algorithm.
    #[error("the DKIM signature is not valid")]
    Invalid,
    /// The key of the signature does not exist, was revoked, or is marked as a test.
    #[error("the key of the DKIM signature does not exist or is no longer in use")]
    NoKey,
    /// The key could not be looked up.
    #[error("the key of the DKIM signature could not be looked up in the DNS")]
    Lookup,
}
