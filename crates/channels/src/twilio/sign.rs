//! `X-Twilio-Signature`: HMAC-SHA1 with the auth token over the called URL and the form fields,
//! sorted by name, name and value concatenated.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use subtle::ConstantTimeEq;
use url::Url;

use crate::{ForgedCall, Secret, WebhookCall};

pub(super) fn verify(token: &Secret, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
    let shown = call
        .header("x-twilio-signature")
        .ok_or(ForgedCall("there is no signature of Twilio's, or more than one"))?;
    let form: Vec<(String, String)> = url::form_urlencoded::parse(call.body).into_owned().collect();
    let fits =
        |url: &str| bool::from(signature(token, url, &form).as_bytes().ct_eq(shown.as_bytes()));
    // Twilio sometimes signs the URL without its port, and does not say when.
    if fits(call.url) || without_port(call.url).is_some_and(|url| fits(&url)) {
        Ok(())
    } else {
        Err(ForgedCall("the signature is not Twilio's, or the address is not the one Twilio calls"))
    }
}

/// The signature that Twilio computes.
pub(crate) fn signature(token: &Secret, url: &str, form: &[(String, String)]) -> String {
    let mut sorted: Vec<&(String, String)> = form.iter().collect();
    sorted.sort();
    let mut signed = url.to_owned();
    for (name, value) in sorted {
        signed.push_str(name);
        signed.push_str(value);
    }
    // HMAC takes keys of any length, so this never fails.
    let mac = Hmac::<Sha1>::new_from_slice(token.reveal().as_bytes()).map(|mut mac| {
        mac.update(signed.as_bytes());
        mac.finalize().into_bytes()
    });
    mac.map(|mac| BASE64_STANDARD.encode(mac)).unwrap_or_default()
}

fn without_port(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok().filter(|url| url.port().is_some())?;
    url.set_port(None).ok()?;
    Some(url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(members: &[(&str, &str)]) -> Vec<(String, String)> {
        members.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// The example from Twilio's documentation of signatures.
    #[test]
    fn signed_as_twilio_has_it() {
        let signed = signature(
            &Secret::new("12345"),
            "https://mycompany.com/myapp.php?foo=1&bar=2",
            &form(&[
                ("CallSid", "CA1234567890ABCDE"),
                ("Caller", "+14158675309"),
                ("Digits", "1234"),
                ("From", "+14158675309"),
                ("To", "+18005551212"),
            ]),
        );
        assert_eq!(signed, "RSOYDt4T1cUTdK1PDd93/VVr8B8=");
    }

    #[test]
    fn a_port_may_be_dropped() {
        let dropped = without_port("https://ask.example.com:8443/x?y=1");
        assert_eq!(dropped.as_deref(), Some("https://ask.example.com/x?y=1"));
        assert_eq!(without_port("https://ask.example.com/x"), None);
    }
}
