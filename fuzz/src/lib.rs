//! Every reader of foreign bytes as a function that panics if something is wrong: `fuzz/run` lets
//! libFuzzer look for such bytes, and the tests run every kept input. ADR 0053 says why it is done this
//! way. What must hold everywhere: no panic, no overflow, and the same bytes are read the same way twice.

mod inbound;
#[path = "../../crates/dialects/tests/hxp_experience/laws.rs"]
#[expect(clippy::unwrap_used, reason = "it is shared with tests")]
mod laws;
mod protocols;
mod records;

/// One reader.
#[derive(Clone, Copy)]
pub struct Target {
    /// What `fuzz/run` calls it; its inputs lie in `fuzz/seeds/NAME`.
    pub name: &'static str,
    /// Reads some bytes.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 14] = [
    Target { name: "envelope", run: envelope },
    Target { name: "hxp", run: protocols::hxp },
    Target { name: "hitl", run: protocols::hitl },
    Target { name: "a2h", run: protocols::a2h },
    Target { name: "hacp", run: protocols::hacp },
    Target { name: "native", run: protocols::native },
    Target { name: "webhooks", run: inbound::webhooks },
    Target { name: "mail", run: inbound::mail },
    Target { name: "slack", run: inbound::slack },
    Target { name: "twilio", run: inbound::twilio },
    Target { name: "telegram", run: inbound::telegram },
    Target { name: "receipts", run: records::receipts },
    Target { name: "exports", run: records::exports },
    Target { name: "backups", run: records::backups },
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// HXP eXperience: what the tests of the dialect hold of any bytes.
fn envelope(bytes: &[u8]) {
    if let Err(why) = laws::holds(bytes) {
        panic!("{why}\n{}", String::from_utf8_lossy(bytes));
    }
}

/// Reads twice; it must come to the same.
fn twice<T: std::fmt::Debug>(read: impl Fn() -> T) {
    let (first, second) = (format!("{:?}", read()), format!("{:?}", read()));
    assert_eq!(first, second, "the same bytes are read differently");
}
