//! `WhatsApp`, through Meta's Cloud API ([`MetaWhatsapp`]) or through Twilio ([`TwilioWhatsapp`]). Both show the same.
//!
//! Whoever has not written for a day can be sent approved templates alone. A platform does not say
//! beforehand whether it would take anything else, so who wrote when is remembered here while the server
//! runs; where that is not known and a template is set up, the template is sent, which always arrives.
//!
//! | file | what |
//! |---|---|
//! | `render.rs` | a card as both carriers show it |
//! | `window.rs` | who wrote within a day |
//! | `meta/` | Meta's Cloud API |
//! | `carried.rs` | Twilio |

mod carried;
pub(crate) mod meta;
mod render;
mod window;

pub use carried::TwilioWhatsapp;
pub use meta::{GRAPH, MetaSettings, MetaWhatsapp};

use std::sync::Arc;

use kernel::directory::Means;
use kernel::directory::contact::is_phone_number;
use serde_json::Value;

use crate::channel::Channel;
use crate::setup::{ChannelContext, Setup};
use crate::twilio::TwilioAccount;

/// What the channel is called.
pub const NAME: &str = "whatsapp";

/// Where something is answered that cannot be answered in a message.
const ON_ITS_PAGE: &str = "on its page";

/// Which provider carries `WhatsApp`.
#[derive(Debug, Clone)]
pub enum WhatsappSettings {
    /// Meta itself.
    Meta(Box<MetaSettings>),
    /// Twilio.
    Twilio(Box<TwilioAccount>, Option<Template>),
}

/// A message that was approved beforehand, for whoever has not written for a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Its name at Meta, or its SID at Twilio, `HX…`.
    pub name: String,
    /// Its language, such as `en` or `en_US`; Twilio knows by itself.
    pub language: String,
    /// What goes into `{{1}}`, `{{2}}` and so on.
    pub slots: Vec<TemplateSlot>,
}

/// What a place in a template is filled with: one line each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateSlot {
    /// Who wants what.
    Title,
    /// What is asked, with its details; its beginning, if that is long.
    Question,
    /// Until when.
    Until,
    /// What to write back, or that it is answered on its page.
    Answer,
    /// The page.
    Link,
}

impl TemplateSlot {
    fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Question => "question",
            Self::Until => "until",
            Self::Answer => "answer",
            Self::Link => "link",
        }
    }

    /// What a message has for it. No place may stay empty.
    fn of(self, message: &Value) -> &str {
        let text = message.pointer(&format!("/template/{}", self.name())).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).unwrap_or("-")
    }
}

impl Template {
    fn filled<'a>(&'a self, message: &'a Value) -> impl Iterator<Item = &'a str> {
        // Nobody answers what they have not read.
        let is_read = self.slots.contains(&TemplateSlot::Question);
        self.slots.iter().map(move |slot| match slot {
            TemplateSlot::Answer if !is_read => ON_ITS_PAGE,
            slot => slot.of(message),
        })
    }
}

/// A number as `WhatsApp` has it: without the sign.
fn whatsapp(number: &str) -> Option<Means> {
    let number = format!("+{}", number.trim_start_matches("whatsapp:").trim_start_matches('+'));
    is_phone_number(&number).then_some(Means::Whatsapp(number))
}

impl Setup for WhatsappSettings {
    type Channel = dyn Channel;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String> {
        let http = context.http()?;
        Ok(match self {
            Self::Meta(settings) => Arc::new(MetaWhatsapp::new(*settings, http)?),
            Self::Twilio(account, template) => {
                Arc::new(TwilioWhatsapp::new(*account, template, http)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cards;

    #[test]
    fn nobody_answers_what_they_have_not_read() {
        let message = render::render(&cards::approve(), 4096);
        let filled = |slots: Vec<TemplateSlot>| {
            let template = Template { name: "x".into(), language: "en".into(), slots };
            template.filled(&message).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            filled(vec![TemplateSlot::Answer, TemplateSlot::Link]),
            ["on its page", cards::LINK]
        );
        assert_eq!(
            filled(vec![TemplateSlot::Answer, TemplateSlot::Question])[0],
            "A7 yes or A7 no"
        );
        let message = render::render(&cards::choose(), 4096);
        let template =
            Template { name: "x".into(), language: "en".into(), slots: vec![TemplateSlot::Until] };
        assert_eq!(template.filled(&message).collect::<Vec<_>>(), ["-"], "no place stays empty");
    }

    #[test]
    fn numbers_with_and_without_their_sign() {
        let ada = Some(Means::Whatsapp("+491701234567".to_owned()));
        for number in ["491701234567", "+491701234567", "whatsapp:+491701234567"] {
            assert_eq!(whatsapp(number), ada);
        }
        assert_eq!(whatsapp("ID.4566"), None);
    }
}
