//! Tasks on pages: the board, writing one down, what waits in the inbox, and ledgers.

use scraper::{Html, Selector};
use serde_json::json;

use crate::client::Reply;
use crate::hacp::{begun, done, inline, raised, state};
use crate::pages::{Browser, browser_of, csrf, signed_in};
use crate::streams::Events;
use crate::world::World;

/// The words of every element that fits.
pub(crate) fn words(page: &Reply, selector: &str) -> Vec<String> {
    let html = Html::parse_document(&page.text);
    let selector = Selector::parse(selector).unwrap();
    let text = |element: scraper::ElementRef<'_>| {
        let text: String = element.text().collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    html.select(&selector).map(text).collect()
}

/// An attribute of every element that fits.
pub(crate) fn values(page: &Reply, selector: &str, name: &str) -> Vec<String> {
    let html = Html::parse_document(&page.text);
    let selector = Selector::parse(selector).unwrap();
    let found = html.select(&selector).filter_map(|element| element.attr(name));
    found.map(str::to_owned).collect()
}

/// Somebody else, signed in.
pub(crate) async fn person(world: &World, id: &str) -> Browser {
    let made = world.human().post(&format!("/api/v1/people/{id}/link"), json!({})).await.is(201);
    let token = made["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let visitor = world.anonymous();
    let signed = visitor.sign_in(&token).await.is(303);
    browser_of(&visitor, &signed)
}

/// Sends a form of a page, with the token the page carries.
pub(crate) async fn press(
    browser: &Browser,
    page: &str,
    to: &str,
    pairs: &[(&str, &str)],
) -> Reply {
    let token = csrf(&browser.client.get(page).await.is(200));
    let pairs: Vec<_> = [("csrf", &*token)].into_iter().chain(pairs.iter().copied()).collect();
    browser.client.post_form(to, &pairs).await
}

/// HACP-001: whoever writes a task down answers for it, and what is sent twice is written down
/// once.
#[tokio::test]
async fn a_task_is_written_down_and_given_out() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let form = browser.client.get("/tasks/new").await.is(200);
    let once = values(&form, "input[name=once]", "value").remove(0);
    let token = csrf(&form);
    let pairs = [
        ("csrf", &*token),
        ("once", &*once),
        ("goal", "Fix the login"),
        ("criteria", "It works\r\n\r\n  Nobody is locked out "),
        ("project", "dev"),
        ("agent", "agent_dev"),
        ("deadline", "2026-03-02T10:00"),
        ("autonomy", "plan_then_implement"),
    ];
    let made = browser.client.post_form("/tasks", &pairs).await.is(303);
    let room = made.header("location").to_owned();
    let again = browser.client.post_form("/tasks", &pairs).await.is(303);
    assert_eq!(again.header("location"), room);
    let id = room.strip_prefix("/tasks/").unwrap();
    let task = done(&world.human(), "task.get", json!({ "task_id": id })).await;
    assert_eq!(task["spec"]["acceptance_criteria"], json!(["It works", "Nobody is locked out"]));
    assert_eq!(task["ownership"]["principal"], "user_dev");
    assert_eq!(
        (&task["state"], &task["ownership"]["assignee"]),
        (&json!("assigned"), &json!("agent_dev"))
    );
    assert_eq!(task["deadline"], "2026-03-02T10:00:00.000Z");
    let shown = browser.client.get(&room).await.is(200);
    assert_eq!(words(&shown, "h1"), ["Fix the login"]);
    assert_eq!(words(&shown, ".criteria .say"), ["It works", "Nobody is locked out"]);

    // What is wrong is said beside the field, and nothing is lost.
    let wrong = [("goal", " "), ("criteria", "Keep me"), ("deadline", "2026-02-01T10:00")];
    let page = press(&browser, "/tasks/new", "/tasks", &wrong).await.is(422);
    assert_eq!(words(&page, "#field-criteria"), ["Keep me"]);
    let late = [("goal", "x"), ("deadline", "2026-02-01T10:00")];
    let page = press(&browser, "/tasks/new", "/tasks", &late).await.is(422);
    assert!(words(&page, ".banner")[0].contains("in the future"), "{:?}", words(&page, ".banner"));
    let abroad = [("goal", "x"), ("project", "nowhere")];
    press(&browser, "/tasks/new", "/tasks", &abroad).await.is(422);
    browser.client.post_form("/tasks", &[("goal", "x")]).await.is(403);
    world.end().await;
}

