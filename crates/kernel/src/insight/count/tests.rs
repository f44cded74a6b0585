use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::actor::{Actor, AttestedIdentity};
use crate::ask::experience_envelope::EnvelopeFindings;
use crate::ask::{DefaultAction, NewExperienceEnvelope};
use crate::command::{AskCommand, NewAsk, NewOnExpiry};
use crate::ids::AskId;
use crate::insight::{CountKey, CountScope, Tally};
use crate::question::{Choice, Editable, Options, PickMode, Reply};
use crate::testing::{Cast, new_ask, no, yes};

/// An ask with this envelope.
fn saying(said: &Value, level: Option<EnvelopeLevel>) -> NewAsk {
    let said = said.as_object().unwrap().clone();
    let finding = EnvelopeFindings { level, ..EnvelopeFindings::default() };
    NewAsk {
        claims: Some(Box::new(NewExperienceEnvelope { content: said, finding, objection: None })),
        ..new_ask()
    }
}

fn about(body: QuestionBody) -> NewAsk {
    NewAsk { question: Question::new("Do it?", None, body).unwrap(), ..new_ask() }
}

/// All counts of an ask, by measure.
fn counted(cast: &Cast, id: AskId) -> BTreeMap<Measure, Vec<&'static str>> {
    let mut counts: BTreeMap<Measure, Vec<&'static str>> = BTreeMap::new();
    for event in cast.record_of(id) {
        for (measure, bin) in counts_for(&event, cast.seen(id)) {
            assert!(measure.bins().contains(&bin), "{measure:?} has no {bin}");
            counts.entry(measure).or_default().push(bin);
        }
    }
    counts
}

fn of(cast: &Cast, id: AskId, measure: Measure) -> Vec<&'static str> {
    counted(cast, id).remove(&measure).unwrap_or_default()
}

/// HXPE-060, HXPE-061: intent, confidence, load and refusals of a message, in a small number of
/// bins.
#[test]
fn a_message_counts_by_what_its_envelope_says() {
    let cases = [
        (json!({ "intent": "plan" }), Measure::Intent, vec!["plan"]),
        (json!({ "intent": "Plan" }), Measure::Intent, vec!["other"]),
        (json!({ "intent": "ask for a raise" }), Measure::Intent, vec!["other"]),
        (json!({ "intent": "" }), Measure::Intent, vec![]),
        (json!({ "intent": 7 }), Measure::Intent, vec![]),
        (json!({ "transparency": { "confidence": 0.87 } }), Measure::Confidence, vec!["8"]),
        (json!({ "transparency": { "confidence": 1 } }), Measure::Confidence, vec!["9"]),
        (json!({ "transparency": { "confidence": 1.5 } }), Measure::Confidence, vec![]),
        (json!({ "transparency": { "confidence": "1" } }), Measure::Confidence, vec![]),
        (json!({ "transparency": 3 }), Measure::Confidence, vec![]),
        (json!({ "cognition": { "load": 3.0 } }), Measure::Load, vec!["3"]),
        (json!({ "cognition": { "load": 11 } }), Measure::Load, vec![]),
        (json!({ "intent": "refuse" }), Measure::Refusal, vec!["unsaid/unsaid"]),
        (
            json!({ "intent": "refuse", "refusal": { "type": "legal", "severity": "hard" } }),
            Measure::Refusal,
            vec!["legal/hard"],
        ),
        (
            json!({ "intent": "plan", "refusal": { "type": "policy" } }),
            Measure::Refusal,
            vec!["policy/unsaid"],
        ),
        (json!({ "refusal": { "type": "mood" } }), Measure::Refusal, vec!["unsaid/unsaid"]),
        (json!({ "intent": "plan" }), Measure::Refusal, vec![]),
        (json!({}), Measure::Envelope, vec!["invalid"]),
    ];
    let mut cast = Cast::new();
    for (said, measure, bins) in cases {
        let id = cast.ask(saying(&said, None));
        assert_eq!(of(&cast, id, measure), bins, "{said}");
    }
    let full = cast.ask(saying(&json!({}), Some(EnvelopeLevel::Full)));
    assert_eq!(of(&cast, full, Measure::Envelope), ["full"]);
    let plain = cast.ask(new_ask());
    assert_eq!(of(&cast, plain, Measure::Envelope), ["none"]);
    assert_eq!(of(&cast, plain, Measure::Asked), ["native"]);
}

