//! Values that a browser or a device carries for the server and can neither read nor change. The
//! server keeps nothing, so any node can open them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::secrets::ServerSecrets;
use crate::vault::cipher;

#[derive(Serialize, Deserialize)]
struct SealedValue<T> {
    until: Time,
    value: T,
}

/// Seals a value until `until`, for one purpose and one holder. `None` only if the value cannot be
/// serialized.
pub fn seal<T: Serialize>(
    secrets: &ServerSecrets,
    until: Time,
    purpose: &str,
    holder: &str,
    value: T,
) -> Option<String> {
    let plain = serde_json::to_vec(&SealedValue { until, value }).ok()?;
    let closed = cipher::encrypt(&secrets.form_key(), &associated_data(purpose, holder), &plain)?;
    Some(BASE64_URL_SAFE_NO_PAD.encode(closed))
}

/// The value, if it was sealed for this purpose and holder and has not expired.
pub fn open<T: DeserializeOwned>(
    secrets: &ServerSecrets,
    now: Time,
    purpose: &str,
    holder: &str,
    sealed: &str,
) -> Option<T> {
    let closed = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let plain = cipher::decrypt(&secrets.form_key(), &associated_data(purpose, holder), &closed)?;
    let SealedValue { until, value } = serde_json::from_slice(&plain).ok()?;
    (now < until).then_some(value)
}

fn associated_data(purpose: &str, holder: &str) -> Vec<u8> {
    [purpose.as_bytes(), b"\0", holder.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_opens_for_its_purpose_and_holder_until_it_expires() {
        let secrets = ServerSecrets::for_tests();
        let now = Time::from_millis(1_770_000_000_000);
        let sealed = seal(&secrets, now.plus_seconds(60), "test", "ada", 7).unwrap();
        let opened = |at, purpose, holder| open::<u32>(&secrets, at, purpose, holder, &sealed);
        assert_eq!(opened(now.plus_seconds(59), "test", "ada"), Some(7));
        assert_eq!(opened(now.plus_seconds(60), "test", "ada"), None);
        assert_eq!(opened(now, "other", "ada"), None);
        assert_eq!(opened(now, "test", "eve"), None);
        assert_eq!(open::<u32>(&secrets, now, "test", "ada", "x"), None);
    }
}
