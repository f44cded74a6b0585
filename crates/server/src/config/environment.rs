//! Environment variables that begin with the prefix but are no settings. Most are typos, and the
//! intended setting would be silently ignored.

use std::collections::BTreeSet;
use std::fmt;

use super::variables;
use kernel::spelling::nearest;

const PREFIX: &str = "COUNTERSIGN_";

/// Variables of commands, clients and their tests, which are no settings of the server.
const NOT_SETTINGS: [&str; 11] = [
    "COUNTERSIGN_CONFIG",
    "COUNTERSIGN_URL",
    "COUNTERSIGN_API_KEY",
    "COUNTERSIGN_TOKEN",
    "COUNTERSIGN_PROFILE",
    "COUNTERSIGN_BIN",
    "COUNTERSIGN_BUILD",
    "COUNTERSIGN_VECTORS",
    // The anchor command gets these, and may run this program.
    "COUNTERSIGN_BLOCK_N",
    "COUNTERSIGN_BLOCK_ROOT",
    "COUNTERSIGN_BLOCK_HASH",
];

/// A variable that is not known.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    pub name: String,
    /// The variable that was probably intended.
    pub meant: Option<String>,
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown environment variable {}, which has no effect", self.name)?;
        match &self.meant {
            Some(meant) => write!(f, "; did you mean \"{meant}\"?"),
            None => Ok(()),
        }
    }
}

/// The variables of this process that begin with `COUNTERSIGN_` and are not known.
pub fn unknown_variables() -> Vec<UnknownVariable> {
    let given = std::env::vars_os();
    let given = given.filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    });
    unknown(given)
}

fn unknown(given: impl Iterator<Item = (String, String)>) -> Vec<UnknownVariable> {
    let mut given = given.filter(|(name, _)| name.starts_with(PREFIX)).peekable();
    if given.peek().is_none() {
        return Vec::new();
    }
    let known: BTreeSet<String> =
        variables().into_iter().chain(NOT_SETTINGS.map(str::to_owned)).collect();
    let stranger =
        |(name, value): &(String, String)| !known.contains(name) && !is_service_link(name, value);
    let told = |(name, _): (String, String)| {
        // The shared prefix would make every name look similar.
        let bare = |name: &str| name.strip_prefix(PREFIX).unwrap_or_default().to_owned();
        let bares: Vec<String> = known.iter().map(|known| bare(known)).collect();
        let meant = nearest(&bare(&name), bares.iter().map(String::as_str));
        let meant = meant.map(|meant| format!("{PREFIX}{meant}"));
        UnknownVariable { name, meant }
    };
    let mut found: Vec<_> = given.filter(stranger).map(told).collect();
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Whether Kubernetes set the variable, for a service whose name begins with `countersign`:
/// `COUNTERSIGN_SERVICE_HOST`, `COUNTERSIGN_SERVICE_PORT_HTTP`, `COUNTERSIGN_PORT=tcp://…`,
/// `COUNTERSIGN_PORT_3402_TCP_ADDR`.
fn is_service_link(name: &str, value: &str) -> bool {
    let of_service = name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_");
    let transport = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    let of_port = name.rsplit_once("_PORT_").is_some_and(|(_, rest)| {
        let mut parts = rest.split('_');
        let number = parts.next().is_some_and(|n| n.parse::<u16>().is_ok());
        number && matches!(parts.next(), Some("TCP" | "UDP" | "SCTP"))
    }) || of_port_part(name);
    of_service || of_port || (name.ends_with("_PORT") && transport)
}

/// `COUNTERSIGN_PORT_3402_TCP_PORT` has two `_PORT`s.
fn of_port_part(name: &str) -> bool {
    ["_TCP_PORT", "_UDP_PORT", "_SCTP_PORT"].iter().any(|end| name.ends_with(end))
        && name.contains("_PORT_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(given: &[(&str, &str)]) -> Vec<String> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        unknown(given).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn typos_are_found_with_what_was_meant() {
        let none: Vec<String> = Vec::new();
        assert_eq!(
            found(&[("COUNTERSIGN_PUBLICURL", "x"), ("COUNTERSIGN_LISTEN", "x"), ("PATH", "x")]),
            ["unknown environment variable COUNTERSIGN_PUBLICURL, which has no effect; did you \
              mean \"COUNTERSIGN_PUBLIC_URL\"?"]
        );
        let strange = found(&[("COUNTERSIGN_FLUX_CAPACITOR", "x")]);
        assert!(!strange[0].contains("did you mean"), "{strange:?}");
        for name in variables().iter().map(String::as_str).chain(NOT_SETTINGS) {
            assert_eq!(found(&[(name, "x")]), none, "{name}");
        }
    }

    #[test]
    fn service_links_are_no_typos() {
        for (name, value) in [
            ("COUNTERSIGN_SERVICE_HOST", "10.0.0.7"),
            ("COUNTERSIGN_SERVICE_PORT", "3402"),
            ("COUNTERSIGN_SERVICE_PORT_HTTP", "3402"),
            ("COUNTERSIGN_PORT", "tcp://10.0.0.7:3402"),
            ("COUNTERSIGN_PORT_3402_TCP", "tcp://10.0.0.7:3402"),
            ("COUNTERSIGN_PORT_3402_TCP_PROTO", "tcp"),
            ("COUNTERSIGN_PORT_3402_TCP_PORT", "3402"),
            ("COUNTERSIGN_PORT_3402_TCP_ADDR", "10.0.0.7"),
            ("COUNTERSIGN_WEB_SERVICE_HOST", "10.0.0.7"),
            ("COUNTERSIGN_WEB_PORT_3402_TCP_ADDR", "10.0.0.7"),
        ] {
            assert_eq!(found(&[(name, value)]), Vec::<String>::new(), "{name}");
        }
        // A port that an operator set is a mistake: the setting is COUNTERSIGN_LISTEN.
        assert_eq!(found(&[("COUNTERSIGN_PORT", "8080")]).len(), 1);
    }
}
