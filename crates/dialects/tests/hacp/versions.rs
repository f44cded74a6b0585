//! Versions: which is spoken, and how one is found. HACP-086, HACP-087.

use dialects::hacp::{HacpVersion, negotiate, version_response};
use serde_json::{Value, json};

use crate::fixtures::{V01, V02};

/// The newest by default, 0.1 on request, nothing else.
#[test]
fn a_header_narrows_to_the_first_version() {
    assert_eq!(HacpVersion::from_header(None), Ok(V02));
    assert_eq!(HacpVersion::from_header(Some("0.2.0-draft")), Ok(V02));
    assert_eq!(HacpVersion::from_header(Some(" 0.1.0-draft ")), Ok(V01));
    for unknown in ["", "0.1", "0.1.0", "0.3.0-draft", "1", "latest"] {
        let error = HacpVersion::from_header(Some(unknown)).unwrap_err();
        assert_eq!((error.status, error.code), (409, "VERSION_UNSUPPORTED"), "{unknown}");
        assert_eq!(error.details["supported"], json!(["0.2.0-draft", "0.1.0-draft"]));
    }
}

/// What is spoken here, with the operations of the version that was asked for.
#[test]
fn what_is_spoken() {
    insta::assert_json_snapshot!("spoken_newest", version_response(V02));
    insta::assert_json_snapshot!("spoken_first", version_response(V01));
}

/// HACP-087: the newest both sides have; nothing in common is refused at once.
#[test]
fn a_version_is_agreed_on() {
    let agreed = |offer: Value| negotiate(offer.to_string().as_bytes());
    assert_eq!(agreed(json!({})), Ok(V02));
    assert_eq!(agreed(json!({"spec_versions": ["0.1.0-draft", "0.2.0-draft"]})), Ok(V02));
    assert_eq!(
        agreed(json!({"spec_versions": ["9", "0.1.0-draft"], "schema_versions": ["0.1"]})),
        Ok(V01)
    );
    assert_eq!(agreed(json!({"profiles": ["HLP-realtime", "HLP-industrial"]})), Ok(V02));
    for (offer, field) in [
        (json!({"spec_versions": ["0.3.0-draft"]}), "spec_versions"),
        (json!({"spec_versions": []}), "spec_versions"),
        (json!({"schema_versions": ["1"]}), "schema_versions"),
        (json!({"spec_versions": ["0.1.0-draft"], "schema_versions": ["0.2"]}), "schema_versions"),
        (json!({"profiles": ["HLP-realtime"]}), "profiles"),
    ] {
        let error = agreed(offer.clone()).unwrap_err();
        assert_eq!(
            (error.code, &error.details["field"]),
            ("VERSION_UNSUPPORTED", &json!(field)),
            "{offer}"
        );
    }
    for mistake in [json!({"versions": []}), json!({"profiles": "x"}), json!([])] {
        assert_eq!(agreed(mistake).unwrap_err().code, "INVALID_SPEC");
    }
}
