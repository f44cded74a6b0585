//! The services that handlers use. They are built once, here, and a handler names the ones it
//! needs: `State(gateway): State<Gateway>`.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use channels::ChannelRegistry;
use gateway::Gateway;
use gateway::answer_files::AnswerFiles;
use gateway::auth::Authenticator;
use gateway::blobs::Blobs;
use gateway::data_eraser::DataEraser;
use gateway::files::FileStorage;
use gateway::key_destruction::KeyDestruction;
use gateway::oidc::IdentityProvider;
use gateway::passkeys::Passkeys;
use gateway::readiness::Readiness;
use gateway::receipts::Receipts;
use gateway::secrets::ServerSecrets;
use gateway::sessions::Sessions;
use gateway::streams::Streams;
use gateway::verification::ProofVerifiers;
use metrics_exporter_prometheus::PrometheusHandle;
use notify::Notifier;
use notify::callbacks::Callbacks;
use notify::deliveries::Deliveries;
use notify::devices::DeviceRegistry;
use notify::inbound::InboundProcessor;
use notify::people::contact_methods::ContactMethods;
use notify::people::verification_codes::VerificationCodes;
use notify::sealer::Sealer;
use notify::webhooks::Webhooks;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Config;
use crate::http::a2h::A2hCalls;
use crate::http::api::{AskStreams, AskViews, DevServices, LongPolls};
use crate::http::callers::Callers;
use crate::http::channel_webhooks::InboundCalls;
use crate::http::hacp::{HacpOperations, PageEnds};
use crate::http::hitl::HitlCases;
use crate::http::hxp_execution::HxpRequests;
use crate::http::pages::{
    Cookies, PageServices, PasskeyPages, RequestPages, ReviewPages, SealedValues, SignInPages,
    TaskPages, Visitors,
};
use crate::http::uploads::AnswerUploads;

/// The state of the router. A clone is a pointer to the same services.
#[derive(Clone)]
pub struct AppState(Arc<Services>);

impl AppState {
    /// Shares the services with every handler.
    pub fn new(services: Services) -> Self {
        Self(Arc::new(services))
    }
}

impl Deref for AppState {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.0
    }
}

/// All services of the HTTP layer, in groups.
pub struct Services {
    pub core: CoreServices,
    pub storage: StorageServices,
    /// Notifies people, webhook endpoints and agents.
    pub notifier: Notifier,
    pub operations: Arc<Operations>,
    dialects: DialectServices,
    native: NativeApi,
    pages: PageServices,
}

/// The services that almost every feature needs.
pub struct CoreServices {
    pub gateway: Gateway,
    pub config: Arc<Config>,
    /// The server's own keys.
    pub secrets: Arc<ServerSecrets>,
    pub receipts: Receipts,
    pub authenticator: Arc<Authenticator>,
    pub sessions: Sessions,
    /// Finds out who sent a request.
    pub callers: Callers,
    /// The verification providers, which prove that a person is present.
    pub providers: Arc<ProofVerifiers>,
    pub streaming: Streaming,
}

/// Long connections: how many are open, and when they end.
#[derive(Clone)]
pub struct Streaming {
    /// Streams of agents and people.
    pub streams: Arc<Streams>,
    /// Open pages that wait for their request to be resolved. They are counted apart, so that
    /// neither uses up the other's limit.
    pub watchers: Arc<Streams>,
    /// Ends long connections when the server stops.
    pub stop: CancellationToken,
    /// The tasks that the server waits for when it stops.
    pub tasks: TaskTracker,
}

/// Files, and how stored data is erased.
pub struct StorageServices {
    /// The content of artifacts.
    pub blobs: Blobs,
    pub answer_files: AnswerFiles,
    pub erasure: DataEraser,
    /// Destroys the private halves of retired signing keys.
    pub key_destruction: KeyDestruction,
}

/// The state that health, readiness and metrics report on.
pub struct Operations {
    pub readiness: Readiness,
    pub metrics: PrometheusHandle,
    pub sealer: Arc<Sealer>,
    pub files: FileStorage,
}

struct DialectServices {
    hxp: Arc<HxpRequests>,
    hitl: Arc<HitlCases>,
    a2h: Arc<A2hCalls>,
    hacp: Arc<HacpOperations>,
    inbound: Arc<InboundCalls>,
}

struct NativeApi {
    ask_views: Arc<AskViews>,
    long_polls: Arc<LongPolls>,
    ask_streams: Arc<AskStreams>,
    uploads: Arc<AnswerUploads>,
    /// Present in development mode only.
    dev: Option<DevServices>,
}

impl Services {
    /// Builds the services of every feature. `oidc` is the identity provider for single sign-on.
    pub fn new(
        core: CoreServices,
        storage: StorageServices,
        notifier: Notifier,
        operations: Operations,
        oidc: Option<IdentityProvider>,
        dev: Option<DevServices>,
    ) -> Self {
        let dialects = DialectServices::new(&core, &storage, &notifier);
        let native = NativeApi::new(&core, &storage, dev);
        let passkeys = Passkeys::new(&core.config.public_url);
        let pages = PageServices::new(&core, &storage, &notifier, oidc, passkeys);
        let operations = Arc::new(operations);
        Self { core, storage, notifier, operations, dialects, native, pages }
    }
}

