//! The services of this crate, put together.

use std::sync::Arc;

use channels::ChannelRegistry;
use gateway::Gateway;
use gateway::auth::Authenticator;
use gateway::data_eraser::DataEraser;
use gateway::receipts::Receipts;
use gateway::secrets::ServerSecrets;
use gateway::sessions::Sessions;
use store::AnnouncedChange;
use tokio::sync::Notify;
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer_offers::AnswerOffers;
use crate::callbacks::Callbacks;
use crate::deliveries::Deliveries;
use crate::deliveries::lanes::Lanes;
use crate::deliveries::runtime_contracts::RuntimeCommands;
use crate::delivery_follower::{DeliveryFollower, DeliveryPlanner};
use crate::devices::{self, DeviceRegistry};
use crate::inbound::InboundProcessor;
use crate::inbound::channel_listener::ChannelListener;
use crate::links::LinkBuilder;
use crate::outgoing::Outgoing;
use crate::people::PeopleNotifier;
use crate::people::contact_methods::ContactMethods;
use crate::people::verification_codes::VerificationCodes;
use crate::webhooks::Webhooks;

/// What notifications need.
pub struct NotifierDependencies {
    /// Runs commands and reads asks.
    pub gateway: Gateway,
    /// The server's own keys.
    pub secrets: Arc<ServerSecrets>,
    /// Makes the receipts in callbacks and webhooks.
    pub receipts: Receipts,
    /// Limits how many codes a person can request.
    pub authenticator: Arc<Authenticator>,
    /// Says whether the session of a device is still valid.
    pub sessions: Sessions,
    /// Deletes files and personal data after a commit decided so.
    pub erasure: DataEraser,
    /// The channels that are configured.
    pub channels: ChannelRegistry,
    /// Calls agents and endpoints.
    pub callbacks: Callbacks,
    /// Passes contracts to the runtimes of agents.
    pub runtimes: RuntimeCommands,
    /// Makes links to the server's pages.
    pub links: LinkBuilder,
    /// Ends the work when the server stops.
    pub stop: CancellationToken,
    /// What the server waits for when it stops.
    pub tasks: TaskTracker,
}

/// Notifies people, webhook endpoints and agents.
pub struct Notifier {
    /// The channels that are configured.
    pub channels: Arc<ChannelRegistry>,
    pub devices: DeviceRegistry,
    /// By which contact methods people can be notified.
    pub contacts: ContactMethods,
    /// Codes that verify contact methods.
    pub codes: VerificationCodes,
    pub inbound: InboundProcessor,
    /// Secrets and bodies of webhooks.
    pub webhooks: Webhooks,
    /// Calls to URLs that others named.
    pub callbacks: Callbacks,
    pub deliveries: Deliveries,
}

impl Notifier {
    /// Puts the services together.
    pub fn new(dependencies: NotifierDependencies) -> Self {
        let NotifierDependencies {
            gateway,
            secrets,
            receipts,
            authenticator,
            sessions,
            erasure,
            channels,
            callbacks,
            runtimes,
            links,
            stop,
            tasks,
        } = dependencies;
        let channels = Arc::new(channels);
        let devices = DeviceRegistry {
            gateway: gateway.clone(),
            secrets: Arc::clone(&secrets),
            sessions,
            push: channels.push.clone(),
        };
        let contacts = ContactMethods {
            gateway: gateway.clone(),
            channels: Arc::clone(&channels),
            devices: devices.clone(),
        };
        let codes = VerificationCodes {
            gateway: gateway.clone(),
            secrets: Arc::clone(&secrets),
            authenticator,
            contacts: contacts.clone(),
            links: links.clone(),
            outgoing: Outgoing { gateway: gateway.clone(), channels: Arc::clone(&channels) },
        };
        let inbound = InboundProcessor {
            gateway: gateway.clone(),
            secrets: Arc::clone(&secrets),
            channels: Arc::clone(&channels),
            offers: AnswerOffers { gateway: gateway.clone(), secrets: Arc::clone(&secrets) },
            links: links.clone(),
        };
        let people =
            Arc::new(PeopleNotifier::new(&gateway, &secrets, &channels, &contacts, &links));
        let plan = Arc::clone(&people) as Arc<dyn DeliveryPlanner>;
        let follower = Arc::new(DeliveryFollower::new(gateway.clone(), plan));
        let webhooks = Webhooks {
            gateway: gateway.clone(),
            secrets,
            receipts: receipts.clone(),
            callbacks: callbacks.clone(),
            links,
        };
        let deliveries = Deliveries {
            gateway,
            receipts,
            erasure,
            follower,
            people,
            webhooks: webhooks.clone(),
            callbacks: callbacks.clone(),
            runtimes,
            lanes: Arc::new(Lanes::default()),
            stop,
            tasks,
        };
        Self { channels, devices, contacts, codes, inbound, webhooks, callbacks, deliveries }
    }

    /// Starts the work: the follower, its deliveries, the listeners, and the removal of devices
    /// that are signed out. `feed` subscribes to changes.
    pub fn start(&self, feed: impl Fn() -> Receiver<Arc<[AnnouncedChange]>>) {
        let Deliveries { tasks, stop, .. } = &self.deliveries;
        let written = Arc::new(Notify::new());
        let follower = Arc::clone(&self.deliveries.follower);
        let (changes, ring, until) = (feed(), Arc::clone(&written), stop.clone());
        tasks.spawn(async move { follower.run(changes, ring, until).await });
        tasks.spawn(self.deliveries.clone().run(written));
        tasks.spawn(devices::signed_out::run(self.devices.clone(), feed(), stop.clone()));
        for channel in self.channels.addressable() {
            let listening = ChannelListener::new(self.inbound.clone(), channel);
            tasks.spawn(listening.run(stop.clone()));
        }
    }
}
