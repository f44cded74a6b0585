//! Answers fetched from a mailbox, by IDLE.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use channels::email::imap::{AfterRead, Imap, ImapSecurity, ImapSettings};
use channels::email::{Dns, SenderSettings, SenderVerifier};
use channels::inbound::{DeliveryReport, InReplyTo, InboundContent};
use channels::testing::dkim::{HEADERS, MailServer};
use channels::testing::dns::{DnsBehavior, NameServer};
use channels::{DeliveryError, InboundMessage, SecretString, UnverifiedSender};
use kernel::SenderVerification;
use kernel::directory::ContactMethod;

use crate::handlers::{KeepingHandler, address, answer, asked, reader, reply};
use crate::servers::{Leaves, Servers};
use crate::tls::trusting;

fn imap(settings: ImapSettings) -> Imap {
    Imap::new(settings, trusting(None), reader()).unwrap()
}

/// A story that happens while a mailbox is listened to.
async fn while_listening(imap: &Imap, handlers: &KeepingHandler, story: impl Future<Output = ()>) {
    // It can be given to a task of its own.
    let listening: &mut (dyn Future<Output = Infallible> + Send + Unpin) =
        &mut Box::pin(imap.listen(handlers));
    tokio::select! {
        never = listening => match never {},
        () = story => {}
    }
}

fn words(inbound: &InboundMessage) -> (&str, u128) {
    let InboundContent::Wrote { text, about: InReplyTo::Token { token, .. } } = &inbound.what
    else {
        panic!("{inbound:?}")
    };
    (text, asked(token))
}

#[tokio::test]
async fn a_letter_goes_out_and_answers_come_back() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, handlers) = (imap(servers.mailbox()), KeepingHandler::new());
    while_listening(&imap, &handlers, async {
        let to = address(1);
        let asked = format!(
            "From: Countersign <agents@example.com>\r\nTo: ada@example.org\r\nReply-To: {to}\r\n\
             Message-ID: <key_1@example.com>\r\nIn-Reply-To: <ask_1@example.com>\r\n\
             References: <ask_1@example.com>\r\nSubject: May I?\r\n\r\nReply above this line\r\n\r\nMay I?"
        );
        servers.post(&to, "ada@example.org", &asked).await;
        servers.until("ada", "", (1, 0)).await;
        let got = servers.letter("ada");
        for header in [
            "Return-path: <replies+",
            "Reply-To: replies+",
            "Message-ID: <key_1@example.com>",
            "In-Reply-To: <ask_1@example.com>",
            "References: <ask_1@example.com>",
        ] {
            assert!(got.contains(header), "{header}: {got}");
        }

        let plain = answer(
            "1",
            &to,
            "Yes\r\n\r\nOn Mon, 2 Mar 2026, Countersign <agents@example.com> wrote:\r\n> May I?",
        );
        servers.post("ada@example.org", &to, &plain).await;
        let inbound = handlers.next().await;
        assert_eq!(words(&inbound), ("Yes", 1));
        assert_eq!(inbound.from, ContactMethod::email("ada@example.org"));
        assert_eq!(inbound.at, Some("2026-03-02T09:00:00Z".parse().unwrap()));
        assert_eq!(inbound.place["message_id"], "1@example.org");

        // A page only, to an address in capitals, and hidden from its recipients.
        let page = "From: bob@example.org\r\nTo: undisclosed-recipients:;\r\nMessage-ID: <2@example.org>\r\n\
             MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
             <p>No, <b>not</b> now</p><blockquote>May I?</blockquote>";
        servers.post("bob@example.org", &to.to_uppercase().replace("REPLIES", "replies"), page).await;
        assert_eq!(words(&handlers.next().await), ("No, not now", 1));
        servers.until("replies", "", (2, 2)).await;
    })
    .await;
    assert_eq!(handlers.rest().await, 0);
}

/// A signature survives real mail servers, and only from the domain it names.
#[tokio::test]
async fn a_signed_email_comes_through_whole() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, handlers) = (imap(servers.mailbox()), KeepingHandler::new());
    let (own, other) = (MailServer::new("example.org", 1), MailServer::new("evil.example", 2));
    let records = [own.record("").unwrap(), other.record("").unwrap()];
    let dns = NameServer::open(&records, DnsBehavior::Answers).await.unwrap();
    let settings = SenderSettings {
        dns: Dns::Servers(vec![dns.address]),
        timeout: Duration::from_secs(5),
        arc_sealers: Vec::new(),
    };
    let verifier = SenderVerifier::new(settings).unwrap();
    let now = "2026-03-02T09:00:00Z".parse().unwrap();
    while_listening(&imap, &handlers, async {
        for (n, signer, expected) in [
            (1, &own, Ok(SenderVerification::Dkim { domain: "example.org".to_owned() })),
            (2, &other, Err(UnverifiedSender::Unsigned)),
        ] {
            let to = address(1);
            let written = answer(&n.to_string(), &to, "Yes\r\n");
            let signed = signer.signed(&written, &HEADERS).unwrap();
            servers.post("ada@example.org", &to, &signed).await;
            let inbound = handlers.next().await;
            assert_eq!(words(&inbound), ("Yes", 1));
            let InboundContent::Wrote { about: InReplyTo::Token { sender: Ok(claim), .. }, .. } =
                &inbound.what
            else {
                panic!("{inbound:?}")
            };
            assert_eq!(verifier.verify(claim, now).await, expected);
        }
    })
    .await;
}

