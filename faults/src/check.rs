//! The invariants, as a pure function from observations to violations:
//!
//! - nothing acknowledged is lost: asks, answers, comments, uploads with their bytes, steps of
//!   tasks;
//! - nothing happens twice: one answer wins, one ask per idempotency key, one comment per call;
//! - versions never go back for an observer of one ask, and a closed ask stays closed;
//! - a receipt has the same bytes at every read;
//! - every acknowledged create and answer reaches the webhook endpoint at least once;
//! - `audit verify` finds nothing.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::observations::{FinalAsk, Observation, ObservationKind};

/// The kinds of invariants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// An acknowledgement was lost.
    Lost,
    /// Something happened twice.
    Double,
    /// A version or a state went back.
    WentBack,
    /// A receipt changed.
    ReceiptChanged,
    /// A webhook was not delivered.
    WebhookMissing,
    /// `audit verify` found damage.
    Damaged,
    /// The servers did not recover.
    NotRecovered,
    /// A server gave an answer that no fault excuses.
    Unexpected,
}

/// A violation of an invariant by the observations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The violated invariant.
    pub invariant: Invariant,
    /// The ask, upload or task, if it is about one.
    pub subject: Option<String>,
    /// The window in which it was acknowledged or observed.
    pub window: usize,
    /// The finding, as a sentence.
    pub found: String,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// All violations, in the order of the observations.
    pub violations: Vec<Violation>,
    /// The number of acknowledgements in each window.
    pub acknowledged: BTreeMap<usize, usize>,
}

/// Checks all observations of a run. Data that was not read at the end counts as lost, so a run
/// must read everything.
pub fn check(events: &[Observation]) -> CheckReport {
    let mut checker = InvariantChecker::default();
    checker.read_end(events);
    for event in events {
        checker.event(event);
    }
    checker.verdict
}

#[derive(Default)]
struct InvariantChecker<'a> {
    verdict: CheckReport,
    asks: BTreeMap<&'a str, &'a FinalAsk>,
    uploads: BTreeMap<&'a str, &'a str>,
    tasks: BTreeMap<&'a str, &'a [String]>,
    sent: BTreeMap<&'a str, BTreeSet<&'a str>>,
    heard: BTreeSet<(&'a str, &'a str)>,
    settled: bool,
    /// The ask of each idempotency key, the winner of each ask, and actions that
    /// were acknowledged once.
    keys: BTreeMap<&'a str, &'a str>,
    winners: BTreeMap<&'a str, &'a str>,
    steps: BTreeSet<(&'a str, &'a str)>,
    seen: BTreeMap<(&'a str, usize), u64>,
    closed: BTreeMap<&'a str, &'a str>,
    receipts: BTreeMap<&'a str, &'a str>,
    missing: BTreeSet<&'a str>,
}

impl<'a> InvariantChecker<'a> {
    /// Reads the final state first, so that each acknowledgement can be compared with it.
    fn read_end(&mut self, events: &'a [Observation]) {
        for event in events {
            match &event.what {
                ObservationKind::FinalAsk { ask, found } => drop(self.asks.insert(ask, found)),
                ObservationKind::FinalUpload { path, sha256 } => {
                    self.uploads.insert(path, sha256);
                }
                ObservationKind::FinalTask { task, actions } => {
                    self.tasks.insert(task, actions);
                }
                ObservationKind::AnswerSent { ask, comment } => {
                    self.sent.entry(ask).or_default().insert(comment);
                }
                ObservationKind::Heard { topic, ask } => drop(self.heard.insert((topic, ask))),
                ObservationKind::WebhooksSettled => self.settled = true,
                _ => {}
            }
        }
    }

