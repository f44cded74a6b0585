//! The desk's calls to Countersign and to the store of pending calls.

use std::io;
use std::sync::PoisonError;

use bytes::Bytes;
use http::HeaderValue;
use reqwest::{Method, Url, header};
use serde_json::{Value, json};

use super::desk::{CallbackAt, Desk, DeskError, Now};
use super::layer::NeedsHuman;
use super::pending::{Call, Pending, Stage};
use crate::hitl::{HitlError, verify_callback};
use crate::retry::{Retry, fresh_key};
use crate::{CALL, ClientError};

/// The response of Countersign, unchanged.
pub(super) struct Accepted {
    pub(super) body: Bytes,
    pub(super) retry_after: Option<HeaderValue>,
}

impl Desk {
    /// Creates the case of a call. A call under the same key is the same call.
    pub(super) async fn ask(
        &self,
        needs: NeedsHuman,
        key: Option<String>,
    ) -> Result<Accepted, DeskError> {
        let NeedsHuman { name, case, input } = needs;
        if !self.0.continuations.contains_key(&name) {
            return Err(DeskError::NoContinuation(name));
        }
        let repeatable = key.is_some();
        let id = key.unwrap_or_else(fresh_key);
        let case = case.body(self.0.callback.as_ref().map(|at| at.url.as_str()));
        let _asking = Asking::begin(self, &id);
        let held = self.0.ledger.lock().await;
        if self.load(&id).await?.is_none() {
            // Stored before the case is created, so that no case exists without a stored call.
            let stage = Stage::Asking { case: case.clone(), repeatable };
            self.keep(&Call { id: id.clone(), name, input, stage }).await?;
        }
        drop(held);
        match self.create(&id, &case).await {
            Ok(accepted) => {
                self.await_decision(&id, &accepted.body).await?;
                Ok(accepted)
            }
            Err(error) => {
                let never = matches!(&error, DeskError::Client(ClientError::Refused { .. }))
                    && !error.is_passing();
                if never && let Some(Stage::Asking { .. }) = self.stage(&id).await? {
                    let gone = id.clone();
                    self.blocking(move |pending| pending.remove(&gone)).await?;
                }
                Err(error)
            }
        }
    }

    /// Records that the case exists and waits for a person.
    async fn await_decision(&self, id: &str, body: &[u8]) -> Result<(), DeskError> {
        let body: Value = serde_json::from_slice(body).map_err(ClientError::Garbled)?;
        let _held = self.0.ledger.lock().await;
        if let Some(mut call) = self.load(id).await?
            && matches!(call.stage, Stage::Asking { .. })
        {
            call.stage = Stage::Waiting { case: without_keys(&body) };
            self.keep(&call).await?;
            self.note(&call);
            // Before `run` starts there is no receiver; `run` then finds the call in the store.
            let _ = self.0.news.send(id.to_owned());
        }
        Ok(())
    }

    /// `POST /hitl/v1/cases`; returns the response unchanged.
    async fn create(&self, id: &str, case: &Value) -> Result<Accepted, DeskError> {
        let client = &self.0.client;
        let mut retry = Retry::default();
        let answer = loop {
            let headers = [("idempotency-key", id)];
            let request = client.prepare(Method::POST, "/hitl/v1/cases", Some(case), &headers);
            match client.once(request.timeout(CALL)).await {
                Err(error) if retry.again(&error).await => {}
                Err(ClientError::Refused { status: 409, code, .. })
                    if code == "idempotency_conflict" =>
                {
                    return Err(DeskError::Repeated);
                }
                answer => break answer?,
            }
        };
        let retry_after = answer.headers().get(header::RETRY_AFTER).cloned();
        let body = answer.bytes().await.map_err(|source| client.unreachable(source))?;
        Ok(Accepted { body, retry_after })
    }

