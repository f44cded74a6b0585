//! The page of a request: what stands around it, what else can be done there, and what is shown
//! once it is over.

use scraper::{Html, Selector};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::native::asked;
use crate::pages::{Browser, browser_of, csrf, signed_in};
use crate::second_step::carried;
use crate::streams::Events;
use crate::world::World;

/// The words of the first element that fits.
fn words(page: &Reply, selector: &str) -> String {
    let html = Html::parse_document(&page.text);
    let found = html.select(&Selector::parse(selector).unwrap()).next();
    let text: String = found.map(|element| element.text().collect()).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn approval(prompt: &str) -> Value {
    let details = json!({ "amount": 120, "to": "Ada", "body": "Hi\nall\nbye" });
    let question =
        json!({ "kind": "approve", "prompt": prompt, "details": details, "editable": true });
    json!({ "question": question, "timeout_seconds": 1800 })
}

/// Asks, and gives the address of the page.
async fn page_of(world: &World, body: Value) -> String {
    asked(&world.agent(), body).await.replace("/api/v1", "")
}

pub(crate) async fn press(
    browser: &Browser,
    path: &str,
    act: &str,
    pairs: &[(&str, &str)],
) -> Reply {
    let token = csrf(&browser.client.get(path).await.is(200));
    let pairs: Vec<_> = [("csrf", &*token)].into_iter().chain(pairs.iter().copied()).collect();
    browser.client.post_form(&format!("{path}/{act}"), &pairs).await
}

#[tokio::test]
async fn what_was_answered_before_stands_beside_the_question() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    for (n, verdict) in [(1, "approved"), (2, "approved"), (3, "rejected")] {
        let path = page_of(&world, approval(&format!("Refund order {n}?"))).await;
        let reply = json!({ "answer": { "verdict": verdict } });
        world.human().post(&format!("/api/v1{path}/answer"), reply).await.is(200);
    }
    let other = page_of(&world, approval("Delete the account of Ada?")).await;
    let reply = json!({ "answer": { "verdict": "rejected" } });
    world.human().post(&format!("/api/v1{other}/answer"), reply).await.is(200);
    let path = page_of(&world, approval("Refund order 4?")).await;
    let page = browser.client.get(&path).await.is(200);
    let known = words(&page, ".known");
    assert!(known.contains("Asked 3 times in 30 days: 2 approved, 1 rejected"), "{known}");
    assert!(known.contains("4 in 30 days: 2 approved, 2 rejected"), "{known}");
    // What is older does not count.
    world.advance(31 * 24 * 3600);
    let path = page_of(&world, approval("Refund order 5?")).await;
    let known = words(&browser_again(&world).await.client.get(&path).await.is(200), ".known");
    assert!(known.contains("First of its kind in 30 days"), "{known}");
    world.end().await;
}

/// Sessions end before a month has passed.
async fn browser_again(world: &World) -> Browser {
    let made = world.human().post("/api/v1/people/user_dev/link", json!({})).await;
    let link = made.is(201)["url"].as_str().unwrap().to_owned();
    let token = link.split_once("token=").unwrap().1;
    let visitor = world.anonymous();
    let signed = visitor.sign_in(token).await.is(303);
    browser_of(&visitor, &signed)
}

#[tokio::test]
async fn remarks_are_added_and_a_refused_one_is_given_back() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = page_of(&world, approval("Refund?")).await;
    let page = press(&browser, &path, "comment", &[("text", "Which order is it?")]).await.is(200);
    assert!(words(&page, ".banner").contains("Your comment was added"));
    assert!(words(&page, ".said").contains("Which order is it?"), "{}", words(&page, ".talk"));
    let said = world.agent().get(&format!("/api/v1{path}/comments")).await.is(200);
    assert_eq!(said["comments"][0]["text"], "Which order is it?");
    let long = "x".repeat(4001);
    let page = press(&browser, &path, "comment", &[("text", &long)]).await.is(422);
    assert!(words(&page, ".banner").contains("Your comment was not added"));
    assert_eq!(words(&page, "#written"), long, "nothing is lost");
    press(&browser, &path, "comment", &[("text", "  ")]).await.is(422);
    world.end().await;
}