    fn event(&mut self, event: &'a Observation) {
        let window = event.window;
        if event.what.is_acknowledgement() {
            *self.verdict.acknowledged.entry(window).or_default() += 1;
        }
        match &event.what {
            ObservationKind::Created { ask, key, prompt } => self.created(window, ask, key, prompt),
            ObservationKind::Answered { ask, comment } => self.answered(window, ask, comment),
            ObservationKind::Commented { ask, text } => {
                let times = self.asks.get(&**ask).map_or(0, |found| count(&found.comments, text));
                if times == 0 {
                    self.violated(window, Invariant::Lost, ask, format!("comment {text:?}"));
                }
            }
            // This holds for unacknowledged calls too: they happened once or not at all.
            ObservationKind::CommentSent { ask, text } => {
                let times = self.asks.get(&**ask).map_or(0, |found| count(&found.comments, text));
                if times > 1 {
                    let found = format!("comment {text:?} is there {times} times");
                    self.violated(window, Invariant::Double, ask, found);
                }
            }
            ObservationKind::Seen { ask, observer, version, state } => {
                self.observed(window, ask, *observer, *version, state);
            }
            ObservationKind::Receipt { ask, receipt } => {
                let first = *self.receipts.entry(ask).or_insert(receipt);
                if first != receipt {
                    let found = format!("the receipt changed: {}", differing(first, receipt));
                    self.violated(window, Invariant::ReceiptChanged, ask, found);
                }
            }
            ObservationKind::Uploaded { path, sha256 } => match self.uploads.get(&**path) {
                Some(found) if found == sha256 => {}
                Some(found) => {
                    let found = format!("the bytes were {sha256} and are {found}");
                    self.violated(window, Invariant::Lost, path, found);
                }
                None => {
                    self.violated(window, Invariant::Lost, path, "the upload is gone".to_owned());
                }
            },
            ObservationKind::TaskStep { name, task, action } => {
                self.step(window, name, task, action);
            }
            // Permanently missing data is reported with its acknowledgement.
            ObservationKind::Missing { what, said } => {
                if self.is_there(what) && self.missing.insert(what) {
                    self.violated(window, Invariant::Lost, what, said.clone());
                }
            }
            ObservationKind::FinalAsk { ask, found } => self.ended(window, ask, found),
            ObservationKind::Unexpected { doing, said } => {
                self.violated_without_subject(
                    window,
                    Invariant::Unexpected,
                    format!("{doing}: {said}"),
                );
            }
            ObservationKind::Verified { sound: false, said } => {
                self.violated_without_subject(window, Invariant::Damaged, said.clone());
            }
            ObservationKind::NotRecovered { said } => {
                self.violated_without_subject(window, Invariant::NotRecovered, said.clone());
            }
            ObservationKind::AnswerSent { .. }
            | ObservationKind::Fault(_)
            | ObservationKind::Heard { .. }
            | ObservationKind::FinalUpload { .. }
            | ObservationKind::FinalTask { .. }
            | ObservationKind::WebhooksSettled
            | ObservationKind::Verified { sound: true, .. } => {}
        }
    }

    /// Whether an ask, upload or task exists at the end.
    fn is_there(&self, subject: &str) -> bool {
        self.asks.contains_key(subject)
            || self.uploads.contains_key(subject)
            || self.tasks.contains_key(subject)
    }

    fn created(&mut self, window: usize, ask: &'a str, key: &'a str, prompt: &str) {
        let first = *self.keys.entry(key).or_insert(ask);
        if first != ask {
            let found = format!("the idempotency key {key} made {first} and {ask}");
            self.violated(window, Invariant::Double, ask, found);
        }
        match self.asks.get(ask) {
            None => self.violated(window, Invariant::Lost, ask, "the ask is gone".to_owned()),
            Some(found) if found.prompt != prompt => {
                let found = format!("it asked {prompt:?} and asks {:?}", found.prompt);
                self.violated(window, Invariant::Lost, ask, found);
            }
            Some(_) => {}
        }
        self.delivered(window, "ask.created", ask);
    }

    fn answered(&mut self, window: usize, ask: &'a str, comment: &'a str) {
        let first = *self.winners.entry(ask).or_insert(comment);
        if first != comment {
            let found = format!("two answers won: {first:?} and {comment:?}");
            self.violated(window, Invariant::Double, ask, found);
            return;
        }
        let kept = self.asks.get(ask).map(|found| found.answer.as_deref());
        match kept {
            Some(Some(kept)) if kept == comment => {}
            Some(Some(kept)) => {
                let found = format!("the answer {comment:?} won, and {kept:?} counts");
                self.violated(window, Invariant::Double, ask, found);
            }
            Some(None) => {
                let found = format!("the answer {comment:?} is gone");
                self.violated(window, Invariant::Lost, ask, found);
            }
            // The lost ask is already reported.
            None => {}
        }
        self.delivered(window, "ask.answered", ask);
    }

