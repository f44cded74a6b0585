//! Forms on the review page: steps, conditions, drafts, secrets, files, and what the agent sees of
//! it.

use serde_json::{Value, json};

use crate::client::Reply;
use crate::hitl::Case;
use crate::review_page::{Page, find, main_text};
use crate::world::{World, logged};

fn trip() -> Value {
    let steps = json!([
        {"title": "You", "fields": [
            {"key": "name", "label": "Name", "type": "text", "required": true},
            {"key": "pin", "label": "PIN", "type": "text", "required": true, "sensitive": true},
            {"key": "abroad", "label": "Abroad?", "type": "boolean", "required": true},
        ]},
        {"title": "Visa", "fields": [
            {"key": "visa", "label": "Visa", "type": "text", "required": true,
                "conditional": {"field": "abroad", "operator": "eq", "value": true}},
        ]},
        {"title": "Trip", "fields": [
            {"key": "days", "label": "Days", "type": "number", "required": true,
                "validation": {"min": 1, "max": 10}},
            {"key": "scan", "label": "Booking", "type": "file", "required": true},
        ]},
        {"title": "Check", "fields": []},
    ]);
    json!({ "type": "input", "prompt": "Where to?", "context": { "form": { "steps": steps } } })
}

const FIRST: [(&str, &str); 4] =
    [("step", "0"), ("field.name", "Ann"), ("field.pin", "hunter2"), ("field.abroad", "false")];

