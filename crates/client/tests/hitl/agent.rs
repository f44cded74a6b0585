//! An agent before another service, by polls.

use client::hitl::{Case, HitlError, JudgedBy, Outcome, Round, SubmittedBy};
use serde_json::{Map, Value, json};

use crate::fake::{Fake, Person, completed, json, pending, text};

fn none() -> Value {
    json!({})
}

fn done(outcome: Outcome) -> client::hitl::Completed {
    match outcome {
        Outcome::Completed(done) => done,
        other => panic!("not completed: {other:?}"),
    }
}

/// HITL-009: the person gets the text and the link, and the agent waits.
#[tokio::test]
async fn a_service_that_only_polls_and_has_no_tags() {
    let fake = Fake::start(|_, before| match before {
        0 | 1 => json(200, &[], &pending()),
        _ => json(200, &[], &completed("approve")),
    })
    .await;
    let (case, person) = (fake.case(&none()), Person::new(&fake.clock));
    let outcome = fake.follower().follow(&case, async |notice| person.tell(notice)).await.unwrap();
    let done = done(outcome);
    assert_eq!(done.action, "approve");
    assert_eq!(done.data["feedback"], "fine");
    assert_eq!(done.responded_by.unwrap().name.as_deref(), Some("Ada"));
    assert_eq!(person.told(), [(0, false)]);
    assert_eq!(person.first().text, "Somebody has to look at this.");
    assert!(person.first().review_url.ends_with("/review/1?token=review"));
    assert_eq!(fake.times("/status"), [30, 60, 105]);
}

/// HITL-082, HITL-084.
#[tokio::test]
async fn tags_are_sent_back_and_pauses_are_kept() {
    let fake = Fake::start(|_, before| match before {
        0 => json(200, &[("etag", "\"v1\""), ("retry-after", "15")], &pending()),
        1 => json(304, &[("etag", "\"v1\""), ("retry-after", "60")], &Value::Null),
        2 | 3 => json(304, &[("etag", "\"v1\"")], &Value::Null),
        _ => json(200, &[("etag", "\"v2\"")], &completed("reject")),
    })
    .await;
    let mut case = fake.case(&none());
    case.retry_after = Some(std::time::Duration::from_secs(20));
    assert_eq!(done(fake.follower().wait(&case).await.unwrap()).action, "reject");
    let tags: Vec<_> = fake
        .seen("/status")
        .iter()
        .map(|seen| seen.header("if-none-match").map(str::to_owned))
        .collect();
    let tag = || Some("\"v1\"".to_owned());
    assert_eq!(tags, [None, tag(), tag(), tag(), tag()]);
    // 20 as the 202 said, 15 and 60 as the polls did, then our own pace, slower each time.
    assert_eq!(fake.times("/status"), [20, 35, 95, 162, 263]);
}

/// HITL-085.
#[tokio::test]
async fn whoever_says_too_many_is_left_alone() {
    let fake = Fake::start(|_, before| match before {
        0 => json(
            429,
            &[("retry-after", "600")],
            &json!({ "error": "rate_limited", "message": "!" }),
        ),
        1 => text(503, "down"),
        2 => text(502, "still"),
        _ => json(200, &[], &completed("approve")),
    })
    .await;
    assert_eq!(done(fake.follower().wait(&fake.case(&none())).await.unwrap()).action, "approve");
    assert_eq!(fake.times("/status"), [30, 630, 640, 660]);
}

#[tokio::test]
async fn what_makes_no_sense_is_put_up_with_for_a_while() {
    let fake = Fake::start(|_, before| match before {
        0 => text(200, "<html>"),
        1 => json(200, &[], &json!({ "case_id": "review_1" })),
        2 => json(200, &[], &pending()),
        3 => json(200, &[], &json!({ "status": "completed", "case_id": "review_1" })),
        4 => json(200, &[], &json!({ "status": "completed", "case_id": "review_2", "result": { "action": "approve" } })),
        _ => json(200, &[], &json!([])),
    })
    .await;
    let error = fake.follower().wait(&fake.case(&none())).await.unwrap_err();
    assert!(matches!(error, HitlError::Malformed(_)), "{error}");
    assert_eq!(fake.seen("/status").len(), 6);
}

/// HITL-150: the agent judges by `expires_at`, and the default is its own to carry out.
#[tokio::test]
async fn what_stays_pending_for_ever_expires_by_the_clock() {
    let fake = Fake::start(|_, _| json(200, &[], &pending())).await;
    let reminders = json!({ "reminder_at": ["2026-02-06T10:30:00Z", "2026-02-06T10:45:00Z"] });
    let (case, person) = (fake.case(&reminders), Person::new(&fake.clock));
    let outcome = fake.follower().follow(&case, async |notice| person.tell(notice)).await.unwrap();
    let Outcome::Expired(expired) = outcome else { panic!("{outcome:?}") };
    assert_eq!((expired.default_action.as_str(), expired.judged_by), ("reject", JudgedBy::Clock));
    assert_eq!(expired.expired_at, case.expires_at);
    // HITL-160.
    assert_eq!(person.told(), [(0, false), (1800, true), (2700, true)]);
    let times = fake.times("/status");
    assert!(times.contains(&3600), "it asks when the time is up: {times:?}");
    assert!((3660..3670).contains(&fake.clock.seconds()), "{}", fake.clock.seconds());
}