#[tokio::test]
async fn more_time_is_given_from_the_deadline_on() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = page_of(&world, approval("Refund?")).await;
    let before = world.agent().get(&format!("/api/v1{path}")).await.is(200);
    let page = press(&browser, &path, "extend", &[("by", "3600")]).await.is(200);
    assert!(
        words(&page, ".banner").contains("It now expires in 1 h"),
        "{}",
        words(&page, ".banner")
    );
    let after = world.agent().get(&format!("/api/v1{path}")).await.is(200);
    let at =
        |seen: &Reply| seen["expires_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(at(&after).as_second() - at(&before).as_second(), 3600);
    for wrong in ["", "-1", "7", "99999999999999999999"] {
        press(&browser, &path, "extend", &[("by", wrong)]).await.is(422);
    }
    let mut endless = approval("No hurry?");
    endless["timeout_seconds"] = json!(0);
    let path = page_of(&world, endless).await;
    let page = browser.client.get(&path).await.is(200);
    assert!(!page.text.contains("Extend deadline"));
    press(&browser, &path, "extend", &[("by", "3600")]).await.is(422);
    world.end().await;
}

#[tokio::test]
async fn a_request_is_put_off_and_handed_on_with_a_word() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = page_of(&world, approval("Refund the lamp?")).await;
    let page = press(&browser, &path, "snooze", &[("for", "3600")]).await.is(200);
    assert!(words(&page, ".banner").contains("Snoozed, back in 1 h"));
    assert!(!browser.client.get("/").await.is(200).text.contains("Refund the lamp"));
    assert!(page.text.contains("Show it in my inbox again"));
    press(&browser, &path, "snooze", &[("for", "0")]).await.is(200);
    assert!(browser.client.get("/").await.is(200).text.contains("Refund the lamp"));
    press(&browser, &path, "snooze", &[("for", "5")]).await.is(422);
    let handed = [("to", "user_dev_2"), ("note", "You know this customer")];
    let page = press(&browser, &path, "assign", &handed).await.is(200);
    assert!(words(&page, ".banner").contains("Reassigned to"));
    assert!(words(&page, ".said").contains("You know this customer"));
    world.end().await;
}

#[tokio::test]
async fn whoever_looks_is_seen_until_they_leave() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let mut body = approval("Refund?");
    body["route"] = json!({ "to": "pool" });
    let path = page_of(&world, body).await;
    let second = world.bearer("dev-human-token-2");
    second.put(&format!("/api/v1{path}/looking"), json!({})).await.is(200);
    let page = browser.client.get(&path).await.is(200);
    assert!(words(&page, "[data-lookers]").contains("is looking at this too"), "{}", page.text);
    let token = csrf(&page);
    let look = format!("{path}/looking");
    let told = browser.client.post_form(&look, &[("csrf", &token)]).await.is(200);
    assert!(told["text"].as_str().unwrap().contains("is looking at this too"));
    let seen = second.get(&format!("/api/v1/looking?ask={}", &path[6..])).await.is(200);
    assert_eq!(seen["looking"].as_array().unwrap().len(), 2, "this page looks as well");
    second.delete(&format!("/api/v1{path}/looking")).await.is(204);
    let told = browser.client.post_form(&look, &[("csrf", &token), ("leave", "1")]).await.is(200);
    assert_eq!(told["text"], Value::Null);
    let seen = second.get(&format!("/api/v1/looking?ask={}", &path[6..])).await.is(200);
    assert_eq!(seen["looking"], json!([]));
    browser.client.post_form(&look, &[("csrf", "nonsense")]).await.is(403);
    world.end().await;
}

