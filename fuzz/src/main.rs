//! One binary for all targets: `FUZZ_TARGET` says which. `fuzz/run` builds and starts it.
#![no_main]

use std::sync::OnceLock;

static TARGET: OnceLock<fuzz::FuzzTarget> = OnceLock::new();

#[expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "libFuzzer has its own arguments"
)]
fn chosen() -> fuzz::FuzzTarget {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
    fuzz::target(&name).expect("FUZZ_TARGET names a known target")
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (TARGET.get_or_init(chosen).run)(bytes);
});