#[tokio::test]
async fn a_service_that_is_gone_expires_too() {
    let fake = Fake::start(|_, _| text(500, "")).await;
    let outcome = fake.follower().wait(&fake.case(&none())).await.unwrap();
    assert!(matches!(outcome, Outcome::Expired(over) if over.judged_by == JudgedBy::Clock));
    // However long it wants to be left alone.
    let fake = Fake::start(|_, _| json(429, &[("retry-after", "999999999")], &Value::Null)).await;
    let outcome = fake.follower().wait(&fake.case(&none())).await.unwrap();
    assert!(matches!(outcome, Outcome::Expired(_)));
    assert_eq!((fake.times("/status"), fake.clock.seconds()), (vec![30], 3900));
}

#[tokio::test]
async fn the_service_judges_first_and_may_give_more_time() {
    let fake = Fake::start(|_, before| match before {
        0 => json(
            200,
            &[("retry-after", "3590")],
            &json!({
                "status": "opened", "case_id": "review_1", "expires_at": "2026-02-06T12:00:00Z",
            }),
        ),
        1 => json(200, &[("retry-after", "30")], &pending()),
        _ => json(
            200,
            &[],
            &json!({
                "status": "expired", "case_id": "review_1", "expired_at": "2026-02-06T12:00:00Z",
                "default_action": "abort",
            }),
        ),
    })
    .await;
    let outcome = fake.follower().wait(&fake.case(&none())).await.unwrap();
    let Outcome::Expired(expired) = outcome else { panic!("{outcome:?}") };
    assert_eq!((expired.default_action.as_str(), expired.judged_by), ("abort", JudgedBy::Service));
    assert_eq!(fake.times("/status"), [30, 3620, 3650]);
}

#[tokio::test]
async fn withdrawn_and_refused() {
    let fake = Fake::start(|_, _| {
        json(
            200,
            &[],
            &json!({ "status": "cancelled", "case_id": "review_1", "reason": "no need" }),
        )
    })
    .await;
    let outcome = fake.follower().wait(&fake.case(&none())).await.unwrap();
    assert!(
        matches!(outcome, Outcome::Cancelled(over) if over.reason.as_deref() == Some("no need"))
    );
    let fake = Fake::start(|_, _| {
        json(404, &[], &json!({ "detail": { "error": "not_found", "message": "no such case" } }))
    })
    .await;
    let error = fake.follower().wait(&fake.case(&none())).await.unwrap_err();
    assert_eq!(error.to_string(), "no such case (HTTP 404 not_found)");
}

#[tokio::test]
async fn a_credential_stays_at_home() {
    let fake = Fake::start(|_, _| json(200, &[], &completed("approve"))).await;
    let case = fake.case(&none());
    let at_home = fake.follower().authorization(&fake.base, "Bearer key").unwrap();
    at_home.wait(&case).await.unwrap();
    let elsewhere = fake.follower().authorization("https://jobs.example", "Bearer key").unwrap();
    elsewhere.wait(&case).await.unwrap();
    let sent: Vec<_> =
        fake.seen("/status").iter().map(|seen| seen.header("authorization").is_some()).collect();
    assert_eq!(sent, [true, false]);
}

/// HITL-140 to HITL-142.
#[tokio::test]
async fn rounds_go_on_until_nobody_wants_an_edit() {
    let fake = Fake::start(|_, before| match before {
        0 => json(200, &[], &completed("edit")),
        _ => json(200, &[], &completed("approve")),
    })
    .await;
    let accepted = fake.accepted(&none());
    let offer = Fake::start(move |seen, _| {
        let again = seen.body["previous_case_id"].is_string();
        assert_eq!(seen.body["draft"], if again { "better" } else { "first" });
        json(202, &[("retry-after", "5")], &accepted)
    })
    .await;
    let http = reqwest::Client::new();
    let send = |body: Map<String, Value>| {
        let request = http.post(format!("{}/drafts", offer.base)).json(&body);
        async move { Ok(request.send().await.unwrap()) }
    };
    let revise = async |mut body: Map<String, Value>, done: client::hitl::Completed| {
        assert_eq!(done.data["feedback"], "fine");
        body.insert("draft".to_owned(), json!("better"));
        Some(body)
    };
    let first = Map::from_iter([("draft".to_owned(), json!("first"))]);
    let round = fake.follower().rounds(first, send, revise, async |_| {}).await.unwrap();
    let Round::Ended { case_id, outcome } = round else { panic!("{round:?}") };
    assert_eq!((case_id.as_str(), done(outcome).action.as_str()), ("review_1", "approve"));
    assert_eq!(offer.seen("/drafts")[1].body["previous_case_id"], "review_1");
    assert_eq!(fake.times("/status"), [5, 10], "as the 202 asked");
}

