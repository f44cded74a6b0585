//! `countersign webhooks`: added, tried out, rotated, and told again.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Server, eventually};
use crate::{asked, cli};

/// Somebody who answers 500 so often, then 200.
struct Endpoint {
    url: String,
    failing: Arc<AtomicUsize>,
}

impl Endpoint {
    fn open(failing: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let failing = Arc::new(AtomicUsize::new(failing));
        let left = Arc::clone(&failing);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = vec![0; 65_536];
                let _ = stream.read(&mut head);
                let one = |left: usize| left.checked_sub(1);
                let fails = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one).is_ok();
                let status = if fails { "500 No" } else { "200 OK" };
                let answer =
                    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, failing }
    }
}

#[test]
fn endpoints_are_managed_and_told_again() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let endpoint = Endpoint::open(1);
    let refused = cli(&server, &["webhooks", "add", "https://10.0.0.1/", "--agent", "agent_dev"]);
    assert!(refused.failed(4).contains("url"), "calls go nowhere inside");
    let nobody = cli(&server, &["webhooks", "add", &endpoint.url]).failed(64);
    assert!(nobody.contains("--agent"), "{nobody}");
    let made = cli(
        &server,
        &[
            "webhooks",
            "add",
            &endpoint.url,
            "--agent",
            "agent_dev",
            "--event",
            "ask.created",
            "--description",
            "staging",
            "--json",
        ],
    )
    .json();
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    assert!(secret.starts_with("whsec_"));
    let listed = cli(&server, &["webhooks", "list"]).ok();
    assert!(
        listed.contains(id) && listed.contains("active") && listed.contains("staging"),
        "{listed}"
    );
    assert!(!listed.contains(secret));
    let rotated = cli(&server, &["webhooks", "rotate", id, "--grace", "0"]).ok();
    assert!(rotated.starts_with("whsec_") && rotated.trim() != secret, "{rotated}");

    asked(&server, &["Well?"]);
    let said = eventually("an attempt", || {
        Some(cli(&server, &["webhooks", "deliveries", id]).ok()).filter(|said| said.contains("500"))
    });
    assert!(said.contains("ask.created") && said.contains("waiting"), "{said}");
    let message = said.split_whitespace().find(|word| word.starts_with("msg_")).unwrap();
    let said = cli(&server, &["webhooks", "redeliver", id, message]).ok();
    assert_eq!(said, "1 delivery will be sent again.\n");
    eventually("it is taken", || {
        Some(cli(&server, &["webhooks", "deliveries", id]).ok())
            .filter(|said| said.contains("done"))
    });
    assert_eq!(endpoint.failing.load(Ordering::SeqCst), 0);
    assert_eq!(cli(&server, &["webhooks", "redeliver", id]).ok(), "No delivery failed for good.\n");
    assert_eq!(cli(&server, &["webhooks", "deliveries", id, "--dead", "--json"]).ok(), "[]\n");
    let odd = cli(&server, &["webhooks", "redeliver", id, "../keys"]).failed(64);
    assert!(odd.contains("msg_"), "{odd}");

    let said = cli(&server, &["webhooks", "test", id]).ok();
    assert_eq!(said, format!("A test event is on its way to {id}.\n"));
    eventually("the test", || {
        let said = cli(&server, &["webhooks", "deliveries", id]).ok();
        Some(said).filter(|said| said.contains("webhook.test"))
    });
    assert_eq!(cli(&server, &["webhooks", "remove", id]).ok(), format!("Removed {id}.\n"));
    assert_eq!(cli(&server, &["webhooks", "list", "--json"]).ok(), "[]\n");
}
