//! Envelopes on asks: every protocol that asks has room for one, keeps it and gives it back.

use dialects::hxp_experience::claims::{EnvelopeVerdict, read_envelope, with_headers};
use dialects::hxp_experience::headers::EnvelopeHeaders;
use dialects::native::{AskView, CreateAsk, Viewer};
use dialects::{a2h, hitl, hxp_execution};
use kernel::ask::experience_envelope::EnvelopeLevel;
use kernel::ask::{EnvelopePolicy, NewExperienceEnvelope};
use kernel::command::{AskCommand, DirectoryCommand, NewAsk};
use kernel::directory::NewProject;
use kernel::testing::Cast;
use kernel::{Actor, Ask, Refusal};
use serde_json::{Value, json};

use crate::fixtures::{core, full, standard, with, without};

/// A way in with room for an envelope: its name, what is sent, what it is read as, where it comes
/// back.
struct Way {
    name: &'static str,
    body: fn(Value) -> Value,
    read: fn(&[u8]) -> Result<NewAsk, Value>,
    shown: fn(&Ask) -> Value,
    place: &'static str,
    refused: fn(&Refusal) -> Value,
}

fn ways() -> [Way; 4] {
    [
        Way {
            name: "hxp-execution",
            body: |hxp| json!({ "action": "APPROVE", "payload": { "item": "Go?", "details": {} }, "hxp": hxp }),
            read: |bytes| hxp_execution::parse_create(bytes).map_err(|error| json!(error.body())),
            shown: |ask| {
                let seal =
                    hxp_execution::Seal { secret: b"s", formula: hxp_execution::Formula::Seed };
                json!(hxp_execution::request(ask, &seal, hxp_execution::ReceiptDetail::Whole))
            },
            place: "/hxp",
            refused: |refusal| json!(hxp_execution::HxpWireError::refused(refusal, false).body()),
        },
        Way {
            name: "hitl",
            body: |hxp| json!({ "type": "approval", "prompt": "Go?", "context": { "risk": "low" }, "hxp": hxp }),
            read: |bytes| match hitl::parse_create(bytes) {
                Ok(new) => Ok(new.ask),
                Err(error) => Err(error.body()),
            },
            shown: |ask| {
                let text = String::new;
                let links =
                    hitl::CaseLinks { review: text(), poll: text(), events: text(), submit: None };
                json!(hitl::accepted(ask, links).unwrap())
            },
            place: "/hitl/context/hxp",
            refused: |refusal| hitl::HitlWireError::create_refused(refusal).body(),
        },
        Way {
            name: "a2h",
            body: |hxp| json!({ "run_id": "r", "call_id": "c", "spec": { "fn": "go", "kwargs": {}, "state": { "n": 1, "hxp": hxp } } }),
            read: |bytes| match a2h::parse_function_call(bytes) {
                Ok(new) => Ok(new.ask),
                Err(error) => Err(error.body()),
            },
            shown: |ask| a2h::call(ask, a2h::CallContext::default()).unwrap(),
            place: "/spec/state/hxp",
            refused: |refusal| a2h::A2hWireError::refused(refusal).body(),
        },
        Way {
            name: "native",
            body: |hxp| json!({ "question": { "kind": "approve", "prompt": "Go?" }, "hxp": hxp }),
            read: |bytes| {
                let body: CreateAsk = serde_json::from_slice(bytes).map_err(|_| Value::Null)?;
                Ok(body.into_ask(read_envelope(bytes, &["hxp"]).map_err(|_| Value::Null)?))
            },
            shown: |ask| json!(AskView::of(ask, Viewer::Person, "http://localhost", None)),
            place: "/hxp",
            refused: |refusal| json!(refusal.to_string()),
        },
    ]
}

fn sent(way: &Way, hxp: Value) -> Vec<u8> {
    (way.body)(hxp).to_string().into_bytes()
}

#[track_caller]
fn claims(text: &str) -> Box<NewExperienceEnvelope> {
    read_envelope(text.as_bytes(), &["hxp"]).unwrap().unwrap()
}

