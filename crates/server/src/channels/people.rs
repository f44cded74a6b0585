//! Who is told. One effect for a seat becomes one for each person who can be reached, and what says that
//! it is over one for each device that was told and each message that was sent, so that each goes its own way: what fails for one holds
//! up nobody else, and nobody is told twice for it.

use std::collections::{BTreeSet, HashMap};

use kernel::ask::{Priority, Seat};
use kernel::audit::Digest;
use kernel::directory::{Human, Means};
use kernel::effect::Chain;
use kernel::{AskId, Effect, HumanId, Time};
use store::{Delivery, StoreError};

use crate::http::App;

/// How many people are looked up at once.
const PEOPLE: usize = 1000;

/// Whom a batch of deliveries concerns: looked up together, because most concern nobody who is told
/// anywhere but in the inbox.
#[derive(Default)]
pub struct People {
    reachable: BTreeSet<HumanId>,
    told: HashMap<AskId, Vec<Digest>>,
    /// Where messages about what is over still say that it waits.
    lie: HashMap<AskId, Vec<Effect>>,
    /// Who shares a seat.
    pools: HashMap<u64, Vec<HumanId>>,
}

impl People {
    /// Looks them up.
    pub async fn gather(app: &App, claimed: &[Delivery]) -> Result<Self, StoreError> {
        let mut found = Self::default();
        if !app.tells_anybody() {
            return Ok(found);
        }
        let (mut people, mut over) = (BTreeSet::new(), Vec::new());
        for delivery in claimed {
            if let Effect::Notify { seat: Seat::Person { human }, .. } = &delivery.effect {
                people.insert(human.clone());
            } else if let Effect::Notify { ask, seat, .. } = &delivery.effect {
                let members = pool(app, *ask, seat).await?;
                people.extend(members.iter().cloned());
                found.pools.insert(delivery.id, members);
            } else if let Effect::Settle { ask } = &delivery.effect {
                over.push(*ask);
            }
        }
        found.reachable = reachable(app, people).await?;
        if !over.is_empty() {
            let store = app.gateway.store();
            for message in store.messages(over.clone()).await? {
                if !message.over {
                    let (ask, medium, message) = (message.ask, message.medium, message.name);
                    let amend = Effect::Amend { ask, medium, message };
                    found.lie.entry(ask).or_default().push(amend);
                }
            }
            for (ask, device) in store.told(over).await? {
                found.told.entry(ask).or_default().push(device);
            }
        }
        Ok(found)
    }

    /// What a delivery becomes; nothing, if it is not for everybody who holds a seat.
    pub fn each(&self, delivery: &Delivery, now: Time) -> Vec<(Time, Effect)> {
        if let Effect::Notify { ask, seat, why, priority } = &delivery.effect {
            let people = match seat {
                Seat::Person { human } => std::slice::from_ref(human),
                Seat::Pool { .. } => self.pools.get(&delivery.id).map_or(&[][..], Vec::as_slice),
            };
            let reachable = people.iter().filter(|human| self.reachable.contains(human));
            let (ask, why, priority) = (*ask, *why, *priority);
            let reach = |human: &HumanId| {
                let (human, since) = (human.clone(), delivery.written_at);
                let chain = Chain { human, since, tried: Vec::new() };
                (now, Effect::Reach { ask, why, priority, chain })
            };
            reachable.map(reach).collect()
        } else if let Effect::Settle { ask } = &delivery.effect {
            let (ask, why, priority) = (*ask, None, Priority::Normal);
            let told = self.told.get(&ask).into_iter().flatten();
            let push =
                |device: &Digest| Effect::Push { device: *device, ask, why, priority, chain: None };
            let amend = self.lie.get(&ask).into_iter().flatten().cloned();
            told.map(push).chain(amend).map(|effect| (now, effect)).collect()
        } else {
            Vec::new()
        }
    }
}

/// Those who can be told by anything: an address that may be used, or a device.
async fn reachable(app: &App, people: BTreeSet<HumanId>) -> Result<BTreeSet<HumanId>, StoreError> {
    let directory = app.gateway.directory();
    let mut found = BTreeSet::new();
    let mut ask_for_devices = Vec::new();
    for id in people {
        let means = directory.human(&id).map(Human::reachable_by).unwrap_or_default();
        let carried = || means.iter().filter(|means| app.carries(means));
        if carried().any(|means| *means != Means::Devices) {
            found.insert(id);
        } else if carried().next().is_some() {
            ask_for_devices.push(id);
        }
    }
    for some in ask_for_devices.chunks(PEOPLE) {
        let devices = app.gateway.store().devices(some.to_vec()).await?;
        found.extend(devices.into_iter().map(|device| device.human));
    }
    Ok(found)
}

/// Who may take an ask from this pool and is there; nobody, if it is over.
async fn pool(app: &App, ask: AskId, seat: &Seat) -> Result<Vec<HumanId>, StoreError> {
    let (Some(ask), Seat::Pool { group }) =
        (app.gateway.store().ask(ask).await?.filter(|ask| ask.is_open()), seat)
    else {
        return Ok(Vec::new());
    };
    let (directory, now) = (app.gateway.directory(), app.gateway.now());
    let there = directory.humans().filter(|human| {
        human.active
            && human.qualifies(&ask.project, group.as_ref(), &ask.tags)
            && human.absent(now).is_none()
    });
    Ok(there.map(|human| human.id.clone()).collect())
}
