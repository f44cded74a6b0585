use kernel::AskId;
use proptest::prelude::*;
use ulid::Ulid;

use super::*;
use crate::UnverifiedSender;
use crate::email::{AddressOwner, Invitation, ReplyAddress};
use crate::inbound::DeliveryReport;

fn reader() -> EmailReader {
    let replies = ReplyAddresses::new("replies@example.com", [7; 32]).unwrap();
    EmailReader::new(replies, ["Agents@example.com".to_owned()])
}

fn address() -> String {
    let whom = AddressOwner::of(&ContactMethod::email("ada@example.org"));
    reader().replies.address(ReplyAddress { ask: AskId::new(Ulid(42)), whom })
}

fn letter(headers: &str, body: &str) -> String {
    let to = address();
    let common = "From: Ada <ada@example.org>\nMessage-ID: <1@example.org>\n";
    format!("{common}{}\n\n{body}", headers.replace("TO", &to)).replace('\n', "\r\n")
}

fn text(read: &ReadEmail) -> Option<&str> {
    match read {
        ReadEmail::Inbound(inbound) => match &inbound.what {
            InboundContent::Wrote { text, .. } => Some(text),
            _ => None,
        },
        ReadEmail::Ignored(_) => None,
    }
}

fn unsigned(token: String) -> InReplyTo {
    InReplyTo::Token { token, sender: Err(UnverifiedSender::Unsigned) }
}

#[test]
fn the_address_counts_and_no_name() {
    let good = reader().read(letter("To: TO", "Yes").as_bytes(), None);
    let ReadEmail::Inbound(inbound) = &good else { panic!("{good:?}") };
    let token = reader().replies.token_of(&address()).unwrap();
    assert_eq!(
        inbound.what,
        InboundContent::Wrote { text: "Yes".to_owned(), about: unsigned(token.clone()) }
    );
    assert_eq!(inbound.from, ContactMethod::email("ada@example.org"));
    assert_eq!(inbound.name.as_deref(), Some("Ada"));
    assert!(inbound.id.starts_with("1@example.org "), "{}", inbound.id);
    assert!(!inbound.id.contains(&token), "an id is logged, an address is not");
    for (headers, counts) in [
        ("To: =?utf-8?q?Countersign?= <TO>", true),
        ("To: bob@example.org,\n TO", true),
        ("To: someone@example.org\nCc: TO", true),
        ("To: undisclosed-recipients:;\nDelivered-To: TO", true),
        ("X-Original-To: TO", true),
        ("TO: TO".trim_start_matches("TO: "), false),
        ("To: replies@example.com", false),
        ("To: replies+aaaa@example.com", false),
        ("Reply-To: TO", false),
        ("In-Reply-To: <TO>", false),
        ("Subject: TO", false),
    ] {
        let read = reader().read(letter(headers, "Yes").as_bytes(), None);
        let expected = if counts { Some("Yes") } else { None };
        assert_eq!(text(&read), expected, "{headers}: {read:?}");
    }
    // The envelope recipient counts, not the headers.
    let elsewhere = letter("To: TO", "Yes");
    let read = reader().read(elsewhere.as_bytes(), Some("replies@example.com"));
    assert_eq!(read, ReadEmail::Ignored(IgnoredEmail::NoAddress));
    let bare = letter("To: bob@example.org", "Yes");
    assert_eq!(text(&reader().read(bare.as_bytes(), Some(&address()))), Some("Yes"));
}

#[test]
fn machines_never_answer() {
    for (header, automatic) in [
        ("Auto-Submitted: no", false),
        ("Auto-Submitted: auto-replied", true),
        ("Auto-Submitted: auto-generated; owner=\"x\"", true),
        ("auto-submitted: Auto-Notified", true),
        ("Precedence: bulk", true),
        ("Precedence: junk", true),
        ("Precedence: List", true),
        ("Precedence: auto_reply", true),
        ("Precedence: first-class", false),
        ("X-Autoreply: yes", true),
        ("X-Autorespond: x", true),
        ("X-Auto-Response-Suppress: All", true),
        ("Return-Path: <>", true),
        ("Return-Path: <ada@example.org>", false),
        ("Subject: Automatic reply: agent_billing asks", true),
        ("Subject: =?utf-8?q?R=C3=A9ponse_automatique_=3A_x?=", true),
        ("Subject: Re: Automatic reply is broken, fix it?", false),
    ] {
        let read = reader().read(letter(&format!("To: TO\n{header}"), "Yes").as_bytes(), None);
        assert_eq!(
            read == ReadEmail::Ignored(IgnoredEmail::Automatic),
            automatic,
            "{header}: {read:?}"
        );
    }
}

