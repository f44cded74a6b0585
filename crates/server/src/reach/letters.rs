//! Notices by mail.

use kernel::audit::Digest;
use kernel::directory::Human;
use kernel::effect::Chain;
use kernel::{Effect, Time};
use store::{Settlement, StoreError};

use super::step::{Came, Onward, Told};
use crate::http::App;
use crate::mail::notice::NoticeLetter;
use crate::mail::{Letter, Unsent};
use crate::workers::outbox::count;

/// A letter to be written.
pub(crate) struct Writing<'a> {
    pub(crate) told: Told,
    /// To which address, by its mark.
    pub(crate) to: Digest,
    pub(crate) chain: &'a Chain,
    /// Whether the next means is tried already.
    pub(crate) passed_on: bool,
    pub(crate) attempt: u32,
}

impl App {
    /// Writes to somebody that an ask waits for them, unless there is nothing to tell any more.
    pub(crate) async fn write_notice(&self, letter: Writing<'_>) -> Result<Settlement, StoreError> {
        let came = self.try_to_write(&letter).await?;
        let Writing { told, to, chain, passed_on, attempt } = letter;
        let Told { ask, why, priority } = told;
        let alone = Effect::Mail { ask, why, priority, to, chain: chain.clone(), passed_on: true };
        let onward = (!passed_on).then_some(Onward { told, chain, alone });
        self.settled(came, attempt, onward).await
    }

    async fn try_to_write(&self, letter: &Writing<'_>) -> Result<Came, StoreError> {
        let Writing { told, to, chain, passed_on, attempt } = letter;
        let directory = self.gateway.directory();
        let Some(human) = directory.human(&chain.human) else { return Ok(Came::Nothing) };
        let before = *passed_on || *attempt > 1 || chain.tried.len() > 1;
        if !self.still_concerns(told.ask, human, before).await? {
            return Ok(Came::Nothing);
        }
        if let Some((until, why)) = self.left_alone(&human.id, told.ask, told.priority).await? {
            return Ok(Came::Held { until, why });
        }
        let Some(address) = address(human, to) else { return Ok(Came::Gone) };
        let Some(ask) = self.gateway.ask(told.ask).await? else { return Ok(Came::Nothing) };
        let link = self.link(&crate::web::paths::request(ask.id));
        let settings = self.link(crate::web::paths::NOTICES);
        let letter = NoticeLetter {
            to: address,
            since: chain.since,
            why: told.why,
            ask: &ask,
            url: &link,
            settings: &settings,
            zone: human.about().map_or(jiff::tz::TimeZone::UTC, kernel::directory::About::zone),
            now: self.gateway.now(),
        };
        Ok(self.post(&letter.letter()).await)
    }

    /// Sends a letter that is a notice.
    pub(super) async fn post(&self, letter: &Letter) -> Came {
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
    pub(super) fn link(&self, path: &str) -> String {
        let mut url = self.config.public_url.clone();
        url.set_path(path);
        url.into()
    }
}

fn said(error: Unsent) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

/// The address of this mark, as they write it, if notices may go there.
pub(super) fn address<'a>(human: &'a Human, mark: &Digest) -> Option<&'a str> {
    let profile = human.profile.value()?;
    let (means, address) = profile.mail_address(mark)?;
    profile.may_tell(&means).then_some(address)
}

/// A moment as somebody's clock shows it.
pub(crate) fn on_their_clock(at: Time, zone: &jiff::tz::TimeZone) -> String {
    at.timestamp().to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
}
