//! Messages with something done to their bytes, thousands of them, the same ones every time. A fuzzer
//! goes on from here for as long as it is let: see `fuzz`.

use std::fmt::Write as _;

use crate::laws::holds;
use crate::stage::{core, full, standard};

/// So many are made; a few seconds without optimisation.
const ROUNDS: u64 = 6000;

/// What is put in: pieces of messages, and what readers of JSON trip over.
const PIECES: [&str; 64] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    " ",
    "\n",
    "\t",
    "\0",
    "\u{7f}",
    "é",
    "🙂",
    "\u{202e}",
    "\\u0022",
    "\\u0068xp",
    "\\ud83d\\ude42",
    "\\ud83d",
    "\\n",
    "\\/",
    "null",
    "true",
    "false",
    "0",
    "1",
    "-0.0",
    "3.0",
    "1e9",
    "1e400",
    "1e-400",
    "0.99999999999999999999",
    "18446744073709551616",
    "123456789012345",
    "10.5",
    "01",
    "\"hxp\":",
    "\"content\":",
    "\"HXP\":{},",
    "\"version\":",
    "\"1.0.0\"",
    "\"1.0.0-01\"",
    "\"intent\":\"\",",
    "\"delivery\":{},",
    "\"verbosity\":",
    "\"language\":\"e\",",
    "\"language\":\"not a tag\",",
    "\"confidence\":1.0000001,",
    "\"load\":",
    "\"actions\":[],",
    "\"type\":\"\",",
    "\"payload\":[],",
    "\"limits\":[1],",
    "\"refusal\":{},",
    "\"extensions\":{\"intent\":1},",
    "\"later\":",
    "\"ada@example.org\"",
    "\"+4930123456789\"",
    "\"4111 1111 1111 1111\"",
    "\"password\":",
    "\"low\"",
    "\"refuse\"",
    "\"\"",
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
}

/// Does one thing to some bytes.
fn spoil(bytes: &mut Vec<u8>, others: &[Vec<u8>], dice: &mut Dice) {
    let from = dice.below(bytes.len() + 1);
    let to = (from + 1 + dice.below(24)).min(bytes.len());
    match dice.below(7) {
        0 => drop(bytes.drain(from.min(to)..to)),
        1 => {
            let again = bytes[from.min(to)..to].to_vec();
            bytes.splice(from..from, again);
        }
        2 if from < bytes.len() => bytes[from] ^= 1 << dice.below(8),
        3 => {
            // A member again, somewhere else: names given twice, and parts where they do not belong.
            let other = &others[dice.below(others.len())];
            let begins: Vec<usize> = (0..other.len()).filter(|&at| other[at] == b'"').collect();
            let begin = begins[dice.below(begins.len())];
            let end = (begin + 4 + dice.below(60)).min(other.len());
            bytes.splice(from..from, other[begin..end].iter().copied());
        }
        _ => {
            let piece = PIECES[dice.below(PIECES.len())].as_bytes();
            let instead = if dice.below(2) == 0 { from.min(to)..to } else { from..from };
            bytes.splice(instead, piece.iter().copied());
        }
    }
}

/// HXPE-004, HXPE-006, HXPE-041, HXPE-043: whatever is done to a message, it is read as other readers
/// do, judged as the published schema does, and judged alike with and without a report.
#[test]
fn mutated_messages_are_judged_alike_by_everybody() {
    let whole = [core(), standard(), full()];
    let mut good: Vec<Vec<u8>> = whole.iter().map(|value| value.to_string().into_bytes()).collect();
    good.extend(whole.iter().map(|value| format!("{value:#}").into_bytes()));
    for message in &good {
        holds(message).unwrap();
    }
    for round in 0..ROUNDS {
        let mut dice = Dice(round);
        let mut bytes = good[dice.below(good.len())].clone();
        for _ in 0..=dice.below(3) {
            spoil(&mut bytes, &good, &mut dice);
        }
        if let Err(why) = holds(&bytes) {
            let shown = String::from_utf8_lossy(&bytes);
            panic!("round {round}: {why}\n{shown}\n{}", listed(&bytes));
        }
    }
}

/// The bytes as a test would have them.
fn listed(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "\\x{byte:02x}");
        text
    })
}
