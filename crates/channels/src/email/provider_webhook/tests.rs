use kernel::AskId;
use kernel::directory::ContactMethod;
use proptest::prelude::*;
use standardwebhooks::Webhook;
use ulid::Ulid;

use super::*;
use crate::email::{AddressOwner, OpenedAddress, ReplyAddress, ReplyAddresses};
use crate::inbound::{InReplyTo, InboundContent};
use crate::testing::email::{Call, mailgun, postmark, webhook};

const NOW: i64 = 1_770_000_000;
const KEY: &str = "key-1";
const WHSEC: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn reader() -> EmailReader {
    EmailReader::new(ReplyAddresses::new("replies@example.com", [7; 32]).unwrap(), [])
}

fn address(ask: u128) -> String {
    let whom = AddressOwner::of(&ContactMethod::email("ada@example.org"));
    reader().replies().address(ReplyAddress { ask: AskId::new(Ulid(ask)), whom })
}

fn letter(to: &str, words: &str) -> String {
    format!("From: ada@example.org\r\nTo: {to}\r\nMessage-ID: <1@x>\r\n\r\n{words}")
}

fn received(call: &Call) -> WebhookCall<'_> {
    WebhookCall {
        url: "https://ask.example.com/channels/email/inbound",
        name: "inbound",
        headers: &call.headers,
        body: &call.body,
        now: at(NOW),
    }
}

fn at(seconds: i64) -> Time {
    Time::from_millis(seconds * 1000)
}

fn asked(token: &str) -> u128 {
    let Some(OpenedAddress::Reply(reply)) = reader().replies().open(token) else {
        panic!("{token}")
    };
    reply.ask.ulid().0
}

fn texts(parsed: &ParsedCall) -> Vec<(&str, u128)> {
    let inbound = parsed.inbound.iter().map(|inbound| match &inbound.what {
        InboundContent::Wrote { text, about: InReplyTo::Token { token, .. } } => {
            (text.as_str(), asked(token))
        }
        what => panic!("{what:?}"),
    });
    inbound.collect()
}

fn mailgun_inbound() -> ProviderWebhook {
    ProviderWebhook::new(EmailProvider::Mailgun { signing_key: SecretString::new(KEY) }, reader())
        .unwrap()
}

#[test]
fn mailgun_forwards() {
    let inbound = mailgun_inbound();
    let to = address(1);
    let call = mailgun(KEY, &to, &letter("x@y", "Yes & no + maybe é"), at(NOW));
    inbound.verify(&received(&call)).unwrap();
    let parsed = inbound.parse(&received(&call)).unwrap();
    assert_eq!(texts(&parsed), [("Yes & no + maybe é", 1)]);

    let both = format!("{to}, {}", address(2));
    let call = mailgun(KEY, &both, &letter("x@y", "Yes"), at(NOW));
    let parsed = inbound.parse(&received(&call)).unwrap();
    assert_eq!(texts(&parsed), [("Yes", 1), ("Yes", 2)]);

    for (what, call) in [
        ("another key", mailgun("key-2", &to, "", at(NOW))),
        ("old", mailgun(KEY, &to, "", at(NOW - 301))),
        ("from the future", mailgun(KEY, &to, "", at(NOW + 301))),
        ("no form", Call::new(&[("content-type", "application/json")], "{}")),
        ("no type", Call::new(&[], "timestamp=1&token=2&signature=3")),
        ("nothing", Call::new(&[("content-type", "multipart/form-data")], "")),
    ] {
        assert!(inbound.verify(&received(&call)).is_err(), "{what}");
    }
    let mut twice = mailgun(KEY, &to, "", at(NOW));
    twice.body.extend_from_slice(b"&token=c0ffee");
    assert!(inbound.verify(&received(&twice)).is_err(), "nobody could say which one counts");

    let parsed_mode = Call::new(
        &[("content-type", "application/x-www-form-urlencoded")],
        "recipient=a%40b&body-plain=Yes",
    );
    let UnreadableCall(why) = inbound.parse(&received(&parsed_mode)).unwrap_err();
    assert!(why.contains("must end in mime"), "{why}");
}

