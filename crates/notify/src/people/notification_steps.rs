//! Notification steps: the next contact method of a person, and what follows an attempt.

use gateway::Gateway;
use kernel::ask::Priority;
use kernel::directory::{ContactMethod, Human};
use kernel::follow_up::NotificationReason;
use kernel::notification_steps::{self, NextNotification, PendingNotification};
use kernel::{AskId, Time};
use store::NotificationPlan;
use store::Work;
use store::{Settlement, StoreError};

use super::contact_methods::{ContactMethods, addressee};
use crate::attempts::{ATTEMPTS, AttemptResult, KEEPS_FAILING, retry_at};

/// What a person is notified of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notification {
    pub(crate) ask: AskId,
    pub(crate) why: NotificationReason,
    pub(crate) priority: Priority,
}

/// How the plan continues after a contact method failed.
pub(super) struct Continuation<'a> {
    pub(super) about: Notification,
    pub(super) chain: &'a NotificationPlan,
    /// The same delivery without a continuation, for when the next contact method is tried
    /// meanwhile.
    pub(super) alone: Work,
}

/// Decides on the steps of the notification plan of a person.
#[derive(Clone)]
pub(crate) struct NotificationSteps {
    pub(super) gateway: Gateway,
    pub(super) contacts: ContactMethods,
}

impl NotificationSteps {
    /// Starts the next step of a plan.
    pub(crate) async fn next(
        &self,
        about: Notification,
        chain: &NotificationPlan,
    ) -> Result<Settlement, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let Some(human) = directory.human(&chain.human) else { return Ok(Settlement::Done) };
        if !self.still_concerns(about.ask, human, !chain.tried.is_empty()).await? {
            return Ok(Settlement::Done);
        }
        if let Some(at) = self.contacts.snoozed_until(&human.id, about.ask).await? {
            return Ok(Settlement::Retry { at, error: "snoozed".to_owned() });
        }
        let means = self.contacts.usable(human).await?;
        let notice =
            PendingNotification { priority: about.priority, why: about.why, tried: &chain.tried };
        match notification_steps::next_notification(&addressee(human, &means), &notice, now) {
            NextNotification::Nothing => Ok(Settlement::Done),
            NextNotification::Hold(at) => {
                Ok(Settlement::Retry { at, error: "quiet hours".to_owned() })
            }
            NextNotification::Gather(at) => {
                let gather = Work::Digest { human: human.id.clone(), at, tried: Vec::new() };
                Ok(Settlement::Split { into: vec![(at, gather)] })
            }
            NextNotification::Tell(by) => {
                let effects = self.by_contact_method(about, chain, &by).await?;
                let into = effects.into_iter().map(|effect| (now, effect)).collect();
                Ok(Settlement::Split { into })
            }
        }
    }

    /// The deliveries that notify a person by this contact method. One of them continues the plan.
    async fn by_contact_method(
        &self,
        Notification { ask, why, priority }: Notification,
        chain: &NotificationPlan,
        by: &ContactMethod,
    ) -> Result<Vec<Work>, StoreError> {
        let mut chain = chain.clone();
        chain.tried.push(by.digest());
        if *by != ContactMethod::Devices {
            let (medium, to, chain) = (by.kind().to_owned(), by.digest(), Some(chain));
            let passed_on = false;
            return Ok(vec![Work::Send { ask, why, priority, medium, to, plan: chain, passed_on }]);
        }
        let devices = self.contacts.devices.devices_of(&chain.human).await?;
        let mut chain = Some(chain);
        // The newest device continues the plan: it is the one most likely in use.
        let push = |device| {
            let why = Some(why);
            Work::Push { device, ask, why, priority, plan: chain.take() }
        };
        Ok(devices.into_iter().rev().map(|(device, _)| device.name).map(push).collect())
    }

    /// Whether an ask still waits for a person. If they were notified before, whether they have not
    /// reacted.
    pub(super) async fn still_concerns(
        &self,
        ask: AskId,
        human: &Human,
        before: bool,
    ) -> Result<bool, StoreError> {
        let found = self.gateway.ask(ask).await?;
        let Some(ask) = found.filter(|ask| notification_steps::waits_for(ask, human)) else {
            return Ok(false);
        };
        if !before {
            return Ok(true);
        }
        let viewers = self.gateway.store().viewers(vec![ask.id], self.gateway.now()).await?;
        let views = viewers.iter().any(|(_, who)| *who == human.id);
        Ok(!views && !notification_steps::has_reacted(&ask, &human.id))
    }

    /// Settles a delivery after an attempt. `continuation` is absent if nothing follows the
    /// delivery.
    pub(super) async fn settle(
        &self,
        result: AttemptResult,
        attempt: u32,
        continuation: Option<Continuation<'_>>,
    ) -> Result<Settlement, StoreError> {
        let now = self.gateway.now();
        let directory = self.gateway.directory();
        let person = continuation.as_ref().and_then(|it| directory.human(&it.chain.human));
        let means = match (&result, person) {
            (AttemptResult::NotNeeded | AttemptResult::Held { .. }, _) | (_, None) => Vec::new(),
            (_, Some(human)) => self.contacts.usable(human).await?,
        };
        // The next step, and when it starts.
        let next = |at: Option<Time>| {
            let Continuation { about, chain, .. } = continuation.as_ref()?;
            let Notification { ask, why, priority } = *about;
            let to = addressee(person?, &means);
            let notice = PendingNotification { priority, why, tried: &chain.tried };
            let at = match at {
                Some(at) => {
                    Some(at).filter(|_| notification_steps::has_untried_method(&to, &notice))
                }
                None => notification_steps::retry_at(&to, &notice, now),
            };
            Some((at?, Work::NotificationStep { ask, why, priority, plan: (*chain).clone() }))
        };
        Ok(match result {
            AttemptResult::NotNeeded => Settlement::Done,
            AttemptResult::Sent => {
                next(None).map_or(Settlement::Done, |next| Settlement::Split { into: vec![next] })
            }
            AttemptResult::Held { until, why } => {
                Settlement::Retry { at: until, error: why.to_owned() }
            }
            AttemptResult::Gone => next(Some(now))
                .map_or(Settlement::Done, |next| Settlement::Split { into: vec![next] }),
            AttemptResult::Refused { error } => {
                tracing::warn!(error, "the channel refused a notification");
                let gone_on = |next| Settlement::Split { into: vec![next] };
                next(Some(now)).map_or(Settlement::Dead { error }, gone_on)
            }
            AttemptResult::Later { at, error } | AttemptResult::OverQuota { until: at, error } => {
                let again = retry_at(now, attempt);
                let again = at.map_or(again, |at| at.max(again));
                match next(Some(now)).filter(|_| attempt >= KEEPS_FAILING).zip(continuation) {
                    Some((next, continuation)) => {
                        tracing::warn!(
                            error,
                            "notification failed repeatedly; trying the next contact method"
                        );
                        Settlement::Split { into: vec![next, (again, continuation.alone)] }
                    }
                    None if attempt >= ATTEMPTS => Settlement::Dead { error },
                    None => Settlement::Retry { at: again, error },
                }
            }
        })
    }
}