/// HXPE-060: click-through needs the shown and the picked actions; both count once.
#[test]
fn actions_count_when_they_are_seen_and_when_they_are_picked() {
    let said = json!({ "actions": [
        { "type": "expand" }, { "label": "no type" }, { "type": "call_my_lawyer" },
        { "type": "expand" },
    ] });
    let mut cast = Cast::new();
    let id = cast.ask(saying(&said, None));
    assert_eq!(of(&cast, id, Measure::Shown), Vec::<&str>::new());
    cast.run(cast.human("olga"), AskCommand::Open(id));
    cast.run(cast.human("olga"), AskCommand::Open(id));
    assert_eq!(of(&cast, id, Measure::Shown), ["expand", "other", "expand"]);
    for actor in [cast.human("olga"), Actor::link_holder(id)] {
        cast.run(actor.clone(), AskCommand::Pick(id, 2));
        cast.run(actor, AskCommand::Pick(id, 2));
    }
    cast.run(cast.human("olga"), AskCommand::Pick(id, 3));
    assert_eq!(of(&cast, id, Measure::Picked), ["other", "expand"]);
}

#[test]
fn waiting_is_measured_from_the_ask() {
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.advance(42);
    cast.run(cast.human("olga"), AskCommand::Open(id));
    cast.advance(400);
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    assert_eq!(of(&cast, id, Measure::FirstView), ["60"]);
    assert_eq!(of(&cast, id, Measure::Decision), ["900"]);
    assert_eq!(of(&cast, id, Measure::Ended), ["answered"]);
}

#[test]
fn every_end_counts_as_what_it_was() {
    let mut cast = Cast::new();
    for (on_expiry, bin) in [
        (NewOnExpiry::Answer(*yes()), "defaulted"),
        (NewOnExpiry::Fail, "failed"),
        (NewOnExpiry::Report(DefaultAction::Abort), "expired"),
    ] {
        let id = cast.ask(NewAsk { timeout: Some(30), on_expiry, ..new_ask() });
        cast.advance(31);
        cast.run(Actor::System, AskCommand::Expire(id));
        assert_eq!(of(&cast, id, Measure::Ended), [bin]);
        assert_eq!(of(&cast, id, Measure::Decision), Vec::<&str>::new(), "nobody decided");
        assert_eq!(of(&cast, id, Measure::Verdict), Vec::<&str>::new());
        assert_eq!(of(&cast, id, Measure::Reading), Vec::<&str>::new());
    }
    let id = cast.ask(new_ask());
    cast.run(cast.agent("bot"), AskCommand::Cancel(id, None));
    assert_eq!(of(&cast, id, Measure::Ended), ["cancelled"]);
}

fn reply(answer: Answer) -> Reply {
    Reply { answer, comment: Some("because".to_owned()) }
}

/// An agent that asks whether to do something recommends it; one that suggests an option recommends
/// that option.
#[test]
fn an_answer_follows_changes_or_overrules() {
    let details = json!({ "amount": 5 }).as_object().unwrap().clone();
    let other = json!({ "amount": 4 }).as_object().unwrap().clone();
    let approve = || QuestionBody::Approve {
        details: details.clone(),
        editable: Editable::from(true),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let choose = |suggested: Option<&str>, pick| QuestionBody::Choose {
        options: Options::new(["a", "b"].map(Choice::plain).to_vec()).unwrap(),
        pick,
        suggested: suggested.map(str::to_owned),
    };
    let confirm = || QuestionBody::Confirm {
        items: ["x", "y"].map(Choice::plain).to_vec(),
        yes: "Go".to_owned(),
        no: "No".to_owned(),
    };
    let escalate = || QuestionBody::Escalate { error: Map::new(), params: Map::new() };
    let chosen =
        |ids: &[&str]| Answer::Chosen { options: ids.iter().map(|id| (*id).to_owned()).collect() };
    let confirmed =
        |ids: &[&str]| Answer::Confirmed { items: ids.iter().map(|id| (*id).to_owned()).collect() };
    for (body, answer, expected) in [
        (approve(), Answer::Approved { edits: None }, "followed"),
        (approve(), Answer::Approved { edits: Some(other) }, "edited"),
        (approve(), Answer::REJECTED, "overruled"),
        (approve(), Answer::CHANGES, "overruled"),
        (choose(Some("a"), PickMode::One), chosen(&["a"]), "followed"),
        (choose(Some("a"), PickMode::One), chosen(&["b"]), "overruled"),
        (choose(Some("a"), PickMode::Many), chosen(&["a", "b"]), "edited"),
        (choose(None, PickMode::One), chosen(&["a"]), "open"),
        (confirm(), confirmed(&["x", "y"]), "followed"),
        (confirm(), confirmed(&["x"]), "edited"),
        (confirm(), Answer::Declined, "overruled"),
        (escalate(), Answer::Skip, "open"),
        (QuestionBody::Converse, Answer::Replied { text: "yes".to_owned() }, "open"),
    ] {
        let mut cast = Cast::new();
        let id = cast.ask(about(body.clone()));
        cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply(answer.clone()))));
        assert_eq!(of(&cast, id, Measure::Verdict), [expected], "{body:?} {answer:?}");
    }
}

