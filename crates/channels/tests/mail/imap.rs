//! Answers fetched from a mailbox, by IDLE.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use channels::heard::{About, Receipt, What};
use channels::mail::imap::{Done, Imap, Security, Settings};
use channels::{Failed, Heard, Secret};
use kernel::directory::Means;

use crate::ears::{Ears, address, answer, asked, reader, reply};
use crate::servers::{Leaves, Servers};
use crate::tls::trusting;

fn imap(settings: Settings) -> Imap {
    Imap::new(settings, trusting(None), reader()).unwrap()
}

/// A story that happens while a mailbox is listened to.
async fn while_listening(imap: &Imap, ears: &Ears, story: impl Future<Output = ()>) {
    // It can be given to a task of its own.
    let listening: &mut (dyn Future<Output = Infallible> + Send + Unpin) =
        &mut Box::pin(imap.listen(ears));
    tokio::select! {
        never = listening => match never {},
        () = story => {}
    }
}

fn words(heard: &Heard) -> (&str, u128) {
    let What::Wrote { text, about: About::Token(token) } = &heard.what else { panic!("{heard:?}") };
    (text, asked(token))
}

#[tokio::test]
async fn a_letter_goes_out_and_answers_come_back() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, ears) = (imap(servers.mailbox()), Ears::new());
    while_listening(&imap, &ears, async {
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
        let heard = ears.next().await;
        assert_eq!(words(&heard), ("Yes", 1));
        assert_eq!(heard.from, Means::email("ada@example.org"));
        assert_eq!(heard.at, Some("2026-03-02T09:00:00Z".parse().unwrap()));
        assert_eq!(heard.place["message_id"], "1@example.org");

        // A page only, to an address in capitals, and hidden from its recipients.
        let page = "From: bob@example.org\r\nTo: undisclosed-recipients:;\r\nMessage-ID: <2@example.org>\r\n\
             MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
             <p>No, <b>not</b> now</p><blockquote>May I?</blockquote>";
        servers.post("bob@example.org", &to.to_uppercase().replace("REPLIES", "replies"), page).await;
        assert_eq!(words(&ears.next().await), ("No, not now", 1));
        servers.until("replies", "", (2, 2)).await;
    })
    .await;
    assert_eq!(ears.rest().await, 0);
}

#[tokio::test]
async fn a_letter_that_comes_back_is_heard_of() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, ears) = (imap(servers.mailbox()), Ears::new());
    while_listening(&imap, &ears, async {
        let asked = "From: agents@example.com\r\nTo: gone@example.org\r\nSubject: May I?\r\n\
                     Message-ID: <key_7@example.com>\r\n\r\nMay I?";
        servers.post(&address(7), "gone@example.org", asked).await;
        let heard = ears.next().await;
        let What::Became { posted, state: Receipt::Failed { why, .. } } = &heard.what else {
            panic!("{heard:?}")
        };
        assert_eq!((posted.as_str(), why.as_str()), ("key_7@example.com", "5.0.0"));
        assert_eq!(heard.from, Means::email("gone@example.org"));
        assert_eq!(heard.place["ask"], reply(7).ask.to_string());
        assert_eq!(heard.place["whom"], reply(7).whom.to_string());
    })
    .await;
}

#[tokio::test]
async fn what_does_not_count_is_put_aside() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    servers.make_folder("Done");
    let settings =
        Settings { largest: 100_000, done: Done::Move("Done".to_owned()), ..servers.mailbox() };
    let (imap, ears) = (imap(settings), Ears::new());
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
    while_listening(&imap, &ears, async {
        servers.post(ada, &to, &answer("5", &to, "Yes, really")).await;
        assert_eq!(words(&ears.next().await), ("Yes, really", 3));
        servers.until("replies", "", (0, 0)).await;
        servers.until("replies", ".Done", (5, 0)).await;
    })
    .await;
    assert_eq!(ears.rest().await, 0);
}

#[tokio::test]
async fn what_was_not_taken_comes_again() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, ears) = (imap(servers.mailbox()), Ears::refusing(2));
    let to = address(4);
    servers.post("ada@example.org", &to, &answer("1", &to, "Yes")).await;
    while_listening(&imap, &ears, async {
        let heard = ears.next().await;
        assert_eq!(words(&heard), ("Yes", 4));
        servers.until("replies", "", (1, 1)).await;
    })
    .await;
    assert_eq!(ears.refused.load(Ordering::SeqCst), 2);
    assert_eq!(ears.rest().await, 0, "once it was taken it does not come again");
}

#[tokio::test]
async fn a_server_may_go_away_and_come_back() {
    let Some(mut servers) = Servers::start(Leaves::InMailbox).await else { return };
    let (imap, ears) = (imap(servers.mailbox()), Ears::new());
    let to = address(5);
    while_listening(&imap, &ears, async {
        servers.post("ada@example.org", &to, &answer("1", &to, "one")).await;
        assert_eq!(words(&ears.next().await), ("one", 5));
        servers.until("replies", "", (1, 1)).await;
        servers.stop_dovecot();
        servers.post("ada@example.org", &to, &answer("2", &to, "two")).await;
        servers.until("replies", "", (2, 1)).await;
        servers.start_dovecot().await;
        assert_eq!(words(&ears.next().await), ("two", 5));
        servers.until("replies", "", (2, 2)).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_with_a_mailbox_is_said() {
    let Some(servers) = Servers::start(Leaves::InMailbox).await else { return };
    let good = servers.mailbox();
    let said = imap(good.clone()).check().await.unwrap();
    assert_eq!(said, "replies at localhost: INBOX has 0 letters and tells of new ones at once");
    let nowhere = Done::Move("Nowhere".to_owned());
    for (settings, words) in [
        (Settings { password: Secret::new("guess"), ..good.clone() }, "the user and the password"),
        (Settings { folder: "Answers".to_owned(), ..good.clone() }, "no folder \"Answers\""),
        (Settings { done: nowhere, ..good.clone() }, "no folder \"Nowhere\" to move"),
    ] {
        let Err(Failed::Never { why }) = imap(settings).check().await else { panic!("{words}") };
        assert!(why.contains(words), "{why}");
        assert!(!why.contains("guess"), "{why}");
    }
    // Nobody listens where nobody is bound.
    let gone = Settings { port: 1, ..good.clone() };
    assert!(matches!(imap(gone).check().await, Err(Failed::Later { .. })));

    let certificate = servers.certificate();
    let starts = Settings { security: Security::StartTls, ..good };
    for settings in [servers.encrypted(), starts] {
        let Err(Failed::Later { why, .. }) = imap(settings.clone()).check().await else {
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
    let whole = Settings::new("mail.example.com", "replies", Secret::new("secret"));
    for half in [
        Settings { host: String::new(), ..whole.clone() },
        Settings { user: "a\r\nb".to_owned(), ..whole.clone() },
        Settings { folder: String::new(), ..whole.clone() },
        Settings { password: Secret::new(""), ..whole.clone() },
    ] {
        assert!(Imap::new(half, trusting(None), reader()).is_err());
    }
    let whole = Imap::new(whole, trusting(None), reader()).unwrap();
    assert!(!format!("{whole:?}").contains("secret"));
}
