//! Answers that cannot be undone or are critical need a second, deliberate step on every page, and
//! say so in every protocol. An edited approval never promises the old values.

use serde_json::{Value, json};

use crate::client::Reply;
use crate::hitl::{self, Case};
use crate::inbox_pages::texts;
use crate::native::{ASKS, asked};
use crate::pages::{csrf, signed_in};
use crate::request_page::press;
use crate::review_page::{Page, find, main_text};
use crate::world::World;

const BAND: &str = "This can't be undone";

fn of(question: &Value) -> Value {
    json!({ "question": question, "metadata": { "irreversible": true } })
}

/// The hidden inputs of the second step, to be sent again with its button.
pub(crate) fn carried(page: &Reply) -> Vec<(String, String)> {
    let html = scraper::Html::parse_document(&page.text);
    let inputs = scraper::Selector::parse("form.sure input[type=hidden]").unwrap();
    let pair = |input: scraper::ElementRef<'_>| {
        let of = |name| input.attr(name).unwrap_or_default().to_owned();
        (of("name"), of("value"))
    };
    html.select(&inputs).map(pair).collect()
}

async fn verdict(world: &World, path: &str) -> Value {
    world.let_answers_stand();
    world.agent().get(path).await.is(200)["result"]["answer"]["verdict"].clone()
}

/// Whatever lets the agent proceed is asked once more on the page of the request; stopping it is
/// not.
#[tokio::test]
async fn the_request_page_asks_twice() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let options =
        json!([{ "id": "drop", "label": "Drop it" }, { "id": "keep", "label": "Keep it" }]);
    let fields = json!([
        { "key": "name", "label": "Name", "type": "text", "required": true },
        { "key": "pin", "label": "PIN", "type": "text", "required": true, "sensitive": true },
    ]);
    for (question, go, stop, expected) in [
        (
            json!({ "prompt": "Drop the table?", "kind": "approve" }),
            vec![("action", "approve"), ("comment", "Backed up")],
            Some(("action", "reject")),
            "approved",
        ),
        (
            json!({ "prompt": "Which?", "kind": "choose", "options": options, "pick": "one" }),
            vec![("choose", "drop")],
            None,
            "chosen",
        ),
        (
            json!({ "prompt": "Go?", "kind": "confirm", "items": [], "yes": "Delete", "no": "Keep" }),
            vec![("action", "confirm")],
            Some(("action", "decline")),
            "confirmed",
        ),
        (
            json!({ "prompt": "It failed.", "kind": "escalate" }),
            vec![("action", "retry")],
            Some(("action", "abort")),
            "retry",
        ),
        (
            json!({ "prompt": "Who?", "kind": "provide", "form": { "fields": fields } }),
            vec![("action", "provide"), ("field.name", "Ann"), ("field.pin", "hunter2")],
            None,
            "provided",
        ),
    ] {
        let api = asked(&world.agent(), of(&question)).await;
        let path = api.replace("/api/v1", "");
        let shown = press(&browser, &path, "answer", &go).await.is(200);
        assert_eq!(texts(&shown, "form.sure h2"), [BAND], "{}", shown.text);
        assert_eq!(texts(&shown, ".paper .band"), [BAND]);
        assert_eq!(find(&shown, "form.sure h2[autofocus]"), 1, "it is below a long request");
        assert!(!shown.text.contains("hunter2"), "a secret stands in no page");
        assert_eq!(verdict(&world, &api).await, Value::Null, "nothing was sent yet");
        let button = go[0];
        let held = carried(&shown);
        let again = held.iter().map(|(k, v)| (k.as_str(), v.as_str())).chain([button]);
        let again: Vec<_> = again.collect();
        browser.client.post_form(&format!("{path}/answer"), &again).await.is(303);
        world.let_answers_stand();
        let over = world.agent().get(&api).await.is(200);
        assert_eq!(over["result"]["answer"]["verdict"], expected, "{question}");
        if expected == "provided" {
            let values = json!({ "name": "Ann", "pin": "hunter2" });
            assert_eq!(over["result"]["answer"]["values"], values);
        }
        if let Some(stop) = stop {
            let api = asked(&world.agent(), of(&question)).await;
            let path = api.replace("/api/v1", "");
            press(&browser, &path, "answer", &[stop]).await.is(303);
            assert_ne!(verdict(&world, &api).await, Value::Null, "stopping takes one step");
        }
    }
    // A critical request that can be undone asks once more too, and says why.
    let critical =
        json!({ "question": { "prompt": "Pay?", "kind": "approve" }, "priority": "critical" });
    let api = asked(&world.agent(), critical).await;
    let path = api.replace("/api/v1", "");
    let shown = press(&browser, &path, "answer", &[("action", "approve")]).await.is(200);
    assert_eq!(texts(&shown, "form.sure h2"), ["Confirm this critical request"]);
    assert_eq!(find(&shown, ".band"), 0);
    // Going back keeps what was entered and sends nothing.
    let back = [("action", "edit"), ("comment", "Hm")];
    let shown = press(&browser, &path, "answer", &back).await.is(200);
    assert!(shown.text.contains("Hm") && find(&shown, "button[value=approve]") == 1);
    assert_eq!(verdict(&world, &api).await, Value::Null);
    world.end().await;
}

