//! `WhatsApp`, through Meta's Cloud API ([`MetaWhatsapp`]) or through Twilio ([`TwilioWhatsapp`]).
//! Both show the same messages.
//!
//! People who have not written for a day can only receive approved templates. The platform does not
//! say in advance whether it would accept a free text. The channel therefore remembers in memory
//! who wrote when. If that is unknown and a template is configured, the channel sends the template,
//! which always arrives.
//!
//! | file | contents |
//! |---|---|
//! | `render.rs` | a message card for both providers |
//! | `meta/` | Meta's Cloud API |
//! | `via_twilio.rs` | Twilio |

pub(crate) mod meta;
mod render;
mod via_twilio;

pub use meta::{GRAPH, MetaSettings, MetaWhatsapp};
pub use via_twilio::TwilioWhatsapp;

use std::borrow::Cow;
use std::sync::Arc;

use kernel::directory::ContactMethod;
use kernel::directory::contact::is_phone_number;
use serde_json::Value;
use views::t;

use crate::channel::Channel;
use crate::setup::{ChannelContext, ChannelSetup};
use crate::twilio::TwilioAccount;

/// The name of the channel.
pub const NAME: &str = "whatsapp";

/// The provider that carries `WhatsApp`, with its settings.
#[derive(Debug, Clone)]
pub enum WhatsappSettings {
    /// Meta's Cloud API.
    Meta(Box<MetaSettings>),
    /// A Twilio account, and the template.
    Twilio(Box<TwilioAccount>, Option<Template>),
}

/// An approved template, for people who have not written for a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Its name at Meta, or its SID at Twilio, `HX…`.
    pub name: String,
    /// Its language, such as `en` or `en_US`. Twilio does not need it.
    pub language: String,
    /// The contents of `{{1}}`, `{{2}}` and so on.
    pub slots: Vec<TemplateSlot>,
}

/// The content of a placeholder in a template. Each is one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateSlot {
    /// Who asks for what.
    Title,
    /// The question with its details, or its beginning if it is long.
    Question,
    /// The deadline of the request.
    Until,
    /// How to answer, or that the answer is given on the request's page.
    Answer,
    /// The link to the request's page.
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

    /// The content for this placeholder. Never empty, because templates take no empty placeholder.
    fn of(self, message: &Value) -> &str {
        let text = message.pointer(&format!("/template/{}", self.name())).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).unwrap_or("-")
    }
}

impl Template {
    fn filled<'a>(&'a self, message: &'a Value) -> impl Iterator<Item = Cow<'a, str>> {
        // Without the question in the message, the person answers on the page.
        let is_read = self.slots.contains(&TemplateSlot::Question);
        self.slots.iter().map(move |slot| match slot {
            TemplateSlot::Answer if !is_read => Cow::Owned(t!("chat-on-its-page")),
            slot => Cow::Borrowed(slot.of(message)),
        })
    }
}

/// A number in `WhatsApp`'s format, without the plus sign, as a contact method.
fn whatsapp_contact(number: &str) -> Option<ContactMethod> {
    let number = format!("+{}", number.trim_start_matches("whatsapp:").trim_start_matches('+'));
    is_phone_number(&number).then_some(ContactMethod::Whatsapp(number))
}

impl ChannelSetup for WhatsappSettings {
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
    use crate::testing::sample_cards;

    #[test]
    fn nobody_answers_what_they_have_not_read() {
        let message = render::render(&sample_cards::approve(), 4096);
        let filled = |slots: Vec<TemplateSlot>| {
            let template = Template { name: "x".into(), language: "en".into(), slots };
            template.filled(&message).map(Cow::into_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            filled(vec![TemplateSlot::Answer, TemplateSlot::Link]),
            ["on its page", sample_cards::LINK]
        );
        assert_eq!(
            filled(vec![TemplateSlot::Answer, TemplateSlot::Question])[0],
            "A7 yes or A7 no"
        );
        let message = render::render(&sample_cards::choose(), 4096);
        let template =
            Template { name: "x".into(), language: "en".into(), slots: vec![TemplateSlot::Until] };
        assert_eq!(template.filled(&message).collect::<Vec<_>>(), ["-"], "no place stays empty");
    }

    #[test]
    fn numbers_with_and_without_their_sign() {
        let ada = Some(ContactMethod::Whatsapp("+491701234567".to_owned()));
        for number in ["491701234567", "+491701234567", "whatsapp:+491701234567"] {
            assert_eq!(whatsapp_contact(number), ada);
        }
        assert_eq!(whatsapp_contact("ID.4566"), None);
    }
}
