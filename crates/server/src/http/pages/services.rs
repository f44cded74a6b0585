//! The services of the pages, and how they are built.

use std::sync::Arc;

use gateway::oidc::Provider;
use gateway::passkeys::Passkeys;
use notify::Notifier;

use super::{
    Cookies, PasskeyPages, RequestPages, ReviewPages, SealedValues, SignIn, TaskPages, Visitors,
};
use crate::http::services::{Core, Storage};

/// The services of the pages.
pub(in crate::http) struct PageServices {
    pub(in crate::http) cookies: Arc<Cookies>,
    pub(in crate::http) sealed_values: Arc<SealedValues>,
    pub(in crate::http) passkeys: Arc<PasskeyPages>,
    pub(in crate::http) sign_in: Arc<SignIn>,
    pub(in crate::http) visitors: Arc<Visitors>,
    pub(in crate::http) requests: Arc<RequestPages>,
    pub(in crate::http) reviews: Arc<ReviewPages>,
    pub(in crate::http) tasks: Arc<TaskPages>,
}

impl PageServices {
    pub(in crate::http) fn new(
        core: &Core,
        storage: &Storage,
        notifier: &Notifier,
        oidc: Option<Provider>,
        passkeys: Result<Passkeys, &'static str>,
    ) -> Self {
        let cookies =
            Arc::new(Cookies { gateway: core.gateway.clone(), config: Arc::clone(&core.config) });
        let sealed_values = Arc::new(SealedValues {
            gateway: core.gateway.clone(),
            secrets: Arc::clone(&core.secrets),
        });
        let passkeys = Arc::new(PasskeyPages {
            gateway: core.gateway.clone(),
            authenticator: Arc::clone(&core.authenticator),
            passkeys,
            sealed_values: Arc::clone(&sealed_values),
        });
        let sign_in = Arc::new(SignIn {
            gateway: core.gateway.clone(),
            config: Arc::clone(&core.config),
            secrets: Arc::clone(&core.secrets),
            authenticator: Arc::clone(&core.authenticator),
            channels: Arc::clone(&notifier.channels),
            provider: oidc,
            cookies: Arc::clone(&cookies),
            sealed_values: Arc::clone(&sealed_values),
            passkey_pages: Arc::clone(&passkeys),
        });
        let visitors = Arc::new(Visitors {
            gateway: core.gateway.clone(),
            config: Arc::clone(&core.config),
            secrets: Arc::clone(&core.secrets),
            authenticator: Arc::clone(&core.authenticator),
            sessions: core.sessions.clone(),
            cookies: Arc::clone(&cookies),
            sign_in: Arc::clone(&sign_in),
        });
        let requests = Arc::new(RequestPages {
            gateway: core.gateway.clone(),
            receipts: core.receipts.clone(),
            sealed_values: Arc::clone(&sealed_values),
            visitors: Arc::clone(&visitors),
        });
        let reviews = Arc::new(ReviewPages {
            gateway: core.gateway.clone(),
            config: Arc::clone(&core.config),
            secrets: Arc::clone(&core.secrets),
            providers: Arc::clone(&core.providers),
            sealed_values: Arc::clone(&sealed_values),
        });
        let tasks = Arc::new(TaskPages {
            gateway: core.gateway.clone(),
            blobs: storage.blobs.clone(),
            visitors: Arc::clone(&visitors),
        });
        Self { cookies, sealed_values, passkeys, sign_in, visitors, requests, reviews, tasks }
    }
}
