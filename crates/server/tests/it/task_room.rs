//! The room of a task: judging what was delivered, everything whoever answers for it can do, the
//! task as it was, and what an open room hears.

use serde_json::{Value, json};

use crate::client::Reply;
use crate::hacp::{begun, done, inline, raised, state};
use crate::pages::{Browser, signed_in};
use crate::streams::Events;
use crate::task_pages::{person, press, values, words};
use crate::world::World;

async fn act(browser: &Browser, task: &str, act: &str, pairs: &[(&str, &str)]) -> Reply {
    let room = format!("/tasks/{task}");
    press(browser, &room, &format!("{room}/{act}"), pairs).await
}

async fn deliver(world: &World, task: &str, content: &str) -> Value {
    done(&world.agent(), "artifact.commit", inline(task, content)).await
}

/// HACP-060, HACP-061: three verdicts, comments on lines, and versions side by side; all of it
/// reaches the agent.
#[tokio::test]
async fn what_was_delivered_is_judged_like_a_change() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    let made = deliver(&world, &task, "one\ntwo\nthree\n").await;
    let artifact = made["id"].as_str().unwrap().to_owned();
    let room = browser.client.get(&format!("/tasks/{task}")).await.is(200);
    assert_eq!(words(&room, ".leaf .is"), ["one", "two", "three"]);
    let base = [
        ("artifact", &*artifact),
        ("version", "v1"),
        ("place.1", "2"),
        ("severity.1", "blocker"),
        ("body.1", "Not this"),
    ];
    let sent = |more: &[(&'static str, &'static str)]| -> Vec<(&str, &str)> {
        base.iter().chain(more).copied().collect()
    };

    // Without words what has to change is not said, and nothing that was entered is lost.
    let page = act(
        &browser,
        &task,
        "review",
        &sent(&[("verdict", "changes_requested"), ("changes", " ")]),
    )
    .await
    .is(422);
    assert!(words(&page, "#changes-error")[0].contains("Enter what has to change"));
    assert_eq!(words(&page, "#body-1"), ["Not this"]);
    let page = act(&browser, &task, "review", &sent(&[("verdict", "more")])).await.is(200);
    assert_eq!(values(&page, ".comment textarea", "id").len(), 2);
    act(&browser, &task, "review", &sent(&[])).await.is(422);
    assert_eq!(state(&world, &task).await, "review_ready");
    let changes = [("verdict", "changes_requested"), ("changes", "Say 2\r\nSay 3")];
    let page = act(&browser, &task, "review", &sent(&changes)).await.is(200);
    assert!(words(&page, ".banner")[0].starts_with("Your review was recorded"));
    assert_eq!(words(&page, ".changes li"), ["Say 2", "Say 3"]);
    assert!(words(&page, ".note")[0].contains("Not this"), "beside its line");
    let seen = done(&world.agent(), "task.get", json!({ "task_id": task })).await;
    assert_eq!(
        (&seen["state"], &seen["ownership"]["assignee"]),
        (&json!("in_progress"), &json!("agent_dev"))
    );
    let kept = world.gateway().store().task(task.parse().unwrap()).await.unwrap().unwrap();
    let said = kept.reviews[0].text.value().unwrap();
    assert_eq!(said.requested_changes, ["Say 2", "Say 3"]);
    assert_eq!(said.comments[0].anchor.as_deref(), Some("L2"));

    // The verdict on a version that was replaced meanwhile is none.
    deliver(&world, &task, "one\n2\n3\n").await;
    let page = act(&browser, &task, "review", &sent(&[("verdict", "approved")])).await.is(409);
    assert!(words(&page, ".banner")[0].contains("changed meanwhile"));
    let room = browser.client.get(&format!("/tasks/{task}")).await.is(200);
    assert_eq!(words(&room, "#sheet-title"), ["v1 beside v2"]);
    assert_eq!(words(&room, ".ln.both .was"), ["removed: two", "removed: three"]);
    let alone = format!("/tasks/{task}?older=none&newer={artifact}:v1");
    let alone = browser.client.get(&alone).await.is(200);
    assert_eq!(words(&alone, "#sheet-title"), ["v1"]);
    let review = values(&room, "input[name=review]", "value").remove(0);
    let pairs = [("review", &*review), ("place", "3"), ("body", "Thank you")];
    let page = act(&browser, &task, "remark", &pairs).await.is(200);
    assert!(words(&page, ".said").iter().any(|said| said.contains("Thank you")));
    act(&browser, &task, "remark", &[("review", &*review), ("body", " ")]).await.is(422);
    let good = [("artifact", &*artifact), ("version", "v2"), ("verdict", "approved")];
    let page = act(&browser, &task, "review", &good).await.is(200);
    assert_eq!(words(&page, "#stands"), ["Done"]);
    assert_eq!(state(&world, &task).await, "completed");
    let inbox = browser.client.get("/").await.is(200);
    assert!(words(&inbox, "#rows .row").is_empty(), "nothing waits any more");
    world.end().await;
}