    /// A client sent the answer that counts, whether or not it was acknowledged.
    fn ended(&mut self, window: usize, ask: &'a str, found: &'a FinalAsk) {
        let Some(answer) = &found.answer else { return };
        if !self.sent.get(ask).is_some_and(|sent| sent.contains(&**answer)) {
            let found = format!("the answer {answer:?} counts, and nobody gave it");
            self.violated(window, Invariant::Unexpected, ask, found);
        }
    }

    fn observed(
        &mut self,
        window: usize,
        ask: &'a str,
        observer: usize,
        version: u64,
        state: &'a str,
    ) {
        let before = self.seen.insert((ask, observer), version).unwrap_or(0);
        if version < before {
            let found = format!("observer {observer} saw version {before} and then {version}");
            self.violated(window, Invariant::WentBack, ask, found);
        }
        // Events are in the order of observation by any client, and a closed ask never changes its
        // state again. This therefore holds across observers too, but only after the first
        // acknowledgement: an earlier read may be recorded later.
        let closed = ["completed", "expired", "cancelled", "failed"].contains(&state);
        if closed {
            let first = *self.closed.entry(ask).or_insert(state);
            if first != state {
                let found = format!("it was {first} and is {state}");
                self.violated(window, Invariant::WentBack, ask, found);
            }
        }
    }

    fn step(&mut self, window: usize, name: &'a str, task: &'a str, action: &'a str) {
        if !self.steps.insert((name, action)) {
            return;
        }
        let times = self.tasks.get(task).map_or(0, |actions| count(actions, action));
        if times == 0 {
            self.violated(window, Invariant::Lost, task, format!("{action} of {name}"));
        } else if times > 1 {
            let found = format!("{action} of {name} happened {times} times");
            self.violated(window, Invariant::Double, task, found);
        }
    }

    fn delivered(&mut self, window: usize, topic: &'static str, ask: &'a str) {
        // The result is unknown while deliveries are still retried.
        if self.settled && !self.heard.contains(&(topic, ask)) {
            let found = format!("{topic} never reached the endpoint");
            self.violated(window, Invariant::WebhookMissing, ask, found);
        }
    }

    fn violated(&mut self, window: usize, invariant: Invariant, subject: &str, found: String) {
        let subject = Some(subject.to_owned());
        self.verdict.violations.push(Violation { invariant, subject, window, found });
    }

    fn violated_without_subject(&mut self, window: usize, invariant: Invariant, found: String) {
        let violation = Violation { invariant, subject: None, window, found };
        // Identical violations count once.
        if !self.verdict.violations.contains(&violation) {
            self.verdict.violations.push(violation);
        }
    }
}

/// The differing claims of two receipts, or the receipts themselves if they cannot be parsed.
fn differing(one: &str, other: &str) -> String {
    let claims = |receipt: &str| -> Option<Map<String, Value>> {
        let payload = receipt.split('.').nth(1)?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    };
    let (Some(before), Some(after)) = (claims(one), claims(other)) else {
        return format!("{one:?} became {other:?}");
    };
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    let changed = changed.map(|name| {
        let text = |claims: &Map<String, Value>| claims.get(name).cloned().unwrap_or_default();
        format!("{name} was {} and is {}", text(&before), text(&after))
    });
    let changed: Vec<String> = changed.collect();
    if changed.is_empty() { "the claims are the same".to_owned() } else { changed.join(", ") }
}

