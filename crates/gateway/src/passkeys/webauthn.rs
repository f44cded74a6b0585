//! Passkeys with webauthn-rs.

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use dialects::proof::passkey::CoseKey;
use kernel::audit::Digest;
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;
use webauthn_rs::prelude::{
    COSEKey, COSEKeyType, DiscoverableAuthentication, ECDSACurve, EDDSACurve, Passkey,
    PasskeyRegistration, PublicKeyCredential, RegisterPublicKeyCredential,
};
use webauthn_rs::{Webauthn, WebauthnBuilder};

use super::{
    BROWSER_TIMEOUT_MILLIS, CreatedPasskey, PasskeyAssertion, PasskeyOptions, relying_party,
};

/// Creates and checks passkeys for this server.
pub struct Passkeys {
    webauthn: Webauthn,
    rp_id: String,
}

impl Passkeys {
    /// Passkeys for a server at this URL. The error says why they are not possible.
    pub fn new(public_url: &Url) -> Result<Self, &'static str> {
        let rp_id = relying_party(public_url)?;
        let webauthn = WebauthnBuilder::new(&rp_id, public_url)
            .and_then(|builder| builder.rp_name("Countersign").build())
            .map_err(|_| "public_url does not support passkeys")?;
        Ok(Self { webauthn, rp_id })
    }

    /// The options with which a browser creates a further passkey for a person.
    pub fn make(&self, human: &str, name: &str, have: &[&str]) -> anyhow::Result<PasskeyOptions> {
        let have = have.iter().map(|public| Ok(read(public)?.cred_id().clone()));
        let have = have.collect::<anyhow::Result<Vec<_>>>()?;
        // The authenticator stores this handle, so it must not reveal anything about the person.
        let hash = Digest::of(format!("passkey {human}").as_bytes());
        let (handle, _) = hash.0.split_first_chunk::<16>().context("a digest has 32 bytes")?;
        let handle = Uuid::from_bytes(*handle);
        let begun = self.webauthn.start_passkey_registration(handle, human, name, Some(have));
        let (options, state) = begun?;
        let mut options = serde_json::to_value(options)?;
        let select = options.pointer_mut("/publicKey/authenticatorSelection");
        let select = select.context("the options have no authenticatorSelection")?;
        // This makes signing in possible without a user name.
        (select["residentKey"], select["requireResidentKey"]) = (json!("required"), json!(true));
        Ok(PasskeyOptions {
            options: options["publicKey"].take(),
            state: serde_json::to_value(state)?,
        })
    }

    /// The passkey that a browser created.
    pub fn made(&self, state: Value, response: &str) -> anyhow::Result<CreatedPasskey> {
        let state: PasskeyRegistration = serde_json::from_value(state)?;
        let response: RegisterPublicKeyCredential = serde_json::from_str(response)?;
        let made = self.webauthn.finish_passkey_registration(&response, &state)?;
        let hash = Digest::of(made.cred_id().as_ref());
        Ok(CreatedPasskey {
            hash,
            credential_id: BASE64_URL_SAFE_NO_PAD.encode(made.cred_id()),
            public_key: portable(made.get_public_key())?,
            public: serde_json::to_string(&made)?,
        })
    }

    /// The options with which a browser signs this challenge: with one of these passkeys, or with
    /// any that it has for this server.
    pub fn ask(&self, challenge: [u8; 32], with: &[&str]) -> anyhow::Result<Value> {
        let allowed = with.iter().map(|public| {
            let id = BASE64_URL_SAFE_NO_PAD.encode(read(public)?.cred_id());
            Ok(json!({ "type": "public-key", "id": id }))
        });
        Ok(json!({
            "challenge": BASE64_URL_SAFE_NO_PAD.encode(challenge),
            "rpId": self.rp_id,
            "timeout": BROWSER_TIMEOUT_MILLIS,
            "userVerification": "required",
            "allowCredentials": allowed.collect::<anyhow::Result<Vec<_>>>()?,
        }))
    }

    /// The passkey that the browser says it used. Nothing is verified yet.
    pub fn named(&self, response: &str) -> anyhow::Result<Digest> {
        let response: PublicKeyCredential = serde_json::from_str(response)?;
        Ok(Digest::of(response.raw_id.as_ref()))
    }

    /// Verifies that this passkey signed this challenge, with user verification.
    pub fn check(
        &self,
        challenge: [u8; 32],
        response: &str,
        public: &str,
    ) -> anyhow::Result<PasskeyAssertion> {
        let response: PublicKeyCredential = serde_json::from_str(response)?;
        let mut passkey = read(public)?;
        let (_, state) = self.webauthn.start_discoverable_authentication()?;
        // The library generates its own challenge. This replaces it, because the server's challenge
        // commits to the signed content.
        let mut state = serde_json::to_value(state)?;
        let drawn = state.pointer_mut("/ast/challenge").context("the state has no challenge")?;
        *drawn = json!(BASE64_URL_SAFE_NO_PAD.encode(challenge));
        let state: DiscoverableAuthentication = serde_json::from_value(state)?;
        let checked =
            self.webauthn.finish_discoverable_authentication_v2(&response, state, &passkey)?;
        passkey.update_credential(&checked);
        let client: Value = serde_json::from_slice(response.response.client_data_json.as_ref())?;
        let origin = client.get("origin").and_then(Value::as_str).unwrap_or_default().to_owned();
        let parts = &response.response;
        Ok(PasskeyAssertion {
            counter: checked.counter(),
            credential_id: BASE64_URL_SAFE_NO_PAD.encode(passkey.cred_id()),
            public_key: portable(passkey.get_public_key())?,
            authenticator_data: BASE64_URL_SAFE_NO_PAD.encode(&parts.authenticator_data),
            client_data_json: BASE64_URL_SAFE_NO_PAD.encode(&parts.client_data_json),
            signature: BASE64_URL_SAFE_NO_PAD.encode(&parts.signature),
            rp_id: self.rp_id.clone(),
            origin,
            public: serde_json::to_string(&passkey)?,
        })
    }
}