/// HACP-001, HACP-070, K-17: everything a task can be told at the beginning can be said on the
/// page, what is rarely said behind "More".
#[tokio::test]
async fn whatever_a_task_takes_is_said_in_its_form() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let whole = begun(&world, json!({})).await;
    let made = done(&world.agent(), "artifact.commit", inline(&whole, "one\n")).await;
    let (artifact, version) = (made["id"].as_str().unwrap(), made["version"].as_str().unwrap());
    let form = browser.client.get("/tasks/new").await.is(200);
    assert!(values(&form, "details.extra", "open").is_empty(), "what few say is folded away");
    assert_eq!(values(&form, "[name=reviewers]", "value"), ["user_dev", "user_dev_2"]);
    let part = browser.client.get(&format!("/tasks/new?parent={whole}")).await.is(200);
    assert_eq!(values(&part, "[name=parent]", "value"), [whole.as_str()]);
    assert_eq!(values(&part, "details.extra", "open").len(), 1);
    let odd = browser.client.get("/tasks/new?parent=%3Cb%3E").await.is(200);
    assert_eq!(values(&odd, "[name=parent]", "value"), [""]);
    let room = browser.client.get(&format!("/tasks/{whole}")).await.is(200);
    assert!(values(&room, "a", "href").contains(&format!("/tasks/new?parent={whole}")));
    let page = format!("https://gate.example/tasks/{whole}#trail");
    let inputs = format!("https://x.example/a\r\n{artifact} {version}\r\n");
    let sent = [
        ("goal", "Fix the login"),
        ("sort", "bug"),
        ("reviewers", "user_dev"),
        ("reviewers", "user_dev_2"),
        ("quorum", "any"),
        ("parent", &page),
        ("inputs", &inputs),
        ("max_duration", "2h"),
        ("allow", "bash:*\r\n fs:/repo:read "),
        ("deny", "bash:rm"),
        ("until", "session"),
        ("delegable", "yes"),
        ("on_expiry", "cancel"),
        ("capabilities", "sql 2\r\nmail"),
        ("refs", "issue github 42"),
    ];
    let made = press(&browser, "/tasks/new", "/tasks", &sent).await.is(303);
    let id = made.header("location").strip_prefix("/tasks/").unwrap().to_owned();
    let task = done(&world.human(), "task.get", json!({ "task_id": id })).await;
    assert_eq!((&task["type"], &task["parent_task"]), (&json!("bug"), &json!(whole)));
    assert_eq!(
        (&task["ownership"]["delegable"], &task["on_expiry"]),
        (&json!(true), &json!("cancel"))
    );
    let policy = json!({ "required_reviewers": ["user_dev", "user_dev_2"], "quorum": "any" });
    for (name, value) in policy.as_object().unwrap() {
        assert_eq!(task["spec"]["review_policy"][name], *value, "{name}");
    }
    assert_eq!(task["spec"]["inputs"].as_array().map(Vec::len), Some(2));
    let constraints = &task["spec"]["constraints"];
    assert_eq!(constraints["max_duration"], "2h");
    assert_eq!(constraints["must_use_capabilities"][0]["version"], "2");
    assert_eq!(constraints["external_refs"][0]["namespace"], "github");
    let said: Vec<_> = constraints["grants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|grant| {
            format!("{} {} {}", grant["decision"], grant["scope"], grant["until"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        said,
        ["allow bash:* session", "allow fs:/repo:read session", "deny bash:rm session"]
    );
    world.end().await;
}

/// What is wrong is said at its field and on top, what was typed stays, and no task is written
/// down.
#[tokio::test]
async fn what_is_wrong_with_a_new_task_is_said_at_its_field() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let stranger = "task_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let many = "x\n".repeat(101);
    for (name, typed, said) in [
        ("reviewers", "nobody", "Name members of the project"),
        ("reviewers", "not/anybody", "Name members of the project"),
        ("parent", "that other one", "Enter the address of a task"),
        ("parent", stranger, "No task you can see"),
        ("inputs", "https://x.example\ntwo words", "In line 2"),
        ("inputs", "art_01ARZ3NDEKTSV4RRFFQ69G5FAV v1", "Expected a version of an artifact"),
        ("max_duration", "soon", "Enter a duration"),
        ("max_duration", "0h", "Enter a duration"),
        ("allow", "everything", "In line 1"),
        ("deny", "fs:/a\nfs:*/b", "In line 2"),
        ("capabilities", "a b c", "In line 1"),
        ("refs", "github 42", "In line 1"),
        ("refs", "issue github https://x.example", "Expected opaque names"),
        ("sort", &"x".repeat(201), "string of at most 200 bytes"),
        ("criteria", &many, "at most 100 lines"),
    ] {
        let sent = [("goal", "Keep this"), (name, typed)];
        let page = press(&browser, "/tasks/new", "/tasks", &sent).await.is(422);
        let link = format!(".banner a[href='#field-{name}']");
        assert!(
            words(&page, &link)[0].contains(said),
            "{name} {typed}: {:?}",
            words(&page, ".banner")
        );
        assert!(words(&page, &format!("#field-{name}-error"))[0].contains(said), "{name}");
        assert_eq!(words(&page, "#field-goal"), ["Keep this"]);
        if name != "reviewers" {
            let kept = [
                values(&page, &format!("#field-{name}"), "value"),
                words(&page, &format!("#field-{name}")),
            ];
            let kept = kept.concat().join(" ");
            assert!(kept.split_whitespace().eq(typed.split_whitespace()), "{name}: {kept}");
        }
        if name != "criteria" {
            assert_eq!(values(&page, "details.extra", "open").len(), 1, "{name} is in sight");
        }
    }
    let board = browser.client.get("/tasks").await.is(200);
    assert!(words(&board, ".empty h2")[0].contains("No task"));
    world.end().await;
}