/// A2H-113: an email to an invitation address may consist of its subject, and automatic
/// emails are ignored.
#[test]
fn a_letter_to_an_agent() {
    let (agent, human) = ("agent_dev".parse().unwrap(), "ada".parse().unwrap());
    let to = reader().replies.invitation(Invitation::new(&agent, &human));
    let write = |headers: &str, body: &str| {
        let raw = letter(headers, body);
        reader().read(raw.as_bytes(), Some(&to))
    };
    let ReadEmail::Inbound(inbound) = write("Subject: Order 7", "Refund it\n> no\n") else {
        panic!()
    };
    let about = unsigned(reader().replies.token_of(&to).unwrap());
    assert_eq!(inbound.what, InboundContent::Wrote { text: "Refund it".to_owned(), about });
    assert_eq!(inbound.place["subject"], "Order 7");
    assert_eq!(inbound.place["message_id"], "1@example.org");
    assert_eq!(text(&write("Subject: Stop", "> no")), Some(""));
    for (headers, body, why) in [
        ("X-Odd: 1", "> no", IgnoredEmail::Empty),
        ("Subject:  ", "", IgnoredEmail::Empty),
        ("Subject: Stop\nAuto-Submitted: auto-replied", "Away", IgnoredEmail::Automatic),
        ("Subject: Stop\nReturn-Path: <>", "Away", IgnoredEmail::Automatic),
    ] {
        assert_eq!(write(headers, body), ReadEmail::Ignored(why), "{headers}");
    }
    let bounce = format!(
        "To: {to}\r\nFrom: MAILER-DAEMON@mx.example\r\nReturn-Path: <>\r\n\r\n\
         Hi. This is the program at mx.example.\r\n<ada@example.org>:\r\n550 5.1.1 nobody\r\n"
    );
    assert_eq!(reader().read(bounce.as_bytes(), None), ReadEmail::Ignored(IgnoredEmail::Automatic));
}

#[test]
fn nothing_to_hear() {
    let to = address();
    for (raw, why) in [
        (letter("To: TO", ""), IgnoredEmail::Empty),
        (letter("To: TO", "> May I?"), IgnoredEmail::Empty),
        (format!("To: {to}\r\nFrom: agents@EXAMPLE.com\r\n\r\nYes"), IgnoredEmail::Own),
        (format!("To: {to}\r\nFrom: {to}\r\n\r\nYes"), IgnoredEmail::Own),
        (format!("To: {to}\r\n\r\nYes"), IgnoredEmail::NoSender),
        (letter("To: x@y", "Yes"), IgnoredEmail::NoAddress),
        (String::new(), IgnoredEmail::Unreadable),
    ] {
        let read = reader().read(raw.as_bytes(), None);
        assert_eq!(read, ReadEmail::Ignored(why), "{raw}");
    }
}

#[test]
fn a_letter_without_a_name_of_its_own_is_known_by_its_bytes() {
    let raw = format!("To: {}\r\nFrom: ada@example.org\r\n\r\nYes", address());
    let ids: Vec<String> = [raw.clone(), raw.clone(), raw + "!"]
        .iter()
        .filter_map(|raw| match reader().read(raw.as_bytes(), None) {
            ReadEmail::Inbound(inbound) => Some(inbound.id),
            ReadEmail::Ignored(_) => None,
        })
        .collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[test]
fn a_server_that_follows_no_standard() {
    let raw = format!(
        "To: {}\r\nFrom: MAILER-DAEMON@mx.example\r\nReturn-Path: <>\r\nMessage-ID: <b@mx>\r\n\r\n\
         Hi. This is the program at mx.example.\r\n<ada@example.org>:\r\n\
         550 5.1.1 no mailbox here by that name\r\n\r\n--- Below\r\nMessage-ID: <ask_1.x@example.com>\r\n",
        address()
    );
    let read = reader().read(raw.as_bytes(), None);
    let ReadEmail::Inbound(inbound) = read else { panic!("{read:?}") };
    let why = "550 5.1.1 no mailbox here by that name".to_owned();
    let state = DeliveryReport::Failed { why, forever: true };
    assert_eq!(
        inbound.what,
        InboundContent::Became { posted: "ask_1.x@example.com".to_owned(), state }
    );
    assert_eq!(inbound.from, ContactMethod::email("ada@example.org"));
}

proptest! {
    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut raw = format!("To: {}\r\nFrom: a@b\r\n", address()).into_bytes();
        raw.extend_from_slice(&bytes);
        let _ = reader().read(&raw, None);
        let _ = reader().read(&bytes, Some(&address()));
    }

    #[test]
    fn no_structure_breaks_it(kind in "(multipart/(mixed|alternative|report|related)|text/(html|plain)|message/(rfc822|delivery-status))",
                              body in "(--b(--)?\r\n|Content-Type: [a-z/]{0,20}\r\n|<[a-z/]{0,9}>|\r\n|[a-z =]{0,9}|Action: failed\r\n){0,30}") {
        let raw = format!("To: {}\r\nFrom: a@b\r\nContent-Type: {kind}; boundary=b\r\n\r\n{body}", address());
        let _ = reader().read(raw.as_bytes(), None);
    }
}
