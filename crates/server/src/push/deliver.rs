//! One notice on its way to one device.

use std::sync::Arc;

use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{Holder, Human};
use kernel::effect::Occasion;
use kernel::question::{Answer, Reply};
use kernel::{Actor, Ask, AskId, Assurance, Command, HumanId, KeyId, Time, Via};
use serde::{Deserialize, Serialize};
use store::{Device, Settlement, StoreError};

use super::notice::{Notice, takes_buttons};
use super::{KEPT, Message, Push, Sent, seconds_until};
use crate::http::App;
use crate::workers::outbox::{ATTEMPTS, count, retry_at};

/// What a button's answer is sealed for.
pub(crate) const PURPOSE: &str = "answer from a notice";

/// Which request a button answers, and on which device.
#[derive(Serialize, Deserialize)]
pub(crate) struct Offered {
    pub(crate) ask: AskId,
    pub(crate) device: Digest,
}

/// What is to be told, and how often that was tried.
#[derive(Clone, Copy)]
pub(crate) struct Telling {
    pub(crate) device: Digest,
    pub(crate) ask: AskId,
    pub(crate) why: Option<Occasion>,
    pub(crate) priority: Priority,
    pub(crate) attempt: u32,
}

/// What is left to do about it now.
enum Now {
    Send(Message),
    Wait(Time, &'static str),
    Nothing,
}

impl App {
    /// Tells a device, unless there is nothing to tell any more.
    pub(crate) async fn tell(&self, telling: Telling) -> Result<Settlement, StoreError> {
        let Some(push) = &self.push else { return Ok(Settlement::Done) };
        let Some((device, address)) = self.device(telling.device).await? else {
            return Ok(Settlement::Done);
        };
        let now = self.gateway.now();
        let message = match telling.why {
            Some(why) => self.waiting_notice(&device, telling, why).await?,
            None => self.over_notice(&device, telling.ask).await?,
        };
        let message = match message {
            Now::Nothing => return Ok(Settlement::Done),
            Now::Wait(at, error) => {
                return Ok(Settlement::Retry { at, error: error.to_owned() });
            }
            Now::Send(message) => message,
        };
        let sent = push.send(&address, &message, now).await;
        count("countersign_pushes_total", sent == Sent::Taken);
        if sent == Sent::Gone {
            self.gateway.store().forget_device(device.name).await?;
            return Ok(Settlement::Done);
        }
        Ok(settled(sent, telling.attempt, now))
    }

    /// Sends a notice that only shows that notices arrive.
    pub(crate) async fn try_device(&self, push: &Push, name: Digest) -> Result<Sent, StoreError> {
        let Some((device, address)) = self.device(name).await? else { return Ok(Sent::Gone) };
        let words = Notice::test().words();
        let message = Message { words, keep: 60, priority: Priority::High, topic: None };
        let sent = push.send(&address, &message, self.gateway.now()).await;
        if sent == Sent::Gone {
            self.gateway.store().forget_device(device.name).await?;
        }
        Ok(sent)
    }

    /// That an ask waits, for whoever it waits for and wants to be disturbed.
    async fn waiting_notice(
        &self,
        device: &Device,
        Telling { ask, priority, .. }: Telling,
        why: Occasion,
    ) -> Result<Now, StoreError> {
        let store = self.gateway.store();
        if self.waiting_for(device, ask).await?.is_none() {
            return Ok(Now::Nothing);
        }
        if let Some((at, why)) = self.left_alone(device, ask, priority).await? {
            return Ok(Now::Wait(at, why));
        }
        // Noted before the ask is looked at: whoever ends it meanwhile finds whom to tell so.
        let new = store.note_told(ask, device.name).await?;
        let Some(ask) = self.waiting_for(device, ask).await? else {
            if new {
                store.forget_told(ask, device.name).await?;
            }
            return Ok(Now::Nothing);
        };
        let now = self.gateway.now();
        let answer = self.offer(&ask, device);
        let notice = Notice { answer, ..Notice::asked(&ask, why) };
        let keep = ask.expires_at.map_or(KEPT, |at| seconds_until(at, now).clamp(1, KEPT));
        Ok(Now::Send(self.message(&notice, &ask, device, keep)))
    }