/// The board has every task in the column of its state, is narrowed by project, person and agent,
/// and goes on where a column is long.
#[tokio::test]
async fn the_board_is_read_by_state() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    assert!(words(&browser.client.get("/tasks").await.is(200), ".empty h2")[0].contains("No task"));
    for n in 1..=10 {
        let params = json!({ "type": "t", "spec": { "goal": format!("Task {n}") } });
        done(&world.human(), "task.create", params).await;
        world.advance(1);
    }
    let working = begun(&world, json!({})).await;
    let blocked = begun(&world, json!({})).await;
    raised(&world, &blocked, "approval", json!({})).await;
    let board = browser.client.get("/tasks").await.is(200);
    let titles = words(&board, ".column h2");
    assert_eq!(titles, ["Not started 10", "In progress 1", "Blocked 1", "In review 0", "Closed 0"]);
    let hrefs = values(&board, ".column h3 a", "href");
    assert_eq!(hrefs.len(), 8 + 2, "a column shows the newest few");
    assert!(hrefs.contains(&format!("/tasks/{working}")));
    assert_eq!(words(&board, ".row.here .overline"), ["Waits for you"]);
    let more = values(&board, ".column a.act", "href");
    let [next] = &more[..] else { panic!("{more:?}") };
    let rest = browser.client.get(next).await.is(200);
    assert_eq!(words(&rest, ".column h3"), ["Task 2", "Task 1"]);

    // One agent's, also where they wait for a person; one's own; those of a project one is not in.
    let narrowed = browser.client.get("/tasks?agent=agent_dev").await.is(200);
    assert_eq!(words(&narrowed, ".column h3").len(), 2);
    assert!(
        words(&browser.client.get("/tasks?agent=agent_dev_2").await.is(200), ".column h3")
            .is_empty()
    );
    let member = person(&world, "user_dev_2").await;
    assert_eq!(words(&member.client.get("/tasks").await.is(200), ".column h3").len(), 10);
    let own = member.client.get("/tasks?view=mine").await.is(200);
    assert!(words(&own, ".column h3").is_empty());
    let other = member.client.get("/tasks?project=dev2").await.is(200);
    assert_eq!(words(&other, ".column h3").len(), 10, "a project one is not in narrows nothing");
    world.end().await;
}