/// What was edited is shown against the proposal before it is approved, and the agent gets both.
#[tokio::test]
async fn an_edited_proposal_is_approved_after_its_changes_were_seen() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = page_of(&world, approval("Refund order 7?")).await;
    let given = [
        ("action", "approve"),
        ("edits.0", "99"),
        ("edits.1", "Ada"),
        ("edits.2", "Hi\r\neverybody\r\nbye"),
        ("comment", "Less"),
    ];
    let page = press(&browser, &path, "answer", &given).await.is(200);
    assert!(words(&page, ".act.yes").contains("Approve with changes"), "{}", page.text);
    assert!(
        !words(&page, ".act.yes").contains("Refund order 7"),
        "the old values are not promised"
    );
    let diff = words(&page, ".diff");
    assert!(diff.contains("The agent proposed: 120 Changed to: 99"), "{diff}");
    assert!(diff.contains("removed: all") && diff.contains("added: everybody"), "{diff}");
    let open = world.agent().get(&format!("/api/v1{path}")).await.is(200);
    assert_eq!(open["result"], Value::Null, "nothing was sent yet");
    let back: Vec<_> =
        given.iter().map(|(k, v)| if *k == "action" { (*k, "edit") } else { (*k, *v) }).collect();
    let page = press(&browser, &path, "answer", &back).await.is(200);
    assert!(page.text.contains("value=\"99\"") && page.text.contains("everybody"));
    let wrong = [("action", "approve"), ("edits.0", "a lot"), ("sure", "yes")];
    press(&browser, &path, "answer", &wrong).await.is(422);
    let step = press(&browser, &path, "answer", &given).await.is(200);
    world.advance(1);
    let held = carried(&step);
    let seen = held.iter().map(|(k, v)| (k.as_str(), v.as_str())).chain([("action", "approve")]);
    let seen: Vec<_> = seen.collect();
    browser.client.post_form(&format!("{path}/answer"), &seen).await.is(303);
    world.let_answers_stand();
    let over = world.agent().get(&format!("/api/v1{path}")).await.is(200);
    let edits = json!({ "amount": 99, "to": "Ada", "body": "Hi\neverybody\nbye" });
    assert_eq!(over["result"]["answer"]["edits"], edits);
    assert_eq!(over["question"]["details"]["amount"], 120);
    let page = browser.client.get(&path).await.is(200);
    assert!(words(&page, ".side .diff").contains("Changed to: 99"), "{}", page.text);
    // Without a change nothing comes in between.
    let path = page_of(&world, approval("Refund order 8?")).await;
    let same = [("action", "approve"), ("edits.0", "120"), ("edits.2", "Hi\r\nall\r\nbye")];
    press(&browser, &path, "answer", &same).await.is(303);
    world.end().await;
}

#[tokio::test]
async fn rounds_and_the_record_are_told_and_the_receipt_is_checked() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let first = page_of(&world, approval("Refund 900?")).await;
    let back = [("action", "changes"), ("comment", "Too much")];
    press(&browser, &first, "answer", &back).await.is(303);
    world.let_answers_stand();
    let mut body = approval("Refund 500?");
    body["follows"] = json!(&first[6..]);
    let second = page_of(&world, body).await;
    let page = browser.client.get(&second).await.is(200);
    let rounds = words(&page, "section:has(#rounds)");
    assert!(rounds.contains("Revision 1. Refund 900?"), "{rounds}");
    assert!(rounds.contains("Changes requested") && rounds.contains("Too much"), "{rounds}");
    assert!(page.text.contains(&format!("href=\"{first}\"")));
    assert!(words(&browser.client.get(&first).await.is(200), "#rounds").contains("2 revisions"));
    assert!(!page.text.contains("Verify this receipt"), "not before it is over");
    browser.client.get(&format!("{second}/receipt")).await.is(404);

    press(&browser, &second, "answer", &[("action", "approve")]).await.is(303);
    world.let_answers_stand();
    let page = browser.client.get(&second).await.is(200);
    let trail = words(&page, "section:has(#trail)");
    for step in ["The agent agent_dev asked", "opened it first", "answered on the web page"] {
        assert!(trail.contains(step), "{step}: {trail}");
    }
    let jws = browser.client.get(&format!("{second}/receipt")).await.is(200);
    assert!(jws.header("content-disposition").starts_with("attachment"));
    let checked = json!({ "receipt": jws.text });
    assert_eq!(
        world.anonymous().post("/api/v1/receipts/verify", checked).await.is(200)["valid"],
        true
    );
    let page = browser.client.get(&format!("{second}?verify=1")).await.is(200);
    let found = words(&page, "#receipt");
    assert!(found.contains("Receipt verified") && found.contains("It was not revoked"), "{found}");
    world
        .human()
        .post(&format!("/api/v1{second}/revoke"), json!({ "reason": "wrong" }))
        .await
        .is(200);
    let found = words(&browser.client.get(&format!("{second}?verify=1")).await.is(200), "#receipt");
    assert!(found.contains("Receipt not valid"), "{found}");
    world.human().post(&format!("/api/v1{second}/erase"), json!({})).await.is(200);
    let page = browser.client.get(&second).await.is(200);
    assert!(words(&page, "#receipt").contains("its receipt can no longer be created"));
    assert!(words(&page, "section:has(#trail)").contains("erased the text"));
    world.end().await;
}