    /// The ask, if it waits for the person of this device: nobody else has taken it on.
    async fn waiting_for(
        &self,
        device: &Device,
        ask: AskId,
    ) -> Result<Option<Arc<Ask>>, StoreError> {
        let directory = self.gateway.directory();
        let human = directory.human(&device.human);
        let found = self.gateway.ask(ask).await?.filter(|ask| ask.is_open());
        Ok(found.filter(|ask| {
            let free = ask.claim.as_ref().is_none_or(|claim| claim.human == device.human);
            free && human.is_some_and(|human| ask.admits(human))
        }))
    }

    /// Until when, and why, the person of this device is not to be told of an ask.
    async fn left_alone(
        &self,
        device: &Device,
        ask: AskId,
        priority: Priority,
    ) -> Result<Option<(Time, &'static str)>, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let about = directory.human(&device.human).and_then(Human::about);
        let quiet = about.and_then(|about| about.quiet_until(now));
        let quiet = quiet.filter(|_| priority != Priority::Critical);
        let aside = self.gateway.store().snoozed(device.human.clone(), now).await?;
        let aside = aside.into_iter().find(|(id, _)| *id == ask).map(|(_, until)| until);
        Ok(quiet.map(|at| (at, "quiet hours")).max(aside.map(|at| (at, "put aside"))))
    }

    /// That it is over, for whoever was told that it waits.
    async fn over_notice(&self, device: &Device, ask: AskId) -> Result<Now, StoreError> {
        self.gateway.store().forget_told(ask, device.name).await?;
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let found = self.gateway.ask(ask).await?;
        let notice = found.as_ref().and_then(|ask| Notice::over(ask, &directory, now));
        Ok(match (found, notice) {
            (Some(ask), Some(notice)) => Now::Send(self.message(&notice, &ask, device, KEPT)),
            _ => Now::Nothing,
        })
    }

    fn message(&self, notice: &Notice, ask: &Ask, device: &Device, keep: u64) -> Message {
        let topic = Some(self.secrets.topic(ask.id, &device.name));
        Message { words: notice.words(), keep, priority: ask.priority, topic }
    }

    /// What the buttons of a notice answer with: for this request and the session of this device alone,
    /// as long as the request can wait. None where a plain word would not be taken.
    fn offer(&self, ask: &Ask, device: &Device) -> Option<String> {
        let session = device.key?;
        let answers = [Answer::Approved { edits: None }, Answer::Rejected { option: None }];
        let taken = |answer| {
            let reply = Box::new(Reply { answer, comment: None });
            let command = Command::Answer(ask.id, reply);
            self.gateway.consider(ask, &from_notice(device.human.clone()), command).is_ok()
        };
        if !self.is_session(session) || !takes_buttons(ask) || !answers.into_iter().all(taken) {
            return None;
        }
        let now = self.gateway.now();
        let until = ask.expires_at.map_or(KEPT, |at| seconds_until(at, now).min(KEPT));
        let offered = Offered { ask: ask.id, device: device.name };
        self.entrust_for(until, PURPOSE, &session.to_string(), offered)
    }

    fn is_session(&self, key: KeyId) -> bool {
        let directory = self.gateway.directory();
        directory
            .key(key)
            .is_some_and(|key| matches!(key.holder, Holder::Session { visit: Some(_), .. }))
    }
}

/// Somebody who presses a button of a notice.
pub(crate) fn from_notice(id: HumanId) -> Actor {
    Actor::Human { id, via: Via::Push, assurance: Assurance::Session }
}

fn settled(sent: Sent, attempt: u32, now: Time) -> Settlement {
    match sent {
        Sent::Taken | Sent::Gone => Settlement::Done,
        Sent::Refused { error } => {
            tracing::warn!(error, "a push service refused a notice");
            Settlement::Dead { error }
        }
        Sent::Later { error, .. } if attempt >= ATTEMPTS => Settlement::Dead { error },
        Sent::Later { at, error } => {
            let again = retry_at(now, attempt);
            Settlement::Retry { at: at.map_or(again, |at| at.max(again)), error }
        }
    }
}