/// A public key in a portable format. Fails for keys that only this library can check.
fn portable(key: &COSEKey) -> anyhow::Result<String> {
    let unfit = "the key of this passkey has an invalid length";
    let key = match &key.key {
        COSEKeyType::EC_EC2(key) => match key.curve {
            ECDSACurve::SECP256R1 => CoseKey::Es256 {
                x: key.x.as_slice().try_into().context(unfit)?,
                y: key.y.as_slice().try_into().context(unfit)?,
            },
            ECDSACurve::SECP384R1 => CoseKey::Es384 {
                x: key.x.as_slice().try_into().context(unfit)?,
                y: key.y.as_slice().try_into().context(unfit)?,
            },
            ECDSACurve::SECP521R1 => {
                anyhow::bail!(
                    "unsupported passkey algorithm; expected ES256, ES384, EdDSA or RS256"
                )
            }
        },
        COSEKeyType::EC_OKP(key) if key.curve == EDDSACurve::ED25519 => {
            CoseKey::EdDsa { x: key.x.as_slice().try_into().context(unfit)? }
        }
        COSEKeyType::RSA(key) if key.e == [1, 0, 1] => CoseKey::Rs256 { n: key.n.clone() },
        _ => anyhow::bail!("unsupported passkey algorithm; expected ES256, ES384, EdDSA or RS256"),
    };
    let bytes = key.bytes();
    CoseKey::read(&bytes).context(unfit)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

fn read(public: &str) -> anyhow::Result<Passkey> {
    serde_json::from_str(public).context("a stored passkey cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checked challenge must be the server's. This test fails if the library moves its field.
    #[test]
    fn the_library_still_keeps_its_challenge_where_we_put_ours() {
        let passkeys = Passkeys::new(&Url::parse("http://localhost:3402").unwrap()).unwrap();
        let (_, state) = passkeys.webauthn.start_discoverable_authentication().unwrap();
        let state = serde_json::to_value(state).unwrap();
        let challenge = state.pointer("/ast/challenge").and_then(Value::as_str).unwrap();
        assert_eq!(BASE64_URL_SAFE_NO_PAD.decode(challenge).unwrap().len(), 32);
    }

    #[test]
    fn what_a_browser_is_asked_for() {
        let passkeys = Passkeys::new(&Url::parse("http://localhost:3402").unwrap()).unwrap();
        let asked = passkeys.make("ada", "Ada Lovelace", &[]).unwrap();
        assert_eq!(asked.options["authenticatorSelection"]["residentKey"], "required");
        assert_eq!(asked.options["authenticatorSelection"]["userVerification"], "required");
        assert_eq!(asked.options["user"]["name"], "ada");
        assert_eq!(asked.options["rp"]["id"], "localhost");
        let options = passkeys.ask([7; 32], &[]).unwrap();
        assert_eq!(options["challenge"], "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc");
        assert_eq!(options["userVerification"], "required");
        assert!(passkeys.made(asked.state, "{}").is_err());
        assert!(passkeys.check([7; 32], "{}", "{}").is_err());
    }
}
