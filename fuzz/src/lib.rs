//! Every parser of foreign bytes as a function that panics on an error: `fuzz/run` lets libFuzzer
//! search for such bytes, and the tests run every stored input. ADR 0053 explains the design. Every
//! target must satisfy: no panic, no overflow, and the same bytes give the same result twice.

mod inbound;
#[path = "../../crates/dialects/tests/hxp_experience/properties.rs"]
#[expect(clippy::unwrap_used, reason = "it is shared with tests")]
mod laws;
mod protocols;
mod records;

/// A parser of foreign bytes that `fuzz/run` can run.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// Its name for `fuzz/run`. Its inputs are in `fuzz/seeds/NAME`.
    pub name: &'static str,
    /// Parses some bytes.
    pub run: fn(&[u8]),
}

/// Every parser that is fuzzed. A name is also the directory of its inputs.
pub const TARGETS: [FuzzTarget; 14] = [
    FuzzTarget { name: "envelope", run: envelope },
    FuzzTarget { name: "hxp", run: protocols::hxp },
    FuzzTarget { name: "hitl", run: protocols::hitl },
    FuzzTarget { name: "a2h", run: protocols::a2h },
    FuzzTarget { name: "hacp", run: protocols::hacp },
    FuzzTarget { name: "native", run: protocols::native },
    FuzzTarget { name: "webhooks", run: inbound::webhooks },
    FuzzTarget { name: "mail", run: inbound::mail },
    FuzzTarget { name: "slack", run: inbound::slack },
    FuzzTarget { name: "twilio", run: inbound::twilio },
    FuzzTarget { name: "telegram", run: inbound::telegram },
    FuzzTarget { name: "receipts", run: records::receipts },
    FuzzTarget { name: "exports", run: records::exports },
    FuzzTarget { name: "backups", run: records::backups },
];

/// The target of this name.
pub fn target(name: &str) -> Option<FuzzTarget> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// HXP eXperience: the properties that the tests of the dialect check for any bytes.
fn envelope(bytes: &[u8]) {
    if let Err(why) = laws::holds(bytes) {
        panic!("{why}\n{}", String::from_utf8_lossy(bytes));
    }
}

/// Parses twice. Both results must be equal.
fn twice<T: std::fmt::Debug>(read: impl Fn() -> T) {
    let (first, second) = (format!("{:?}", read()), format!("{:?}", read()));
    assert_eq!(first, second, "the same bytes are read differently");
}
