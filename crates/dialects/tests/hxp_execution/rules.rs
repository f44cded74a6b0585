//! `/hxp/v1/delegation/rules`.

use dialects::hxp_execution::parse_rules;
use dialects::hxp_execution::rules::{rule_view, rules_view};
use kernel::ask::{Assignee, Priority};
use kernel::command::AskCommand;
use kernel::directory::NewRule;
use kernel::question::QuestionKind;
use kernel::testing::{Cast, human};
use serde_json::json;

use crate::fixtures::{bytes, full, new, pretty, with};

/// Section 6.2's example, HXPX-043, HXPX-073.
#[test]
fn the_example_of_the_specification_parses() {
    let seed = br#"{
      "rules": [
        { "action": "APPROVE", "tag": "finance", "delegate_to": "user_789" },
        { "action": "DECIDE", "project_id": "project_beta", "delegate_to": "user_012" }
      ]
    }"#;
    let parsed = parse_rules(seed).unwrap();
    assert!(parsed.listed);
    assert_eq!(
        parsed.rules,
        [
            NewRule {
                kinds: [QuestionKind::Approve].into(),
                project: None,
                tag: Some("finance".into()),
                priority: None,
                delegate_to: human("user_789"),
            },
            NewRule {
                kinds: [QuestionKind::Choose, QuestionKind::Confirm, QuestionKind::Escalate].into(),
                project: Some("project_beta".into()),
                tag: None,
                priority: None,
                delegate_to: human("user_012"),
            },
        ]
    );
}

/// HXPX-043: one rule, and its echo; a list shows them in order.
#[test]
fn rules_are_echoed() {
    let mut cast = Cast::new();
    for body in [
        json!({"delegate_to": "mark"}),
        json!({"action": "PROVIDE", "project_id": "p", "tag": "t", "priority": "high",
            "delegate_to": "nobody_yet"}),
        json!({"action": null, "tag": null, "delegate_to": "nina"}),
    ] {
        let parsed = parse_rules(&bytes(&body)).unwrap();
        assert!(!parsed.listed);
        cast.rule("olga", parsed.rules[0].clone());
    }
    let mixed = NewRule {
        kinds: [QuestionKind::Approve, QuestionKind::Provide].into(),
        project: None,
        tag: None,
        priority: Some(Priority::Low),
        delegate_to: human("mark"),
    };
    cast.rule("olga", mixed);
    let owner = human("olga");
    insta::assert_snapshot!(pretty(&rules_view(cast.directory().rules_of(&owner))));
    let any = cast.directory().rules_of(&owner).next().unwrap();
    assert_eq!(rule_view(any).action, None);
}

/// HXPX-073, HXPX-074: a parsed rule routes a parsed request by its tag.
#[test]
fn a_rule_finds_its_request() {
    let mut cast = Cast::new();
    let body = json!({"action": "APPROVE", "tag": "finance", "delegate_to": "mark"});
    cast.rule("olga", parse_rules(&bytes(&body)).unwrap().rules[0].clone());
    let body = with(full("APPROVE"), "role", json!("delegate"));
    let tagged = cast.ask(new(&with(body.clone(), "metadata", json!({"tags": ["finance"]}))));
    let plain = cast.ask(new(&body));
    assert_eq!(cast.seen(tagged).assignees, [Assignee::Person { human: human("mark") }]);
    assert_eq!(cast.seen(plain).assignees, [Assignee::Person { human: human("olga") }]);
    cast.run(cast.human("mark"), AskCommand::Open(tagged));
}

/// HXPX-073: what a rule cannot be.
#[test]
fn bad_rules_are_refused() {
    for body in [
        json!({}),
        json!({"action": "APPROVE"}),
        json!({"delegate_to": null}),
        json!({"delegate_to": 5}),
        json!({"delegate_to": "two words"}),
        json!({"delegate_to": "mark", "action": "approve"}),
        json!({"delegate_to": "mark", "action": 1}),
        json!({"delegate_to": "mark", "priority": "urgent"}),
        json!({"delegate_to": "mark", "tag": ""}),
        json!({"delegate_to": "mark", "tag": "\0"}),
        json!({"delegate_to": "mark", "project_id": "x".repeat(201)}),
        json!({"rules": []}),
        json!({"rules": {}}),
        json!({"rules": ["mark"]}),
        json!({"rules": [{"delegate_to": "mark"}, {}]}),
        json!({"rules": vec![json!({"delegate_to": "mark"}); 101]}),
    ] {
        let error = parse_rules(&bytes(&body)).unwrap_err();
        assert_eq!((error.status, error.code), (400, "invalid_rule"), "{body}");
    }
    assert_eq!(parse_rules(b"{").unwrap_err().code, "invalid_json");
}
