//! Letters, as what came of sending them.

use kernel::Time;

use super::step::Came;
use crate::http::App;
use crate::mail::{Letter, Unsent};
use crate::workers::outbox::count;

impl App {
    /// Sends a letter that is a notice.
    pub(crate) async fn post(&self, letter: &Letter) -> Came {
        // Nobody can be written to any more; what there is to tell goes on.
        let Some(mailer) = &self.mailer else { return Came::Gone };
        let sent = mailer.send(letter, self.gateway.now()).await;
        count("countersign_letters_total", sent.is_ok());
        match sent {
            Ok(()) => Came::Told,
            Err(error @ Unsent::Refused(_)) => Came::Never { error: said(error) },
            Err(error @ Unsent::Later(_)) => Came::Later { at: None, error: said(error) },
        }
    }

    /// One of our own addresses, as others reach it.
    pub(crate) fn link(&self, path: &str) -> String {
        let mut url = self.config.public_url.clone();
        url.set_path(path);
        url.into()
    }
}

fn said(error: Unsent) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

/// A moment as somebody's clock shows it.
pub(crate) fn on_their_clock(at: Time, zone: &jiff::tz::TimeZone) -> String {
    at.timestamp().to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
}
