//! What the operator's program says.

use kernel::Time;
use kernel::directory::Means;
use kernel::directory::contact::is_webhook_address;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::heard::{About, Heard, Receipt, What};
use crate::{Knock, Unread};

/// A call. Exactly one of what can be said is there.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    id: Option<String>,
    from: String,
    name: Option<String>,
    at: Option<Time>,
    /// Which message it is about, by the id that was answered when it came.
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
    pub(super) fn heard(self, knock: &Knock<'_>) -> Result<Heard, Unread> {
        if !is_webhook_address(&self.from) {
            let wrong = "expected from to be who it is, without spaces and up to 200 bytes";
            return Err(Unread(wrong.to_owned()));
        }
        let id = self
            .id
            .filter(|id| !id.is_empty())
            .or_else(|| knock.header("webhook-id").map(str::to_owned));
        let about = self.about;
        let what = match (self.pressed, self.submitted, self.wrote, self.became, self.wants) {
            (Some(token), None, None, None, None) => What::Pressed { token, posted: about },
            (None, Some(Submitted { token, values }), None, None, None) => {
                What::Submitted { token, values }
            }
            (None, None, Some(text), None, None) => {
                What::Wrote { text, about: about.map_or(About::Nothing, About::Posted) }
            }
            (None, None, None, Some(state), None) => {
                let posted = about
                    .ok_or_else(|| Unread("expected about: which message it is".to_owned()))?;
                let why = self.why.unwrap_or_else(|| "the program does not say why".to_owned());
                let state = match state {
                    State::Delivered => Receipt::Delivered,
                    State::Read => Receipt::Read,
                    State::Failed => Receipt::Failed { why, forever: self.forever },
                };
                What::Became { posted, state }
            }
            (None, None, None, None, Some(Wish::Nothing)) => What::Stopped,
            (None, None, None, None, Some(Wish::Notices)) => What::Resumed,
            _ => {
                let wrong = "expected one of pressed, submitted, wrote, became and wants";
                return Err(Unread(wrong.to_owned()));
            }
        };
        Ok(Heard {
            id: id.unwrap_or_default(),
            from: Means::Webhook(self.from),
            name: self.name,
            place: Value::Null,
            what,
            at: self.at,
        })
    }
}
