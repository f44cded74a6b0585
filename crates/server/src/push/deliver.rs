//! One notification on its way to one device.

use std::sync::Arc;
use std::time::Duration;

use ::channels::push::{KEPT, PushMessage, PushSubscription, WebPush};
use ::channels::{Channel, DeliveryError, OutboundMessage};
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{Holder, Means};
use kernel::effect::{Chain, Occasion};
use kernel::question::{Answer, Reply};
use kernel::quota::Exceeded;
use kernel::reach::waits_for;
use kernel::{Actor, Ask, AskCommand, AskId, Assurance, Effect, HumanId, KeyId, Time, Via};
use serde::{Deserialize, Serialize};
use store::{Device, Settlement, StoreError};

use crate::channels::send::delayed;
use crate::http::App;
use crate::reach::step::{Came, Onward, Told};
use crate::workers::outbox::count;
use views::push_notification::{PushNotification, takes_buttons};

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
pub(crate) struct Telling<'a> {
    pub(crate) device: Digest,
    pub(crate) ask: AskId,
    pub(crate) why: Option<Occasion>,
    pub(crate) priority: Priority,
    /// How it goes on when this is in vain.
    pub(crate) chain: Option<&'a Chain>,
    pub(crate) attempt: u32,
}

/// What is left to do about it now.
enum Now {
    Send(PushMessage),
    Wait(Time, &'static str),
    Nothing,
}

impl App {
    /// Tells a device, unless there is nothing to tell any more.
    pub(crate) async fn tell(&self, telling: Telling<'_>) -> Result<Settlement, StoreError> {
        let came = self.try_to_tell(telling).await?;
        let Telling { device, ask, why, priority, chain, attempt } = telling;
        let onward = chain.zip(why).map(|(chain, why)| Onward {
            told: Told { ask, why, priority },
            chain,
            alone: Effect::Push { device, ask, why: Some(why), priority, chain: None },
        });
        self.settled(came, attempt, onward).await
    }

    async fn try_to_tell(&self, telling: Telling<'_>) -> Result<Came, StoreError> {
        let Some(push) = &self.channels.push else { return Ok(Came::Gone) };
        let Some((device, subscription)) = self.device(telling.device).await? else {
            return Ok(Came::Gone);
        };
        let message = match telling.why {
            Some(why) => self.waiting_notice(&device, telling, why).await?,
            None => self.over_notice(&device, telling.ask).await?,
        };
        let message = match message {
            Now::Nothing => return Ok(Came::Nothing),
            Now::Wait(until, why) => return Ok(Came::Held { until, why }),
            Now::Send(message) => message,
        };
        let came = match self.push_quota(&device, telling).await? {
            Some(exceeded) => delayed(&exceeded),
            None => self.pushed(push, &device, &subscription, &message).await?,
        };
        if let Some(why) = telling.why {
            self.note_push(&device, telling, why, &came).await?;
        }
        Ok(came)
    }

    /// The quota that keeps a notification from being sent now. That a request is over is no
    /// notification.
    async fn push_quota(
        &self,
        device: &Device,
        telling: Telling<'_>,
    ) -> Result<Option<Exceeded>, StoreError> {
        if telling.why.is_none() {
            return Ok(None);
        }
        match self.gateway.ask(telling.ask).await? {
            Some(ask) => {
                self.gateway.quotas().charge_notification(&ask, Some(&device.human), 0).await
            }
            None => Ok(None),
        }
    }

    /// Notes how it stands, for whoever looks at the request.
    async fn note_push(
        &self,
        device: &Device,
        telling: Telling<'_>,
        why: Occasion,
        came: &Came,
    ) -> Result<(), StoreError> {
        let standing = match came {
            Came::Told => store::Sent::Sent,
            Came::Later { error, .. } | Came::OverQuota { error, .. } => {
                store::Sent::Waiting { error: error.clone() }
            }
            Came::Never { error } => store::Sent::Failed { error: error.clone() },
            Came::Nothing | Came::Held { .. } | Came::Gone => return Ok(()),
        };
        let (ask, now) = (telling.ask, self.gateway.now());
        let since = telling.chain.map(|chain| chain.since);
        let name = Digest::of_json(&(ask, device.name, since, why));
        let (store, human) = (self.gateway.store(), Some(device.human.clone()));
        let at = store.message(name).await?.map_or(now, |noted| noted.at);
        let message = store::Message {
            name,
            ask,
            medium: Means::Devices.kind().to_owned(),
            to: device.name,
            human,
            why,
            since,
            at,
            standing,
            posted: None,
            thread: None,
            place: serde_json::Value::Null,
            code: None,
            over: false,
            updated_at: now,
        };
        store.put_message(message).await
    }

