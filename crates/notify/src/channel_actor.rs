//! Who acts on a channel: the surface of a contact method, and people that only the platform knows.

use kernel::actor::AttestedIdentity;
use kernel::directory::ContactMethod;
use kernel::{Actor, AnswerInterface, Ask};

/// The surface that a contact method belongs to.
pub(crate) fn via(means: &ContactMethod) -> AnswerInterface {
    match means {
        ContactMethod::Devices | ContactMethod::Ntfy(_) => AnswerInterface::Push,
        ContactMethod::Slack(_) => AnswerInterface::Slack,
        ContactMethod::Email(_) => AnswerInterface::Email,
        ContactMethod::Sms(_) => AnswerInterface::Sms,
        ContactMethod::Whatsapp(_) => AnswerInterface::Whatsapp,
        ContactMethod::Telegram(_) => AnswerInterface::Telegram,
        ContactMethod::Webhook(_) => AnswerInterface::Webhook,
    }
}

/// A person whom the platform knows and the directory does not, as a guest of one ask.
pub(crate) fn guest(
    ask: &Ask,
    via: AnswerInterface,
    from: &ContactMethod,
    id: &str,
    name: Option<String>,
) -> Actor {
    let attested = AttestedIdentity {
        via: from.kind().to_owned(),
        platform: from.kind().to_owned(),
        platform_user_id: id.to_owned(),
        display_name: name,
    };
    Actor::Guest { ask: ask.id, via, attested }
}
