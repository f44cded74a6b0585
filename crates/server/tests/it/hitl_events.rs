//! Server-sent events of a case: each once, in order, over reconnections, until it is over.

use kernel::form::FormProgress;
use kernel::{Actor, AskCommand};
use serde_json::json;
use server::config::Settings;

use crate::hitl::{Case, approval, refused, with};
use crate::streams::{Events, Frame};
use crate::world::{World, dev};

async fn told(events: &mut Events) -> Vec<(u64, String)> {
    let mut told = Vec::new();
    while let Some(Frame { id, event, .. }) = events.next().await {
        told.push((id, event));
    }
    told
}

/// HITL-170, HITL-171, HITL-173, HITL-174, HITL-175: as it happens, and closed behind the end.
#[tokio::test]
async fn a_stream_ends_with_its_case() {
    let world = World::dev().await;
    let body = with(approval(), json!({ "reminder_at": "2026-03-01T09:01:00Z" }));
    let case = Case::make(&world, body).await;
    let holder = || Actor::link_holder(case.ask_id());
    let mut live = Events::open(&world.anonymous(), &case.path("events_url")).await;
    world.advance(60);
    world.run_timers().await;
    let reminder = live.next().await.unwrap();
    assert_eq!(
        (reminder.event.as_str(), &reminder.data["case_id"]),
        ("review.reminder", &json!(case.id))
    );
    assert!(!reminder.data.to_string().contains("token"), "no link is told");
    world.gateway().run(holder(), AskCommand::Open(case.ask_id())).await.unwrap();
    assert_eq!(live.next().await.unwrap().event, "review.opened");
    let far =
        FormProgress { current_step: 1, total_steps: 2, completed_fields: 0, total_fields: 3 };
    world.gateway().run(holder(), AskCommand::Progress(case.ask_id(), Some(far))).await.unwrap();
    let progress = live.next().await.unwrap();
    assert_eq!(
        (progress.event.as_str(), &progress.data["progress"]["total_steps"]),
        ("review.in_progress", &json!(2))
    );
    case.respond(json!({ "action": "approve" })).await.is(200);
    let completed = live.next().await.unwrap();
    assert_eq!(
        (completed.event.as_str(), &completed.data["result"]["action"]),
        ("review.completed", &json!("approve"))
    );
    // HITL-098: the same proof as in a poll.
    let proof = &completed.data["result"]["signature"];
    assert!(proof["value"].is_string());
    assert_eq!(*proof, case.status().await["result"]["signature"]);
    live.ended().await;
    // Whoever comes later hears the same, from the beginning, and the end of it.
    let mut late = Events::open(&world.agent(), &case.at("events")).await;
    let all = told(&mut late).await;
    let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(
        names,
        ["review.reminder", "review.opened", "review.in_progress", "review.completed"]
    );
    assert_eq!(all.last().unwrap().0, completed.id);
    world.end().await;
}

/// HITL-172: what was missed, and nothing twice, over a restart too; and nothing to come back for.
#[tokio::test]
async fn a_stream_goes_on_where_it_broke_off() {
    let mut world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let holder = || Actor::link_holder(case.ask_id());
    world.gateway().run(holder(), AskCommand::Open(case.ask_id())).await.unwrap();
    let mut first = Events::open(&world.anonymous(), &case.path("events_url")).await;
    let opened = first.next().await.unwrap();
    drop(first);
    world.gateway().run(holder(), AskCommand::Progress(case.ask_id(), None)).await.unwrap();
    world.restart().await;
    let from = |id: u64| world.anonymous().header("last-event-id", &id.to_string());
    let mut second = Events::open(&from(opened.id), &case.path("events_url")).await;
    assert_eq!(second.next().await.unwrap().event, "review.in_progress");
    let path = format!("{}?token={}", case.at("cancel"), case.review_token());
    world.anonymous().post(&path, json!({ "reason": "no" })).await.is(200);
    let end = second.next().await.unwrap();
    assert_eq!((end.event.as_str(), &end.data["reason"]), ("review.cancelled", &json!("no")));
    second.ended().await;
    from(end.id).get(&case.path("events_url")).await.is(204);
    // An id nobody gave out is none: everything is told again.
    let odd = world.anonymous().header("last-event-id", "evt_init");
    assert_eq!(told(&mut Events::open(&odd, &case.path("events_url")).await).await.len(), 3);
    world.end().await;
}

/// HITL-151, HITL-112: silence is told too.
#[tokio::test]
async fn a_stream_hears_that_nobody_answered() {
    let world = World::dev().await;
    let body = with(approval(), json!({ "timeout": "1m", "default_action": "abort" }));
    let case = Case::make(&world, body).await;
    let mut live = Events::open(&world.anonymous(), &case.path("events_url")).await;
    world.advance(61);
    world.run_timers().await;
    let end = live.next().await.unwrap();
    assert_eq!(
        (end.event.as_str(), &end.data["default_action"]),
        ("review.expired", &json!("abort"))
    );
    assert_eq!(end.data["expired_at"], case.hitl["expires_at"]);
    live.ended().await;
    world.end().await;
}

/// So many streams to a case and no more; a key that is revoked ends its own.
#[tokio::test]
async fn streams_are_counted_and_end_with_their_key() {
    let world = World::with(Settings { stream_limit: Some(2), ..dev() }).await;
    let case = Case::make(&world, approval()).await;
    let path = case.path("events_url");
    let open = [
        Events::open(&world.anonymous(), &path).await,
        Events::open(&world.anonymous(), &path).await,
    ];
    refused(world.anonymous().get(&path).await, 429, "rate_limited");
    let issued = world.human().post("/api/v1/keys", json!({ "agent": "agent_dev" })).await.is(201);
    let secret = issued["secret"].as_str().unwrap().to_owned();
    let mut keyed = Events::open(&world.bearer(&secret), &case.at("events")).await;
    let id = issued["id"].as_str().unwrap();
    assert!(world.human().delete(&format!("/api/v1/keys/{id}")).await.status < 300);
    keyed.ended().await;
    drop(open);
    world.end().await;
}

/// HITL-172: a position nobody gave out is none, however it looks: the end is still told.
#[tokio::test]
async fn a_position_that_was_never_given_out_hides_nothing() {
    let world = World::dev().await;
    for position in ["18446744073709551615", "7", "-1", "99999999999999999999999", "evt_1", ""] {
        let case = Case::make(&world, approval()).await;
        let odd = world.anonymous().header("last-event-id", position);
        let mut live = Events::open(&odd, &case.path("events_url")).await;
        case.respond(json!({ "action": "approve" })).await.is(200);
        let told = live.next().await.unwrap();
        assert_eq!(told.event, "review.completed", "{position}");
        live.ended().await;
        // And to whoever comes back with it.
        let mut late = Events::open(&odd, &case.path("events_url")).await;
        assert_eq!(late.next().await.unwrap().event, "review.completed", "{position}");
    }
    world.end().await;
}