/// HACP-020, HACP-026, HACP-031: only whoever answers for a task amends it, stops it, allows
/// something, hands it on and calls it off.
#[tokio::test]
async fn whoever_answers_for_a_task_steers_it() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    let room = format!("/tasks/{task}");
    let member = person(&world, "user_dev_2").await;
    let seen = member.client.get(&room).await.is(200);
    assert!(values(&seen, ".side form", "action").is_empty(), "others look");
    let token = values(&seen, "input[name=csrf]", "value").remove(0);
    for (act, pair) in
        [("cancel", ("reason", "x")), ("amend", ("text", "x")), ("interrupt", ("prompt", "x"))]
    {
        let pairs = [("csrf", &*token), ("intent", "clarify"), pair];
        let page = member.client.post_form(&format!("{room}/{act}"), &pairs).await.is(409);
        assert!(words(&page, ".banner")[0].contains("You can't do this"), "{act}");
        browser.client.post_form(&format!("{room}/{act}"), &[pair]).await.is(403);
    }
    let page =
        act(&browser, &task, "amend", &[("text", "Mind the\r\ntests"), ("intent", "constrain")])
            .await
            .is(200);
    assert!(words(&page, ".known")[0].contains("Add a constraint: Mind the tests"));
    act(&browser, &task, "amend", &[("text", "x"), ("intent", "shout")]).await.is(422);
    let page =
        act(&browser, &task, "amend", &[("text", " "), ("intent", "redirect")]).await.is(422);
    assert!(words(&page, ".banner")[0].contains("Write the message to the agent"));
    let grant = [
        ("scope", "fs:/repo:*"),
        ("decision", "deny"),
        ("until", "moment"),
        ("moment", "2026-03-02T10:00"),
    ];
    let page = act(&browser, &task, "grant", &grant).await.is(200);
    assert!(words(&page, ".known")[0].contains("Forbidden fs:/repo:* until 2 Mar 2026, 10:00 UTC"));
    let wrong = [("scope", "no scope"), ("decision", "allow"), ("until", "task")];
    let page = act(&browser, &task, "grant", &wrong).await.is(409);
    assert_eq!(values(&page, "#scope", "value"), ["no scope"], "nothing is lost");
    let page = act(&browser, &task, "interrupt", &[("prompt", "Wait a moment")]).await.is(200);
    assert_eq!(words(&page, "#stands"), ["Blocked"]);
    let asked = values(&page, ".side a.act", "href").remove(0);
    press(&browser, &asked, &format!("{asked}/answer"), &[("action", "approve")]).await.is(303);
    world.let_answers_stand();
    world.run_timers().await;
    // What nobody answered in time is decided after all.
    let lapsed = raised(&world, &task, "approval", json!({})).await;
    done(&world.human(), "checkpoint.expire", json!({ "ckpt_id": lapsed })).await;
    let page = browser.client.get(&room).await.is(200);
    assert!(words(&page, ".side summary").contains(&"Decide after all".to_owned()));
    let page = act(&browser, &task, "interrupt", &[("prompt", "Go on?")]).await.is(200);
    assert!(!words(&page, ".side summary").contains(&"Decide after all".to_owned()));
    let asked = values(&page, ".side a.act", "href").remove(0);
    press(&browser, &asked, &format!("{asked}/answer"), &[("action", "approve")]).await.is(303);
    world.let_answers_stand();
    world.run_timers().await;
    assert_eq!(state(&world, &task).await, "in_progress");
    let page = act(&browser, &task, "transfer", &[("to", "human/user_dev")]).await.is(200);
    assert!(words(&page, ".side")[0].contains("It is with you"));
    act(&browser, &task, "transfer", &[("to", "nobody")]).await.is(422);
    act(&browser, &task, "transfer", &[("to", "agent/agent_dev")]).await.is(200);
    let page = act(&browser, &task, "cancel", &[("reason", "Not needed")]).await.is(200);
    assert_eq!(words(&page, "#stands"), ["Cancelled"]);
    assert!(words(&page, "#trail blockquote").contains(&"Not needed".to_owned()));
    act(&browser, &task, "cancel", &[]).await.is(409);
    let made = json!({ "type": "t", "spec": { "goal": "x" } });
    let made = done(&world.human(), "task.create", made).await;
    let other = made["id"].as_str().unwrap();
    act(&browser, other, "assign", &[("agent", "")]).await.is(422);
    act(&browser, other, "assign", &[("agent", "nobody")]).await.is(409);
    let page = act(&browser, other, "assign", &[("agent", "agent_dev")]).await.is(200);
    assert_eq!(words(&page, "#stands"), ["Not started"]);
    world.end().await;
}

