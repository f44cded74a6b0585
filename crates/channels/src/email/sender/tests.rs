use std::time::Duration;

use kernel::directory::ContactMethod;
use kernel::{AskId, SenderVerification, Time};
use ulid::Ulid;

use super::*;
use crate::email::{AddressOwner, ReplyAddress};
use crate::testing::dkim::{HEADERS, MailServer};
use crate::testing::dns::{DnsBehavior, NameServer};

const ADA: &str = "ada@mail.example.org";

fn replies() -> ReplyAddresses {
    ReplyAddresses::new("replies@example.com", [7; 32]).unwrap()
}

fn reply(n: u128) -> ReplyAddress {
    ReplyAddress {
        ask: AskId::new(Ulid::from(n)),
        whom: AddressOwner::of(&ContactMethod::email(ADA)),
    }
}

fn email(headers: &str) -> String {
    let to = replies().address(reply(1));
    format!("{}\r\n\r\nYes\r\n", headers.replace("TO", &to))
}

fn usual() -> String {
    email(&format!("From: Ada <{ADA}>\r\nTo: TO\r\nSubject: Re: it\r\nMessage-ID: <1@example.org>"))
}

fn claim(raw: &str, sender: &str) -> Result<SenderClaim, UnverifiedSender> {
    SenderClaim::read(raw.as_bytes(), &replies(), &replies().token(reply(1)), sender)
}

fn verifier(dns: Dns, arc_sealers: &[&str], seconds: u64) -> SenderVerifier {
    let arc_sealers = arc_sealers.iter().map(|sealer| (*sealer).to_owned()).collect();
    let timeout = Duration::from_secs(seconds);
    SenderVerifier::new(SenderSettings { dns, timeout, arc_sealers }).unwrap()
}

/// A time before every signature of these tests expires.
fn now() -> Time {
    "2026-03-01T09:00:00Z".parse().unwrap()
}

fn dkim(domain: &str) -> SenderVerification {
    SenderVerification::Dkim { domain: domain.to_owned() }
}