/// The same for whoever holds a review link, where forms are kept on the server.
#[tokio::test]
async fn the_review_page_asks_twice() {
    let world = World::dev().await;
    let mark = json!({ "irreversible": true });
    for (kind, sent, expected) in [
        ("approval", vec![("action", "approve")], "approve"),
        ("selection", vec![("choose", "a")], "select"),
        ("confirmation", vec![("action", "confirm")], "confirm"),
        (
            "input",
            vec![
                ("action", "provide"),
                ("step", "0"),
                ("field.name", "Ann"),
                ("field.pin", "1234"),
            ],
            "submit",
        ),
    ] {
        let mut body = hitl::of(kind);
        body["context"]["plan"] = mark.clone();
        let case = Case::make(&world, body).await;
        let (page, shown) = Page::open(&world, &case).await;
        assert_eq!(texts(&shown, ".band"), [BAND], "{kind}: {}", shown.text);
        let shown = page.post(&sent).await.is(200);
        assert_eq!(texts(&shown, "form.sure h2"), [BAND], "{kind}: {}", shown.text);
        assert!(!shown.text.contains("1234"), "a secret stands in no page");
        assert_ne!(case.status().await["status"], "completed", "{kind}");
        world.advance(1);
        let held = carried(&shown);
        let again = held.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let again: Vec<_> = again.filter(|(k, _)| *k != "token").chain([sent[0]]).collect();
        page.post(&again).await.is(303);
        let status = case.status().await;
        assert_eq!(
            (&status["status"], &status["result"]["action"]),
            (&json!("completed"), &json!(expected))
        );
    }
    let mut body = hitl::of("approval");
    body["context"]["plan"] = mark;
    let case = Case::make(&world, body).await;
    let (page, _) = Page::open(&world, &case).await;
    page.post(&[("action", "reject")]).await.is(303);
    assert_eq!(case.status().await["result"]["action"], "reject", "rejecting takes one step");
    world.end().await;
}