    /// Has a device of somebody show these words, if it is still theirs.
    pub(crate) async fn push_words(
        &self,
        device: Digest,
        human: &HumanId,
        notice: &PushNotification,
    ) -> Result<Came, StoreError> {
        let Some(push) = &self.channels.push else { return Ok(Came::Gone) };
        let found = self.device(device).await?.filter(|(device, _)| device.human == *human);
        let Some((device, subscription)) = found else { return Ok(Came::Gone) };
        let message = PushMessage::new(notice, KEPT, Priority::Low);
        self.pushed(push, &device, &subscription, &message).await
    }

    async fn pushed(
        &self,
        push: &WebPush,
        device: &Device,
        subscription: &PushSubscription,
        message: &PushMessage,
    ) -> Result<Came, StoreError> {
        let sent = self.push_to(push, subscription, message).await;
        count("countersign_pushes_total", sent.is_ok());
        Ok(match sent {
            Ok(()) => Came::Told,
            Err(DeliveryError::Gone { .. }) => {
                self.gateway.store().forget_device(device.name).await?;
                Came::Gone
            }
            Err(failed) => self.came(failed),
        })
    }

    async fn push_to(
        &self,
        push: &WebPush,
        subscription: &PushSubscription,
        message: &PushMessage,
    ) -> Result<(), DeliveryError> {
        let (to, message) = (subscription.address(), message.message());
        let key = subscription.name().to_string();
        push.deliver(OutboundMessage::new(&to, &message, &key, self.gateway.now())).await?;
        Ok(())
    }

    /// Sends a notification that only shows that notifications arrive.
    pub(crate) async fn try_device(
        &self,
        push: &WebPush,
        name: Digest,
    ) -> Result<Result<(), DeliveryError>, StoreError> {
        let Some((device, subscription)) = self.device(name).await? else {
            let why = "there is no such device any more".to_owned();
            return Ok(Err(DeliveryError::Gone { why }));
        };
        let message = PushMessage::new(&PushNotification::test(), 60, Priority::High);
        let sent = self.push_to(push, &subscription, &message).await;
        if let Err(DeliveryError::Gone { .. }) = sent {
            self.gateway.store().forget_device(device.name).await?;
        }
        Ok(sent)
    }

    /// That an ask waits, for whoever it waits for and wants to be disturbed.
    async fn waiting_notice(
        &self,
        device: &Device,
        Telling { ask, priority, .. }: Telling<'_>,
        why: Occasion,
    ) -> Result<Now, StoreError> {
        let store = self.gateway.store();
        if self.waiting_for(device, ask).await?.is_none() {
            return Ok(Now::Nothing);
        }
        if let Some((at, why)) = self.left_alone(&device.human, ask, priority).await? {
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
        let answer = self.offer(&ask, device).await?;
        let notice = PushNotification { answer, ..PushNotification::asked(&ask, why) };
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
        let found = self.gateway.ask(ask).await?;
        Ok(found.filter(|ask| human.is_some_and(|human| waits_for(ask, human))))
    }

    /// That it is over, for whoever was told that it waits.
    async fn over_notice(&self, device: &Device, ask: AskId) -> Result<Now, StoreError> {
        self.gateway.store().forget_told(ask, device.name).await?;
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let found = self.gateway.ask(ask).await?;
        let notice = found.as_ref().and_then(|ask| PushNotification::over(ask, &directory, now));
        Ok(match (found, notice) {
            (Some(ask), Some(notice)) => Now::Send(self.message(&notice, &ask, device, KEPT)),
            _ => Now::Nothing,
        })
    }

    fn message(
        &self,
        notice: &PushNotification,
        ask: &Ask,
        device: &Device,
        keep: u64,
    ) -> PushMessage {
        let topic = Some(self.secrets.topic(ask.id, &device.name));
        PushMessage { topic, ..PushMessage::new(notice, keep, ask.priority) }
    }

    /// What the buttons of a notice answer with: for this request and the session of this device alone,
    /// as long as the request can wait. None where a plain word would not be taken.
    async fn offer(&self, ask: &Ask, device: &Device) -> Result<Option<String>, StoreError> {
        let Some(session) = device.key else { return Ok(None) };
        let answers = [Answer::Approved { edits: None }, Answer::Rejected { option: None }];
        let considering = self.gateway.considering(ask).await?;
        let taken = |answer| {
            let reply = Box::new(Reply { answer, comment: None });
            let command = AskCommand::Answer(ask.id, reply);
            considering.takes(&from_notice(device.human.clone()), command).is_ok()
        };
        if !self.is_session(session) || !takes_buttons(ask) || !answers.into_iter().all(taken) {
            return Ok(None);
        }
        let now = self.gateway.now();
        let until = ask.expires_at.map_or(KEPT, |at| seconds_until(at, now).min(KEPT));
        let offered = Offered { ask: ask.id, device: device.name };
        Ok(self.entrust_for(until, PURPOSE, &session.to_string(), offered))
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

/// The time from one moment to a later one, in whole seconds.
fn seconds_until(at: Time, now: Time) -> u64 {
    let millis = u64::try_from(at.millis().saturating_sub(now.millis())).unwrap_or(0);
    Duration::from_millis(millis).as_secs()
}
