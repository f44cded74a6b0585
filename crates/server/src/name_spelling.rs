//! Reads names from a fixed list: which are accepted, and which one a typo probably means.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use kernel::spelling::{ALIASES, listed, other_separator};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses a name of one of our enums, in either spelling. The error lists the canonical names.
pub fn parse_name<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(text.to_owned())).map_err(|error| {
        let message = error.to_string();
        let names = message.rsplit_once(", expected ").map(|(_, names)| canonical(names));
        match names {
            Some(names) => format!("expected {}", listed(&names, text)),
            None => message,
        }
    })
}

/// A flag that takes one of these names, which are spelt with `_`. It accepts `-` too, and returns
/// the name as listed here.
#[derive(Clone)]
pub struct NameParser(pub &'static [&'static str]);

impl TypedValueParser for NameParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        flag: Option<&clap::Arg>,
        given: &OsStr,
    ) -> Result<String, clap::Error> {
        let Self(names) = self;
        let spelt = given
            .to_str()
            .and_then(|given| names.iter().find(|name| other_separator(name) == given));
        let given = spelt.map_or(given, OsStr::new);
        PossibleValuesParser::new(names.iter().copied()).parse_ref(command, flag, given)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().copied().map(PossibleValue::new)))
    }
}

/// The names that serde lists as "one of `a`, `b`" or "`a` or `b`", without the accepted spellings
/// that are not canonical.
pub fn canonical(names: &str) -> Vec<&str> {
    names.split('`').skip(1).step_by(2).filter(|name| !ALIASES.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use kernel::Assurance;
    use kernel::spelling::nearest;
    use kernel::topic::Topic;

    use super::*;

    #[test]
    fn words_are_read_in_either_spelling() {
        for text in ["agent_attested", "agent-attested"] {
            assert_eq!(parse_name::<Assurance>(text), Ok(Assurance::AgentAttested));
        }
        assert_eq!(
            parse_name::<Assurance>("agentattested").unwrap_err(),
            "expected none, agent-attested, link, channel, session or passkey; \
             did you mean \"agent-attested\"?"
        );
        assert_eq!(
            parse_name::<Assurance>("quantum").unwrap_err(),
            "expected none, agent-attested, link, channel, session or passkey"
        );
        let topics = parse_name::<Topic>("ask.anwsered").unwrap_err();
        assert!(topics.ends_with("did you mean \"ask.answered\"?"), "{topics}");
        assert!(!topics.contains("action-picked"), "{topics}");
    }

    #[test]
    fn typos_are_near_and_other_words_are_not() {
        let names = ["COUNTERSIGN_LISTEN", "COUNTERSIGN_PUBLIC_URL", "COUNTERSIGN_DATA"];
        let near = |given| nearest(given, names.into_iter());
        assert_eq!(near("COUNTERSIGN_LISTNE"), Some("COUNTERSIGN_LISTEN"));
        assert_eq!(near("COUNTERSIGN_PUBLICURL"), Some("COUNTERSIGN_PUBLIC_URL"));
        assert_eq!(near("COUNTERSIGN_Data"), Some("COUNTERSIGN_DATA"));
        assert_eq!(near("COUNTERSIGN_SOMETHING_ELSE"), None);
        assert_eq!(nearest("approve", ["profile", "sessions"].into_iter()), None);
    }
}
