//! A phone with its push service: it hears what is sent to it, and reads it as a browser would.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes128Gcm, Key, Nonce};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use bytes::Bytes;
use hkdf::Hkdf;
use kernel::Time;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::task::JoinSet;

use crate::fake_webhook_receiver::deliver;
use crate::world::{World, eventually};

/// Part of every address: it must show nowhere.
pub(crate) const SECRET: &str = "s3cret-address";
const AUTH: [u8; 16] = *b"sixteen bytes !!";

type Call = (HeaderMap, Bytes);

/// What its push service says to a call, and whether to come back.
type Says = (u16, Option<&'static str>);

#[derive(Clone, Default)]
struct Heard {
    calls: Arc<Mutex<Vec<Call>>>,
    says: Arc<Mutex<Vec<Says>>>,
}

pub(crate) struct Phone {
    key: SecretKey,
    origin: String,
    heard: Heard,
    _serving: JoinSet<()>,
}

async fn hear(
    State(heard): State<Heard>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, HeaderMap) {
    heard.calls.lock().unwrap().push((headers, body));
    let (status, again) = heard.says.lock().unwrap().pop().unwrap_or((201, None));
    let again = again.map(|again| ("retry-after".parse().unwrap(), again.parse().unwrap()));
    (StatusCode::from_u16(status).unwrap(), again.into_iter().collect())
}

impl Phone {
    /// Its push service says these, last first, then 201.
    pub(crate) async fn open(says: &[Says]) -> Self {
        static PHONES: AtomicU32 = AtomicU32::new(1);
        let mut key = [7; 32];
        key[..4].copy_from_slice(&PHONES.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        let heard = Heard { says: Arc::new(Mutex::new(says.to_vec())), ..Heard::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().route("/send/{id}", post(hear)).with_state(heard.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let key = SecretKey::from_slice(&key).unwrap();
        Self { key, origin, heard, _serving: serving }
    }

    fn public(&self) -> Vec<u8> {
        self.key.public_key().to_sec1_point(false).as_bytes().to_vec()
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("{}/send/{SECRET}", self.origin)
    }

    /// What its browser says when it subscribed.
    pub(crate) fn subscription(&self) -> Value {
        let keys = json!({ "p256dh": BASE64.encode(self.public()), "auth": BASE64.encode(AUTH) });
        json!({ "endpoint": self.endpoint(), "keys": keys, "expirationTime": null, "label": "phone" })
    }

    /// The same in the fields of the page.
    pub(crate) fn fields(&self) -> [(&'static str, String); 3] {
        [
            ("endpoint", self.endpoint()),
            ("p256dh", BASE64.encode(self.public())),
            ("auth", BASE64.encode(AUTH)),
        ]
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.heard.calls.lock().unwrap().clone()
    }

    /// What it was told, read.
    pub(crate) fn notices(&self) -> Vec<Value> {
        self.calls().iter().map(|(_, body)| self.read(body)).collect()
    }

    pub(crate) async fn told_times(&self, times: usize) {
        eventually("a notice", async || self.calls().len() >= times).await;
        assert_eq!(self.calls().len(), times, "{:?}", self.notices());
    }

    /// The last notice, when so many have come.
    pub(crate) async fn told(&self, times: usize) -> Value {
        self.told_times(times).await;
        self.notices().pop().unwrap()
    }

    /// RFC 8291, from the other side.
    fn read(&self, body: &[u8]) -> Value {
        let (salt, rest) = body.split_at(16);
        let (record, rest) = rest.split_at(4);
        assert_eq!((record, rest[0]), (&4096_u32.to_be_bytes()[..], 65));
        let (theirs, closed) = rest[1..].split_at(65);
        let shared = p256::ecdh::diffie_hellman(
            self.key.to_nonzero_scalar(),
            PublicKey::from_sec1_bytes(theirs).unwrap().as_affine(),
        );
        let derived = |salt: &[u8], secret: &[u8], info: &[u8], length: usize| {
            let mut key = vec![0; length];
            Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut key).unwrap();
            key
        };
        let info = [b"WebPush: info\0", &self.public()[..], theirs].concat();
        let secret = derived(&AUTH, shared.raw_secret_bytes(), &info, 32);
        let key: [u8; 16] =
            derived(salt, &secret, b"Content-Encoding: aes128gcm\0", 16).try_into().unwrap();
        let nonce: [u8; 12] =
            derived(salt, &secret, b"Content-Encoding: nonce\0", 12).try_into().unwrap();
        let cipher = Aes128Gcm::new(&Key::<Aes128Gcm>::from(key));
        let plain = cipher.decrypt(&Nonce::from(nonce), closed).unwrap();
        let end = plain.iter().rposition(|byte| *byte != 0).unwrap();
        assert_eq!(plain[end], 2, "the mark of the last record");
        serde_json::from_slice(&plain[..end]).unwrap()
    }

    /// RFC 8292: that the call was ours, for this service, now. The key it is signed with.
    pub(crate) fn vouched(&self, headers: &HeaderMap, now: Time, contact: &str) -> String {
        let said = headers["authorization"].to_str().unwrap().strip_prefix("vapid t=").unwrap();
        let (token, key) = said.split_once(", k=").unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let public = VerifyingKey::from_sec1_bytes(&BASE64.decode(key).unwrap()).unwrap();
        let signature = Signature::from_slice(&BASE64.decode(signature).unwrap()).unwrap();
        public.verify(signed.as_bytes(), &signature).unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let json = |text| serde_json::from_slice::<Value>(&BASE64.decode(text).unwrap()).unwrap();
        assert_eq!(json(header), json!({ "typ": "JWT", "alg": "ES256" }));
        let claims = json(claims);
        assert_eq!((&claims["aud"], &claims["sub"]), (&json!(self.origin), &json!(contact)));
        let left = claims["exp"].as_i64().unwrap() - now.millis() / 1000;
        assert!(left > 0 && left <= 24 * 60 * 60, "{left}");
        key.to_owned()
    }
}

/// Until so much waits in the outbox, and nothing is under way any more.
pub(crate) async fn waits(world: &World, waiting: u64) {
    eventually("so much in the outbox", async || {
        deliver(world).await;
        let idle = world.app().notifier.deliveries.are_idle();
        idle && world.gateway().store().backlog().await.unwrap().waiting == waiting
    })
    .await;
}
