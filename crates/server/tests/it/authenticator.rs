//! A passkey authenticator in software: it makes credentials and signs challenges as a browser
//! sends them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::audit::Digest;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use p256::ecdsa::{Signature, SigningKey};
use scraper::{Html, Selector};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::pages::{Browser, csrf};

pub(crate) struct Authenticator {
    key: SigningKey,
    id: Vec<u8>,
    /// The person it was made for, as the server calls them.
    user: String,
    /// What the next assertion counts.
    pub(crate) counter: u32,
}

fn b64(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// The passkey form of a page: what it asks the browser for, and its hidden fields.
pub(crate) struct PasskeyForm {
    pub(crate) options: Value,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) makes: bool,
}

impl PasskeyForm {
    pub(crate) fn of(page: &Reply) -> Option<Self> {
        let html = Html::parse_document(&page.text);
        let form = html.select(&Selector::parse("form[data-passkey]").unwrap()).next()?;
        let options = serde_json::from_str(form.attr("data-passkey").unwrap()).unwrap();
        let inputs = Selector::parse("input[type=hidden]").unwrap();
        let fields = form.select(&inputs).map(|input| {
            let of = |name| input.value().attr(name).unwrap_or_default().to_owned();
            (of("name"), of("value"))
        });
        Some(Self { options, fields: fields.collect(), makes: form.attr("data-makes").is_some() })
    }

    /// The fields with what the authenticator made.
    pub(crate) fn with(&self, response: &str) -> Vec<(String, String)> {
        let mut fields = self.fields.clone();
        for (name, value) in &mut fields {
            if name == "response" {
                response.clone_into(value);
            }
        }
        fields
    }
}

impl Authenticator {
    pub(crate) fn new(seed: u8) -> Self {
        let id = [b"software authenticator ".as_slice(), &[seed]].concat();
        Self {
            key: SigningKey::from_slice(&[seed; 32]).unwrap(),
            id,
            user: String::new(),
            counter: 0,
        }
    }

    fn data(&mut self, rp_id: &str, flags: u8) -> Vec<u8> {
        let counter = self.counter.to_be_bytes();
        // One that never counts stays at 0.
        self.counter += u32::from(self.counter > 0);
        [Digest::of(rp_id.as_bytes()).0.as_slice(), &[flags], &counter].concat()
    }

    /// What `navigator.credentials.create` gives.
    pub(crate) fn create(&mut self, options: &Value, origin: &str) -> String {
        options["user"]["id"].as_str().unwrap().clone_into(&mut self.user);
        let client = json!({
            "type": "webauthn.create", "challenge": options["challenge"], "origin": origin,
        });
        let point = self.key.verifying_key().to_sec1_point(false);
        let cose = [
            b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20".as_slice(),
            point.x().unwrap(),
            b"\x22\x58\x20",
            point.y().unwrap(),
        ];
        let mut data = self.data(options["rp"]["id"].as_str().unwrap(), 0x45);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(cose.concat());
        let length = u16::try_from(data.len()).unwrap().to_be_bytes();
        // {"fmt": "none", "attStmt": {}, "authData": …} in CBOR.
        let attestation =
            [b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".as_slice(), &length, &data];
        json!({
            "id": b64(&self.id), "rawId": b64(&self.id), "type": "public-key", "extensions": {},
            "response": {
                "attestationObject": b64(&attestation.concat()),
                "clientDataJSON": b64(client.to_string().as_bytes()),
            },
        })
        .to_string()
    }

    /// What `navigator.credentials.get` gives.
    pub(crate) fn get(&mut self, options: &Value, origin: &str) -> String {
        let client = json!({
            "type": "webauthn.get", "challenge": options["challenge"], "origin": origin,
            "crossOrigin": false,
        })
        .to_string();
        let data = self.data(options["rpId"].as_str().unwrap(), 0x05);
        let signed = [data.as_slice(), &Digest::of(client.as_bytes()).0].concat();
        let signature: Signature = self.key.sign_prehash(&Digest::of(&signed).0).unwrap();
        json!({
            "id": b64(&self.id), "rawId": b64(&self.id), "type": "public-key", "extensions": {},
            "response": {
                "authenticatorData": b64(&data),
                "clientDataJSON": b64(client.as_bytes()),
                "signature": b64(signature.to_der().as_bytes()),
                "userHandle": self.user,
            },
        })
        .to_string()
    }

    /// Fills in the passkey form of a page.
    pub(crate) fn fill(&mut self, form: &PasskeyForm, origin: &str) -> Vec<(String, String)> {
        let response = if form.makes {
            self.create(&form.options, origin)
        } else {
            self.get(&form.options, origin)
        };
        form.with(&response)
    }
}

/// Posts owned fields.
pub(crate) async fn post(browser: &Browser, path: &str, fields: &[(String, String)]) -> Reply {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    browser.client.post_form(path, &fields).await
}

/// Enrols a first passkey, right after signing in.
pub(crate) async fn enrol(browser: &Browser, device: &mut Authenticator, origin: &str) -> Reply {
    let page = browser.client.get("/settings/passkeys").await.is(200);
    let form = PasskeyForm::of(&page).unwrap();
    assert!(form.makes, "{}", page.text);
    let mut fields = device.fill(&form, origin);
    fields.push(("label".to_owned(), "laptop".to_owned()));
    post(browser, "/settings/passkeys", &fields).await
}

/// Answers a request that needs a passkey: the page with what is to be signed.
pub(crate) async fn step_up(browser: &Browser, id: &str) -> Reply {
    let page = browser.client.get(&format!("/asks/{id}")).await.is(200);
    let form = [("csrf", &*csrf(&page)), ("action", "approve"), ("comment", "go ahead")];
    browser.client.post_form(&format!("/asks/{id}/answer"), &form).await
}