/// Nobody but whoever may see a request does any of it.
#[tokio::test]
async fn strangers_find_nothing() {
    let world = World::dev().await;
    let path = page_of(&world, approval("Refund?")).await;
    for act in ["comment", "extend", "snooze", "looking"] {
        world.anonymous().post_form(&format!("{path}/{act}"), &[("csrf", "x")]).await.is(401);
    }
    for what in ["end", "receipt", &format!("files/{}", "0".repeat(64))] {
        world.anonymous().get(&format!("{path}/{what}")).await.is(401);
    }
    let browser = signed_in(&world).await;
    let nowhere = "/asks/ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C";
    for what in ["end", "receipt", "files/x"] {
        browser.client.get(&format!("{nowhere}/{what}")).await.is(404);
    }
    browser.client.get(&format!("{path}/files/{}", "0".repeat(64))).await.is(404);
    world.end().await;
}

fn pooled(prompt: &str) -> Value {
    json!({ "question": { "kind": "approve", "prompt": prompt }, "route": { "to": "pool" } })
}

/// ADR 0013: the owner may answer over a claim, but never unknowingly, also if the claim was made
/// after their page was loaded.
#[tokio::test]
async fn the_owner_is_asked_before_answering_over_a_claim() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = page_of(&world, pooled("Hire Ada?")).await;
    let before = browser.client.get(&path).await.is(200);
    assert!(!before.text.contains("Claimed by"));
    let token = csrf(&before);
    let answer = async |more: &[(&str, &str)]| {
        let mut form = vec![("csrf", &*token), ("action", "approve"), ("comment", "kept")];
        form.extend(more);
        browser.client.post_form(&format!("{path}/answer"), &form).await
    };
    world.member().post(&format!("/api/v1{path}/claim"), json!({})).await.is(200);
    for more in [&[][..], &[("over", "user_dev")], &[("over", "")]] {
        let asked = answer(more).await.is(409);
        assert_eq!(words(&asked, ".banner h2"), "user_dev_2 has claimed this request");
        assert_eq!(words(&asked, "#claimed h2"), "Claimed by user_dev_2");
        assert_eq!(words(&asked, "#claimed .say"), "Answer anyway");
        assert_eq!(words(&asked, "#comment"), "kept");
        assert_ne!(world.human().get(&format!("/api/v1{path}")).await["state"], "completed");
    }
    answer(&[("over", "user_dev_2")]).await.is(303);
    world.let_answers_stand();
    let seen = world.human().get(&format!("/api/v1{path}")).await.is(200);
    assert_eq!((&seen["state"], &seen["result"]["comment"]), (&json!("completed"), &json!("kept")));
    world.end().await;
}

/// Lists are not the place to answer over a claim: neither from a row nor together with others.
#[tokio::test]
async fn nothing_is_answered_over_a_claim_from_a_list() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = page_of(&world, pooled("Hire Ada?")).await;
    let id = path.rsplit_once('/').unwrap().1;
    let list = browser.client.get("/").await.is(200);
    assert_eq!(words(&list, ".row .claimed"), "");
    let token = csrf(&list);
    world.member().post(&format!("/api/v1{path}/claim"), json!({})).await.is(200);
    let row = [("csrf", &*token), ("back", ""), ("approve", id)];
    let refused = browser.client.post_form("/inbox/answer", &row).await.is(409);
    assert!(refused.text.contains("user_dev_2 has claimed this request"), "{}", refused.text);
    assert_eq!(words(&refused, ".row .claimed"), "Claimed by user_dev_2");
    let many = [("csrf", &*token), ("back", ""), ("ask", id), ("word", "approve")];
    let summary = browser.client.post_form("/inbox/bulk", &many).await.is(200);
    let left = words(&summary, "[aria-labelledby=alone]");
    assert!(left.contains("user_dev_2 has claimed it"), "{left}");
    let result = browser.client.post_form("/inbox/bulk/answer", &many).await.is(200);
    assert_eq!(words(&result, "h1"), "Nothing was answered");
    assert_ne!(world.human().get(&format!("/api/v1{path}")).await["state"], "completed");
    world.end().await;
}