/// The second tap of a double tap, a form made by hand and the proof of another answer confirm
/// nothing.
#[tokio::test]
async fn only_a_step_that_could_be_read_counts() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let options =
        json!([{ "id": "drop", "label": "Drop it" }, { "id": "keep", "label": "Keep it" }]);
    let question =
        json!({ "prompt": "Which?", "kind": "choose", "options": options, "pick": "one" });
    let api = asked(&world.agent(), of(&question)).await;
    let path = api.replace("/api/v1", "");
    let to = format!("{path}/answer");
    let shown = press(&browser, &path, "answer", &[("choose", "keep")]).await.is(200);
    let held = carried(&shown);
    let with = |button: &'static str| -> Vec<(&str, &str)> {
        held.iter().map(|(k, v)| (k.as_str(), v.as_str())).chain([("choose", button)]).collect()
    };
    let again = browser.client.post_form(&to, &with("keep")).await.is(200);
    assert!(texts(&again, "form.sure").join(" ").contains("You pressed twice within a second"));
    world.advance(1);
    let other = browser.client.post_form(&to, &with("drop")).await.is(200);
    assert!(texts(&other, "form.sure").join(" ").contains("Drop it"), "the step of this answer");
    let made_up = [("choose", "drop"), ("sure", "yes")];
    press(&browser, &path, "answer", &made_up).await.is(200);
    assert_eq!(world.agent().get(&api).await.is(200)["result"], Value::Null);
    browser.client.post_form(&to, &with("keep")).await.is(303);
    assert_eq!(verdict(&world, &api).await, "chosen");
    world.end().await;
}

/// A confirmation lists once more what is confirmed, and a "no" that destroys is asked twice as
/// well.
#[tokio::test]
async fn the_step_of_a_confirmation_says_what_happens() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let items = json!([{ "id": "a", "label": "Volume A" }, { "id": "b", "label": "Volume B" }]);
    let question = |yes: &str, no: &str| json!({ "prompt": "Volumes?", "kind": "confirm", "items": items, "yes": yes, "no": no });
    let api = asked(&world.agent(), of(&question("Delete both", "Keep both"))).await;
    let path = api.replace("/api/v1", "");
    let shown = press(&browser, &path, "answer", &[("action", "confirm")]).await.is(200);
    assert_eq!(texts(&shown, "form.sure .items .say"), ["Volume A", "Volume B"]);
    let api = asked(&world.agent(), of(&question("Keep both", "Delete both"))).await;
    let path = api.replace("/api/v1", "");
    let page = browser.client.get(&path).await.is(200);
    assert_eq!(texts(&page, ".acts .danger .say"), ["Delete both"]);
    let shown = press(&browser, &path, "answer", &[("action", "decline")]).await.is(200);
    assert_eq!(texts(&shown, "form.sure h2"), [BAND]);
    world.end().await;
}

/// Where silence lets the agent go ahead, the page and the list say so: "expires" would promise
/// that nothing happens.
#[tokio::test]
async fn silence_that_means_yes_is_said_above_the_question() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let mut body = of(&json!({ "prompt": "Drop the table?", "kind": "approve" }));
    body["timeout_seconds"] = json!(3600);
    body["on_expiry"] = json!({ "report": "approve" });
    let path = asked(&world.agent(), body.clone()).await.replace("/api/v1", "");
    let page = browser.client.get(&path).await.is(200);
    assert!(texts(&page, ".paper > .verify").join(" ").contains("Silence means yes."));
    body["on_expiry"] = json!({ "report": "reject" });
    let path = asked(&world.agent(), body).await.replace("/api/v1", "");
    let page = browser.client.get(&path).await.is(200);
    assert!(!page.text.contains("Silence means yes."));
    let newsletter = json!({
        "question": { "prompt": "Send the newsletter?", "kind": "approve" },
        "timeout_seconds": 1800,
        "on_expiry": { "answer": { "answer": { "verdict": "approved" } } },
    });
    let path = asked(&world.agent(), newsletter).await.replace("/api/v1", "");
    let page = browser.client.get(&path).await.is(200);
    assert!(texts(&page, ".paper > .verify").join(" ").contains("Silence means yes."));
    assert!(texts(&page, ".paper").join(" ").contains("goes ahead in 30 min"));
    let inbox = browser.client.get("/").await.is(200);
    assert!(inbox.text.contains("goes ahead"));
    world.end().await;
}

