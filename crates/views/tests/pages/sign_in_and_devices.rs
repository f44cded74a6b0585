//! Pages on which people come, go, and say who they are.

use dialects::native::ContactMethodView;
use kernel::audit::Digest;
use kernel::directory::{
    BrowserBinding, ContactMethod, CredentialKind, DigestFrequency, Enrolment, Key, PasskeyUses,
    SignInMethod,
};
use kernel::{KeyId, Time};
use views::banner::ActionOutcome;
use views::message_page;
use views::settings::controls::FormDraft;
use views::settings::devices::DeviceRow;
use views::settings::notifications::NotificationsPage;
use views::settings::{self, devices, notifications};
use views::sign_in::sessions::Session;
use views::sign_in::{self, SignInMethods};
use views::sign_in::{passkeys, sessions};
use views::{FormProblems, PageContext};

use crate::fixture::new_ask;
use crate::samples::{Gallery, HOSTILE, kinds};

pub(crate) fn gallery(g: &mut Gallery) {
    let frame = g.frame();
    let nobody =
        PageContext { csrf: "of the browser".to_owned(), ..PageContext::anonymous(frame.now) };
    let passkey = passkeys::PasskeyChallenge {
        options: r#"{"challenge":"AA","rpId":"localhost"}"#.to_owned(),
        sealed: "sealed".to_owned(),
    };
    let provider = Some("Example & Sons".to_owned());
    let ways = SignInMethods { mail: true, passkey: Some(passkey.clone()), provider };
    let pages = [
        ("sign-in", sign_in::page(&nobody, &SignInMethods::default(), Some("link-token"))),
        ("sign-in-bare", sign_in::page(&nobody, &SignInMethods::default(), None)),
        ("sign-in-ways", sign_in::page(&nobody, &ways, None)),
        ("mail-sent", message_page::link_sent(&nobody)),
        ("stale-link", message_page::stale_link(&nobody)),
        ("signed-out", message_page::signed_out(&nobody, None)),
        ("signed-out-here", message_page::signed_out(&nobody, Some("Example & Sons"))),
        ("provider-refused", message_page::provider_refused(&nobody)),
        ("not-known", message_page::no_account(&nobody)),
        ("too-many-attempts", message_page::too_many_attempts(&nobody)),
        ("sessions", my_sessions(g, &frame)),
        ("passkeys", my_passkeys(g, &frame, &passkey)),
        ("passkey-refused", message_page::passkey_refused(&nobody)),
        ("passkey-needed", message_page::passkey_needed(&frame, None)),
        (
            "passkey-waits",
            message_page::passkey_needed(&frame, Some(frame.now.plus_seconds(86_400))),
        ),
        ("passkey-removal", removal(&frame, &passkey)),
        ("no-passkeys", message_page::no_passkeys(&frame, "public_url has to be a name")),
        ("confirm", confirm(g, &frame, &passkey)),
        ("offline", message_page::offline(&nobody)),
        ("unsent", message_page::unsent(&nobody)),
        ("devices", my_devices(&frame)),
        ("told", notification_settings(&frame)),
    ];
    g.pages.extend(pages.map(|(name, html)| (name.to_owned(), html)));
}

/// A device whose name somebody chose, and the one that looks.
fn my_devices(frame: &PageContext) -> String {
    let device = |n: u8, label: &str, this| DeviceRow {
        name: Digest([n; 32]).to_string(),
        label: label.to_owned(),
        service: "push.example".to_owned(),
        added_at: frame.now,
        this,
    };
    let known = [device(1, HOSTILE, false), device(2, "Chrome on Android", true)];
    settings::page(frame, false, &devices::page(&known, Some("BKey"), frame.now))
}

