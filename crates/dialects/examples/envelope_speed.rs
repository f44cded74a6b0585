//! How many messages with an envelope are judged in a second: `envelope_speed FILE SECONDS WHAT`.
//! The file holds one on each line. `bench/ajv/compare.mjs` runs it beside Ajv on the same lines.
//!
//! | what | each message |
//! |---|---|
//! | `report` | is judged with everything that is found |
//! | `level` | is judged, and nothing is written down |
//! | `tree` | is read into a tree of `serde_json`, and not judged |
//! | `text` | is looked at whether it is UTF-8, and not read |
#![expect(clippy::expect_used, reason = "a measurement that cannot run says why and ends")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use dialects::hxp_experience::{Checker, NamespaceRegistry, ValidationOptions};
use serde_json::Value;

fn main() {
    let mut given = std::env::args().skip(1);
    let file = given.next().expect("a file with a message on each line");
    let seconds = given.next().and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let what = given.next().unwrap_or_else(|| "report".to_owned());
    let bytes = std::fs::read(&file).expect("the file can be read");
    let lines: Vec<&[u8]> =
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let limit = Duration::from_secs_f64(seconds);
    let mut checker = Checker::new(ValidationOptions::default(), NamespaceRegistry::default());
    match what.as_str() {
        "report" => {
            measure(&lines, limit, |line| {
                checker.check(line).is_ok_and(|report| report.is_valid())
            });
        }
        "level" => measure(&lines, limit, |line| checker.level(line).is_ok_and(|l| l.is_some())),
        "tree" => {
            measure(&lines, limit, |line| serde_json::from_slice::<Value>(black_box(line)).is_ok());
        }
        "text" => measure(&lines, limit, |line| std::str::from_utf8(black_box(line)).is_ok()),
        other => panic!("{other} is neither report, level, tree nor text"),
    }
}

fn measure(lines: &[&[u8]], limit: Duration, mut judge: impl FnMut(&[u8]) -> bool) {
    let valid = lines.iter().filter(|line| judge(line)).count();
    let started = Instant::now();
    let mut judged = 0_u64;
    while started.elapsed() < limit {
        for line in lines {
            black_box(judge(black_box(line)));
        }
        judged += lines.len() as u64;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = judged as f64 / started.elapsed().as_secs_f64();
    println!(r#"{{"messages":{},"valid":{valid},"per_second":{rate:.0}}}"#, lines.len());
}