/// What only the request's page shows is not answered from the list.
#[tokio::test]
async fn what_was_sent_along_is_read_before_it_is_answered() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let question = json!({ "prompt": "Deploy?", "kind": "approve" });
    let metadata = json!({ "note": "also deletes the old ones" });
    asked(&world.agent(), json!({ "question": question, "metadata": metadata })).await;
    let inbox = browser.client.get("/").await.is(200);
    assert_eq!(find(&inbox, ".row button[name=approve]"), 0);
    let question = json!({ "prompt": "Restart?", "kind": "approve" });
    asked(&world.agent(), json!({ "question": question })).await;
    let inbox = browser.client.get("/").await.is(200);
    assert_eq!(find(&inbox, ".row button[name=approve]"), 1);
    world.end().await;
}

/// A row of the list leads to the same step, also for what is critical.
#[tokio::test]
async fn the_list_asks_twice() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let critical =
        json!({ "question": { "prompt": "Pay?", "kind": "approve" }, "priority": "critical" });
    let api = asked(&world.agent(), critical).await;
    let id = api.rsplit('/').next().unwrap();
    let token = csrf(&browser.client.get("/").await.is(200));
    let form = [("csrf", token.as_str()), ("approve", id)];
    let shown = browser.client.post_form("/inbox/answer", &form).await.is(200);
    assert_eq!(texts(&shown, "form.sure h2"), ["Confirm this critical request"]);
    assert_eq!(texts(&shown, ".act.danger .say").len(), 1);
    world.advance(1);
    let held = carried(&shown);
    let again: Vec<_> =
        held.iter().map(|(k, v)| (k.as_str(), v.as_str())).chain([("approve", id)]).collect();
    browser.client.post_form("/inbox/answer", &again).await.is(303);
    assert_eq!(verdict(&world, &api).await, "approved");
    world.end().await;
}

/// The mark counts in every protocol, and is shown above the question.
#[tokio::test]
async fn the_mark_counts_in_every_protocol() {
    let world = World::dev().await;
    let (browser, agent) = (signed_in(&world).await, world.agent());
    let mark = json!({ "reversible": false });
    let question = json!({ "prompt": "Pay?", "kind": "approve" });
    let payload = json!({ "item": "Pay?", "details": mark });
    let call = json!({ "fn": "drop_table", "kwargs": { "plan": [mark] } });
    let envelope = json!({ "version": "1.0.0", "intent": "decide", "plan": mark });
    for (path, body, status, id) in [
        (ASKS, json!({ "question": question, "irreversible": true }), 201, "/id"),
        (ASKS, json!({ "question": question, "metadata": mark }), 201, "/id"),
        (ASKS, json!({ "question": question, "hxp": envelope }), 201, "/id"),
        (
            "/hxp/v1/requests",
            json!({ "action": "APPROVE", "payload": payload }),
            201,
            "/request_id",
        ),
        (
            "/hxp/v1/requests",
            json!({ "action": "APPROVE", "irreversible": true, "payload": { "item": "Pay?" } }),
            201,
            "/request_id",
        ),
        (
            "/hxp/v1/requests",
            json!({ "action": "APPROVE", "payload": { "item": "Pay?", "reversible": false } }),
            201,
            "/request_id",
        ),
        (
            "/a2h/v1/function_calls",
            json!({ "run_id": "r", "call_id": "c", "spec": call }),
            200,
            "/call_id",
        ),
    ] {
        let made = agent.post(path, body.clone()).await.is(status);
        let named = made.json.pointer(id).and_then(Value::as_str).unwrap();
        let listed = world.human().get(&format!("{ASKS}?view=inbox")).await.is(200);
        let newest = &listed["asks"][0];
        assert_eq!(newest["irreversible"], true, "{body}");
        assert_eq!((&newest["needs_confirmation"], &newest["bulk"]), (&json!(true), &json!(false)));
        assert!(!named.is_empty());
        let id = newest["id"].as_str().unwrap();
        let page = browser.client.get(&format!("/asks/{id}")).await.is(200);
        assert_eq!(texts(&page, ".paper > .band"), [BAND], "{body}");
        let inbox = browser.client.get("/").await.is(200);
        assert_eq!(texts(&inbox, ".row .final"), [BAND], "{body}");
        world
            .human()
            .post(&format!("{ASKS}/{id}/answer"), json!({ "answer": { "verdict": "rejected" } }))
            .await
            .is(200);
    }
    world.end().await;
}

