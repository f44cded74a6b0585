//! Who acts on a channel: the surface of a contact method, and people that only the platform knows.

use kernel::actor::Attested;
use kernel::directory::Means;
use kernel::{Actor, Ask, Via};

/// The surface that a contact method belongs to.
pub(crate) fn via(means: &Means) -> Via {
    match means {
        Means::Devices | Means::Ntfy(_) => Via::Push,
        Means::Slack(_) => Via::Slack,
        Means::Email(_) => Via::Email,
        Means::Sms(_) => Via::Sms,
        Means::Whatsapp(_) => Via::Whatsapp,
        Means::Telegram(_) => Via::Telegram,
        Means::Webhook(_) => Via::Webhook,
    }
}

/// A person whom the platform knows and the directory does not, as a guest of one ask.
pub(crate) fn guest(ask: &Ask, via: Via, from: &Means, id: &str, name: Option<String>) -> Actor {
    let attested = Attested {
        via: from.kind().to_owned(),
        platform: from.kind().to_owned(),
        platform_user_id: id.to_owned(),
        display_name: name,
    };
    Actor::Guest { ask: ask.id, via, attested }
}
