//! Any bytes as a message with an envelope. What must hold is what the tests of the dialect hold, from
//! the same file: `fuzz/run envelope`.
#![no_main]

#[path = "../../crates/dialects/tests/hxp_experience/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(why) = laws::holds(bytes) {
        panic!("{why}\n{}", String::from_utf8_lossy(bytes));
    }
});