#[tokio::test]
async fn a_letter_that_comes_back_is_heard_of() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, handlers) = (imap(servers.mailbox()), KeepingHandler::new());
    while_listening(&imap, &handlers, async {
        let asked = "From: agents@example.com\r\nTo: gone@example.org\r\nSubject: May I?\r\n\
                     Message-ID: <key_7@example.com>\r\n\r\nMay I?";
        servers.post(&address(7), "gone@example.org", asked).await;
        let inbound = handlers.next().await;
        let InboundContent::Became { posted, state: DeliveryReport::Failed { why, .. } } =
            &inbound.what
        else {
            panic!("{inbound:?}")
        };
        assert_eq!((posted.as_str(), why.as_str()), ("key_7@example.com", "5.0.0"));
        assert_eq!(inbound.from, ContactMethod::email("gone@example.org"));
        assert_eq!(inbound.place["ask"], reply(7).ask.to_string());
        assert_eq!(inbound.place["whom"], reply(7).whom.to_string());
    })
    .await;
}

#[tokio::test]
async fn what_does_not_count_is_put_aside() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    servers.make_folder("Done");
    let settings = ImapSettings {
        largest: 100_000,
        done: AfterRead::Move("Done".to_owned()),
        ..servers.mailbox()
    };
    let (imap, handlers) = (imap(settings), KeepingHandler::new());
    let to = address(3);
    let ada = "ada@example.org";
    let away =
        answer("1", &to, "I am away.").replace("From:", "Auto-Submitted: auto-replied\r\nFrom:");
    servers.post("", &to, &away).await;
    servers.post(ada, "replies@example.com", &answer("2", "replies@example.com", "Yes")).await;
    servers.post(ada, &address(3).replace("+a", "+b"), &answer("3", "x", "Yes")).await;
    let huge = "All work and no play.\r\n".repeat(10_000);
    servers.post(ada, &to, &answer("4", &to, &huge)).await;
    servers.until("replies", "", (4, 0)).await;
    while_listening(&imap, &handlers, async {
        servers.post(ada, &to, &answer("5", &to, "Yes, really")).await;
        assert_eq!(words(&handlers.next().await), ("Yes, really", 3));
        servers.until("replies", "", (0, 0)).await;
        servers.until("replies", ".Done", (5, 0)).await;
    })
    .await;
    assert_eq!(handlers.rest().await, 0);
}

#[tokio::test]
async fn what_was_not_taken_comes_again() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, handlers) = (imap(servers.mailbox()), KeepingHandler::refusing(2));
    let to = address(4);
    servers.post("ada@example.org", &to, &answer("1", &to, "Yes")).await;
    while_listening(&imap, &handlers, async {
        let inbound = handlers.next().await;
        assert_eq!(words(&inbound), ("Yes", 4));
        servers.until("replies", "", (1, 1)).await;
    })
    .await;
    assert_eq!(handlers.refused.load(Ordering::SeqCst), 2);
    assert_eq!(handlers.rest().await, 0, "once it was taken it does not come again");
}

#[tokio::test]
async fn a_server_may_go_away_and_come_back() {
    let Some(mut servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, handlers) = (imap(servers.mailbox()), KeepingHandler::new());
    let to = address(5);
    while_listening(&imap, &handlers, async {
        servers.post("ada@example.org", &to, &answer("1", &to, "one")).await;
        assert_eq!(words(&handlers.next().await), ("one", 5));
        servers.until("replies", "", (1, 1)).await;
        servers.stop_dovecot();
        servers.post("ada@example.org", &to, &answer("2", &to, "two")).await;
        servers.until("replies", "", (2, 1)).await;
        servers.start_dovecot().await;
        assert_eq!(words(&handlers.next().await), ("two", 5));
        servers.until("replies", "", (2, 2)).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_with_a_mailbox_is_said() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let good = servers.mailbox();
    let said = imap(good.clone()).check().await.unwrap();
    assert_eq!(said, "replies at localhost: INBOX has 0 emails and reports new emails immediately");
    let nowhere = AfterRead::Move("Nowhere".to_owned());
    for (settings, words) in [
        (
            ImapSettings { password: SecretString::new("guess"), ..good.clone() },
            "the user and the password",
        ),
        (ImapSettings { folder: "Answers".to_owned(), ..good.clone() }, "no folder \"Answers\""),
        (ImapSettings { done: nowhere, ..good.clone() }, "no folder \"Nowhere\" to move"),
    ] {
        let Err(DeliveryError::Never { why }) = imap(settings).check().await else {
            panic!("{words}")
        };
        assert!(why.contains(words), "{why}");
        assert!(!why.contains("guess"), "{why}");
    }
    // Nobody listens where nobody is bound.
    let gone = ImapSettings { port: 1, ..good.clone() };
    assert!(matches!(imap(gone).check().await, Err(DeliveryError::Later { .. })));

    let certificate = servers.certificate();
    let starts = ImapSettings { security: ImapSecurity::StartTls, ..good };
    for settings in [servers.encrypted(), starts] {
        let Err(DeliveryError::Later { why, .. }) = imap(settings.clone()).check().await else {
            panic!("a stranger's certificate was taken")
        };
        assert!(why.contains("certificate"), "{why}");
        let trusting = trusting(Some(&certificate));
        let trusting = Imap::new(settings, Arc::clone(&trusting), reader()).unwrap();
        trusting.check().await.unwrap();
    }
}

#[test]
fn half_a_mailbox_is_refused() {
    let whole = ImapSettings::new("mail.example.com", "replies", SecretString::new("secret"));
    for half in [
        ImapSettings { host: String::new(), ..whole.clone() },
        ImapSettings { user: "a\r\nb".to_owned(), ..whole.clone() },
        ImapSettings { folder: String::new(), ..whole.clone() },
        ImapSettings { password: SecretString::new(""), ..whole.clone() },
    ] {
        assert!(Imap::new(half, trusting(None), reader()).is_err());
    }
    let whole = Imap::new(whole, trusting(None), reader()).unwrap();
    assert!(!format!("{whole:?}").contains("secret"));
}