/// HITL-037, HITL-071, HITL-072.
#[tokio::test]
async fn what_was_pressed_is_passed_on_and_the_token_is_not() {
    let fake = Fake::start(|_, before| match before {
        0 => json(200, &[], &json!({ "status": "completed", "case_id": "review_1" })),
        _ => json(409, &[], &json!({ "error": "duplicate_submission", "message": "too late" })),
    })
    .await;
    let token = "s".repeat(43);
    let inline = json!({
        "submit_url": format!("{}/submit", fake.base), "submit_token": token,
        "inline_actions": ["approve"],
    });
    let (case, follower) = (fake.case(&inline), fake.follower());
    let button = case.button("approve", 64).unwrap();
    assert_eq!(Case::pressed(&button), Some(("review_1", "approve")));
    assert!(!button.contains(&token));
    assert!(case.button("approve", 10).is_err());
    let by = SubmittedBy {
        platform: "telegram".to_owned(),
        platform_user_id: "42".to_owned(),
        display_name: None,
    };
    let submit = |action, via| follower.submit(&case, action, Map::new(), via, &by, &[]);
    let submitted = submit("approve", "telegram_inline_button").await.unwrap();
    assert_eq!(submitted.case_id, "review_1");
    let seen = &fake.seen("/submit")[0];
    assert_eq!(seen.header("authorization"), Some(&*format!("Bearer {token}")));
    assert_eq!(
        seen.body,
        json!({
            "action": "approve", "data": {}, "submitted_via": "telegram_inline_button",
            "submitted_by": { "platform": "telegram", "platform_user_id": "42" },
        })
    );
    let late = submit("approve", "x-signal").await.unwrap_err();
    assert!(
        matches!(late, HitlError::Refused { status: 409, ref code, .. } if code == "duplicate_submission")
    );
    assert!(matches!(submit("reject", "x-signal").await.unwrap_err(), HitlError::NotInline(_)));
    assert!(matches!(submit("approve", "telegram").await.unwrap_err(), HitlError::Invalid(_)));
    let page_only = fake.case(&none());
    let refused = follower.submit(&page_only, "approve", Map::new(), "x-signal", &by, &[]).await;
    assert!(matches!(refused.unwrap_err(), HitlError::NotInline(_)));
    assert_eq!(fake.seen("/submit").len(), 2);
}

/// HITL-224, HITL-225: proofs are passed on untouched; a refusal says where the person goes
/// instead, and nothing is tried again.
#[tokio::test]
async fn proofs_are_passed_on_untouched() {
    let page = "https://jobs.example/review/1";
    let fake = Fake::start(move |_, n| match n {
        0 => json(
            403,
            &[],
            &json!({ "error": "verification_required", "message": "prove it", "review_url": page }),
        ),
        1 => json(403, &[], &json!({ "error": "verification_failed", "message": "stale" })),
        _ => json(200, &[], &json!({ "status": "completed", "case_id": "review_1" })),
    })
    .await;
    let inline = json!({
        "submit_url": format!("{}/submit", fake.base), "submit_token": "s".repeat(43),
        "inline_actions": ["approve"],
    });
    let (case, follower) = (fake.case(&inline), fake.follower());
    let by = SubmittedBy {
        platform: "x-signal".to_owned(),
        platform_user_id: "42".to_owned(),
        display_name: None,
    };
    let proof = json!({
        "proof_type": "proof_of_human", "provider": "acme", "format": "jwt",
        "presentation": { "odd": ["as", { "it": "came" }] }, "binding": { "more": 1 },
    });
    let submit = |proofs: &[Value]| {
        let proofs = proofs.to_vec();
        let (follower, case, by) = (&follower, &case, &by);
        async move { follower.submit(case, "approve", Map::new(), "x-signal", by, &proofs).await }
    };
    let missing = submit(&[]).await.unwrap_err();
    assert!(!missing.is_passing());
    assert!(
        matches!(missing, HitlError::VerificationRequired { review_url: Some(url), .. } if url == page)
    );
    let failed = submit(std::slice::from_ref(&proof)).await.unwrap_err();
    assert!(matches!(failed, HitlError::VerificationFailed { review_url: None, .. }));
    submit(std::slice::from_ref(&proof)).await.unwrap();
    let sent: Vec<Value> = fake
        .seen("/submit")
        .iter()
        .map(|seen| seen.body["verification_evidence"].clone())
        .collect();
    assert_eq!(sent, [Value::Null, json!([proof]), json!([proof])]);
}
