//! The case runner's calls to Countersign and to the store of pending calls.

use std::io;
use std::sync::PoisonError;

use bytes::Bytes;
use http::HeaderValue;
use reqwest::{Method, Url, header};
use serde_json::{Value, json};

use super::call_store::{CallStage, CallStore, PendingCall};
use super::layer::NeedsHuman;
use super::runner::{CallbackTarget, CaseRunner, CaseRunnerError, RunnerState};
use crate::hitl::{HitlError, verify_callback};
use crate::retry::{Retry, fresh_key};
use crate::{CALL, ClientError};

/// The response of Countersign, unchanged.
pub(super) struct AcceptedCase {
    pub(super) body: Bytes,
    pub(super) retry_after: Option<HeaderValue>,
}

impl CaseRunner {
    /// Creates the case of a call. A call under the same key is the same call.
    pub(super) async fn ask(
        &self,
        needs: NeedsHuman,
        key: Option<String>,
    ) -> Result<AcceptedCase, CaseRunnerError> {
        let NeedsHuman { name, case, input } = needs;
        if !self.0.continuations.contains_key(&name) {
            return Err(CaseRunnerError::NoContinuation(name));
        }
        let repeatable = key.is_some();
        let id = key.unwrap_or_else(fresh_key);
        let case = case.body(self.0.callback.as_ref().map(|at| at.url.as_str()));
        let _asking = AskingGuard::begin(self, &id);
        let held = self.0.ledger.lock().await;
        if self.load(&id).await?.is_none() {
            // Stored before the case is created, so that no case exists without a stored call.
            let stage = CallStage::Asking { case: case.clone(), repeatable };
            self.save(&PendingCall { id: id.clone(), name, input, stage }).await?;
        }
        drop(held);
        match self.create(&id, &case).await {
            Ok(accepted) => {
                self.await_decision(&id, &accepted.body).await?;
                Ok(accepted)
            }
            Err(error) => {
                let never = matches!(&error, CaseRunnerError::Client(ClientError::Refused { .. }))
                    && !error.is_passing();
                if never && let Some(CallStage::Asking { .. }) = self.stage(&id).await? {
                    let gone = id.clone();
                    self.blocking(move |pending| pending.remove(&gone)).await?;
                }
                Err(error)
            }
        }
    }

    /// Records that the case exists and waits for a person.
    async fn await_decision(&self, id: &str, body: &[u8]) -> Result<(), CaseRunnerError> {
        let body: Value = serde_json::from_slice(body).map_err(ClientError::Garbled)?;
        let _held = self.0.ledger.lock().await;
        if let Some(mut call) = self.load(id).await?
            && matches!(call.stage, CallStage::Asking { .. })
        {
            call.stage = CallStage::Waiting { case: without_tokens(&body) };
            self.save(&call).await?;
            self.index_case(&call);
            // Before `run` starts there is no receiver; `run` then finds the call in the store.
            let _ = self.0.news.send(id.to_owned());
        }
        Ok(())
    }

    /// `POST /hitl/v1/cases`; returns the response unchanged.
    async fn create(&self, id: &str, case: &Value) -> Result<AcceptedCase, CaseRunnerError> {
        let client = &self.0.client;
        let mut retry = Retry::default();
        let answer = loop {
            let headers = [("idempotency-key", id)];
            let request = client.prepare(Method::POST, "/hitl/v1/cases", Some(case), &headers);
            match client.once(request.timeout(CALL)).await {
                Err(error) if retry.wait_and_retry(&error).await => {}
                Err(ClientError::Refused { status: 409, code, .. })
                    if code == "idempotency_conflict" =>
                {
                    return Err(CaseRunnerError::Repeated);
                }
                answer => break answer?,
            }
        };
        let retry_after = answer.headers().get(header::RETRY_AFTER).cloned();
        let body = answer.bytes().await.map_err(|source| client.unreachable(source))?;
        Ok(AcceptedCase { body, retry_after })
    }

    /// Withdraws a case whose call was abandoned. If that fails now, it is tried again later.
    pub(super) async fn withdraw(&self, id: &str, case: &Value) -> Result<(), CaseRunnerError> {
        if self.with_state(|now| now.asking.contains(id)) {
            return Ok(());
        }
        // The same key returns the same case, whether it already exists or is created now.
        match self.create(id, case).await {
            Ok(accepted) => {
                let body: Value =
                    serde_json::from_slice(&accepted.body).map_err(ClientError::Garbled)?;
                let case_id = body["hitl"]["case_id"].as_str().unwrap_or_default();
                let path = format!("/hitl/v1/reviews/{case_id}/cancel");
                let why = json!({ "reason": "its call ended early" });
                let gone: Result<Value, _> =
                    self.0.client.call(Method::POST, &path, Some(&why)).await;
                if gone.is_err_and(|error| error.is_passing()) {
                    return Ok(());
                }
            }
            Err(error) if error.is_passing() => return Ok(()),
            // Refused: there is no case.
            Err(_) => {}
        }
        let gone = id.to_owned();
        Ok(self.blocking(move |pending| pending.remove(&gone)).await?)
    }

