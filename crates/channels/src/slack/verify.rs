//! Verifies that a call is from Slack: `v0=` and the HMAC-SHA256 over `v0:timestamp:body`, byte by
//! byte (docs.slack.dev, "Verifying requests from Slack").

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{ForgedCall, SecretString, WebhookCall};

/// The largest accepted age of a call, and difference between Slack's clock and the
/// server's, in seconds.
const WINDOW: u64 = 5 * 60;

/// Verifies that the call is signed with this secret and recent.
pub(super) fn verify(call: &WebhookCall<'_>, secret: &SecretString) -> Result<(), ForgedCall> {
    let stamp = call
        .header("x-slack-request-timestamp")
        .ok_or(ForgedCall("expected one x-slack-request-timestamp"))?;
    let signature =
        call.header("x-slack-signature").ok_or(ForgedCall("expected one x-slack-signature"))?;
    // Slack writes digits only. A sign or a space would allow two texts for one timestamp.
    let seconds = Some(stamp)
        .filter(|stamp| stamp.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|stamp| stamp.parse::<i64>().ok())
        .ok_or(ForgedCall("expected x-slack-request-timestamp to be seconds since 1970"))?;
    let now = call.now.millis().div_euclid(1000);
    if now.abs_diff(seconds) > WINDOW {
        return Err(ForgedCall(
            "x-slack-request-timestamp differs from the current time by more than five minutes; check the clocks",
        ));
    }
    let signature = signature
        .strip_prefix("v0=")
        .and_then(|hex| hex::decode(hex).ok())
        .ok_or(ForgedCall("expected x-slack-signature to be v0= and hex digits"))?;
    let mac = signed(secret, stamp, call.body).ok_or(WRONG)?;
    // This compares in constant time.
    mac.verify_slice(&signature).map_err(|_| WRONG)
}

const WRONG: ForgedCall = ForgedCall("the signature does not match the signing secret");

/// The HMAC over the data that Slack signs.
fn signed(secret: &SecretString, stamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).ok()?;
    mac.update(b"v0:");
    mac.update(stamp.as_bytes());
    mac.update(b":");
    mac.update(body);
    Some(mac)
}

#[cfg(test)]
mod tests {
    use kernel::Time;

    use super::*;

    /// The example from Slack's page on signatures.
    const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
    const STAMP: &str = "1531420618";
    const BODY: &str = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const SIGNATURE: &str = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";

    fn tried(headers: &[(&str, &str)], body: &str, now: i64) -> Result<(), ForgedCall> {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let call = WebhookCall {
            url: "https://ask.example.com/channels/slack/interactions",
            name: "interactions",
            headers: &headers,
            body: body.as_bytes(),
            now: Time::from_millis(now * 1000),
        };
        verify(&call, &SecretString::new(SECRET))
    }

    #[test]
    fn signed_as_slack_has_it() {
        let at: i64 = STAMP.parse().unwrap();
        let stamp = ("x-slack-request-timestamp", STAMP);
        let signature = ("x-slack-signature", SIGNATURE);
        assert_eq!(tried(&[stamp, signature], BODY, at), Ok(()));
        assert_eq!(tried(&[stamp, signature], BODY, at + 300), Ok(()), "just within the window");
        assert_eq!(tried(&[stamp, signature], BODY, at - 300), Ok(()), "whichever clock is wrong");
        let upper = SIGNATURE.to_uppercase().replace("V0", "v0");
        let cut = &SIGNATURE[..SIGNATURE.len() - 2];
        for (what, headers, body, now) in [
            ("another body", vec![stamp, signature], &BODY[1..], at),
            ("too old", vec![stamp, signature], BODY, at + 301),
            ("from the future", vec![stamp, signature], BODY, at - 301),
            ("no signature", vec![stamp], BODY, at),
            ("no timestamp", vec![signature], BODY, at),
            ("two timestamps", vec![stamp, stamp, signature], BODY, at),
            ("two signatures", vec![stamp, signature, signature], BODY, at),
            ("cut", vec![stamp, ("x-slack-signature", cut)], BODY, at),
            ("empty", vec![stamp, ("x-slack-signature", "v0=")], BODY, at),
            ("no version", vec![stamp, ("x-slack-signature", &SIGNATURE[3..])], BODY, at),
            ("another version", vec![stamp, ("x-slack-signature", "v1=00")], BODY, at),
            ("not hex", vec![stamp, ("x-slack-signature", "v0=zz")], BODY, at),
            (
                "another moment",
                vec![("x-slack-request-timestamp", "1531420619"), signature],
                BODY,
                at,
            ),
            ("no number", vec![("x-slack-request-timestamp", "soon"), signature], BODY, at),
            ("a sign", vec![("x-slack-request-timestamp", "+1531420618"), signature], BODY, at),
            ("nothing", vec![("x-slack-request-timestamp", ""), signature], BODY, at),
            (
                "far away",
                vec![("x-slack-request-timestamp", "99999999999999999999"), signature],
                BODY,
                at,
            ),
        ] {
            assert!(tried(&headers, body, now).is_err(), "{what}");
        }
        // Hexadecimal digits may be in either case.
        assert_eq!(tried(&[stamp, ("x-slack-signature", &upper)], BODY, at), Ok(()));
    }
}
