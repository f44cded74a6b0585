//! Sends one push notification to one device.

use std::sync::Arc;
use std::time::Duration;

use channels::DeliveryError;
use channels::push::{MAX_TTL_SECONDS, PushMessage, PushSubscription, WebPush};
use gateway::Gateway;
use gateway::sealed_values;
use gateway::secrets::ServerSecrets;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, CredentialKind};
use kernel::follow_up::NotificationReason;
use kernel::notification_steps::waits_for;
use kernel::question::{Answer, Reply};
use kernel::quota::QuotaExceeded;
use kernel::{Actor, AnswerInterface, Ask, AskCommand, AskId, Assurance, HumanId, KeyId, Time};
use serde::{Deserialize, Serialize};
use store::NotificationPlan;
use store::Work;
use store::{Device, Settlement, StoreError};

use super::contact_methods::ContactMethods;
use super::notification_steps::{Continuation, Notification, NotificationSteps};
use crate::attempts::{AttemptResult, count};
use views::locale::{self, ReaderLocale};
use views::push_notification::{PushNotification, allows_buttons};

/// The purpose that the answer of a button is sealed for.
pub const ANSWER_TOKEN_PURPOSE: &str = "answer from a notice";

/// The request that the buttons of a push notification answer, and the device that shows them.
#[derive(Serialize, Deserialize)]
pub struct OfferedAnswer {
    pub ask: AskId,
    pub device: Digest,
}

/// A push notification, and the number of the attempt. Without `why` it says that the ask was
/// closed.
#[derive(Clone, Copy)]
pub(super) struct DevicePush<'a> {
    pub(crate) device: Digest,
    pub(crate) ask: AskId,
    pub(crate) why: Option<NotificationReason>,
    pub(crate) priority: Priority,
    /// The notification plan that this is a step of.
    pub(crate) chain: Option<&'a NotificationPlan>,
    pub(crate) attempt: u32,
}

/// What to do about a push notification now.
enum PushDecision {
    Send(PushMessage),
    Wait(Time, &'static str),
    Nothing,
}

/// Sends push notifications to the devices of people.
#[derive(Clone)]
pub(super) struct DeviceNotifications {
    pub(super) gateway: Gateway,
    pub(super) secrets: Arc<ServerSecrets>,
    pub(super) contacts: ContactMethods,
    pub(super) steps: NotificationSteps,
}

impl DeviceNotifications {
    /// Notifies a device, if that is still needed.
    pub(super) async fn push(&self, push: DevicePush<'_>) -> Result<Settlement, StoreError> {
        let result = self.attempt(push).await?;
        let DevicePush { device, ask, why, priority, chain, attempt } = push;
        let continuation = chain.zip(why).map(|(chain, why)| Continuation {
            about: Notification { ask, why, priority },
            chain,
            alone: Work::Push { device, ask, why: Some(why), priority, plan: None },
        });
        self.steps.settle(result, attempt, continuation).await
    }

    async fn attempt(&self, push: DevicePush<'_>) -> Result<AttemptResult, StoreError> {
        let devices = &self.contacts.devices;
        let Some(channel) = &devices.push else { return Ok(AttemptResult::Gone) };
        let Some((device, subscription)) = devices.find(push.device).await? else {
            return Ok(AttemptResult::Gone);
        };
        let message = match push.why {
            Some(why) => self.waiting(&device, push, why).await?,
            None => self.closed(&device, push.ask).await?,
        };
        let message = match message {
            PushDecision::Nothing => return Ok(AttemptResult::NotNeeded),
            PushDecision::Wait(until, why) => return Ok(AttemptResult::Held { until, why }),
            PushDecision::Send(message) => message,
        };
        let result = match self.exceeded_quota(&device, push).await? {
            Some(exceeded) => AttemptResult::over_quota(&exceeded),
            None => self.send(channel, &device, &subscription, &message).await?,
        };
        if let Some(why) = push.why {
            self.store_result(&device, push, why, &result).await?;
        }
        Ok(result)
    }