    /// Processes a callback; returns whether it belongs to a call of this runner.
    pub(super) async fn handle_callback(
        &self,
        body: &[u8],
        signature: Option<&str>,
    ) -> Result<bool, CaseRunnerError> {
        let secret = self.0.secret.get_or_try_init(|| self.secret()).await?;
        let callback = verify_callback(secret, body, signature)?;
        let Some(id) = self.store_decision(&callback.case_id, callback.outcome).await? else {
            return Ok(false);
        };
        // The decision is stored already; `run` continues with it.
        let _ = self.0.news.send(id);
        Ok(true)
    }

    /// Whether callbacks arrive at this path.
    pub(super) fn is_callback_path(&self, path: &str) -> bool {
        matches!(&self.0.callback, Some(CallbackTarget { path: own, .. }) if own == path)
    }

    async fn secret(&self) -> Result<String, CaseRunnerError> {
        let path = "/hitl/v1/callback-secret";
        let told: Value = self.0.client.call(Method::GET, path, None::<&()>).await?;
        let secret = told["secret"].as_str().map(str::to_owned);
        secret
            .ok_or_else(|| HitlError::Malformed("the callback secret is missing".to_owned()).into())
    }

    /// The call of a case.
    pub(super) async fn call_for_case(
        &self,
        case_id: &str,
    ) -> Result<Option<String>, CaseRunnerError> {
        if !self.with_state(|now| now.knows_all) {
            // The calls were not yet loaded after a restart.
            self.load_all().await?;
        }
        Ok(self.with_state(|now| now.cases.get(case_id).cloned()))
    }

    /// Loads every stored call.
    pub(super) async fn load_all(&self) -> Result<Vec<PendingCall>, CaseRunnerError> {
        let calls = self.blocking(CallStore::all).await?;
        for call in &calls {
            self.index_case(call);
        }
        self.with_state(|now| now.knows_all = true);
        Ok(calls)
    }

    fn index_case(&self, call: &PendingCall) {
        if let Some(case_id) = call.case_id() {
            self.with_state(|now| now.cases.insert(case_id.to_owned(), call.id.clone()));
        }
    }

    pub(super) fn with_state<T>(&self, look: impl FnOnce(&mut RunnerState) -> T) -> T {
        look(&mut self.0.now.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn stage(&self, id: &str) -> Result<Option<CallStage>, CaseRunnerError> {
        Ok(self.load(id).await?.map(|call| call.stage))
    }

    pub(super) async fn load(&self, id: &str) -> Result<Option<PendingCall>, CaseRunnerError> {
        let id = id.to_owned();
        Ok(self.blocking(move |pending| pending.get(&id)).await?)
    }

    pub(super) async fn save(&self, call: &PendingCall) -> Result<(), CaseRunnerError> {
        let call = call.clone();
        Ok(self.blocking(move |pending| pending.put(&call)).await?)
    }

    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn CallStore) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let pending = self.0.pending.clone();
        tokio::task::spawn_blocking(move || work(&*pending)).await.map_err(io::Error::other)?
    }
}

/// Held while the case of a call is created, so that the call does not count as abandoned.
struct AskingGuard<'d> {
    desk: &'d CaseRunner,
    id: &'d str,
}

impl<'d> AskingGuard<'d> {
    fn begin(desk: &'d CaseRunner, id: &'d str) -> Self {
        desk.with_state(|now| now.asking.insert(id.to_owned()));
        Self { desk, id }
    }
}

impl Drop for AskingGuard<'_> {
    fn drop(&mut self) {
        self.desk.with_state(|now| now.asking.remove(self.id));
    }
}

/// The stored part of a 202: enough to wait for the end, without the tokens to decide.
fn without_tokens(body: &Value) -> Value {
    let mut hitl = body["hitl"].clone();
    if let Some(hitl) = hitl.as_object_mut() {
        for name in ["submit_url", "submit_token", "inline_actions", "context"] {
            hitl.remove(name);
        }
        if let Some(Value::String(review)) = hitl.get_mut("review_url")
            && let Ok(mut url) = Url::parse(review)
        {
            url.set_query(None);
            *review = url.to_string();
        }
    }
    json!({ "hitl": hitl })
}