#[test]
fn a_claim_is_held_against_what_people_did() {
    let sure = json!({ "transparency": { "confidence": 0.91 } });
    for (new, answer, claimed, overruled) in [
        (saying(&sure, None), yes(), vec!["9"], vec![]),
        (saying(&sure, None), no(), vec!["9"], vec!["9"]),
        (new_ask(), no(), vec![], vec![]),
    ] {
        let mut cast = Cast::new();
        let id = cast.ask(new);
        cast.run(cast.human("olga"), AskCommand::Answer(id, answer));
        assert_eq!(of(&cast, id, Measure::Claimed), claimed);
        assert_eq!(of(&cast, id, Measure::Overruled), overruled);
    }
}

/// An answer faster than the text can be read says nothing alone, but something in large numbers.
#[test]
fn a_decision_before_the_text_can_be_read_is_hasty() {
    let long = Question::new("word ".repeat(48), None, new_ask().question.body().clone()).unwrap();
    assert_eq!(reading_millis(&long), 12_000, "48 words at 240 a minute");
    for (seconds, expected) in [(Some(11), "hasty"), (Some(12), "read"), (None, "unopened")] {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { question: long.clone(), ..new_ask() });
        if let Some(seconds) = seconds {
            cast.advance(1000);
            cast.run(cast.human("olga"), AskCommand::Open(id));
            cast.advance(seconds);
        }
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        assert_eq!(of(&cast, id, Measure::Reading), [expected], "{seconds:?}");
    }
}

/// An answer that an agent passed on was decided elsewhere.
#[test]
fn what_was_passed_on_is_no_reading_of_ours() {
    let mut cast = Cast::new();
    let inline = Some([crate::question::AnswerKind::Approve].into());
    let id = cast.ask(NewAsk { inline, ..new_ask() });
    let text = |text: &str| text.to_owned();
    let attested = AttestedIdentity {
        via: text("button"),
        platform: text("slack"),
        platform_user_id: text("U1"),
        display_name: None,
    };
    cast.run(Actor::Relay { ask: id, attested }, AskCommand::Answer(id, yes()));
    assert_eq!(of(&cast, id, Measure::Reading), Vec::<&str>::new());
    assert_eq!(of(&cast, id, Measure::Verdict), ["followed"]);
}

#[test]
fn words_are_what_is_read() {
    let details = json!({ "to": ["Ada Lovelace", 7], "note": { "text": "-- 退款 ok" } });
    let body = QuestionBody::Approve {
        details: details.as_object().unwrap().clone(),
        editable: false.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let question = Question::new("Pay, now?", Some("It is late.".to_owned()), body).unwrap();
    // Pay now, It is late, to Ada Lovelace 7, note text ok; and two characters are one word.
    assert_eq!(reading_millis(&question), (2 + 3 + 4 + 3 + 1) * 250);
}

/// A message that a person wrote first was not asked by an agent.
#[test]
fn what_a_person_began_with_is_not_counted() {
    let mut cast = Cast::new();
    let id = cast.write("olga", "bot", "Hello there");
    assert!(counted(&cast, id).is_empty());
}

/// Each count is kept for the agent, for its project, and for the installation.
#[test]
fn a_tally_is_kept_three_times() {
    let mut cast = Cast::new();
    let (one, other) = (cast.ask(new_ask()), cast.ask_as("spy", new_ask()));
    let mut tally = Tally::default();
    for id in [one, other] {
        for event in cast.record_of(id) {
            tally.add(&event, cast.seen(id));
        }
    }
    let asked = |whose: CountScope| {
        let of =
            |(cell, _): &(&CountKey, u64)| cell.measure == Measure::Asked && cell.scope == whose;
        tally.cells().filter(of).map(|(_, n)| n).sum::<u64>()
    };
    let (acme, rival) = ("acme".parse().unwrap(), "rival".parse().unwrap());
    assert_eq!(asked(CountScope::All), 2);
    assert_eq!(asked(CountScope::Project(acme)), 1);
    assert_eq!(asked(CountScope::Agent(rival, "spy".parse().unwrap())), 1);
    assert_eq!(asked(CountScope::Agent("rival".parse().unwrap(), "bot".parse().unwrap())), 0);
}
