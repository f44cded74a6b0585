//! Mail servers that sign their emails (DKIM) and forwarders that seal forwarded emails (ARC).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mail_auth::arc::ArcSealer;
use mail_auth::common::crypto::Ed25519Key;
use mail_auth::common::headers::HeaderWriter;
use mail_auth::dkim::{DkimSigner, Signature};
use mail_auth::{ArcOutput, AuthenticatedMessage, AuthenticationResults, DkimOutput, Error};

/// The headers that mail servers sign at least.
pub const HEADERS: [&str; 4] = ["From", "To", "Subject", "Message-ID"];

/// A mail server with its own key.
#[derive(Debug, Clone)]
pub struct MailServer {
    domain: String,
    seed: u8,
}

impl MailServer {
    /// The mail server of a domain. Its key is derived from a number.
    pub fn new(domain: &str, seed: u8) -> Self {
        Self { domain: domain.to_owned(), seed }
    }

    fn key(&self) -> Result<Ed25519Key, Error> {
        // The PKCS #8 encoding (RFC 8410, 7) of 32 bytes.
        let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
        der.extend([self.seed; 32]);
        Ed25519Key::from_pkcs8_maybe_unchecked_der(&der)
    }

    /// The DNS record of its key, with further tags such as `t=y; `.
    pub fn record(&self, tags: &str) -> Result<(String, String), Error> {
        let key = BASE64_STANDARD.encode(self.key()?.public_key());
        let name = format!("s1._domainkey.{}", self.domain);
        Ok((name, format!("v=DKIM1; k=ed25519; {tags}p={key}")))
    }

    /// An email with a signature over these headers.
    pub fn signed(&self, email: &str, headers: &[&str]) -> Result<String, Error> {
        self.signed_as(email, headers, None, false)
    }

    /// The same, with a signature that expires after this many seconds of the real clock, or that
    /// covers only the current length of the body (`l=`).
    pub fn signed_as(
        &self,
        email: &str,
        headers: &[&str],
        seconds: Option<u64>,
        partial: bool,
    ) -> Result<String, Error> {
        let headers: Vec<String> = headers.iter().map(|name| (*name).to_owned()).collect();
        let mut signer = DkimSigner::from_key(self.key()?)
            .domain(self.domain.as_str())
            .selector("s1")
            .headers(headers)
            .body_length(partial);
        if let Some(seconds) = seconds {
            signer = signer.expiration(seconds);
        }
        let signature = signer.sign(email.as_bytes())?;
        Ok(format!("{}{email}", signature.to_header()))
    }

    /// A forwarded email with an ARC seal, which states that a signature of this domain passed.
    pub fn sealed(&self, email: &str, signer: &str) -> Result<String, Error> {
        let message = AuthenticatedMessage::parse(email.as_bytes()).ok_or(Error::ParseError)?;
        let signature =
            Signature { d: signer.to_owned(), s: "s1".to_owned(), ..Signature::default() };
        let passed = DkimOutput::pass().with_signature(&signature);
        let results = AuthenticationResults::new(&self.domain).with_dkim_result(&passed, "");
        let set = ArcSealer::from_key(self.key()?)
            .domain(self.domain.as_str())
            .selector("s1")
            .headers(HEADERS)
            .seal(&message, &results, &ArcOutput::default())?;
        Ok(format!("{}{email}", set.to_header()))
    }
}