/// A task is shown as it was after any event and at any moment, and nothing can be done there.
#[tokio::test]
async fn a_task_is_seen_as_it_was() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    let room = format!("/tasks/{task}");
    world.advance(3600);
    let middle = world.now();
    world.advance(3600);
    deliver(&world, &task, "one\n").await;
    for (at, stands, event) in [
        ("1".to_owned(), "Not assigned", 1),
        ("2".to_owned(), "Not started", 2),
        (middle.to_string(), "In progress", 3),
        ("2026-03-01T10:30".to_owned(), "In progress", 3),
        ("99".to_owned(), "Ready for review", 4),
    ] {
        let page = browser.client.get(&format!("{room}?at={at}")).await.is(200);
        assert_eq!(words(&page, "#stands"), [stands], "{at}");
        assert!(words(&page, ".banner")[0].contains(&format!("After event {event} of 4")), "{at}");
        assert!(values(&page, "main form[method=post]", "action").is_empty(), "{at}");
    }
    let links = values(&browser.client.get(&room).await.is(200), "#trail a.tall", "href");
    assert_eq!(links.len(), 4);
    browser.client.get(&links[3]).await.is(200);
    for before in ["0", "2025-01-01T00:00", "yesterday"] {
        let page = browser.client.get(&format!("{room}?at={before}")).await.is(422);
        assert_eq!(words(&page, "#stands"), ["Ready for review"]);
    }
    world.end().await;
}

/// An open room hears once that its task has changed, and whoever comes late hears it at once.
#[tokio::test]
async fn an_open_room_hears_of_changes() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    let live =
        values(&browser.client.get(&format!("/tasks/{task}")).await.is(200), ".room", "data-live");
    let mut open = Events::open(&browser.client, &live[0]).await;
    deliver(&world, &task, "one\n").await;
    let told = open.next().await.unwrap();
    assert_eq!((told.event.as_str(), &told.data["state"]), ("changed", &json!("review_ready")));
    open.ended().await;
    let mut late = Events::open(&browser.client, &live[0]).await;
    assert_eq!(late.next().await.unwrap().event, "changed");
    browser.client.get("/tasks/task_01KGRT00000000000000000000/live").await.is(404);
    world.end().await;
}

/// HACP-028: what was delivered is fetched by whoever sees the task and by nobody else, and does
/// nothing in a browser.
#[tokio::test]
async fn a_delivery_is_fetched_and_does_nothing() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    let hostile = "<script>alert(1)</script>\n";
    deliver(&world, &task, hostile).await;
    let room = browser.client.get(&format!("/tasks/{task}")).await.is(200);
    assert!(!room.text.contains("<script>alert"));
    let file = values(&room, ".versions a[download]", "href").remove(0);
    let fetched = browser.client.get(&file).await.is(200);
    assert_eq!(fetched.text, hostile);
    assert_eq!(fetched.header("content-type"), "application/octet-stream");
    assert!(fetched.header("content-disposition").starts_with("attachment; filename="));
    assert!(fetched.header("content-security-policy").contains("sandbox"));
    assert_eq!(fetched.header("x-content-type-options"), "nosniff");
    browser.client.get(&file.replace("v1", "v9")).await.is(404);
    // Another task leads to nothing it did not deliver.
    let other = begun(&world, json!({})).await;
    browser.client.get(&file.replace(&task, &other)).await.is(404);
    let stranger = json!({ "name": "Eve", "projects": ["dev2"] });
    world.human().put("/api/v1/people/eve", stranger).await.saved();
    let eve = person(&world, "eve").await;
    for path in [&file, &format!("/tasks/{task}"), &format!("/tasks/{task}/live")] {
        eve.client.get(path).await.is(404);
    }
    world.end().await;
}
