//! From follow-ups to deliveries. A follow-up for an assignee becomes one delivery for each person
//! who can be notified. One that says that an ask was closed becomes one for each device that was
//! notified and for each message that was sent. So a failure for one of them delays and repeats no
//! other.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use gateway::Gateway;
use kernel::ask::{Assignee, Priority};
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, Human};
use kernel::{AskId, HumanId, Time};
use store::NotificationPlan;
use store::StoreError;
use store::Work;

use super::PeopleNotifier;
use super::contact_methods::ContactMethods;
use crate::attempts::count;
use crate::delivery_follower::DeliveryPlanner;

/// How many people are looked up at once.
const PEOPLE_PER_READ: usize = 1000;

/// The people that a batch of follow-ups concerns. They are looked up together, because most people
/// are notified in the inbox alone.
#[derive(Default)]
struct FollowUpRecipients {
    reachable: BTreeSet<HumanId>,
    /// The devices that were notified of a closed ask.
    notified: HashMap<AskId, Vec<Digest>>,
    /// The messages that still show a closed ask as open.
    outdated: HashMap<AskId, Vec<Work>>,
    /// The members of a pool, by the place of the follow-up.
    pools: HashMap<usize, Vec<HumanId>>,
}

impl FollowUpRecipients {
    /// Looks them up.
    async fn of(
        contacts: &ContactMethods,
        follow_ups: &[(Time, Work)],
    ) -> Result<Self, StoreError> {
        let mut found = Self::default();
        if !contacts.exist() {
            return Ok(found);
        }
        let (mut people, mut over) = (BTreeSet::new(), Vec::new());
        for (place, (_, effect)) in follow_ups.iter().enumerate() {
            if let Work::Notify { assignee: Assignee::Person { human }, .. } = effect {
                people.insert(human.clone());
            } else if let Work::Notify { ask, assignee: seat, .. } = effect {
                let members = pool_members(&contacts.gateway, *ask, seat).await?;
                people.extend(members.iter().cloned());
                found.pools.insert(place, members);
            } else if let Work::Close { ask } = effect {
                over.push(*ask);
            }
        }
        found.reachable = reachable(contacts, people).await?;
        if !over.is_empty() {
            let store = contacts.gateway.store();
            for message in store.messages(over.clone()).await? {
                if !message.over {
                    let (ask, medium, message) = (message.ask, message.medium, message.name);
                    let amend = Work::Amend { ask, medium, message };
                    found.outdated.entry(ask).or_default().push(amend);
                }
            }
            for (ask, device) in store.notified_devices(over).await? {
                found.notified.entry(ask).or_default().push(device);
            }
        }
        Ok(found)
    }

    /// The deliveries of one follow-up, by its place among them.
    fn deliveries(&self, place: usize, at: Time, effect: Work, now: Time) -> Vec<(Time, Work)> {
        match effect {
            Work::Notify { ask, assignee: seat, why, priority } => {
                let people = match &seat {
                    Assignee::Person { human } => std::slice::from_ref(human),
                    Assignee::Pool { .. } => self.pools.get(&place).map_or(&[][..], Vec::as_slice),
                };
                let reachable = people.iter().filter(|human| self.reachable.contains(human));
                let reach = |human: &HumanId| {
                    let chain =
                        NotificationPlan { human: human.clone(), since: at, tried: Vec::new() };
                    (now, Work::NotificationStep { ask, why, priority, plan: chain })
                };
                reachable.map(reach).collect()
            }
            Work::Close { ask } => {
                let (why, priority, chain) = (None, Priority::Normal, None);
                let notified = self.notified.get(&ask).into_iter().flatten();
                let push = |device: &Digest| {
                    let (device, chain) = (*device, chain.clone());
                    Work::Push { device, ask, why, priority, plan: chain }
                };
                let amend = self.outdated.get(&ask).into_iter().flatten().cloned();
                notified.map(push).chain(amend).map(|effect| (now, effect)).collect()
            }
            other => vec![(now, other)],
        }
    }
}

#[async_trait]
impl DeliveryPlanner for PeopleNotifier {
    /// A follow-up for an assignee becomes a delivery for each person who can be notified, and one
    /// that says that an ask is closed becomes one for each device and message that showed it.
    /// Every other follow-up is a delivery by itself.
    async fn deliveries(
        &self,
        follow_ups: Vec<(Time, Work)>,
    ) -> Result<Vec<(Time, Work)>, StoreError> {
        let recipients = FollowUpRecipients::of(&self.contacts, &follow_ups).await?;
        let now = self.contacts.gateway.now();
        let mut work = Vec::new();
        for (place, (at, effect)) in follow_ups.into_iter().enumerate() {
            if matches!(effect, Work::Notify { .. } | Work::Close { .. }) {
                let shown = self.terminal.show(&effect).await;
                count("countersign_deliveries_total", shown.is_ok());
                if let Err(error) = shown {
                    tracing::warn!(error = format!("{error:#}"), "cannot write to the terminal");
                }
            }
            work.extend(recipients.deliveries(place, at, effect, now));
        }
        Ok(work)
    }
}

/// Those who have an address that may be used, or a device.
async fn reachable(
    contacts: &ContactMethods,
    people: BTreeSet<HumanId>,
) -> Result<BTreeSet<HumanId>, StoreError> {
    let directory = contacts.gateway.directory();
    let mut found = BTreeSet::new();
    let mut ask_for_devices = Vec::new();
    for id in people {
        let means = directory.human(&id).map(Human::usable_contact_methods).unwrap_or_default();
        let carried = || means.iter().filter(|means| contacts.has_channel(means));
        if carried().any(|means| *means != ContactMethod::Devices) {
            found.insert(id);
        } else if carried().next().is_some() {
            ask_for_devices.push(id);
        }
    }
    for some in ask_for_devices.chunks(PEOPLE_PER_READ) {
        let devices = contacts.gateway.store().devices(some.to_vec()).await?;
        found.extend(devices.into_iter().map(|device| device.human));
    }
    Ok(found)
}

/// The members of a pool who can answer an ask and are not absent; none, if the ask is closed.
async fn pool_members(
    gateway: &Gateway,
    ask: AskId,
    seat: &Assignee,
) -> Result<Vec<HumanId>, StoreError> {
    let (Some(ask), Assignee::Pool { group }) =
        (gateway.store().ask(ask).await?.filter(|ask| ask.is_open()), seat)
    else {
        return Ok(Vec::new());
    };
    let (directory, now) = (gateway.directory(), gateway.now());
    let there = directory.humans().filter(|human| {
        human.active
            && human.qualifies(&ask.project, group.as_ref(), &ask.tags)
            && human.absence_at(now).is_none()
    });
    Ok(there.map(|human| human.id.clone()).collect())
}