    /// Withdraws a case whose call was abandoned. If that fails now, it is tried again later.
    pub(super) async fn withdraw(&self, id: &str, case: &Value) -> Result<(), DeskError> {
        if self.with(|now| now.asking.contains(id)) {
            return Ok(());
        }
        // The same key returns the same case, whether it already exists or is created now.
        match self.create(id, case).await {
            Ok(accepted) => {
                let body: Value =
                    serde_json::from_slice(&accepted.body).map_err(ClientError::Garbled)?;
                let case_id = body["hitl"]["case_id"].as_str().unwrap_or_default();
                let path = format!("/hitl/v1/reviews/{case_id}/cancel");
                let why = json!({ "reason": "the call it belongs to broke off" });
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

    /// Processes a callback; returns whether it belongs to a call of this desk.
    pub(super) async fn called_back(
        &self,
        body: &[u8],
        signature: Option<&str>,
    ) -> Result<bool, DeskError> {
        let secret = self.0.secret.get_or_try_init(|| self.secret()).await?;
        let callback = verify_callback(secret, body, signature)?;
        let Some(id) = self.decide(&callback.case_id, callback.outcome).await? else {
            return Ok(false);
        };
        // The decision is stored already; `run` continues with it.
        let _ = self.0.news.send(id);
        Ok(true)
    }

    /// Whether callbacks arrive at this path.
    pub(super) fn is_called_at(&self, path: &str) -> bool {
        matches!(&self.0.callback, Some(CallbackAt { path: own, .. }) if own == path)
    }

    async fn secret(&self) -> Result<String, DeskError> {
        let path = "/hitl/v1/callback-secret";
        let told: Value = self.0.client.call(Method::GET, path, None::<&()>).await?;
        let secret = told["secret"].as_str().map(str::to_owned);
        secret.ok_or_else(|| HitlError::Malformed("there is no callback secret".to_owned()).into())
    }

    /// The call of a case.
    pub(super) async fn call_of(&self, case_id: &str) -> Result<Option<String>, DeskError> {
        if !self.with(|now| now.knows_all) {
            // The calls were not yet loaded after a restart.
            self.read_again().await?;
        }
        Ok(self.with(|now| now.cases.get(case_id).cloned()))
    }

    /// Loads every stored call.
    pub(super) async fn read_again(&self) -> Result<Vec<Call>, DeskError> {
        let calls = self.blocking(Pending::all).await?;
        for call in &calls {
            self.note(call);
        }
        self.with(|now| now.knows_all = true);
        Ok(calls)
    }

    fn note(&self, call: &Call) {
        if let Some(case_id) = call.case_id() {
            self.with(|now| now.cases.insert(case_id.to_owned(), call.id.clone()));
        }
    }

    pub(super) fn with<T>(&self, look: impl FnOnce(&mut Now) -> T) -> T {
        look(&mut self.0.now.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn stage(&self, id: &str) -> Result<Option<Stage>, DeskError> {
        Ok(self.load(id).await?.map(|call| call.stage))
    }

    pub(super) async fn load(&self, id: &str) -> Result<Option<Call>, DeskError> {
        let id = id.to_owned();
        Ok(self.blocking(move |pending| pending.get(&id)).await?)
    }

    pub(super) async fn keep(&self, call: &Call) -> Result<(), DeskError> {
        let call = call.clone();
        Ok(self.blocking(move |pending| pending.put(&call)).await?)
    }

    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Pending) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let pending = self.0.pending.clone();
        tokio::task::spawn_blocking(move || work(&*pending)).await.map_err(io::Error::other)?
    }
}

/// Held while the case of a call is created, so that the call does not count as abandoned.
struct Asking<'d> {
    desk: &'d Desk,
    id: &'d str,
}

impl<'d> Asking<'d> {
    fn begin(desk: &'d Desk, id: &'d str) -> Self {
        desk.with(|now| now.asking.insert(id.to_owned()));
        Self { desk, id }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.desk.with(|now| now.asking.remove(self.id));
    }
}

/// The stored part of a 202: enough to wait for the end, without the tokens to decide.
fn without_keys(body: &Value) -> Value {
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