/// Whoever has the board open sees cards move, column by column, and is told nothing they have
/// already.
#[tokio::test]
async fn an_open_board_follows_its_tasks() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let moved = begun(&world, json!({})).await;
    let board = browser.client.get("/tasks?project=dev").await.is(200);
    let live = values(&board, "#rows", "data-live").remove(0);
    let (seen, names) =
        (values(&board, "#rows", "data-digest").remove(0), values(&board, ".column", "id"));
    let versions = values(&board, ".column", "data-v");
    let have: Vec<_> = names.iter().zip(&versions).map(|(name, v)| format!("{name}.{v}")).collect();
    let to = format!("{live}&seen={seen}&have={}", have.join("+"));
    let mut events = Events::open(&browser.client, &to).await;
    assert_eq!(events.next().await.unwrap().event, "beat", "nothing differs");
    raised(&world, &moved, "approval", json!({})).await;
    let told = events.next().await.unwrap();
    assert_eq!((told.event.as_str(), &told.data["empty"]), ("news", &json!(false)));
    let columns = told.data["columns"].as_array().unwrap();
    let sent = |n: usize| columns[n]["html"].as_str();
    assert_eq!(
        columns[0],
        json!({ "key": "in-waiting", "v": versions[0] }),
        "it has this one already"
    );
    assert!(sent(1).unwrap().contains("In progress") && !sent(1).unwrap().contains(&moved));
    assert!(sent(2).unwrap().contains(&moved) && sent(2).unwrap().contains("Waits for you"));
    assert!(sent(3).is_none() && sent(4).is_none());
    // The page made now is the page that was told.
    let now = browser.client.get("/tasks?project=dev").await.is(200);
    let version = values(&now, "#in-deciding", "data-v").remove(0);
    assert_eq!(columns[2]["v"], version);
    // Of what one does not see nothing is told; of another column of one's own neither.
    let abroad = json!({ "type": "t", "project": "dev2", "spec": { "goal": "Elsewhere" } });
    done(&world.human(), "task.create", abroad).await;
    let here = json!({ "type": "t", "project": "dev", "spec": { "goal": "Here" } });
    done(&world.human(), "task.create", here).await;
    let told = events.next().await.unwrap();
    let html = told.data["columns"][0]["html"].as_str().unwrap();
    assert!(html.contains("Here") && !html.contains("Elsewhere"));
    world.anonymous().get("/tasks/live").await.is(401);
    world.end().await;
}