    /// The quota that does not allow the notification now. That a request was closed does not
    /// count.
    async fn exceeded_quota(
        &self,
        device: &Device,
        push: DevicePush<'_>,
    ) -> Result<Option<QuotaExceeded>, StoreError> {
        if push.why.is_none() {
            return Ok(None);
        }
        match self.gateway.ask(push.ask).await? {
            Some(ask) => {
                self.gateway.quotas().charge_notification(&ask, Some(&device.human), 0).await
            }
            None => Ok(None),
        }
    }

    /// Stores the result of an attempt, so that the request shows it.
    async fn store_result(
        &self,
        device: &Device,
        push: DevicePush<'_>,
        why: NotificationReason,
        result: &AttemptResult,
    ) -> Result<(), StoreError> {
        let standing = match result {
            AttemptResult::Sent => store::MessageState::Sent,
            AttemptResult::Later { error, .. } | AttemptResult::OverQuota { error, .. } => {
                store::MessageState::Waiting { error: error.clone() }
            }
            AttemptResult::Refused { error } => {
                store::MessageState::Failed { error: error.clone() }
            }
            AttemptResult::NotNeeded | AttemptResult::Held { .. } | AttemptResult::Gone => {
                return Ok(());
            }
        };
        let (ask, now) = (push.ask, self.gateway.now());
        let since = push.chain.map(|chain| chain.since);
        let name = Digest::of_json(&(ask, device.name, since, why));
        let (store, human) = (self.gateway.store(), Some(device.human.clone()));
        let at = store.message(name).await?.map_or(now, |noted| noted.at);
        let message = store::Message {
            name,
            ask,
            medium: ContactMethod::Devices.kind().to_owned(),
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

    /// Shows a notification on a device, if it still belongs to this person.
    pub(super) async fn show(
        &self,
        device: Digest,
        human: &HumanId,
        notice: &PushNotification,
    ) -> Result<AttemptResult, StoreError> {
        let devices = &self.contacts.devices;
        let Some(channel) = &devices.push else { return Ok(AttemptResult::Gone) };
        let found = devices.find(device).await?.filter(|(device, _)| device.human == *human);
        let Some((device, subscription)) = found else { return Ok(AttemptResult::Gone) };
        let message = PushMessage::new(notice, MAX_TTL_SECONDS, Priority::Low);
        self.send(channel, &device, &subscription, &message).await
    }

    async fn send(
        &self,
        channel: &WebPush,
        device: &Device,
        subscription: &PushSubscription,
        message: &PushMessage,
    ) -> Result<AttemptResult, StoreError> {
        let sent = self.contacts.devices.send(channel, subscription, message).await;
        count("countersign_pushes_total", sent.is_ok());
        Ok(match sent {
            Ok(()) => AttemptResult::Sent,
            Err(DeliveryError::Gone { .. }) => {
                self.gateway.store().forget_device(device.name).await?;
                AttemptResult::Gone
            }
            Err(failed) => AttemptResult::failed(failed, &self.gateway),
        })
    }

    /// The notification that an ask waits, if the person may be notified now.
    async fn waiting(
        &self,
        device: &Device,
        DevicePush { ask, priority, .. }: DevicePush<'_>,
        why: NotificationReason,
    ) -> Result<PushDecision, StoreError> {
        let store = self.gateway.store();
        if self.waiting_for(device, ask).await?.is_none() {
            return Ok(PushDecision::Nothing);
        }
        if let Some((at, why)) = self.contacts.quiet_until(&device.human, ask, priority).await? {
            return Ok(PushDecision::Wait(at, why));
        }
        // Stored before the ask is read: a command that closes the ask meanwhile finds this device.
        let new = store.record_notified(ask, device.name).await?;
        let Some(ask) = self.waiting_for(device, ask).await? else {
            if new {
                store.forget_notified(ask, device.name).await?;
            }
            return Ok(PushDecision::Nothing);
        };
        let now = self.gateway.now();
        let answer = self.offer(&ask, device).await?;
        let shown =
            locale::with(self.reader(device), || PushNotification::waiting_request(&ask, why));
        let notice = PushNotification { answer, ..shown };
        let keep = ask
            .expires_at
            .map_or(MAX_TTL_SECONDS, |at| seconds_until(at, now).clamp(1, MAX_TTL_SECONDS));
        Ok(PushDecision::Send(self.message(&notice, &ask, device, keep)))
    }

    /// The language and the time zone of the person of this device.
    fn reader(&self, device: &Device) -> ReaderLocale {
        let directory = self.gateway.directory();
        directory.human(&device.human).map(ReaderLocale::of).unwrap_or_default()
    }

    /// The ask, if it waits for the person of this device and no one else has claimed it.
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

    /// The notification that an ask was closed, for a device that was notified of it.
    async fn closed(&self, device: &Device, ask: AskId) -> Result<PushDecision, StoreError> {
        self.gateway.store().forget_notified(ask, device.name).await?;
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let found = self.gateway.ask(ask).await?;
        let notice = locale::with(self.reader(device), || {
            found.as_ref().and_then(|ask| PushNotification::closed_request(ask, &directory, now))
        });
        Ok(match (found, notice) {
            (Some(ask), Some(notice)) => {
                PushDecision::Send(self.message(&notice, &ask, device, MAX_TTL_SECONDS))
            }
            _ => PushDecision::Nothing,
        })
    }

    fn message(
        &self,
        notice: &PushNotification,
        ask: &Ask,
        device: &Device,
        keep: u64,
    ) -> PushMessage {
        let topic = Some(self.secrets.push_topic(ask.id, &device.name));
        PushMessage { topic, ..PushMessage::new(notice, keep, ask.priority) }
    }

    /// The sealed token of the buttons: valid for this request and the session of this device
    /// alone, until the request expires. `None` if the request does not accept a plain yes or no.
    async fn offer(&self, ask: &Ask, device: &Device) -> Result<Option<String>, StoreError> {
        let Some(session) = device.key else { return Ok(None) };
        let answers = [Answer::Approved { edits: None }, Answer::Rejected { option: None }];
        let considering = self.gateway.command_check(ask).await?;
        let taken = |answer| {
            let reply = Box::new(Reply { answer, comment: None });
            let command = AskCommand::Answer(ask.id, reply);
            considering.accepts(&push_actor(device.human.clone()), command).is_ok()
        };
        if !self.is_session(session) || !allows_buttons(ask) || !answers.into_iter().all(taken) {
            return Ok(None);
        }
        let now = self.gateway.now();
        let until = ask
            .expires_at
            .map_or(MAX_TTL_SECONDS, |at| seconds_until(at, now).min(MAX_TTL_SECONDS));
        let offered = OfferedAnswer { ask: ask.id, device: device.name };
        let (until, holder) = (now.plus_seconds(until), session.to_string());
        Ok(sealed_values::seal(&self.secrets, until, ANSWER_TOKEN_PURPOSE, &holder, offered))
    }

    fn is_session(&self, key: KeyId) -> bool {
        let directory = self.gateway.directory();
        directory
            .key(key)
            .is_some_and(|key| matches!(key.kind, CredentialKind::Session { binding: Some(_), .. }))
    }
}

/// A person who presses a button of a push notification.
pub fn push_actor(id: HumanId) -> Actor {
    Actor::Human { id, via: AnswerInterface::Push, assurance: Assurance::Session }
}

/// The time until `at`, in whole seconds.
fn seconds_until(at: Time, now: Time) -> u64 {
    let millis = u64::try_from(at.millis().saturating_sub(now.millis())).unwrap_or(0);
    Duration::from_millis(millis).as_secs()
}