/// The verification result of each email.
#[tokio::test]
async fn who_signed_what() {
    let own = MailServer::new("mail.example.org", 1);
    let above = MailServer::new("example.org", 2);
    let below = MailServer::new("x.mail.example.org", 3);
    let other = MailServer::new("evil.example", 4);
    let trying = MailServer::new("trying.example", 5);
    let unknown = MailServer::new("mail.example.org", 6);
    let mut records: Vec<_> =
        [&own, &above, &below, &other].map(|server| server.record("").unwrap()).into();
    records.push(trying.record("t=y; ").unwrap());
    let server = NameServer::open(&records, DnsBehavior::Answers).await.unwrap();
    let verifier = verifier(Dns::Servers(vec![server.address]), &[], 5);

    let usual = usual();
    let signed = |who: &MailServer, email: &str| who.signed(email, &HEADERS).unwrap();
    let good = signed(&own, &usual);
    let lines = |text: &str| text.replace("\r\n", "\n");
    let from_trying = email("From: t@trying.example\r\nTo: TO\r\nMessage-ID: <1@example.org>");
    let elsewhere = usual.replace(&replies().address(reply(1)), &replies().address(reply(2)));
    let named = email(&format!(
        "From: {ADA}\r\nTo: \"TO\" <eve@evil.example>\r\nSubject: s\r\nMessage-ID: <1@example.org>"
    ));
    let (head, body) = good.split_once("\r\n\r\n").unwrap();
    let partial = own.signed_as(&usual, &HEADERS, None, true).unwrap();
    let unsigned_from = own.signed(&usual, &["To", "Subject", "Message-ID"]).unwrap();
    let unsigned_to = own.signed(&usual, &["From", "Subject", "Message-ID"]).unwrap();
    let signed_cc = email(&format!(
        "From: {ADA}\r\nTo: eve@evil.example\r\nCc: TO\r\nMessage-ID: <1@example.org>"
    ));
    for (what, raw, sender, expected) in [
        ("signed by its own domain", good.clone(), ADA, Ok(dkim("mail.example.org"))),
        ("with LF alone", lines(&good), ADA, Ok(dkim("mail.example.org"))),
        ("signed by the domain above", signed(&above, &usual), ADA, Ok(dkim("example.org"))),
        ("by two", signed(&other, &good), ADA, Ok(dkim("mail.example.org"))),
        (
            "to a copy",
            own.signed(&signed_cc, &["From", "Cc", "Message-ID"]).unwrap(),
            ADA,
            Ok(dkim("mail.example.org")),
        ),
        ("in capitals", good.clone(), "Ada@Mail.Example.org", Ok(dkim("mail.example.org"))),
        ("not signed", usual.clone(), ADA, Err(UnverifiedSender::Unsigned)),
        ("signed by a domain below", signed(&below, &usual), ADA, Err(UnverifiedSender::Unsigned)),
        ("signed by a stranger", signed(&other, &usual), ADA, Err(UnverifiedSender::Unsigned)),
        (
            "with a key nobody published",
            signed(&unknown, &usual),
            ADA,
            Err(UnverifiedSender::Invalid),
        ),
        (
            "with a key on trial",
            signed(&trying, &from_trying),
            "t@trying.example",
            Err(UnverifiedSender::NoKey),
        ),
        ("changed", good.replace("Yes", "No"), ADA, Err(UnverifiedSender::Changed)),
        ("more text behind it", format!("{good}P.S. No\r\n"), ADA, Err(UnverifiedSender::Changed)),
        (
            "signed in part",
            format!("{partial}P.S. No\r\n"),
            ADA,
            Err(UnverifiedSender::PartialBody),
        ),
        (
            "another subject",
            good.replace("Re: it", "Re: that"),
            ADA,
            Err(UnverifiedSender::Invalid),
        ),
        ("the sender not signed", unsigned_from, ADA, Err(UnverifiedSender::NotCovered)),
        ("the recipient not signed", unsigned_to, ADA, Err(UnverifiedSender::NotCovered)),
        (
            "another sender on top",
            format!("From: {ADA}\r\n{good}"),
            ADA,
            Err(UnverifiedSender::Senders),
        ),
        (
            "two senders",
            signed(
                &own,
                &usual.replace(&format!("<{ADA}>"), &format!("<{ADA}>, eve@evil.example")),
            ),
            ADA,
            Err(UnverifiedSender::Senders),
        ),
        (
            "read as another sender",
            good.clone(),
            "eve@mail.example.org",
            Err(UnverifiedSender::Senders),
        ),
        (
            "a second recipient line",
            format!("To: {}\r\n{good}", replies().address(reply(1))),
            ADA,
            Err(UnverifiedSender::Malformed),
        ),
        (
            "a second type",
            format!("Content-Type: text/html\r\nContent-Type: text/plain\r\n{good}"),
            ADA,
            Err(UnverifiedSender::Malformed),
        ),
        (
            "written to another address",
            signed(&own, &elsewhere),
            ADA,
            Err(UnverifiedSender::NotAddressed),
        ),
        ("the address as a name", signed(&own, &named), ADA, Err(UnverifiedSender::NotAddressed)),
        (
            "a space before the colon",
            format!("From : {ADA}\r\n{good}"),
            ADA,
            Err(UnverifiedSender::Malformed),
        ),
        (
            "a CR alone",
            format!("X: a\rFrom: {ADA}\r\n{good}"),
            ADA,
            Err(UnverifiedSender::Malformed),
        ),
        (
            "lines of two kinds",
            format!("{}\n\n{body}", lines(head)),
            ADA,
            Err(UnverifiedSender::Malformed),
        ),
    ] {
        let found = match claim(&raw, sender) {
            Ok(claim) => verifier.verify(&claim, now()).await,
            Err(why) => Err(why),
        };
        assert_eq!(found, expected, "{what}: {raw}");
    }
    // The signature expires by the server's clock, not by the machine's.
    let short = own.signed_as(&usual, &HEADERS, Some(3600), false).unwrap();
    let claim = claim(&short, ADA).unwrap();
    assert_eq!(verifier.verify(&claim, now()).await, Ok(dkim("mail.example.org")));
    let later = "2100-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(verifier.verify(&claim, later).await, Err(UnverifiedSender::Expired));
}

/// Display names, comments and groups: the result is one address or none.
#[test]
fn one_sender_or_none() {
    for (value, expected) in [
        ("ada@example.org", Some(vec!["ada@example.org"])),
        (" Ada <ada@example.org>\r\n", Some(vec!["ada@example.org"])),
        ("=?utf-8?q?Ada?=\r\n <ada@example.org>", Some(vec!["ada@example.org"])),
        ("\"ada@example.org\" <eve@evil.example>", Some(vec!["eve@evil.example"])),
        ("\"a \\\" <b@c.example>, \" <eve@evil.example>", Some(vec!["eve@evil.example"])),
        ("a@b.example, C <d@e.example>", Some(vec!["a@b.example", "d@e.example"])),
        ("ada@example.org <eve@evil.example>", None),
        ("<ada@example.org> eve@evil.example", None),
        ("<ada@example.org><eve@evil.example>", None),
        ("Ada (x <eve@evil.example>) <ada@example.org>", None),
        ("Friends: ada@example.org;", None),
        ("<@evil.example:ada@example.org>", None),
        ("\"ada@example.org", None),
        ("\"ada\"@example.org", None),
        ("ada@[127.0.0.1]", None),
        ("ada@example", None),
        ("ada@example.org,", None),
        ("", None),
    ] {
        let expected = expected.map(|found| found.into_iter().map(str::to_owned).collect());
        assert_eq!(headers::addresses(value.as_bytes()), expected, "{value}");
    }
}

