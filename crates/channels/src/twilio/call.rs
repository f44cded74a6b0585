//! Sending through Twilio.

use kernel::directory::contact::is_phone_number;
use reqwest::RequestBuilder;
use serde_json::Value;

use super::codes::explained;
use super::{Sender, Twilio};
use crate::DeliveryError;
use crate::wire::{self, Answer, below};

const PLATFORM: &str = "Twilio";

impl Twilio {
    /// Sends a message and returns its SID. The prefix is for both addresses: empty for text
    /// messages, `whatsapp:` for `WhatsApp`.
    pub(crate) async fn send(
        &self,
        prefix: &str,
        to: &str,
        what: &[(&str, &str)],
    ) -> Result<String, DeliveryError> {
        if !is_phone_number(to) {
            return Err(DeliveryError::never("a phone number looks like +491701234567"));
        }
        let call = self
            .client
            .post(self.below_account("/Messages.json"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(self.form(prefix, to, what));
        let answer = self.called(call).await?;
        let sid = answer.body.get("sid").and_then(Value::as_str);
        sid.map(str::to_owned)
            .ok_or_else(|| DeliveryError::later("Twilio took it without saying its SID"))
    }

    fn form(&self, prefix: &str, to: &str, what: &[(&str, &str)]) -> String {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("To", &format!("{prefix}{to}"));
        match &self.account.sender {
            Sender::Number(number) => form.append_pair("From", &format!("{prefix}{number}")),
            Sender::Service(sid) => form.append_pair("MessagingServiceSid", sid),
        };
        form.extend_pairs(what);
        if let Some(status) = &self.account.status {
            form.append_pair("StatusCallback", status.as_str());
        }
        form.finish()
    }

    /// Creates content with buttons and returns its SID.
    pub(crate) async fn lay_out(&self, content: &Value) -> Result<String, DeliveryError> {
        let call = self.client.post(below(&self.account.content, "v1/Content")).json(content);
        let answer = self.called(call).await?;
        let sid = answer.body.get("sid").and_then(Value::as_str);
        sid.map(str::to_owned)
            .ok_or_else(|| DeliveryError::later("Twilio laid it out without saying its SID"))
    }

    /// Deletes created content. Content that no longer exists counts as deleted.
    pub(crate) async fn clear_away(&self, sid: &str) -> Result<(), DeliveryError> {
        let call = self.client.delete(below(&self.account.content, &format!("v1/Content/{sid}")));
        let answer = wire::answer(PLATFORM, self.signed(call).send().await).await?;
        if answer.status.is_success() || answer.status.as_u16() == 404 {
            return Ok(());
        }
        Err(refused(&answer))
    }

    /// The name of the account.
    pub(crate) async fn name(&self) -> Result<String, DeliveryError> {
        let answer = self.called(self.client.get(self.below_account(".json"))).await?;
        let text = |name: &str| answer.body.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("status") != "active" {
            return Err(DeliveryError::never(format!(
                "the account at Twilio is {}",
                text("status")
            )));
        }
        let from = match &self.account.sender {
            Sender::Number(number) => number,
            Sender::Service(sid) => sid,
        };
        Ok(format!("Twilio's account {} sends from {from}", text("friendly_name")))
    }

    fn below_account(&self, rest: &str) -> String {
        below(&self.account.api, &format!("2010-04-01/Accounts/{}{rest}", self.account.sid))
    }

    fn signed(&self, call: RequestBuilder) -> RequestBuilder {
        match &self.account.key {
            Some((sid, secret)) => call.basic_auth(sid, Some(secret.reveal())),
            None => call.basic_auth(&self.account.sid, Some(self.account.auth_token.reveal())),
        }
    }

    async fn called(&self, call: RequestBuilder) -> Result<Answer, DeliveryError> {
        let answer = wire::answer(PLATFORM, self.signed(call).send().await).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&answer)) }
    }
}

fn refused(answer: &Answer) -> DeliveryError {
    let code = answer.body.get("code").and_then(Value::as_u64).unwrap_or_default();
    // Twilio's queue for this number is full.
    if code == 21_611 {
        return DeliveryError::later("Twilio has too many messages of this number waiting");
    }
    if let Some(later) = answer.later(PLATFORM) {
        return later;
    }
    if let Some((why, _)) = explained(code) {
        return DeliveryError::never(format!("{why} ({code})"));
    }
    if answer.status.as_u16() == 401 {
        return DeliveryError::never(
            "Twilio does not take the account SID with this auth token or API key",
        );
    }
    let said = answer.body.get("message").and_then(Value::as_str).unwrap_or_default();
    DeliveryError::never(format!(
        "Twilio refused it ({}, error {code}): {said}",
        answer.status.as_u16()
    ))
}
