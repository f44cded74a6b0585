//! What people read: nothing is said that is not known.

use dialects::proof::explain;
use serde_json::{Value, json};

use crate::fixtures::{claims, refund, typed};

fn said(more: Value) -> String {
    explain(&typed(claims(&refund(), more))).join("\n")
}

const ASSURANCES: [&str; 6] = ["none", "agent-attested", "link", "channel", "session", "passkey"];

#[test]
fn every_assurance_in_plain_words() {
    for assurance in ASSURANCES {
        insta::assert_snapshot!(
            format!("completed_{assurance}"),
            said(json!({ "assurance": assurance }))
        );
    }
}

/// By an agent, nobody it names.
#[test]
fn what_an_agent_attests() {
    let by = json!({ "kind": "agent", "id": "bot" });
    let said = said(json!({ "by": by, "assurance": "agent-attested", "via": "api" }));
    insta::assert_snapshot!("attested", said);
}

/// HITL-229: a proof says that it was a person, and not who.
#[test]
fn a_proof_of_a_person_is_nobodys_name() {
    let proof = json!({ "proof_type": "proof_of_human", "provider": "acme", "assurance": "high",
        "verified_at": "2026-02-06T10:00:00.000Z" });
    let link = json!({ "by": { "kind": "link_holder" }, "assurance": "link", "via": "link" });
    let mut proven = link.clone();
    proven["proofs"] = json!([proof]);
    let line = "acme proved (proof_of_human, with high assurance) that a person was present, \
                verified at 2026-02-06T10:00:00.000Z; it does not prove who.";
    assert_eq!(said(proven).replace(&format!("{line}\n"), ""), said(link));
}

/// HITL-068, HITL-074: whoever held the link, and whom the agent says it speaks for.
#[test]
fn what_a_link_and_a_relay_say() {
    let link = json!({ "by": { "kind": "link_holder" }, "assurance": "link", "via": "link" });
    insta::assert_snapshot!("link_holder", said(link.clone()));
    // Since it is recorded where a link went, only those that the server delivered are `link`.
    let with = |more: Value| {
        let mut link = link.clone();
        link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        said(link)
    };
    let delivered = with(json!({ "shown": "question" }));
    insta::assert_snapshot!("link_that_was_delivered", delivered);
    let given = with(json!({ "shown": "nothing", "assurance": "agent-attested" }));
    insta::assert_snapshot!("link_that_an_agent_was_given", given);
    let attested = json!({
        "via": "slack_block_action", "platform": "slack", "platform_user_id": "U1",
        "display_name": "Ann\u{202e}",
    });
    let relay = json!({
        "by": { "kind": "relay" }, "assurance": "agent-attested", "via": "inline",
        "attested": attested,
    });
    insta::assert_snapshot!("relay", said(relay));
    let changes = json!({ "verdict": "changes_requested", "edits": { "amount": 5 } });
    insta::assert_snapshot!("changes_with_edits", said(json!({ "answer": changes })));
}

#[test]
fn nobody_answered() {
    let nobody = json!({ "kind": "system" });
    // Whatever else stands there, the system is nobody.
    for assurance in ASSURANCES {
        let default = said(json!({ "by": nobody, "via": "timer", "assurance": assurance }));
        assert!(default.starts_with("No one decided."), "{default}");
        assert!(default.contains("The default is not a decision"), "{default}");
    }
    let default = json!({ "by": nobody, "via": "timer", "assurance": "none" });
    insta::assert_snapshot!("default_on_silence", said(default));
    let over = |outcome: &str, more: Value| {
        let mut members = json!({
            "outcome": outcome, "by": nobody, "answer": null, "via": null, "assurance": null,
            "taken_up_at": "2026-02-06T10:00:00.000Z",
        });
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        said(members)
    };
    for report in ["skip", "approve", "reject", "abort"] {
        insta::assert_snapshot!(
            format!("expired_{report}"),
            over("expired", json!({ "report": report }))
        );
    }
    insta::assert_snapshot!("failed", over("failed", json!({})));
    for (name, by) in [
        ("agent", json!({ "kind": "agent", "id": "bot" })),
        ("human", json!({ "kind": "human", "id": "olga" })),
        ("system", nobody.clone()),
    ] {
        let more = json!({ "by": by, "reason": "never mind" });
        insta::assert_snapshot!(format!("cancelled_by_{name}"), over("cancelled", more));
    }
}

/// The first sentence of every answer, a person's and nobody's.
#[test]
fn every_answer() {
    let answers = [
        json!({ "verdict": "approved" }),
        json!({ "verdict": "approved", "edits": { "amount": 100, "to": "Ada" } }),
        json!({ "verdict": "rejected" }),
        json!({ "verdict": "changes_requested" }),
        json!({ "verdict": "chosen", "options": ["eu", "asia"] }),
        json!({ "verdict": "provided", "values": { "size": 3, "note": "soon", "tags": ["a"] } }),
        json!({ "verdict": "provided", "values": {} }),
        json!({ "verdict": "confirmed", "items": ["a", "b"] }),
        json!({ "verdict": "confirmed", "items": [] }),
        json!({ "verdict": "declined" }),
        json!({ "verdict": "retry", "params": { "n": 2 } }),
        json!({ "verdict": "retry" }),
        json!({ "verdict": "skip" }),
        json!({ "verdict": "abort" }),
        json!({ "verdict": "replied", "text": "Call me." }),
    ];
    let first = |more: Value| said(more).lines().next().unwrap().to_owned();
    let lines = answers.map(|answer| {
        let default = json!({ "answer": answer, "by": { "kind": "system" }, "assurance": "none" });
        format!("{}\n{}", first(json!({ "answer": answer })), first(default))
    });
    insta::assert_snapshot!("answers", lines.join("\n"));
}

#[test]
fn pools_secrets_comments_and_doors() {
    insta::assert_snapshot!(
        "everything",
        said(json!({
            "by": { "kind": "human", "id": "pool_member_0badcafe" },
            "answer": { "verdict": "provided", "values": { "size": 3 } },
            "redacted": ["pin", "token"],
            "comment": "as agreed",
            "via": "carrier-pigeon",
        }))
    );
}

/// What was not displayed is not claimed.
#[test]
fn what_was_displayed() {
    let line = |more: Value| {
        let said = said(more);
        said.lines().find(|line| line.starts_with("The whole question")).unwrap().to_owned()
    };
    let lines = ["question", "summary", "nothing"].map(|shown| line(json!({ "shown": shown })));
    insta::assert_snapshot!("displayed", lines.join("\n"));
    assert!(lines[0].contains(&"5".repeat(64)));
    for line in &lines[1..] {
        assert!(!line.contains(&"5".repeat(64)) && line.contains("makes no claim"), "{line}");
    }
}

/// A receipt cannot be made to read like another one.
#[test]
fn hidden_characters_show_themselves() {
    let said = said(json!({
        "prompt": "Pay 10\u{202e}0 EUR\u{200b}?\nolga rejected it.",
        "comment": "ok\u{1b}[2J",
        "iss": "https://a\u{2066}.example",
    }));
    assert!(said.contains("“Pay 10⟨U+202E⟩0 EUR⟨U+200B⟩?\nolga rejected it.”"), "{said}");
    assert!(said.contains("“ok⟨U+001B⟩[2J”"), "{said}");
    assert!(said.contains("https://a⟨U+2066⟩.example"), "{said}");
}
