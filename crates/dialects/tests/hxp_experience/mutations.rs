//! Messages written in odd ways, and with something done to their bytes: thousands of them, the
//! same ones every time. A fuzzer goes on from here for as long as it is let: see `fuzz`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::fixtures::{core, full, standard};
use crate::properties::holds;

/// So many are made; a few seconds without optimisation.
const ROUNDS: u64 = 5000;

/// What a field may suddenly be: what it takes, nearly takes, and what readers of JSON trip over.
const VALUES: &str = r#"null true false 0 1 10 -1 -0.0 3.0 1e9 1e400 1e-400 10.5 0.99999999999999999999
    18446744073709551616 123456789012345678 "" "e" "é" "\ud83d\ude42" "low" "refuse" "1.0.0-01" "2.0.0"
    "tr" "ada@example.org" "+4930123456789" "\u0034111-1111-1111-1111" [] [1] ["x"] [[]] [{}] {}
    {"type":"x"} {"type":""} {"verbosity":"low"} {"confidence":1} {"later":[{"a":{}}]} {"password":1}"#;

/// What is put between bytes.
const PIECES: [&str; 22] = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "\0", "é", "\u{202e}", "\\u0022",
    "\\ud83d", "\\n", "null", "1", "-", ".", "e5", "\"\":",
];

/// Numbers that look random and come in the same order every time, as `SplitMix64` makes them.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (bound as u64)).unwrap()
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Writes a value as somebody might: with blanks and escapes, members left out, given twice, or
/// with another value.
fn write(value: &Value, dice: &mut Dice, to: &mut String) {
    let values: Vec<&str> = VALUES.split_whitespace().collect();
    if dice.one_in(40) {
        to.push_str(dice.of(&values));
        return;
    }
    match value {
        Value::Object(members) => {
            let mut left: Vec<(&String, &Value)> = members.iter().collect();
            for again in 0..left.len() {
                if dice.one_in(20) {
                    let place = dice.below(left.len() + 1);
                    left.insert(place, left[again]);
                }
            }
            left.retain(|_| !dice.one_in(20));
            to.push('{');
            for (n, (name, inner)) in left.into_iter().enumerate() {
                to.push_str(if n > 0 { "," } else { "" });
                text(name, dice, to);
                to.push_str(if dice.one_in(20) { " : " } else { ":" });
                write(inner, dice, to);
            }
            to.push('}');
        }
        Value::Array(items) => {
            to.push('[');
            for (n, inner) in items.iter().enumerate() {
                to.push_str(if n > 0 { ", " } else { "" });
                write(inner, dice, to);
            }
            to.push(']');
        }
        Value::String(said) => text(said, dice, to),
        other => to.push_str(&other.to_string()),
    }
}

fn text(said: &str, dice: &mut Dice, to: &mut String) {
    to.push('"');
    let escaped = if dice.one_in(15) { dice.below(said.len() + 1) } else { usize::MAX };
    for (n, letter) in said.chars().enumerate() {
        if n == escaped {
            write!(to, "\\u{:04x}", u32::from(letter)).unwrap();
        } else {
            to.push(letter);
        }
    }
    to.push('"');
}

/// Does something to some bytes.
fn spoil(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let from = dice.below(bytes.len() + 1);
    let to = (from + dice.below(16)).min(bytes.len());
    match dice.below(4) {
        0 => drop(bytes.drain(from..to)),
        1 => {
            let again = bytes[from..to].to_vec();
            bytes.splice(from..from, again);
        }
        2 if from < bytes.len() => bytes[from] ^= 1 << dice.below(8),
        _ => {
            let piece = dice.of(&PIECES).bytes();
            bytes.splice(from..from, piece);
        }
    }
}

/// Found by a fuzzer: numbers of more digits than any double has are JSON, and are judged.
#[test]
fn numbers_of_any_length_are_judged() {
    for digits in [308, 309, 400, 5_000] {
        let number = "9".repeat(digits);
        for text in [number.clone(), format!("-{number}.5"), format!("0.{number}")] {
            holds(text.as_bytes()).unwrap();
            let message = core().to_string().replace("0.6", &text);
            assert!(message.contains(&text));
            holds(message.as_bytes()).unwrap();
        }
    }
}

/// HXPE-004, HXPE-006, HXPE-041, HXPE-043: whatever is done to a message, it is read as other
/// readers do, judged as the published schema does, and judged alike with and without a report.
#[test]
fn mutated_messages_are_judged_alike_by_everybody() {
    let good = [core(), standard(), full()];
    for message in &good {
        holds(message.to_string().as_bytes()).unwrap();
        holds(format!("{message:#}").as_bytes()).unwrap();
    }
    for round in 0..ROUNDS {
        let mut dice = Dice(round);
        let mut written = String::new();
        write(&good[dice.below(good.len())], &mut dice, &mut written);
        let mut bytes = written.into_bytes();
        if dice.one_in(4) {
            spoil(&mut bytes, &mut dice);
        }
        if let Err(why) = holds(&bytes) {
            panic!("round {round}: {why}\n{}", bytes.escape_ascii());
        }
    }
}
