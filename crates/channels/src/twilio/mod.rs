//! An account at Twilio, which carries text messages and `WhatsApp`.
//!
//! | file | contents |
//! |---|---|
//! | `call.rs` | sending, and its errors |
//! | `codes.rs` | Twilio's error codes in words |
//! | `sign.rs` | verifies the signature of Twilio's calls |
//! | `inbound.rs` | reads Twilio's calls |

mod call;
pub(crate) mod codes;
pub(crate) mod inbound;
pub(crate) mod sign;

use kernel::directory::contact::is_phone_number;
use reqwest::Client;
use url::Url;

use crate::{ForgedCall, Secret, WebhookCall};

/// The URL of the API that sends messages.
pub const API: &str = "https://api.twilio.com";
/// The URL of the Content API, which creates messages with buttons.
pub const CONTENT: &str = "https://content.twilio.com";

/// An account at Twilio.
#[derive(Debug, Clone)]
pub struct TwilioAccount {
    /// The URL of the API: [`API`].
    pub api: Url,
    /// The URL of the Content API: [`CONTENT`].
    pub content: Url,
    /// The account SID, `AC…`.
    pub sid: String,
    /// The account's auth token. Twilio signs its calls with it. The server authenticates with it
    /// unless an API key is set.
    pub auth_token: Secret,
    /// An API key to authenticate with instead: `SK…` and its secret.
    pub key: Option<(String, Secret)>,
    /// The sender of messages.
    pub sender: Sender,
    /// The callback URL for delivery reports.
    pub status: Option<Url>,
}

/// The sender of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    /// A phone number, as in `+15005550006`.
    Number(String),
    /// A messaging service, `MG…`, which picks a number.
    Service(String),
}

/// An account, and the client to call it with.
#[derive(Debug)]
pub(crate) struct Twilio {
    account: TwilioAccount,
    client: Client,
}

impl Twilio {
    /// Checks the account, or says what is wrong with it.
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

    /// Verifies that a call is from Twilio. The signature has no date. Repetitions have
    /// the same SID.
    pub(crate) fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        sign::verify(&self.account.auth_token, call)
    }
}