async fn upload(page: &Page, action: &str, step: &str, days: &str, file: Option<&str>) -> Reply {
    let part = |name: &str, value: &str| {
        format!("--frontier\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let mut body = part("token", &page.token);
    body += &part("step", step);
    body += &part("field.days", days);
    let (name, content) = file.map_or(("", ""), |content| ("booking.txt", content));
    let part_of_file = format!(
        "--frontier\r\nContent-Disposition: form-data; name=\"field.scan\"; filename=\"{name}\"\r\n\
         Content-Type: text/plain\r\n\r\n{content}\r\n"
    );
    body += &part_of_file;
    body += &part("action", action);
    body += "--frontier--\r\n";
    let posted = page
        .client
        .request(reqwest::Method::POST, &page.path)
        .header("content-type", "multipart/form-data; boundary=frontier")
        .body(body);
    Reply::of(posted).await
}

/// HITL-131, HITL-135, HITL-136, HITL-138, HITL-139: step by step, judged on the server, with
/// progress for the agent; what does not apply is skipped and not in the result.
#[tokio::test]
async fn a_form_is_filled_in_step_by_step() {
    let world = World::dev().await;
    let case = Case::make(&world, trip()).await;
    let (page, shown) = Page::open(&world, &case).await;
    assert!(main_text(&shown).contains("Step 1 of 4"));
    let wrong = [("action", "next"), ("step", "0"), ("field.name", ""), ("field.abroad", "false")];
    let refused = page.post(&wrong).await.is(422);
    assert_eq!(find(&refused, "#problems a"), 2, "{}", refused.text);
    let progress = |n: u32, done: u32, of: u32| json!({"current_step": n, "total_steps": 4, "completed_fields": done, "total_fields": of});
    assert_eq!(case.status().await["progress"], progress(1, 1, 5));

    let next = page.post(&[&[("action", "next")], &FIRST[..]].concat()).await.is(303);
    let third = page.client.get(next.header("location")).await.is(200);
    assert!(main_text(&third).contains("Step 3 of 4"), "the visa does not apply");
    let status = case.status().await;
    assert_eq!(
        (&status["status"], &status["progress"]),
        (&json!("in_progress"), &progress(3, 3, 5))
    );

    upload(&page, "next", "2", "99", None).await.is(422);
    upload(&page, "next", "2", "4", Some("AB 12")).await.is(303);
    let last = page.get().await.is(200);
    let summary = main_text(&last);
    for part in ["Step 4 of 4", "Name Ann", "booking.txt (5 bytes)", "(secret, not shown again)"] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    // Back and forth loses nothing, and the file need not be chosen again.
    let back = page.post(&[("action", "back"), ("step", "3")]).await.is(303);
    let third = page.client.get(back.header("location")).await.is(200);
    assert_eq!(find(&third, "#field-days[value='4']"), 1);
    assert!(main_text(&third).contains("booking.txt is uploaded"));
    upload(&page, "next", "2", "5", None).await.is(303);
    page.post(&[("action", "provide"), ("step", "3")]).await.is(303);

    let status = case.status().await;
    let data = &status["result"]["data"];
    assert_eq!(
        (&data["name"], &data["pin"], &data["days"]),
        (&json!("Ann"), &json!("hunter2"), &json!(5))
    );
    assert!(data.get("visa").is_none() && status.json.get("progress").is_none());
    assert!(!logged().contains("hunter2"), "a secret was logged");
    world.end().await;
}

/// HITL-135, HITL-136: what an earlier step left wrong is shown there, and what was entered for a
/// field that no longer applies stays out of the result.
#[tokio::test]
async fn the_whole_form_is_judged_at_the_end() {
    let world = World::dev().await;
    let case = Case::make(&world, trip()).await;
    let (page, _) = Page::open(&world, &case).await;
    let abroad = [("action", "save"), ("step", "0"), ("field.name", ""), ("field.abroad", "true")];
    page.post(&abroad).await.is(303);
    page.post(&[("action", "save"), ("step", "1"), ("field.visa", "V1")]).await.is(303);
    // Nobody sends what they have not seen: a step that came to apply is shown first.
    page.post(&[("action", "provide"), ("step", "1"), ("field.visa", "V1")]).await.is(303);
    assert!(main_text(&page.get().await).contains("Step 3 of 4"));
    let refused = page.post(&[("action", "provide"), ("step", "3")]).await.is(422);
    let main = main_text(&refused);
    assert!(main.contains("Step 1 of 4") && main.contains("2 things need"), "{main}");
    page.post(&[&[("action", "save")], &FIRST[..]].concat()).await.is(303);
    upload(&page, "next", "2", "4", Some("x")).await.is(303);
    page.post(&[("action", "provide"), ("step", "3")]).await.is(303);
    assert!(case.status().await["result"]["data"].get("visa").is_none());
    world.end().await;
}

/// HITL-137: a draft survives a reload, a closed browser and a restart; it lies encrypted, and goes
/// when the request ends.
#[tokio::test]
async fn a_draft_survives_and_is_nobodys_to_read() {
    let mut world = World::dev().await;
    let case = Case::make(&world, trip()).await;
    let (page, _) = Page::open(&world, &case).await;
    let typed = [&[("action", "draft")], &FIRST[..]].concat();
    page.post(&typed).await.is(204);
    let status = case.status().await;
    assert_eq!(status["status"], "in_progress");
    let kept = world.gateway().store().draft(case.ask_id()).await.unwrap().unwrap();
    let clear = String::from_utf8_lossy(&kept).into_owned();
    assert!(!clear.contains("Ann") && !clear.contains("hunter2"), "{clear}");
    world.restart().await;
    let shown = world.anonymous().get(&case.path("review_url")).await.is(200);
    assert_eq!(find(&shown, "#field-name[value=Ann]"), 1);
    assert_eq!(find(&shown, "#field-abroad [value=false][checked]"), 1);
    assert!(!shown.text.contains("hunter2"));
    assert!(main_text(&shown).contains("You entered this already"));
    let (page, _) = Page::open(&world, &case).await;
    page.post(&[("action", "cancel")]).await.is(303);
    assert_eq!(world.gateway().store().draft(case.ask_id()).await.unwrap(), None);
    world.end().await;
}

/// HITL-133: every type of field comes back typed; unknown ones are text.
#[tokio::test]
async fn every_type_of_field_is_filled_in() {
    let world = World::dev().await;
    let field = |key: &str, kind: &str| json!({"key": key, "label": key, "type": kind});
    let options = json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]);
    let mut fields: Vec<Value> = ["text", "textarea", "number", "date", "email", "url", "boolean"]
        .map(|kind| field(kind, kind))
        .to_vec();
    for kind in ["select", "multiselect"] {
        let mut choice = field(kind, kind);
        choice["options"] = options.clone();
        fields.push(choice);
    }
    let mut range = field("range", "range");
    range["validation"] = json!({"min": 1, "max": 5});
    fields.extend([range, field("custom", "x-colour")]);
    let case =
        json!({ "type": "input", "prompt": "All", "context": { "form": { "fields": fields } } });
    let case = Case::make(&world, case).await;
    let (page, shown) = Page::open(&world, &case).await;
    assert!(!main_text(&shown).contains("Step 1"));
    let sent = [
        ("action", "provide"),
        ("step", "0"),
        ("field.text", "t"),
        ("field.textarea", "a\r\nb"),
        ("field.number", "2.50"),
        ("field.date", "2026-03-01"),
        ("field.email", "ann@example.com"),
        ("field.url", "https://example.com/"),
        ("field.boolean", "true"),
        ("field.select", "b"),
        ("field.multiselect", "a"),
        ("field.multiselect", "b"),
        ("field.range", "3"),
        ("field.custom", "teal"),
    ];
    page.post(&sent).await.is(303);
    let data = case.status().await["result"]["data"].clone();
    let expected = json!({
        "text": "t", "textarea": "a\nb", "number": 2.5, "date": "2026-03-01",
        "email": "ann@example.com", "url": "https://example.com/", "boolean": true, "select": "b",
        "multiselect": ["a", "b"], "range": 3, "custom": "teal",
    });
    assert_eq!(data, expected);
    world.end().await;
}

