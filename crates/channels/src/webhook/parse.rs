//! Reads calls from the operator's program.

use kernel::Time;
use kernel::directory::Means;
use kernel::directory::contact::is_webhook_address;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::inbound::{DeliveryReport, InReplyTo, InboundContent, InboundMessage};
use crate::{UnreadableCall, WebhookCall};

/// A call. Exactly one of its content members is present.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    id: Option<String>,
    from: String,
    name: Option<String>,
    at: Option<Time>,
    /// The message it is about, by the id that the program returned on delivery.
    about: Option<String>,
    pressed: Option<String>,
    submitted: Option<Submitted>,
    wrote: Option<String>,
    became: Option<State>,
    why: Option<String>,
    #[serde(default)]
    forever: bool,
    wants: Option<Wish>,
}

#[derive(Debug, Deserialize)]
struct Submitted {
    token: String,
    values: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Delivered,
    Read,
    Failed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wish {
    Nothing,
    Notices,
}

impl Said {
    pub(super) fn inbound(self, call: &WebhookCall<'_>) -> Result<InboundMessage, UnreadableCall> {
        if !is_webhook_address(&self.from) {
            let wrong = "expected from to be who it is, without spaces and up to 200 bytes";
            return Err(UnreadableCall(wrong.to_owned()));
        }
        let id = self
            .id
            .filter(|id| !id.is_empty())
            .or_else(|| call.header("webhook-id").map(str::to_owned));
        let about = self.about;
        let what = match (self.pressed, self.submitted, self.wrote, self.became, self.wants) {
            (Some(token), None, None, None, None) => {
                InboundContent::Pressed { token, posted: about }
            }
            (None, Some(Submitted { token, values }), None, None, None) => {
                InboundContent::Submitted { token, values }
            }
            (None, None, Some(text), None, None) => InboundContent::Wrote {
                text,
                about: about.map_or(InReplyTo::Nothing, InReplyTo::Posted),
            },
            (None, None, None, Some(state), None) => {
                let posted = about.ok_or_else(|| {
                    UnreadableCall("expected about: which message it is".to_owned())
                })?;
                let why = self.why.unwrap_or_else(|| "the program does not say why".to_owned());
                let state = match state {
                    State::Delivered => DeliveryReport::Delivered,
                    State::Read => DeliveryReport::Read,
                    State::Failed => DeliveryReport::Failed { why, forever: self.forever },
                };
                InboundContent::Became { posted, state }
            }
            (None, None, None, None, Some(Wish::Nothing)) => InboundContent::Stopped,
            (None, None, None, None, Some(Wish::Notices)) => InboundContent::Resumed,
            _ => {
                let wrong = "expected one of pressed, submitted, wrote, became and wants";
                return Err(UnreadableCall(wrong.to_owned()));
            }
        };
        Ok(InboundMessage {
            id: id.unwrap_or_default(),
            from: Means::Webhook(self.from),
            name: self.name,
            place: Value::Null,
            what,
            at: self.at,
        })
    }
}
