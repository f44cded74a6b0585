//! A clock that is set back: the record never runs backwards, deadlines hold, and receipts stay the
//! same.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kernel::Time;
use reqwest::Method;
use serde_json::json;
use server::config::Settings;
use store::Clock;

use super::agent::{AGENT, Caller};
use super::support::verify;

/// Milliseconds since the epoch, as the test says.
struct Set(AtomicI64);

impl Clock for Set {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}

const NOON: i64 = 1_800_000_000_000;
const HOUR: i64 = 3_600_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_record_never_runs_backwards() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(Set(AtomicI64::new(NOON)));
    let settings = Settings {
        data: Some(data.path().to_owned()),
        listen: Some("127.0.0.1:0".to_owned()),
        dev: Some(true),
        ..Settings::default()
    };
    let dynamic: Arc<dyn Clock> = Arc::<Set>::clone(&clock);
    let server =
        Box::pin(server::serve::Server::start(settings.check().unwrap(), dynamic)).await.unwrap();
    let caller = Caller::at(&format!("http://{}", server.listening()[0]));
    let (_, answered) = caller.ask("Deploy?").await.unwrap();
    let body = json!({
        "action": "APPROVE", "payload": { "item": "Deploy?" },
        "timeout_seconds": 1800, "fallback": "fail",
    });
    let (_, created) = caller.post("/hxp/v1/requests", AGENT, &body).await.unwrap();
    let deadline = created["request_id"].as_str().unwrap();

    clock.0.store(NOON - HOUR, Ordering::SeqCst);
    let (status, said) = caller.resolve(&answered, "approved").await.unwrap();
    assert_eq!(status, 200, "{said}");
    let request = caller.poll(&answered).await;
    assert_eq!(request["receipt"]["completed_at"], request["created_at"]);
    assert_eq!(request["receipt"]["duration_seconds"], 0);
    assert_eq!(caller.poll(deadline).await["status"], "pending");
    let receipt = format!("/api/v1/asks/{}/receipt", answered.replacen("hxp_", "ask_", 1));
    let signed = caller.request(Method::GET, &receipt, AGENT).send().await.unwrap();
    let signed = signed.text().await.unwrap();

    clock.0.store(NOON + HOUR, Ordering::SeqCst);
    let request = caller.poll(deadline).await;
    assert_eq!(request["status"], "failed");
    assert_eq!(request["receipt"]["completed_at"], request["expires_at"]);
    let again = caller.request(Method::GET, &receipt, AGENT).send().await.unwrap();
    assert_eq!(again.text().await.unwrap(), signed, "the same bytes, whatever the clock says");
    server.stop().await;
    let (code, said) = verify(data.path());
    assert_eq!(code, Some(0), "{said}");
}