/// HACP-040: a decision waits in the inbox as a request of its task, and its answer moves the task.
#[tokio::test]
async fn a_decision_waits_in_the_inbox_and_leads_to_its_task() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    raised(&world, &task, "approval", json!({ "prompt": "May I drop \u{202e}the table?" })).await;
    let inbox = browser.client.get("/").await.is(200);
    assert!(words(&inbox, ".row .overline")[0].starts_with("Task ·"));
    let request = values(&inbox, ".row h2 a", "href").remove(0);
    let page = browser.client.get(&request).await.is(200);
    assert_eq!(values(&page, ".banner a", "href"), [format!("/tasks/{task}")]);
    let room = browser.client.get(&format!("/tasks/{task}")).await.is(200);
    assert!(words(&room, ".said-by")[0].contains("⟨U+202E⟩"));
    assert!(values(&room, ".side a", "href").contains(&request));
    let pairs = [("action", "approve"), ("comment", "Only that one")];
    press(&browser, &request, &format!("{request}/answer"), &pairs).await.is(303);
    world.let_answers_stand();
    world.run_timers().await;
    assert_eq!(state(&world, &task).await, "in_progress");
    let room = browser.client.get(&format!("/tasks/{task}")).await.is(200);
    assert!(words(&room, ".trail .verdict")[0].starts_with("Approved by"));
    assert!(words(&room, ".trail blockquote").contains(&"Only that one".to_owned()));
    // What was delivered waits there too.
    done(&world.agent(), "artifact.commit", inline(&task, "one\n")).await;
    let inbox = browser.client.get("/").await.is(200);
    assert!(words(&inbox, ".row .overline")[0].starts_with("Task ·"));
    world.end().await;
}

/// HACP-023: a ledger shows what was written last and everything before it, to whoever may read it.
#[tokio::test]
async fn ledgers_are_browsed_by_those_who_may() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let task = begun(&world, json!({})).await;
    let write = async |scope: &str, key: &str, value: serde_json::Value| {
        let params = json!({ "scope": scope, "key": key, "value": value, "by": task });
        done(&world.agent(), "ledger.write", params).await;
    };
    for n in 1..=33 {
        write("project:dev", "count", json!(n)).await;
        write("project:dev", &format!("key-{n:02}"), json!({ "n": n, "x": "\u{202e}" })).await;
    }
    write("org:all", "motto", json!("<b>Onward</b>")).await;
    write("org:legal", "terms", json!("v2")).await;
    let list = browser.client.get("/ledger").await.is(200);
    let hrefs = values(&list, ".row a", "href");
    assert!(
        hrefs.contains(&"/ledger/project:dev".to_owned())
            && hrefs.contains(&"/ledger/org:all".to_owned())
            && hrefs.contains(&"/ledger/org:legal".to_owned()),
        "{hrefs:?}"
    );
    assert_eq!(hrefs.iter().filter(|href| *href == "/ledger/org:all").count(), 1);
    let ledger = browser.client.get("/ledger/project:dev").await.is(200);
    assert_eq!(words(&ledger, ".entry h2").len(), 30);
    assert!(words(&ledger, ".entry").iter().any(|entry| entry.contains("33 times")));
    assert!(ledger.text.contains("⟨U+202E⟩"));
    let next = values(&ledger, "a.act", "href").remove(0);
    assert_eq!(words(&browser.client.get(&next).await.is(200), ".entry h2").len(), 4);
    let key = browser.client.get("/ledger/project:dev?key=count").await.is(200);
    assert_eq!(words(&key, ".entry .quoted")[0], "33");
    let older = values(&key, "a.act", "href").remove(0);
    let oldest = browser.client.get(&older).await.is(200);
    assert_eq!(words(&oldest, ".entry .quoted"), ["3", "2", "1"]);
    assert!(
        browser.client.get("/ledger/org:all").await.is(200).text.contains("&lt;b&gt;Onward")
            || browser
                .client
                .get("/ledger/org:all")
                .await
                .is(200)
                .text
                .contains("&#60;b&#62;Onward")
    );
    for missing in ["/ledger/project:dev?key=nothing", "/ledger/nonsense", "/ledger/galaxy:x"] {
        browser.client.get(missing).await.is(404);
    }
    let to = browser.client.get("/ledger?scope=org:all").await.is(303);
    assert_eq!(to.header("location"), "/ledger/org:all");
    browser.client.get("/ledger?scope=nowhere").await.is(404);
    let member = person(&world, "user_dev_2").await;
    member.client.get("/ledger/project:dev").await.is(200);
    member.client.get("/ledger/project:dev2").await.is(404);
    member.client.get("/ledger/team:secret").await.is(404);
    member.client.get("/ledger?scope=project:dev2").await.is(404);
    world.end().await;
}
