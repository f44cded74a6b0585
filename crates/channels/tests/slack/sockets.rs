//! Socket Mode, from the first connection to the last.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use channels::inbound::InboundContent;
use channels::testing::slack::Fault;
use channels::testing::slack::inbound::wrote;
use channels::{DeliveryError, InboundHandler};
use futures_util::FutureExt;
use tokio::sync::mpsc;

use super::*;

/// An handler that can be closed for the next thing.
struct Listener {
    closed: AtomicBool,
    tell: mpsc::UnboundedSender<String>,
    told: Mutex<mpsc::UnboundedReceiver<String>>,
}

impl Listener {
    fn new() -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        Self { closed: AtomicBool::new(false), tell, told: Mutex::new(told) }
    }

    /// What was heard since.
    fn inbound(&self) -> Vec<String> {
        let mut told = self.told.lock().unwrap();
        std::iter::from_fn(|| told.try_recv().ok()).collect()
    }
}

#[async_trait]
impl InboundHandler for Listener {
    async fn handle(&self, inbound: InboundMessage) -> Result<Option<Value>, DeliveryError> {
        if self.closed.swap(false, Ordering::SeqCst) {
            self.tell.send("refused".to_owned()).unwrap();
            return Err(DeliveryError::later("the store is away"));
        }
        let what = match inbound.what {
            InboundContent::Pressed { token, .. } => token,
            InboundContent::Wrote { text, .. } => text,
            other => panic!("{other:?}"),
        };
        self.tell.send(what).unwrap();
        Ok(None)
    }
}

fn said(words: &str) -> Value {
    wrote("Ev1", "D0ADA", None, "U0ADA", words)
}

/// Listens for as long as the story takes.
async fn during(slack: &Slack, handler: &Listener, story: impl Future<Output = ()>) {
    let listening = async {
        tokio::select! {
            ended = slack.listen(handler) => panic!("{ended:?}"),
            () = story => {}
        }
    };
    tokio::time::timeout(Duration::from_secs(20), listening).await.unwrap();
}

#[tokio::test]
async fn what_was_taken_is_acknowledged_and_the_rest_comes_again() {
    let workspace = workspace().await;
    let (slack, handler) = (slack(workspace.socket_settings()), Listener::new());
    let posted = delivered(&slack, "U0ADA", &approval()).await;
    let press = workspace.pressed(&posted.id, "Reject", "U0ADA").unwrap();
    during(&slack, &handler, async {
        workspace.socket_opened().await;
        workspace.say("interactive", "e1", &press);
        assert_eq!(workspace.acknowledged().await.as_deref(), Some("e1"));
        handler.closed.store(true, Ordering::SeqCst);
        workspace.say("events_api", "e2", &said("yes"));
        // it comes again, under another name
        workspace.say("events_api", "e3", &said("yes"));
        assert_eq!(workspace.acknowledged().await.as_deref(), Some("e3"));
        assert!(!workspace.has_acknowledged().await);
    })
    .await;
    assert_eq!(handler.inbound(), ["tok.no", "refused", "yes"]);
}

#[tokio::test]
async fn a_connection_is_replaced_without_missing_a_word() {
    let workspace = workspace().await;
    let (slack, handler) = (slack(workspace.socket_settings()), Listener::new());
    during(&slack, &handler, async {
        workspace.socket_opened().await;
        workspace.disconnect("refresh_requested");
        workspace.socket_opened().await;
        workspace.say_before("events_api", "e1", &said("on the old one"));
        assert_eq!(workspace.acknowledged().await.as_deref(), Some("e1"));
        workspace.say("events_api", "e2", &said("on the new one"));
        assert_eq!(workspace.acknowledged().await.as_deref(), Some("e2"));
    })
    .await;
    assert_eq!(handler.inbound(), ["on the old one", "on the new one"]);
}

#[tokio::test]
async fn a_connection_that_is_lost_is_opened_again() {
    let workspace = workspace().await;
    let (slack, handler) = (slack(workspace.socket_settings()), Listener::new());
    workspace.next(Fault::Status(503));
    workspace.next(Fault::Slower(0));
    workspace.next(Fault::Drop);
    during(&slack, &handler, async {
        workspace.socket_opened().await;
        workspace.drop_socket();
        workspace.socket_opened().await;
        workspace.say("events_api", "e1", &said("still there"));
        assert_eq!(workspace.acknowledged().await.as_deref(), Some("e1"));
    })
    .await;
    assert_eq!(workspace.calls_of("apps.connections.open").len(), 5);
    assert_eq!(handler.inbound(), ["still there"]);
}

#[tokio::test]
async fn what_never_works_ends_it() {
    let workspace = workspace().await;
    let handler = Listener::new();
    let wrong =
        SlackSettings { app_token: Some(secret("xapp-wrong")), ..workspace.socket_settings() };
    let ended = slack(wrong).listen(&handler).await;
    assert!(matches!(&ended, Err(DeliveryError::Never { why }) if why.contains("slack_app_token")));

    let slack = slack(workspace.socket_settings());
    let (ended, ()) = tokio::join!(slack.listen(&handler), async {
        workspace.socket_opened().await;
        workspace.disconnect("link_disabled");
    });
    assert!(matches!(&ended, Err(DeliveryError::Never { why }) if why.contains("Socket Mode")));
}

#[tokio::test]
async fn without_an_app_token_nobody_listens() {
    let workspace = workspace().await;
    let (slack, handler) = (slack(workspace.settings()), Listener::new());
    assert_eq!(slack.listen(&handler).now_or_never(), None);
    assert_eq!(workspace.calls(), []);
}
