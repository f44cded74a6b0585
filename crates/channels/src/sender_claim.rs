//! The sender that an inbound email claims to be from. `email::sender` reads and verifies it.

use std::fmt;
use std::sync::Arc;

/// An email that names one sender and that the sender's domain may have signed.
#[derive(Clone, PartialEq)]
pub struct SenderClaim {
    /// The email, with CRLF at the end of each line.
    pub(crate) raw: Arc<[u8]>,
    /// How many header fields it has, by our strict reading.
    pub(crate) fields: usize,
    /// The domain of the sender, in lower case.
    pub(crate) domain: String,
    /// The header that names the reply address.
    pub(crate) addressed_in: &'static str,
    /// Whether it has a subject.
    pub(crate) has_subject: bool,
}

impl fmt::Debug for SenderClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderClaim").field("domain", &self.domain).finish_non_exhaustive()
    }
}

/// Why the sender of an email was not verified, in words for the person who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnverifiedSender {
    /// The operator turned it off.
    #[error("this server does not verify the senders of emails")]
    Disabled,
    /// There is no signature of the sender's domain.
    #[error("the email has no DKIM signature of its sender's domain")]
    Unsigned,
    /// Its headers can be read in more than one way.
    #[error("the headers of the email are not well-formed")]
    Malformed,
    /// There is not exactly one sender.
    #[error("the email does not have exactly one From address")]
    Senders,
    /// It is not from a verified address of the person.
    #[error("the email was not sent from one of your verified addresses")]
    OtherAddress,
    /// Nothing that is signed says that it was meant for the reply address.
    #[error("the To and Cc lines of the email do not name the reply address")]
    NotAddressed,
    /// The signature leaves out what must not change.
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
    /// The text is not the one that was signed.
    #[error("the text of the email was changed after it was signed")]
    Changed,
    /// The signature is wrong, or made in a way that counts no longer.
    #[error("the DKIM signature is not valid")]
    Invalid,
    /// The key of the signature does not exist, was revoked, or is only a test.
    #[error("the key of the DKIM signature does not exist or is no longer in use")]
    NoKey,
    /// The key could not be looked up.
    #[error("the key of the DKIM signature could not be looked up in the DNS")]
    Lookup,
}