/// Forwarders count only if the operator trusts all of them, and only for their own statements.
#[tokio::test]
async fn forwarders_that_are_trusted() {
    let own = MailServer::new("mail.example.org", 1);
    let list = MailServer::new("lists.example", 2);
    let records = [own.record("").unwrap(), list.record("").unwrap()];
    let server = NameServer::open(&records, DnsBehavior::Answers).await.unwrap();
    let dns = Dns::Servers(vec![server.address]);
    let trusting = verifier(dns.clone(), &["lists.example"], 5);
    // A mailing list adds a line. The original signature breaks, and the list vouches that
    // it was valid.
    let changed = own.signed(&usual(), &HEADERS).unwrap().replace("Yes", "Yes\r\n--\r\nThe list");
    let sealed = list.sealed(&changed, "mail.example.org").unwrap();
    let passed = claim(&sealed, ADA).unwrap();
    let found = trusting.verify(&passed, now()).await;
    let (domain, sealer) = ("mail.example.org".to_owned(), "lists.example".to_owned());
    assert_eq!(found, Ok(SenderVerification::Arc { domain, sealer }));
    for others in [&[][..], &["mail.example.org"], &["example"]] {
        let found = verifier(dns.clone(), others, 5).verify(&passed, now()).await;
        assert_eq!(found, Err(UnverifiedSender::Changed), "{others:?}");
    }
    let about_another = list.sealed(&changed, "evil.example").unwrap();
    let changed_again = sealed.replace("The list", "Another list");
    let other_sender = sealed.replace(ADA, "eve@mail.example.org");
    for (raw, sender) in
        [(about_another, ADA), (changed_again, ADA), (other_sender, "eve@mail.example.org")]
    {
        let found = trusting.verify(&claim(&raw, sender).unwrap(), now()).await;
        assert_eq!(found, Err(UnverifiedSender::Changed), "{raw}");
    }
}

/// Text in quotes and comments may come from strangers and is ignored.
#[test]
fn what_a_forwarder_says() {
    let domains = |value: &str| results::dkim_domains(value.as_bytes());
    let some = |found: &[&str]| Some(found.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
    for (value, expected) in [
        ("i=1; mx.example; dkim=pass header.d=Example.org", some(&["example.org"])),
        (
            "i=1; mx; dkim=pass header.i=@example.org header.s=s1;\r\n\tspf=pass",
            some(&["example.org"]),
        ),
        ("i=1; mx; dkim = pass (2048 bit) header.d = example.org", some(&["example.org"])),
        ("i=1; mx; dkim=fail header.d=example.org", some(&[])),
        ("i=1; mx; spf=pass smtp.mailfrom=\"x; dkim=pass header.d=example.org\"", some(&[])),
        ("i=1; mx; spf=pass (; dkim=pass header.d=example.org)", some(&[])),
        ("i=1; mx; spf=pass dkim=pass header.d=example.org", some(&[])),
        ("i=1; mx; dkim=pass header.d=a.example header.d=b.example", some(&[])),
        ("i=1; mx; dkim=pass (header.d=example.org", None),
        ("i=1; mx; dkim=pass header.d=\"example.org", None),
    ] {
        assert_eq!(domains(value), expected, "{value}");
    }
}

/// If the DNS fails or does not answer, the email stays unverified. Verification ends within its
/// timeout and does not repeat lookups.
#[tokio::test]
async fn a_dns_that_does_not_work() {
    let own = MailServer::new("mail.example.org", 1);
    let claim = claim(&own.signed(&usual(), &HEADERS).unwrap(), ADA).unwrap();
    for mood in [DnsBehavior::Fails, DnsBehavior::Silent] {
        let server = NameServer::open(&[own.record("").unwrap()], mood).await.unwrap();
        let verifier = verifier(Dns::Servers(vec![server.address]), &[], 1);
        assert_eq!(verifier.verify(&claim, now()).await, Err(UnverifiedSender::Lookup), "{mood:?}");
        assert!(server.asked() <= 4, "{mood:?}: asked {} times", server.asked());
    }
    let server = NameServer::open(&[], DnsBehavior::Answers).await.unwrap();
    let empty = verifier(Dns::Servers(vec![server.address]), &[], 5);
    assert_eq!(empty.verify(&claim, now()).await, Err(UnverifiedSender::NoKey));
    let off = verifier(Dns::Off, &[], 5);
    assert_eq!(off.verify(&claim, now()).await, Err(UnverifiedSender::Disabled));
}

/// The example of RFC 8463, with RSA and Ed25519 signatures from other software.
#[tokio::test]
async fn the_example_of_the_standard() {
    const KEYS: [(&str, &str); 2] = [
        ("brisbane", "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="),
        (
            "test",
            "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6\
             wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO\
             9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB",
        ),
    ];
    let raw = include_str!("rfc8463.eml").replace('\n', "\r\n");
    for (selector, key) in KEYS {
        let record = (format!("{selector}._domainkey.football.example.com"), key.to_owned());
        let server = NameServer::open(&[record], DnsBehavior::Answers).await.unwrap();
        let verifier = verifier(Dns::Servers(vec![server.address]), &[], 5);
        let claim = SenderClaim {
            raw: raw.as_bytes().into(),
            fields: 7,
            domain: "football.example.com".to_owned(),
            addressed_in: "to",
            has_subject: true,
        };
        assert_eq!(
            verifier.verify(&claim, now()).await,
            Ok(dkim("football.example.com")),
            "{selector}"
        );
    }
}
