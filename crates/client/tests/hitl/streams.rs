//! An agent before another service, by events.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use client::hitl::Outcome;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};

use crate::fake::{Fake, Person, completed, json, pending, text};

/// A stream that says this and then stays open, or ends.
fn events(said: &'static str, ends: bool) -> Response {
    let first = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(said.as_bytes()))]);
    let body = if ends { first.boxed() } else { first.chain(stream::pending()).boxed() };
    Response::builder()
        .header("content-type", "text/event-stream; charset=utf-8")
        .body(Body::from_stream(body))
        .unwrap()
}

fn streaming(fake: &Fake) -> Value {
    json!({ "events_url": format!("{}/events?token=poll", fake.base) })
}

const COMPLETED: &str = "id: e2\nevent: review.completed\ndata: {\"case_id\":\"review_1\",\
    \"completed_at\":\"2026-02-06T10:05:00Z\",\"result\":{\"action\":\"approve\",\"data\":{}}}\n\n";

/// HITL-170, HITL-172: the polls are broken, the stream breaks off, and still the end is heard.
#[tokio::test]
async fn a_stream_that_breaks_off_goes_on_where_it_was() {
    let fake = Fake::start(|seen, before| match (seen.path.as_str(), before) {
        ("/events", 0) => events(": hi\nretry: 1000\n\nid: e1\nevent: review.opened\ndata: {\"case_id\":\"review_1\"}\n\n", true),
        ("/events", 1) => text(503, "restarting"),
        ("/events", _) => events(COMPLETED, false),
        _ => text(500, "polls are broken here"),
    })
    .await;
    let case = fake.case(&streaming(&fake));
    let Outcome::Completed(done) = fake.follower().wait(&case).await.unwrap() else { panic!() };
    assert_eq!(done.action, "approve");
    let streams = fake.seen("/events");
    let last: Vec<_> = streams.iter().map(|seen| seen.header("last-event-id")).collect();
    assert_eq!(last, [None, Some("e1"), Some("e1")]);
    assert!(streams.iter().all(|seen| seen.header("accept") == Some("text/event-stream")));
    assert!(fake.clock.seconds() < 30, "nobody waited for a poll");
}

#[tokio::test]
async fn an_event_is_followed_by_one_look_that_says_who() {
    let fake = Fake::start(|seen, _| match seen.path.as_str() {
        "/events" => events(COMPLETED, true),
        _ => json(200, &[], &completed("approve")),
    })
    .await;
    let case = fake.case(&streaming(&fake));
    let Outcome::Completed(done) = fake.follower().wait(&case).await.unwrap() else { panic!() };
    assert_eq!(done.responded_by.unwrap().name.as_deref(), Some("Ada"));
    assert_eq!(fake.seen("/status").len(), 1);
}

#[tokio::test]
async fn where_there_is_no_stream_polls_do() {
    for refuse in [
        || text(404, "nothing here"),
        || text(200, "<html>"),
        || text(401, ""),
        || Response::builder().status(204).body(Body::empty()).unwrap(),
        || events("data: {\n\nevent: review.completed\ndata: {}\n\n", false),
        || events("", true),
        || text(500, ""),
    ] {
        let fake = Fake::start(move |seen, _| match seen.path.as_str() {
            "/events" => refuse(),
            _ => json(200, &[], &completed("approve")),
        })
        .await;
        let case = fake.case(&streaming(&fake));
        let outcome = fake.follower().wait(&case).await.unwrap();
        assert!(matches!(outcome, Outcome::Completed(_)));
        assert!(fake.clock.seconds() <= 30, "{}", fake.clock.seconds());
        assert!(fake.seen("/events").len() <= 6);
    }
}

/// A stream that stays silent about the end is backed up by polls, few of them.
#[tokio::test]
async fn a_stream_that_forgets_to_tell_is_caught_by_a_poll() {
    let fake = Fake::start(|seen, before| match (seen.path.as_str(), before) {
        ("/events", _) => events(": hi\n\n", false),
        (_, 0..2) => json(200, &[("retry-after", "10")], &pending()),
        _ => json(200, &[], &completed("approve")),
    })
    .await;
    let case = fake.case(&streaming(&fake));
    let outcome = fake.follower().wait(&case).await.unwrap();
    assert!(matches!(outcome, Outcome::Completed(_)));
    assert_eq!(fake.times("/status"), [30, 330, 630]);
}

/// HITL-160: by its own clock and by what the service says, once.
#[tokio::test]
async fn reminders_are_given_once() {
    let said = "id: r1\nevent: review.reminder\ndata: {\"case_id\":\"review_1\",\
        \"reminder_at\":\"2026-02-06T10:10:02Z\",\"message\":\"Still there?\"}\n\n";
    let fake = Fake::start(move |seen, before| match (seen.path.as_str(), before) {
        ("/events", 0) => events(said, false),
        ("/events", _) => events(": nothing\n\n", false),
        (_, 0..4) => json(200, &[], &pending()),
        _ => json(200, &[], &completed("approve")),
    })
    .await;
    let mut more = streaming(&fake);
    more["reminder_at"] = json!("2026-02-06T10:10:00Z");
    let (case, person) = (fake.case(&more), Person::new(&fake.clock));
    fake.follower().follow(&case, async |notice| person.tell(notice)).await.unwrap();
    let told = person.told();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].1);
}