/// A page that is sent like no person would send it is told to wait.
#[tokio::test]
async fn drafts_are_counted() {
    let world = World::dev().await;
    let case = Case::make(&world, trip()).await;
    let (page, _) = Page::open(&world, &case).await;
    let mut refused = None;
    for n in 0..100 {
        let name = n.to_string();
        let sent = page.post(&[("action", "draft"), ("step", "0"), ("field.name", &name)]).await;
        if sent.status != 204 {
            refused = Some(sent);
            break;
        }
    }
    let refused = refused.unwrap().is(429);
    assert!(refused.headers.contains_key("retry-after"));
    assert!(main_text(&refused).contains("Wait a moment"));
    // Polling is counted apart.
    assert_eq!(case.status().await["status"], "in_progress");
    world.end().await;
}

/// HITL-132: `default_ref` comes back to the agent and is shown to the person; nobody fetches it,
/// so the token that would open it stays here.
#[tokio::test]
async fn a_value_kept_elsewhere_is_shown_as_an_address() {
    let world = World::dev().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/iban", listener.local_addr().unwrap());
    let field = json!({ "key": "iban", "label": "IBAN", "type": "text", "sensitive": true,
                        "default_ref": url });
    let form = json!({ "form": { "fields": [field] } });
    let body = json!({ "type": "input", "prompt": "Where to?", "context": form });
    let case = Case::make(&world, body).await;
    assert_eq!(case.hitl["context"], form);
    let (page, shown) = Page::open(&world, &case).await;
    let said = main_text(&shown);
    assert!(
        said.contains(&format!("The agent has a value for this elsewhere, at {url}")),
        "{said}"
    );
    assert_eq!(find(&shown, &format!("[href='{url}'], [src='{url}']")), 0);
    page.post(&[("action", "provide"), ("field.iban", "DE1")]).await;
    assert_eq!(case.status().await["result"]["data"], json!({ "iban": "DE1" }));
    let fetched = tokio::time::timeout(std::time::Duration::ZERO, listener.accept()).await;
    assert!(fetched.is_err(), "somebody came for it");
    world.end().await;
}