#[test]
fn mailgun_forwards_in_parts() {
    let at = NOW.to_string();
    let signature = hex::encode(hmac(KEY.as_bytes(), &[at.as_bytes(), b"tok"]));
    let inner = format!(
        "From: ada@example.org\r\nTo: x@y\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\
         Content-Transfer-Encoding: 8bit\r\n\r\nJ{} gern\r\n--not-the-end",
        '\u{1}'
    );
    let mut body = Vec::new();
    let fields = [
        ("recipient", address(3).into_bytes()),
        ("timestamp", at.into_bytes()),
        ("token", b"tok".to_vec()),
        ("signature", signature.into_bytes()),
        // A byte that is not UTF-8 must be preserved.
        ("body-mime", inner.bytes().map(|b| if b == 1 { 0xe4 } else { b }).collect()),
    ];
    for (name, value) in fields {
        let head = format!("--b0\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&value);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b0--\r\n");
    let call = Call::new(&[("content-type", "multipart/form-data; boundary=b0")], body);
    mailgun_inbound().verify(&received(&call)).unwrap();
    let parsed = mailgun_inbound().parse(&received(&call)).unwrap();
    assert_eq!(texts(&parsed), [("Jä gern\n--not-the-end", 3)]);
}

#[test]
fn postmark_posts() {
    let provider =
        EmailProvider::Postmark { user: "cs".to_owned(), password: SecretString::new("s:e") };
    let inbound = ProviderWebhook::new(provider, reader()).unwrap();
    let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
    let to = address(4);
    for (to, said) in [(to.as_str(), "x@y"), ("hash@inbound.postmarkapp.com", to.as_str())] {
        let call = postmark("cs", "s:e", to, &letter(said, "Yes"));
        inbound.verify(&received(&call)).unwrap();
        assert_eq!(texts(&inbound.parse(&received(&call)).unwrap()), [("Yes", 4)]);
    }
    for given in ["", "Basic", "Basic !", "Bearer x", &basic("cs:other"), &basic("cs"), &basic("")]
    {
        let call = Call::new(&[("authorization", given)], "{}");
        assert!(inbound.verify(&received(&call)).is_err(), "{given}");
    }
    assert!(inbound.verify(&received(&Call::new(&[], "{}"))).is_err());
    let good = basic("cs:s:e");
    let twice = Call::new(&[("authorization", &good), ("authorization", &good)], "{}");
    assert!(inbound.verify(&received(&twice)).is_err());

    let UnreadableCall(why) = inbound.parse(&received(&Call::new(&[], "{}"))).unwrap_err();
    assert!(why.contains("RawEmail"), "{why}");
    assert!(inbound.parse(&received(&Call::new(&[], "["))).is_err());
    assert!(!format!("{inbound:?}").contains("s:e"));
}

#[test]
fn a_program_signs_as_standard_webhooks_have_it() {
    let inbound =
        ProviderWebhook::new(EmailProvider::Signed { secret: SecretString::new(WHSEC) }, reader())
            .unwrap();
    let body = letter(&address(5), "Yes");
    // The library of Standard Webhooks signs the call.
    let signature = Webhook::new(WHSEC).unwrap().sign("msg_1", NOW, body.as_bytes()).unwrap();
    let moment = NOW.to_string();
    let headers = |signature: &str| {
        let pairs = [
            ("content-type", "message/rfc822"),
            ("webhook-id", "msg_1"),
            ("webhook-timestamp", moment.as_str()),
            ("webhook-signature", signature),
        ];
        Call::new(&pairs, body.clone())
    };
    let call = headers(&format!("v1,AAAA v1a,x {signature}"));
    inbound.verify(&received(&call)).unwrap();
    assert_eq!(texts(&inbound.parse(&received(&call)).unwrap()), [("Yes", 5)]);

    for wrong in ["v1,", "v1,AAAA", "v1a,AAAA", &signature.replace("v1,", "v2,")] {
        let refused = Err(ForgedCall("webhook-signature does not match the secret"));
        assert_eq!(inbound.verify(&received(&headers(wrong))), refused, "{wrong}");
    }
    let refused = ForgedCall(
        "webhook-id, webhook-timestamp and webhook-signature are required, exactly once each",
    );
    assert_eq!(inbound.verify(&received(&headers(""))), Err(refused));
    let mut changed = headers(&signature);
    changed.body.push(b'!');
    assert!(inbound.verify(&received(&changed)).is_err());
    let late = webhook(WHSEC, "msg_1", &body, at(NOW - 301));
    assert!(inbound.verify(&received(&late)).is_err());
    let again = webhook(WHSEC, "msg_1", &body, at(NOW));
    assert_eq!(
        again.headers,
        headers(&signature).headers,
        "the stand-in signs as the library does"
    );
    let mut typed = headers(&signature);
    typed.headers[0].1 = "text/plain".to_owned();
    assert!(inbound.parse(&received(&typed)).is_err());
    typed.headers.remove(1);
    assert!(inbound.verify(&received(&typed)).is_err());
}

#[test]
fn what_says_nothing_is_taken_and_forgotten() {
    let call = mailgun(KEY, "x@y", &letter("x@y", "Yes"), at(NOW));
    assert_eq!(mailgun_inbound().parse(&received(&call)).unwrap(), ParsedCall::of(Vec::new()));
}

#[test]
fn half_a_provider_is_refused() {
    let empty = || SecretString::new("");
    for half in [
        EmailProvider::Mailgun { signing_key: empty() },
        EmailProvider::Postmark { user: String::new(), password: SecretString::new("x") },
        EmailProvider::Postmark { user: "a:b".to_owned(), password: SecretString::new("x") },
        EmailProvider::Postmark { user: "a".to_owned(), password: empty() },
        EmailProvider::Signed { secret: empty() },
        EmailProvider::Signed { secret: SecretString::new("whsec_AAAA") },
        EmailProvider::Signed { secret: SecretString::new("not base 64!") },
    ] {
        assert!(ProviderWebhook::new(half.clone(), reader()).is_err(), "{half:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_it(
        kind in "(application/x-www-form-urlencoded|multipart/form-data; boundary=b0?)",
        body in proptest::collection::vec(any::<u8>(), 0..200)
    ) {
        let call = Call::new(&[("content-type", &kind)], body);
        prop_assert!(mailgun_inbound().verify(&received(&call)).is_err());
        let _ = mailgun_inbound().parse(&received(&call));
    }
}
