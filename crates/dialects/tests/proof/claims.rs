//! What a receipt says of an ask, and what it keeps back.

use dialects::hxp_execution::pseudonym;
use dialects::proof::receipt::ClaimedOutcome;
use dialects::proof::{NameDisclosure, RECEIPT, ReceiptClaims, verify};
use kernel::actor::{ActorRef, Assurance};
use kernel::ask::{AskState, DefaultAction, DisplayedContent, Ending, Route};
use kernel::command::{AskCommand, NewAsk, NewOnExpiry};
use kernel::question::{Answer, Question, QuestionBody, Reply};
use kernel::receipt::QuestionDigests;
use kernel::testing::{Cast, human, new_ask, yes};
use kernel::{Actor, AskId};
use serde_json::{Value, json};

use crate::fixtures::{current, trusted};

const SECRET: &[u8] = b"server-secret";
const ISSUER: &str = "https://countersign.example/";

fn of(cast: &Cast, id: AskId) -> ReceiptClaims {
    ReceiptClaims::of(cast.seen(id), ISSUER, NameDisclosure::Shown).unwrap()
}

/// Signed and read back, everything is as it was.
fn proven(claims: &ReceiptClaims) -> ReceiptClaims {
    verify(&current().sign(RECEIPT, claims), &trusted()).unwrap()
}

#[test]
fn an_answer() {
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.advance(60);
    cast.run(cast.human("olga"), AskCommand::Open(id));
    cast.advance(60);
    assert!(
        ReceiptClaims::of(cast.seen(id), ISSUER, NameDisclosure::Shown).is_none(),
        "still open"
    );
    let mut reply = yes();
    reply.comment = Some("fine".to_owned());
    cast.run(cast.human("olga"), AskCommand::Answer(id, reply));
    let claims = of(&cast, id);
    assert_eq!(proven(&claims), claims);
    let decided = cast.records().last().unwrap();
    assert_eq!((claims.audit.seq, claims.audit.hash), (decided.seq, decided.hash));
    let exhibit = QuestionDigests::of(cast.seen(id)).unwrap();
    assert_eq!(claims.question_sha256, exhibit.question);
    insta::assert_json_snapshot!("answer", claims);
}

/// A digest of what was displayed is claimed only where all of it was, and receipts of answers that
/// were given before this was recorded stay as they were.
#[test]
fn what_was_not_displayed_is_not_claimed() {
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let exhibit = QuestionDigests::of(cast.seen(id)).unwrap();
    // SHA-256 of the four bytes `null`.
    let null = "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b";
    for (shown, whole) in [
        (None, true),
        (Some(DisplayedContent::Question), true),
        (Some(DisplayedContent::Summary), false),
        (Some(DisplayedContent::Nothing), false),
    ] {
        let mut ask = cast.seen(id).clone();
        let AskState::Over { ending, .. } = &mut ask.state else { panic!() };
        let Ending::Completed(resolution) = &mut **ending else { panic!() };
        resolution.shown = shown;
        let claims = ReceiptClaims::of(&ask, ISSUER, NameDisclosure::Shown).unwrap();
        assert_eq!(claims.shown, shown);
        let expected = if whole { exhibit.shown.to_string() } else { null.to_owned() };
        assert_eq!(claims.shown_sha256.to_string(), expected, "{shown:?}");
        assert_eq!(proven(&claims), claims);
        let wire = serde_json::to_value(&claims).unwrap();
        assert_eq!(wire.get("shown").is_some(), shown.is_some());
    }
}

#[test]
fn silence_is_nobodys() {
    let mut cast = Cast::new();
    let timed = |on_expiry| NewAsk { timeout: Some(60), on_expiry, ..new_ask() };
    let default = cast.ask(timed(NewOnExpiry::Answer(*yes())));
    let failed = cast.ask(timed(NewOnExpiry::Fail));
    let reported = cast.ask(timed(NewOnExpiry::Report(DefaultAction::Abort)));
    cast.advance(60);
    for id in [default, failed, reported] {
        cast.run(Actor::System, AskCommand::Expire(id));
    }
    let taken = of(&cast, default);
    assert_eq!((taken.outcome, &taken.by), (ClaimedOutcome::Completed, &ActorRef::System));
    assert_eq!((taken.assurance, taken.via.as_deref()), (Some(Assurance::None), Some("timer")));
    let failed = of(&cast, failed);
    assert_eq!(
        (failed.outcome, &failed.by, failed.assurance),
        (ClaimedOutcome::Failed, &ActorRef::System, None)
    );
    let reported = of(&cast, reported);
    assert_eq!(
        (reported.outcome, reported.report),
        (ClaimedOutcome::Expired, Some(DefaultAction::Abort))
    );
    for claims in [taken, failed, reported] {
        assert_eq!(proven(&claims), claims);
        assert_eq!(claims.iat, cast.now().millis() / 1000);
    }
}