/// HXPE-005, HXPE-058: kept as it came and given back where the protocol has room for it, unknown
/// fields included, whichever protocol asked and whichever looks.
#[test]
fn an_envelope_comes_back_as_it_was_sent() {
    let odd = with(standard(), "/hxp/later", json!({ "x": [3.0, null] }))["hxp"].take();
    for way in ways() {
        for hxp in [core()["hxp"].clone(), full()["hxp"].clone(), odd.clone()] {
            let mut cast = Cast::new();
            let id = cast.ask((way.read)(&sent(&way, hxp.clone())).unwrap());
            for other in ways() {
                let shown = (other.shown)(cast.seen(id));
                let back = shown.pointer(other.place);
                assert_eq!(back, Some(&hxp), "{} by {}: {shown}", way.name, other.name);
                assert!(shown.to_string().contains(r#""hxp_verdict":{"valid":true"#), "{shown}");
            }
        }
    }
}

/// Nothing is invented for whoever sends none, and nothing is said of it.
#[test]
fn an_ask_without_an_envelope_says_nothing_of_one() {
    for way in ways() {
        let mut cast = Cast::new();
        let id = cast.ask((way.read)(&sent(&way, Value::Null)).unwrap());
        assert_eq!(cast.seen(id).claims, None, "{}", way.name);
        for other in ways().iter().filter(|other| other.name != "native") {
            let shown = (other.shown)(cast.seen(id)).to_string();
            assert!(!shown.contains("hxp_verdict"), "{} by {}: {shown}", way.name, other.name);
        }
    }
}

/// HXPE-004, HXPE-058: what is wrong is kept with the verdict, and told in sentences.
#[test]
fn a_lenient_project_keeps_what_is_wrong_and_says_so() {
    let wrong = with(core(), "/hxp/transparency/confidence", json!(7))["hxp"].take();
    for way in ways() {
        let mut cast = Cast::new();
        let id = cast.ask((way.read)(&sent(&way, wrong.clone())).unwrap());
        assert_eq!(json!(cast.seen(id).envelope()), wrong, "{}", way.name);
        let verdict = EnvelopeVerdict::of(cast.seen(id)).unwrap();
        assert_eq!((verdict.valid, verdict.level, verdict.errors), (false, None, 1));
        assert!(verdict.rules.contains("HXPE-021"));
        assert_eq!(verdict.findings[0].instance_path, "/hxp/transparency/confidence");
        let told = &verdict.findings[0].message;
        assert!((way.shown)(cast.seen(id)).to_string().contains(told), "{}", way.name);
    }
}

/// HXPE-042, HXPE-058: a strict project refuses it in the words of each protocol, by its place.
#[test]
fn a_strict_project_refuses_in_the_words_of_each_protocol() {
    let unknown = with(core(), "/hxp/delivery/mood", json!("odd"))["hxp"].take();
    let mut told = Vec::new();
    for way in ways() {
        let mut cast = Cast::new();
        let plain = NewProject::plain("acme".parse().unwrap());
        let strict = NewProject { envelopes: EnvelopePolicy::Strict, ..plain };
        cast.run(Actor::System, DirectoryCommand::SaveProject(strict));
        let before = cast.records().len();
        let new = (way.read)(&sent(&way, unknown.clone())).unwrap();
        let refusal =
            cast.attempt(cast.agent("bot"), AskCommand::Create(Box::new(new))).unwrap_err();
        assert_eq!(cast.records().len(), before);
        told.push(json!({ "way": way.name, "error": (way.refused)(&refusal) }));
        let fine = (way.read)(&sent(&way, core()["hxp"].take())).unwrap();
        let id = cast.ask(fine);
        assert!(EnvelopeVerdict::of(cast.seen(id)).unwrap().strict);
    }
    insta::assert_json_snapshot!("refused_by_a_strict_project", told);
}

/// What is no object is refused by name; only `state` is the caller's own, whatever is in it.
#[test]
fn what_is_no_object_is_no_envelope() {
    for way in ways() {
        for odd in [json!("text"), json!(7), json!([]), json!(true)] {
            let read = (way.read)(&sent(&way, odd.clone()));
            match (way.name, read) {
                ("a2h", Ok(new)) => {
                    assert_eq!(new.claims, None);
                    let mut cast = Cast::new();
                    let id = cast.ask(new);
                    assert_eq!((way.shown)(cast.seen(id)).pointer(way.place), Some(&odd));
                }
                (name, Err(error)) => {
                    assert!(name == "native" || error.to_string().contains("hxp"), "{error}");
                }
                (name, Ok(_)) => panic!("{name} took {odd}"),
            }
        }
    }
}

/// HITL shows it in `context`, so nothing else may stand there beside it.
#[test]
fn hitl_takes_one_envelope() {
    let body = |more: Value| json!({ "type": "approval", "prompt": "Go?", "context": { "hxp": 1 }, "hxp": more });
    let refused = hitl::parse_create(body(core()["hxp"].take()).to_string().as_bytes());
    assert_eq!(refused.unwrap_err().body()["field"], "context.hxp");
    assert!(hitl::parse_create(body(Value::Null).to_string().as_bytes()).is_ok());
}

/// HXPE-006: names that come twice are seen, though a tree would have forgotten them.
#[test]
fn names_given_twice_are_seen() {
    let once = core()["hxp"].to_string();
    let twice = once.replacen('{', r#"{"intent":"plan","#, 1);
    let found = claims(&format!(r#"{{"hxp":{twice}}}"#));
    assert!(found.finding.rules.contains("HXPE-006"), "{:?}", found.finding);
    assert!(found.finding.is_valid() && found.objection.is_some());
    assert_eq!(found.content["intent"], "brainstorm");
    // Of two envelopes, the last.
    let two = format!(r#"{{"hxp":{{}},"hxp":{once}}}"#);
    assert_eq!(claims(&two).finding.level, Some(EnvelopeLevel::Core));
}

/// HXPE-035, HXPE-036, HXPE-037: the level that is recorded is the one the validator tells.
#[test]
fn levels_are_recorded() {
    for (message, level) in [
        (core(), Some(EnvelopeLevel::Core)),
        (standard(), Some(EnvelopeLevel::Standard)),
        (full(), Some(EnvelopeLevel::Full)),
        (without(core(), "/hxp/version"), None),
        (json!({ "hxp": {} }), None),
    ] {
        let found = claims(&message.to_string()).finding;
        assert_eq!((found.level, found.is_valid()), (level, level.is_some()));
    }
}

fn hints(headers: &[(&str, &str)]) -> EnvelopeHeaders {
    EnvelopeHeaders::read(headers.iter().map(|(name, value)| (*name, value.as_bytes())))
}

/// HXPE-050, HXPE-051: headers say what the envelope leaves out; where both speak, the envelope
/// counts and the difference is noted.
#[test]
fn headers_fill_in_and_never_overrule() {
    let all = [
        ("hxp-intent", "plan"),
        ("hxp-verbosity", "high"),
        ("hxp-confidence", "0.25"),
        ("hxp-cogload", "3"),
    ];
    let bare = with_headers(claims(r#"{"hxp":{"version":"1.0.0","actions":[]}}"#), &hints(&all));
    assert_eq!(bare.finding.level, Some(EnvelopeLevel::Core));
    assert!(!bare.finding.rules.contains("HXPE-051"), "nothing differs");
    let expected = json!({
        "version": "1.0.0", "actions": [], "intent": "plan", "delivery": { "verbosity": "high" },
        "transparency": { "confidence": 0.25 }, "cognition": { "load": 3 },
    });
    assert_eq!(json!(bare.content), expected);
    let whole = with_headers(claims(&standard().to_string()), &hints(&all));
    assert_eq!(json!(whole.content), standard()["hxp"]);
    assert!(whole.finding.rules.contains("HXPE-051") && whole.finding.is_valid());
    assert!(whole.finding.notes >= 4, "{:?}", whole.finding);
}

/// HXPE-051, HXPE-052: bad values and silence change nothing, and what is not an object stays so.
#[test]
fn headers_that_say_nothing_change_nothing() {
    for headers in [vec![], vec![("hxp-confidence", "NaN"), ("hxp-cogload", "99")]] {
        let before = claims(&core().to_string());
        assert_eq!(with_headers(before.clone(), &hints(&headers)), before);
    }
    let odd = claims(r#"{"hxp":{"delivery":7,"intent":null}}"#);
    let heard = with_headers(odd, &hints(&[("hxp-verbosity", "low"), ("hxp-intent", "plan")]));
    assert_eq!(json!(heard.content), json!({ "delivery": 7, "intent": null }));
    let twice = claims(r#"{"hxp":{"intent":"a","intent":"b"}}"#);
    let heard = with_headers(twice, &hints(&[("hxp-verbosity", "low")]));
    assert!(heard.finding.rules.contains("HXPE-006"));
}
