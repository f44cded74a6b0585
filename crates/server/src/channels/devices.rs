//! Who is told on their devices. One effect for a seat becomes one for each device, so that each is
//! tried by itself: a push service that is down holds up nobody else, and nobody is told twice for it.

use std::collections::{BTreeSet, HashMap};

use kernel::ask::Seat;
use kernel::audit::Digest;
use kernel::{AskId, Effect, HumanId};
use store::{Delivery, StoreError};

use crate::http::App;

/// How many people are looked up at once.
const PEOPLE: usize = 1000;

/// The devices that a batch of deliveries concerns: looked up together, because most concern none.
#[derive(Default)]
pub struct Devices {
    of: HashMap<HumanId, Vec<Digest>>,
    told: HashMap<AskId, Vec<Digest>>,
    /// Who shares a seat.
    pools: HashMap<u64, Vec<HumanId>>,
}

impl Devices {
    /// Looks them up.
    pub async fn gather(app: &App, claimed: &[Delivery]) -> Result<Self, StoreError> {
        let mut found = Self::default();
        if app.push.is_none() {
            return Ok(found);
        }
        let (mut people, mut over) = (BTreeSet::new(), Vec::new());
        for delivery in claimed {
            match &delivery.effect {
                Effect::Notify { seat: Seat::Person { human }, .. } => {
                    people.insert(human.clone());
                }
                Effect::Notify { ask, seat, .. } => {
                    let members = pool(app, *ask, seat).await?;
                    people.extend(members.iter().cloned());
                    found.pools.insert(delivery.id, members);
                }
                Effect::Settle { ask } => over.push(*ask),
                Effect::CallBack { .. }
                | Effect::DropFiles { .. }
                | Effect::Push { .. }
                | Effect::MailLink { .. }
                | Effect::Tell { .. } => {}
            }
        }
        let store = app.gateway.store();
        let people: Vec<HumanId> = people.into_iter().collect();
        for some in people.chunks(PEOPLE) {
            for device in store.devices(some.to_vec()).await? {
                found.of.entry(device.human).or_default().push(device.name);
            }
        }
        if !over.is_empty() {
            for (ask, device) in store.told(over).await? {
                found.told.entry(ask).or_default().push(device);
            }
        }
        Ok(found)
    }

    /// What a delivery becomes: one for each device.
    pub fn each(&self, delivery: &Delivery) -> Vec<Effect> {
        match &delivery.effect {
            Effect::Notify { ask, seat, why, priority } => {
                let people = match seat {
                    Seat::Person { human } => std::slice::from_ref(human),
                    Seat::Pool { .. } => {
                        self.pools.get(&delivery.id).map_or(&[][..], Vec::as_slice)
                    }
                };
                let devices = people.iter().filter_map(|human| self.of.get(human)).flatten();
                let (ask, why, priority) = (*ask, Some(*why), *priority);
                devices.map(|device| Effect::Push { device: *device, ask, why, priority }).collect()
            }
            Effect::Settle { ask } => {
                let (ask, why, priority) = (*ask, None, kernel::ask::Priority::Normal);
                let told = self.told.get(&ask).into_iter().flatten();
                told.map(|device| Effect::Push { device: *device, ask, why, priority }).collect()
            }
            Effect::CallBack { .. }
            | Effect::DropFiles { .. }
            | Effect::Push { .. }
            | Effect::MailLink { .. }
            | Effect::Tell { .. } => Vec::new(),
        }
    }
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