fn count(list: &[String], wanted: &str) -> usize {
    list.iter().filter(|found| *found == wanted).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::ObservationLog;

    /// A run without violations.
    fn sound() -> Vec<ObservationKind> {
        let ask = || "ask_1".to_owned();
        let text = |text: &str| text.to_owned();
        vec![
            ObservationKind::Created { ask: ask(), key: text("k1"), prompt: text("Deploy?") },
            ObservationKind::CommentSent { ask: ask(), text: text("c1") },
            ObservationKind::Commented { ask: ask(), text: text("c1") },
            ObservationKind::Seen { ask: ask(), observer: 1, version: 2, state: text("pending") },
            ObservationKind::AnswerSent { ask: ask(), comment: text("a1") },
            ObservationKind::AnswerSent { ask: ask(), comment: text("a2") },
            ObservationKind::Answered { ask: ask(), comment: text("a1") },
            ObservationKind::Seen { ask: ask(), observer: 1, version: 3, state: text("completed") },
            ObservationKind::Receipt { ask: ask(), receipt: text("e30") },
            ObservationKind::Uploaded { path: text("/u/1"), sha256: text("aa") },
            ObservationKind::TaskStep {
                name: text("t"),
                task: text("task_1"),
                action: text("task.created"),
            },
            ObservationKind::Heard { topic: text("ask.created"), ask: ask() },
            ObservationKind::Heard { topic: text("ask.answered"), ask: ask() },
            ObservationKind::WebhooksSettled,
            ObservationKind::Receipt { ask: ask(), receipt: text("e30") },
            ObservationKind::FinalAsk {
                ask: ask(),
                found: FinalAsk {
                    prompt: text("Deploy?"),
                    state: text("completed"),
                    answer: Some(text("a1")),
                    comments: vec![text("c1")],
                },
            },
            ObservationKind::FinalUpload { path: text("/u/1"), sha256: text("aa") },
            ObservationKind::FinalTask {
                task: text("task_1"),
                actions: vec![text("task.created")],
            },
            ObservationKind::Verified { sound: true, said: String::new() },
        ]
    }

    fn checked(list: Vec<ObservationKind>) -> CheckReport {
        let history = ObservationLog::default();
        for what in list {
            history.add(what);
        }
        check(&history.events())
    }

    /// The invariants that a change to the sound run violates.
    fn broken(change: impl FnOnce(&mut Vec<ObservationKind>)) -> Vec<Invariant> {
        let mut list = sound();
        change(&mut list);
        checked(list).violations.into_iter().map(|violation| violation.invariant).collect()
    }

    fn end(list: &mut [ObservationKind]) -> &mut FinalAsk {
        let found = list.iter_mut().find_map(|what| match what {
            ObservationKind::FinalAsk { found, .. } => Some(found),
            _ => None,
        });
        found.unwrap()
    }

    #[test]
    fn a_sound_run_passes() {
        let verdict = checked(sound());
        assert_eq!(verdict.violations, []);
        assert_eq!(verdict.acknowledged, [(0, 5)].into());
    }

    #[test]
    fn a_lost_ask_is_found() {
        let lost =
            broken(|list| list.retain(|what| !matches!(what, ObservationKind::FinalAsk { .. })));
        // The ask, and the comment on it.
        assert_eq!(lost, [Invariant::Lost, Invariant::Lost]);
        let other = broken(|list| "Deploy??".clone_into(&mut end(list).prompt));
        assert_eq!(other, [Invariant::Lost]);
    }

    #[test]
    fn an_ask_that_is_missing_in_a_read_is_found_even_if_it_comes_back() {
        let missing = ObservationKind::Missing { what: "ask_1".to_owned(), said: "404".to_owned() };
        let twice = [missing.clone(), missing];
        assert_eq!(broken(|list| drop(list.splice(4..4, twice))), [Invariant::Lost]);
    }

    #[test]
    fn a_lost_answer_is_found() {
        assert_eq!(broken(|list| end(list).answer = None), [Invariant::Lost]);
    }

    #[test]
    fn a_lost_comment_is_found() {
        assert_eq!(broken(|list| end(list).comments.clear()), [Invariant::Lost]);
    }

    #[test]
    fn lost_and_changed_uploads_are_found() {
        let gone =
            broken(|list| list.retain(|what| !matches!(what, ObservationKind::FinalUpload { .. })));
        assert_eq!(gone, [Invariant::Lost]);
        let changed = broken(|list| {
            list.push(ObservationKind::FinalUpload {
                path: "/u/1".to_owned(),
                sha256: "bb".to_owned(),
            });
        });
        assert_eq!(changed, [Invariant::Lost]);
    }

    #[test]
    fn lost_and_repeated_steps_of_tasks_are_found() {
        let with = |actions: &[&str]| ObservationKind::FinalTask {
            task: "task_1".to_owned(),
            actions: actions.iter().map(|action| (*action).to_owned()).collect(),
        };
        assert_eq!(broken(|list| list.push(with(&[]))), [Invariant::Lost]);
        let twice = with(&["task.created", "task.created"]);
        assert_eq!(broken(|list| list.push(twice)), [Invariant::Double]);
    }

    #[test]
    fn two_winners_are_found() {
        let second =
            ObservationKind::Answered { ask: "ask_1".to_owned(), comment: "a2".to_owned() };
        assert_eq!(broken(|list| list.insert(7, second)), [Invariant::Double]);
        let replaced = broken(|list| end(list).answer = Some("a2".to_owned()));
        assert_eq!(replaced, [Invariant::Double]);
    }

    #[test]
    fn an_answer_that_nobody_gave_is_found() {
        let made_up = broken(|list| end(list).answer = Some("a3".to_owned()));
        assert_eq!(made_up, [Invariant::Double, Invariant::Unexpected]);
    }

    #[test]
    fn two_asks_of_one_key_are_found() {
        let mut list = sound();
        let (ask, key) = ("ask_2".to_owned(), "k1".to_owned());
        list.push(ObservationKind::Created { ask: ask.clone(), key, prompt: "Deploy?".to_owned() });
        let found = FinalAsk { prompt: "Deploy?".to_owned(), ..FinalAsk::default() };
        list.push(ObservationKind::FinalAsk { ask: ask.clone(), found });
        list.push(ObservationKind::Heard { topic: "ask.created".to_owned(), ask });
        let [violation] = &checked(list).violations[..] else { panic!("not one") };
        assert_eq!(violation.invariant, Invariant::Double);
    }

    #[test]
    fn a_repeated_comment_is_found_even_if_nobody_was_told() {
        let twice = broken(|list| {
            list.retain(|what| !matches!(what, ObservationKind::Commented { .. }));
            end(list).comments.push("c1".to_owned());
        });
        assert_eq!(twice, [Invariant::Double]);
    }

    #[test]
    fn a_version_that_goes_back_is_found() {
        let seen = |observer, version, state: &str| ObservationKind::Seen {
            ask: "ask_1".to_owned(),
            observer,
            version,
            state: state.to_owned(),
        };
        assert_eq!(broken(|list| list.push(seen(1, 2, "pending"))), [Invariant::WentBack]);
        // Another client may have sent its read earlier and got the response later.
        assert_eq!(broken(|list| list.push(seen(2, 2, "pending"))), []);
        assert_eq!(broken(|list| list.push(seen(2, 4, "expired"))), [Invariant::WentBack]);
    }

    #[test]
    fn a_changed_receipt_is_found() {
        let other = ObservationKind::Receipt { ask: "ask_1".to_owned(), receipt: "e31".to_owned() };
        assert_eq!(broken(|list| list.push(other)), [Invariant::ReceiptChanged]);
        let signed = |iat: u32| {
            format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(format!(r#"{{"iat":{iat}}}"#)))
        };
        assert_eq!(differing(&signed(1), &signed(2)), "iat was 1 and is 2");
    }

    #[test]
    fn a_missing_webhook_is_found_once_deliveries_have_settled() {
        let without = |list: &mut Vec<ObservationKind>, topic: &str| {
            list.retain(
                |what| !matches!(what, ObservationKind::Heard { topic: of, .. } if of == topic),
            );
        };
        for topic in ["ask.created", "ask.answered"] {
            assert_eq!(broken(|list| without(list, topic)), [Invariant::WebhookMissing]);
        }
        let early = broken(|list| {
            without(list, "ask.answered");
            list.retain(|what| *what != ObservationKind::WebhooksSettled);
        });
        assert_eq!(early, []);
    }

    #[test]
    fn damage_outages_and_unexpected_answers_are_found_once_each() {
        let said = || "why".to_owned();
        let more = || {
            [
                ObservationKind::Verified { sound: false, said: said() },
                ObservationKind::NotRecovered { said: said() },
                ObservationKind::Unexpected { doing: said(), said: said() },
                ObservationKind::Unexpected { doing: said(), said: said() },
            ]
        };
        let expected = [Invariant::Damaged, Invariant::NotRecovered, Invariant::Unexpected];
        assert_eq!(broken(|list| list.extend(more())), expected);
    }
}