/// Every state a means can be in, and an address somebody chose.
fn notification_settings(frame: &PageContext) -> String {
    let way = |means: &str, verified, off, carried| {
        let means: ContactMethod = means.parse().unwrap();
        let removable = means != ContactMethod::Devices;
        ContactMethodView { id: means.digest(), means, verified, off, carried, removable }
    };
    let ways = [
        way("devices", true, false, true),
        way("email:ada@example.com", true, false, true),
        way("email:\"<b>x</b>\"@example.com", false, false, true),
        way("email:old@example.com", true, true, true),
        way("sms:+4930123456", false, false, false),
    ];
    let digest = DigestFrequency::Day { at: "08:30".parse().unwrap() };
    let told = NotificationsPage { ways: &ways, digest, devices: 2, kinds: &["slack", "email"] };
    let nothing = FormProblems::default();
    let filled = FormDraft { form: None, problems: &nothing };
    settings::page(frame, false, &notifications::page(&told, filled))
}

/// Two browsers, one of which looks.
fn my_sessions(g: &Gallery, frame: &PageContext) -> String {
    let key = |n: u128, label: &str, ago: i64| Key {
        id: KeyId::new(n.into()),
        hash: Digest::of(label.as_bytes()),
        kind: CredentialKind::Session {
            human: "olga".parse().unwrap(),
            binding: Some(BrowserBinding {
                method: SignInMethod::Link,
                browser: Digest::of(b"browser"),
            }),
        },
        label: label.to_owned(),
        issued_at: Time::from_millis(frame.now.millis() - ago * 1000),
        expires_at: Some(frame.now.plus_seconds(86_400)),
        revoked_at: None,
        tokens_ended: false,
    };
    let (here, there) = (key(2, "Firefox on Linux", 90), key(1, "Safari on iPhone", 400_000));
    let listed = [
        Session { key: &here, used: frame.now, current: true },
        Session { key: &there, used: there.issued_at.plus_seconds(300), current: false },
    ];
    sessions::page(frame, &g.cast.directory, &listed, Some(&ActionOutcome::SignedOut))
}

/// One that was used and one that was not.
fn my_passkeys(g: &Gallery, frame: &PageContext, passkey: &passkeys::PasskeyChallenge) -> String {
    let key = |n: u128, label: &str| Key {
        id: KeyId::new(n.into()),
        hash: Digest::of(label.as_bytes()),
        kind: CredentialKind::Passkey {
            human: "olga".parse().unwrap(),
            public: String::new(),
            enrolment: Some(Box::new(Enrolment {
                credential_id: String::new(),
                public_key: String::new(),
                counts_from: frame.now.plus_seconds(if n == 1 { 0 } else { 3600 }),
            })),
            uses: PasskeyUses::default(),
        },
        label: label.to_owned(),
        issued_at: Time::from_millis(frame.now.millis() - 90_000_000),
        expires_at: None,
        revoked_at: None,
        tokens_ended: false,
    };
    let (laptop, phone) = (key(1, "work laptop"), key(2, HOSTILE));
    let listed = [
        passkeys::PasskeyEntry { key: &laptop, used: Some(frame.now) },
        passkeys::PasskeyEntry { key: &phone, used: None },
    ];
    let adding = passkeys::AddPasskey::Vouch(passkey.clone());
    passkeys::page(frame, &g.cast.directory, &listed, &adding, Some(&ActionOutcome::PasskeyAdded))
}

/// A passkey that is removed with another, long after signing in.
fn removal(frame: &PageContext, passkey: &passkeys::PasskeyChallenge) -> String {
    passkeys::removal(frame, KeyId::new(1_u128.into()), HOSTILE, Some(passkey))
}

/// A form that was filled in, to be confirmed.
fn confirm(g: &mut Gallery, frame: &PageContext, passkey: &passkeys::PasskeyChallenge) -> String {
    let (_, question, reply) = kinds().into_iter().find(|(name, ..)| *name == "provide").unwrap();
    let id = g.cast.ask(new_ask(question));
    let said = passkeys::summarize_answer(g.cast.seen(id), &reply);
    passkeys::confirm(frame, id, &said, passkey)
}