#[test]
fn a_withdrawal() {
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.run(cast.agent("bot"), AskCommand::Cancel(id, Some("never mind".to_owned())));
    let claims = of(&cast, id);
    assert_eq!(
        (claims.outcome, claims.reason.as_deref()),
        (ClaimedOutcome::Cancelled, Some("never mind"))
    );
    assert_eq!(claims.by, ActorRef::Agent("bot".parse().unwrap()));
    assert_eq!(proven(&claims), claims);
}

/// Agents see the pseudonym HXP gives them; people see the name. Everything else is the same.
#[test]
fn agents_do_not_learn_who_is_in_a_pool() {
    let mut cast = Cast::new();
    let id = cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask() });
    cast.run(cast.human("mark"), AskCommand::Answer(id, yes()));
    let shown = of(&cast, id);
    assert_eq!(shown.by, ActorRef::Human(human("mark")));
    let hidden = ReceiptClaims::of(cast.seen(id), ISSUER, NameDisclosure::Hidden(SECRET)).unwrap();
    assert_eq!(hidden.by.to_string(), pseudonym(SECRET, id, &human("mark")));
    assert!(!serde_json::to_string(&hidden).unwrap().contains("mark"));
    assert_eq!(ReceiptClaims { by: shown.by.clone(), ..hidden }, shown);
    // Whoever was asked by name is named.
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let named = ReceiptClaims::of(cast.seen(id), ISSUER, NameDisclosure::Hidden(SECRET)).unwrap();
    assert_eq!(named.by, ActorRef::Human(human("olga")));
}

#[test]
fn secrets_are_named_and_not_said() {
    let mut cast = Cast::new();
    let form = json!({ "fields": [
        { "key": "name", "label": "Name", "type": "text" },
        { "key": "pin", "label": "PIN", "type": "text", "sensitive": true },
        { "key": "token", "label": "Token", "type": "text", "sensitive": true },
    ]});
    let body = QuestionBody::Provide { form: serde_json::from_value(form).unwrap() };
    let question = Question::new("Which account?", None, body).unwrap();
    let id = cast.ask(NewAsk { question, ..new_ask() });
    let values = json!({ "verdict": "provided", "values": { "name": "Ann", "pin": "s3cret" } });
    let answer: Answer = serde_json::from_value(values).unwrap();
    cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(Reply { answer, comment: None })));
    for names in [NameDisclosure::Shown, NameDisclosure::Hidden(SECRET)] {
        let claims = ReceiptClaims::of(cast.seen(id), ISSUER, names).unwrap();
        assert_eq!(claims.redacted, ["pin"], "what was not given is not named");
        let wire: Value = serde_json::to_value(&claims).unwrap();
        assert_eq!(wire["answer"]["values"], json!({ "name": "Ann" }));
        assert!(!wire.to_string().contains("s3cret"));
        assert!(!dialects::proof::explain(&claims).join("\n").contains("s3cret"));
    }
}

/// What was handed out stays valid; nothing new can be made.
#[test]
fn there_is_no_receipt_without_words() {
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let kept = current().sign(RECEIPT, &of(&cast, id));
    cast.run(Actor::System, AskCommand::Erase(id));
    assert!(ReceiptClaims::of(cast.seen(id), ISSUER, NameDisclosure::Shown).is_none());
    assert!(verify(&kept, &trusted()).is_ok());
}

/// Later remarks, a revocation, a hand-over: the receipt says what it said.
#[test]
fn what_happens_later_changes_no_byte() {
    let mut cast = Cast::new();
    let id = cast.ask(new_ask());
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    let before = current().sign(RECEIPT, &of(&cast, id));
    cast.advance(3600);
    cast.run(cast.human("olga"), AskCommand::Comment(id, "done".to_owned()));
    cast.run(Actor::System, AskCommand::Revoke(id, "stolen phone".to_owned()));
    assert_eq!(current().sign(RECEIPT, &of(&cast, id)), before);
}
