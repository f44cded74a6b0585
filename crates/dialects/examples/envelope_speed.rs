//! How many messages with an envelope are judged in a second: `envelope_speed FILE SECONDS`. The file
//! holds one on each line. `bench/ajv/compare.mjs` runs it beside Ajv on the same lines.
#![expect(clippy::expect_used, reason = "a measurement that cannot run says why and ends")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use dialects::hxp_experience::{Checker, Registry, Rules};

fn main() {
    let mut given = std::env::args().skip(1);
    let file = given.next().expect("a file with a message on each line");
    let seconds = given.next().and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let text = std::fs::read(&file).expect("the file can be read");
    let lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mut checker = Checker::new(Rules::default(), Registry::default());
    let mut valid = 0;
    for line in &lines {
        valid += usize::from(checker.check(line).is_ok_and(|report| report.is_valid()));
    }
    let (started, limit) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut judged = 0_u64;
    while started.elapsed() < limit {
        for line in &lines {
            black_box(checker.check(black_box(line)).is_ok_and(|report| report.is_valid()));
        }
        judged += lines.len() as u64;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = judged as f64 / started.elapsed().as_secs_f64();
    println!(r#"{{"messages":{},"valid":{valid},"per_second":{rate:.0}}}"#, lines.len());
}