impl DialectServices {
    fn new(core: &CoreServices, storage: &StorageServices, notifier: &Notifier) -> Self {
        Self {
            hxp: Arc::new(HxpRequests {
                gateway: core.gateway.clone(),
                config: Arc::clone(&core.config),
                secrets: Arc::clone(&core.secrets),
                callers: core.callers.clone(),
            }),
            hitl: Arc::new(HitlCases {
                gateway: core.gateway.clone(),
                config: Arc::clone(&core.config),
                callers: core.callers.clone(),
                receipts: core.receipts.clone(),
                authenticator: Arc::clone(&core.authenticator),
                providers: Arc::clone(&core.providers),
                answer_files: storage.answer_files.clone(),
            }),
            a2h: Arc::new(A2hCalls {
                gateway: core.gateway.clone(),
                config: Arc::clone(&core.config),
                callers: core.callers.clone(),
                receipts: core.receipts.clone(),
                contacts: notifier.contacts.clone(),
            }),
            hacp: Arc::new(HacpOperations {
                gateway: core.gateway.clone(),
                config: Arc::clone(&core.config),
                callers: core.callers.clone(),
                blobs: storage.blobs.clone(),
                streaming: core.streaming.clone(),
                page_ends: PageEnds::default(),
            }),
            inbound: Arc::new(InboundCalls {
                gateway: core.gateway.clone(),
                config: Arc::clone(&core.config),
                channels: Arc::clone(&notifier.channels),
                inbound: notifier.inbound.clone(),
                streaming: core.streaming.clone(),
            }),
        }
    }
}

impl NativeApi {
    fn new(core: &CoreServices, storage: &StorageServices, dev: Option<DevServices>) -> Self {
        let ask_views = Arc::new(AskViews {
            config: Arc::clone(&core.config),
            receipts: core.receipts.clone(),
            secrets: Arc::clone(&core.secrets),
        });
        Self {
            long_polls: Arc::new(LongPolls {
                gateway: core.gateway.clone(),
                callers: core.callers.clone(),
                streaming: core.streaming.clone(),
            }),
            ask_streams: Arc::new(AskStreams {
                gateway: core.gateway.clone(),
                callers: core.callers.clone(),
                ask_views: Arc::clone(&ask_views),
                streaming: core.streaming.clone(),
            }),
            uploads: Arc::new(AnswerUploads {
                gateway: core.gateway.clone(),
                config: Arc::clone(&core.config),
                answer_files: storage.answer_files.clone(),
            }),
            ask_views,
            dev,
        }
    }
}

/// Lists the services that a handler can name as `State`, each with its field.
macro_rules! services {
    ($($group:ident.$service:ident: $type:ty),* $(,)?) => {
        $(
            impl FromRef<AppState> for $type {
                fn from_ref(shared: &AppState) -> Self {
                    shared.$group.$service.clone()
                }
            }
        )*
    };
}

services! {
    core.gateway: Gateway,
    core.config: Arc<Config>,
    core.secrets: Arc<ServerSecrets>,
    core.receipts: Receipts,
    core.authenticator: Arc<Authenticator>,
    core.sessions: Sessions,
    core.callers: Callers,
    core.providers: Arc<ProofVerifiers>,
    core.streaming: Streaming,
    storage.blobs: Blobs,
    storage.answer_files: AnswerFiles,
    storage.erasure: DataEraser,
    storage.key_destruction: KeyDestruction,
    notifier.channels: Arc<ChannelRegistry>,
    notifier.devices: DeviceRegistry,
    notifier.contacts: ContactMethods,
    notifier.codes: VerificationCodes,
    notifier.inbound: InboundProcessor,
    notifier.webhooks: Webhooks,
    notifier.callbacks: Callbacks,
    notifier.deliveries: Deliveries,
    dialects.hxp: Arc<HxpRequests>,
    dialects.hitl: Arc<HitlCases>,
    dialects.a2h: Arc<A2hCalls>,
    dialects.hacp: Arc<HacpOperations>,
    dialects.inbound: Arc<InboundCalls>,
    native.ask_views: Arc<AskViews>,
    native.long_polls: Arc<LongPolls>,
    native.ask_streams: Arc<AskStreams>,
    native.uploads: Arc<AnswerUploads>,
    native.dev: Option<DevServices>,
    pages.cookies: Arc<Cookies>,
    pages.sealed_values: Arc<SealedValues>,
    pages.passkeys: Arc<PasskeyPages>,
    pages.sign_in: Arc<SignInPages>,
    pages.visitors: Arc<Visitors>,
    pages.requests: Arc<RequestPages>,
    pages.reviews: Arc<ReviewPages>,
    pages.tasks: Arc<TaskPages>,
}

impl FromRef<AppState> for Arc<Operations> {
    fn from_ref(shared: &AppState) -> Self {
        Self::clone(&shared.operations)
    }
}