/// An approval that changed something says what was approved wherever it is shown.
#[tokio::test]
async fn an_edited_approval_shows_what_was_approved() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let question = json!({
        "prompt": "Send the newsletter to 18240 subscribers?", "kind": "approve",
        "details": { "recipients": 18240 }, "editable": true,
    });
    let api = asked(&world.agent(), json!({ "question": question })).await;
    let path = api.replace("/api/v1", "");
    let untouched = [("action", "approve_edited"), ("edits.0", "18240")];
    let wrong = press(&browser, &path, "answer", &untouched).await.is(422);
    assert!(wrong.text.contains("You changed nothing"), "{}", wrong.text);
    let edited = [("action", "approve_edited"), ("edits.0", "500")];
    let step = press(&browser, &path, "answer", &edited).await.is(200);
    let said = texts(&step, "form.sure").join(" ");
    assert!(said.contains("Approve with changes") && !said.contains("18240 subscribers"), "{said}");
    let back = press(&browser, &path, "answer", &[("action", "edit"), ("edits.0", "500")]).await;
    let button = texts(&back.is(200), "button[value=approve]").join(" ");
    assert!(button.contains("Approve with changes") && !button.contains("18240"), "{button}");
    world.advance(1);
    let held = carried(&step);
    let sure = held.iter().map(|(k, v)| (k.as_str(), v.as_str())).chain([("action", "approve")]);
    let sure: Vec<_> = sure.collect();
    browser.client.post_form(&format!("{path}/answer"), &sure).await.is(303);
    world.let_answers_stand();
    let page = browser.client.get(&path).await.is(200);
    let outcome = texts(&page, ".outcome").join(" ");
    assert!(outcome.contains("Approved with changes"), "{outcome}");
    assert!(outcome.contains("18240") && outcome.contains("500"), "{outcome}");
    assert!(main_text(&page).contains("This is the question as it was asked"), "{}", page.text);
    assert!(texts(&page, "title")[0].contains("Asked: Send"), "{}", page.text);
    let history = browser.client.get("/history").await.is(200);
    let row = texts(&history, ".ended").join(" ");
    assert!(row.contains("Approved with changes") && row.contains("Asked:"), "{row}");
    assert!(row.contains("Recipients: 18240 → 500"), "{row}");
    let inbox = browser.client.get("/").await.is(200);
    let past = texts(&inbox, ".past li").join(" ");
    assert!(past.contains("Asked:") && past.contains("18240 → 500"), "{past}");
    world.end().await;
}

/// The agent's suggestion is marked wherever its options are listed.
#[tokio::test]
async fn the_suggested_option_is_marked() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let option = |id: &str| json!({ "id": id, "label": format!("Plan {id}") });
    let choose = |n: usize, pick: &str| {
        let options: Vec<Value> =
            ["a", "b", "c", "d", "e", "f", "g"][..n].iter().map(|id| option(id)).collect();
        json!({ "question": { "prompt": "Which?", "kind": "choose", "options": options,
            "pick": pick, "suggested": "b" } })
    };
    for (body, selector) in [
        (choose(2, "one"), "button.act:has(.suggested) .object"),
        (choose(7, "one"), ".pick:has(.suggested) .say"),
        (choose(3, "many"), ".pick:has(.suggested) .say"),
    ] {
        let api = asked(&world.agent(), body).await;
        let page = browser.client.get(&api.replace("/api/v1", "")).await.is(200);
        assert_eq!(texts(&page, selector), ["Plan b"], "{}", page.text);
        assert_eq!(texts(&page, ".suggested"), ["Agent suggests"]);
    }
    let inbox = browser.client.get("/").await.is(200);
    assert_eq!(texts(&inbox, ".row .suggested"), ["Agent suggests"], "two fit into a row");
    world.end().await;
}
