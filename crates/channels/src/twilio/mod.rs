//! Twilio, which carries text messages and `WhatsApp` for whoever has an account there.
//!
//! | file | what |
//! |---|---|
//! | `call.rs` | sending, and what is wrong when that fails |
//! | `codes.rs` | Twilio's errors in words |
//! | `sign.rs` | how Twilio shows that a call is its own |
//! | `hear.rs` | what Twilio says |

mod call;
pub(crate) mod codes;
pub(crate) mod inbound;
pub(crate) mod sign;

use kernel::directory::contact::is_phone_number;
use reqwest::Client;
use url::Url;

use crate::{ForgedCall, Secret, WebhookCall};

/// Where messages are sent.
pub const API: &str = "https://api.twilio.com";
/// Where things to press are laid out.
pub const CONTENT: &str = "https://content.twilio.com";

/// An account at Twilio.
#[derive(Debug, Clone)]
pub struct TwilioAccount {
    /// Where Twilio is: [`API`].
    pub api: Url,
    /// Where its Content API is: [`CONTENT`].
    pub content: Url,
    /// `AC…`
    pub sid: String,
    /// The account's auth token: what Twilio signs with, and what we show unless there is a key.
    pub auth_token: Secret,
    /// An API key to show instead: `SK…` and its secret.
    pub key: Option<(String, Secret)>,
    /// Whom messages come from.
    pub sender: Sender,
    /// Where Twilio says what became of a message.
    pub status: Option<Url>,
}

/// Whom messages come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    /// A number, as in `+15005550006`.
    Number(String),
    /// A messaging service, `MG…`, which picks a number.
    Service(String),
}

/// An account, and how to call.
#[derive(Debug)]
pub(crate) struct Twilio {
    account: TwilioAccount,
    client: Client,
}

impl Twilio {
    /// What is set up, or what is wrong with it.
    pub(crate) fn new(account: TwilioAccount, client: Client) -> Result<Self, String> {
        let is_sid = |text: &str, kind: &str| {
            text.strip_prefix(kind).is_some_and(|rest| {
                rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        if !is_sid(&account.sid, "AC") {
            return Err("Twilio's account SID is AC and 32 hexadecimal digits".to_owned());
        }
        if account.auth_token.reveal().is_empty() {
            return Err("Twilio's auth token is missing: its calls cannot be told from others' \
                        without it"
                .to_owned());
        }
        if account
            .key
            .as_ref()
            .is_some_and(|(sid, secret)| !is_sid(sid, "SK") || secret.reveal().is_empty())
        {
            return Err(
                "an API key of Twilio is SK and 32 hexadecimal digits, and has a secret".to_owned()
            );
        }
        let known = match &account.sender {
            Sender::Number(number) => is_phone_number(number),
            Sender::Service(sid) => is_sid(sid, "MG"),
        };
        if !known {
            return Err("Twilio sends from a number such as +15005550006, or from a messaging \
                        service, MG and 32 hexadecimal digits"
                .to_owned());
        }
        Ok(Self { account, client })
    }

    /// Whether a call is Twilio's. It has no date; what comes twice has the same SID.
    pub(crate) fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        sign::verify(&self.account.auth_token, call)
    }
}