/// What a summary cannot show whole is not answered from it, whatever a form says.
#[tokio::test]
async fn what_does_not_fit_in_a_summary_is_left_out() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let context = "Read this first: it explains what is deployed.";
    let question = json!({ "kind": "approve", "prompt": "Deploy?", "context": context });
    let path = page_of(&world, json!({ "question": question })).await;
    let id = path.rsplit_once('/').unwrap().1;
    let token = csrf(&browser.client.get("/").await.is(200));
    let many = [("csrf", &*token), ("back", ""), ("ask", id), ("word", "approve")];
    let summary = browser.client.post_form("/inbox/bulk", &many).await.is(200);
    let left = words(&summary, "[aria-labelledby=alone]");
    assert!(left.contains("This list can't show all of it: open it"), "{left}");
    let result = browser.client.post_form("/inbox/bulk/answer", &many).await.is(200);
    assert_eq!(words(&result, "h1"), "Nothing was answered");
    assert_ne!(world.human().get(&format!("/api/v1{path}")).await["state"], "completed");
    world.end().await;
}

/// An open page is told who claims the request; whoever owns the agent with a box to tick.
#[tokio::test]
async fn an_open_page_is_told_of_a_claim() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let path = page_of(&world, pooled("Hire Ada?")).await;
    let mut events = Events::open(&browser.client, &format!("{path}/end")).await;
    world.member().post(&format!("/api/v1{path}/claim"), json!({})).await.is(200);
    let told = events.next().await.unwrap();
    assert_eq!((&*told.event, &told.data["barred"]), ("claimed", &json!(false)));
    let html = told.data["html"].as_str().unwrap();
    assert!(html.contains("Claimed by <bdi>user_dev_2</bdi>") && html.contains("name=\"over\""));
    drop(events);
    // A page that shows the claim is told nothing new; one that was away is told in any case.
    let page = browser.client.get(&path).await.is(200);
    assert!(page.text.contains(&format!("data-watch=\"{path}/end?holder=user_dev_2\"")));
    let shown = format!("{path}/end?holder=user_dev_2");
    let back = browser.client.clone().header("last-event-id", "1");
    let mut events = Events::open(&back, &shown).await;
    assert_eq!(events.next().await.unwrap().event, "claimed");
    let mut events = Events::open(&browser.client, &shown).await;
    let yes = json!({ "answer": { "verdict": "approved" } });
    world.member().post(&format!("/api/v1{path}/answer"), yes).await.is(200);
    assert_eq!(events.next().await.unwrap().event, "ended");
    world.end().await;
}

/// A question that offers no refusal of its own can be closed without an answer, and the agent
/// learns why; nothing offers a request for changes but an approval.
#[tokio::test]
async fn a_question_is_closed_without_an_answer() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let options = json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }]);
    let question =
        json!({ "kind": "choose", "prompt": "Which?", "pick": "one", "options": options });
    let path = page_of(&world, json!({ "question": question })).await;
    let page = browser.client.get(&path).await.is(200);
    assert!(page.text.contains("Close without an answer"), "{}", page.text);
    assert!(!page.text.contains("Request changes"), "{}", page.text);
    let changes = [("action", "changes"), ("comment", "neither")];
    press(&browser, &path, "answer", &changes).await.is(422);
    let long = "x".repeat(1001);
    press(&browser, &path, "answer", &[("action", "close"), ("comment", &long)]).await.is(422);
    let closed = [("action", "close"), ("comment", "Neither fits")];
    press(&browser, &path, "answer", &closed).await.is(303);
    let seen = world.agent().get(&format!("/api/v1{path}")).await.is(200);
    assert_eq!(
        (&seen["state"], &seen["result"]["reason"]),
        (&json!("cancelled"), &json!("Neither fits"))
    );
    world.end().await;
}
