//! The pages of the settings, in a browser without a script.

use scraper::{Html, Selector};
use serde_json::json;

use crate::client::{Client, Reply};
use crate::pages::{Browser, browser_of, csrf, signed_in};
use crate::task_pages::words;
use crate::world::World;

const PAGES: [&str; 13] = [
    "/settings",
    "/settings/profile",
    "/settings/away",
    "/settings/devices",
    "/settings/notices",
    "/settings/rules",
    "/settings/agents",
    "/settings/webhooks",
    "/settings/people",
    "/settings/people/user_dev",
    "/settings/groups",
    "/settings/projects",
    "/settings/signing",
];

/// Sends a form of a page, with its token.
pub(crate) async fn send(browser: &Client, path: &str, fields: &[(&str, &str)]) -> Reply {
    let token = csrf(&browser.get("/settings/profile").await.is(200));
    browser.post_form(path, &[&[("csrf", token.as_str())], fields].concat()).await
}

/// Somebody who administers nothing.
pub(crate) async fn member(world: &World) -> Browser {
    let link = world.human().post("/api/v1/people/user_dev_2/link", json!({})).await.is(201);
    let token = link["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let visitor = world.anonymous();
    let signed = visitor.sign_in(&token).await.is(303);
    browser_of(&visitor, &signed)
}

fn selected<'a>(html: &'a Html, css: &str) -> Vec<scraper::ElementRef<'a>> {
    html.select(&Selector::parse(css).unwrap()).collect()
}

/// Every control has a label, every form its token, and every id is there once.
pub(crate) fn well_made(path: &str, page: &Reply) {
    let html = Html::parse_document(&page.text);
    let mut ids: Vec<_> = selected(&html, "[id]").iter().filter_map(|e| e.attr("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "{path}: an id is there twice");
    let unnamed =
        "main input:not([type=hidden]):not([type=checkbox]):not([type=radio]), main select";
    for control in selected(&html, unnamed) {
        let id = control.attr("id").unwrap_or_else(|| panic!("{path}: {}", control.html()));
        let label = format!("label[for=\"{id}\"]");
        assert_eq!(selected(&html, &label).len(), 1, "{path}: {id}");
    }
    for form in selected(&html, "form[method=post]") {
        assert!(form.inner_html().contains("name=\"csrf\""), "{path}: {}", form.html());
    }
    assert_eq!(selected(&html, "h1").len(), 1, "{path}");
}

#[tokio::test]
async fn everybody_sees_what_is_theirs() {
    let world = World::dev().await;
    let (admin, member) = (signed_in(&world).await, member(&world).await);
    for path in PAGES {
        well_made(path, &admin.client.get(path).await.is(200));
    }
    let theirs = [[200; 8].as_slice(), &[403; 5]].concat();
    assert_eq!(theirs.len(), PAGES.len());
    for (path, status) in PAGES.into_iter().zip(theirs) {
        let page = member.client.get(path).await.is(status);
        well_made(path, &page);
        if status == 403 {
            assert!(page.text.contains("An administrator can give it to you"), "{}", page.text);
        } else {
            assert!(!page.text.contains("/settings/people"), "{path} leads where they may not");
        }
    }
    // An agent of somebody else is not there.
    member.client.get("/settings/agents/agent_dev").await.is(404);
    send(&member.client, "/settings/agents/agent_dev/keys", &[]).await.is(404);
    send(&member.client, "/settings/people", &[("id", "eve")]).await.is(403);
    send(&member.client, "/settings/demo", &[]).await.is(403);
    send(&member.client, "/settings/first-key", &[]).await.is(403);
    // No form works without its token.
    for path in ["/settings/profile", "/settings/away", "/settings/people", "/settings/demo"] {
        admin.client.post_form(path, &[("csrf", "nonsense"), ("id", "eve")]).await.is(403);
    }
    world.end().await;
}

#[tokio::test]
async fn a_profile_is_kept_and_corrected() {
    let world = World::dev().await;
    let me = signed_in(&world).await.client;
    let good = [
        ("name", "Ada <b>"),
        ("about.time_zone", "Europe/Berlin"),
        ("about.language", "de"),
        ("about.quiet_hours.from", "22:00"),
        ("about.quiet_hours.to", "07:00:00"),
    ];
    let saved = send(&me, "/settings/profile", &good).await.is(303);
    assert_eq!(saved.header("location"), "/settings/profile?saved=1");
    let page = me.get("/settings/profile?saved=1").await.is(200);
    let html = Html::parse_document(&page.text);
    let value = |html: &Html, id: &str| {
        let field = selected(html, &format!("[id=\"field-{id}\"]"))[0];
        field.attr("value").unwrap().to_owned()
    };
    let chosen = |html: &Html, id: &str| {
        let options = format!("[id=\"field-{id}\"] option[selected]");
        let options = selected(html, &options);
        options.iter().map(|option| option.attr("value").unwrap().to_owned()).collect::<Vec<_>>()
    };
    // The page is in the language that was just chosen.
    assert_eq!(words(&page, ".banner h2"), ["Gespeichert"]);
    assert_eq!(value(&html, "name"), "Ada <b>");
    assert_eq!(chosen(&html, "about.language"), ["de"]);
    assert_eq!(chosen(&html, "about.time_zone"), ["Europe/Berlin"]);
    assert_eq!(value(&html, "about.quiet_hours.to"), "07:00");
    // What is wrong is said on top and at its field, and everything entered is still there.
    let bad = [("name", "Grace"), ("about.time_zone", "Mars/Olympus"), ("about.language", "en")];
    let refused = send(&me, "/settings/profile", &bad).await.is(422);
    let html = Html::parse_document(&refused.text);
    let summary = selected(&html, "#problems a")[0];
    assert_eq!(summary.attr("href"), Some("#field-about.time_zone"));
    assert!(summary.inner_html().contains("such as Europe/Berlin"), "{}", summary.inner_html());
    assert_eq!(chosen(&html, "about.time_zone"), ["Mars/Olympus"]);
    assert_eq!(value(&html, "name"), "Grace");
    let alone = [("name", "Ada"), ("about.quiet_hours.from", "22:00")];
    let refused = send(&me, "/settings/profile", &alone).await.is(422);
    assert!(refused.text.contains("Geben Sie beide Uhrzeiten an oder keine."), "{}", refused.text);
    let kept = world.human().get("/api/v1/me").await.is(200);
    assert_eq!((&kept["name"], &kept["about"]["language"]), (&json!("Ada <b>"), &json!("de")));
    world.end().await;
}

#[tokio::test]
async fn away_and_back_in_two_taps() {
    let world = World::dev().await;
    let me = signed_in(&world).await.client;
    let about = |me: Reply| me["about"].clone();
    world.human().put("/api/v1/me", json!({ "about": { "time_zone": "Europe/Berlin" } })).await;
    let gone = [
        ("do", "away"),
        ("about.absence.delegate", "user_dev_2"),
        ("about.absence.until", "2099-07-01T08:00"),
    ];
    send(&me, "/settings/away", &gone).await.is(303);
    let shown = me.get("/settings/away").await.is(200);
    assert!(shown.text.contains("You are away") && shown.text.contains("is asked instead"));
    let now = about(world.human().get("/api/v1/me").await.is(200));
    let absence = json!({ "until": "2099-07-01T06:00:00.000Z", "delegate": "user_dev_2" });
    assert_eq!(now, json!({ "time_zone": "Europe/Berlin", "absence": absence }));
    for (field, value) in
        [("about.absence.delegate", "user_dev"), ("about.absence.until", "tomorrow")]
    {
        let refused = send(&me, "/settings/away", &[("do", "away"), (field, value)]).await.is(422);
        assert!(refused.text.contains(&format!("#field-{field}")), "{}", refused.text);
    }
    assert!(me.get("/settings/away").await.text.contains("I\u{2019}m back"));
    send(&me, "/settings/away", &[("do", "back")]).await.is(303);
    let now = about(world.human().get("/api/v1/me").await.is(200));
    assert_eq!(now, json!({ "time_zone": "Europe/Berlin" }));
    world.end().await;
}

#[tokio::test]
async fn people_groups_and_projects_are_changed_on_their_pages() {
    let world = World::dev().await;
    let admin = signed_in(&world).await.client;
    let added = send(&admin, "/settings/people", &[("id", "ada"), ("name", "Ada")]).await.is(303);
    assert_eq!(added.header("location"), "/settings/people/ada?saved=1");
    for (id, words) in [("ada", "has this user ID already"), ("not a name", "Expected")] {
        let refused = send(&admin, "/settings/people", &[("id", id)]).await.is(422);
        assert!(refused.text.contains(words) && refused.text.contains("#field-id"), "{id}");
    }
    let changed = [
        ("name", "Ada L."),
        ("email", "ada@example.com"),
        ("active", "yes"),
        ("projects", "dev"),
        ("projects", "dev2"),
        ("groups", "legal, ops"),
        ("skills", "tax"),
    ];
    send(&admin, "/settings/people/ada", &changed).await.is(303);
    let ada = world.human().get("/api/v1/people/ada").await.is(200);
    assert_eq!(ada["projects"], json!(["dev", "dev2"]));
    assert_eq!((&ada["groups"], &ada["admin"]), (&json!(["legal", "ops"]), &json!(false)));
    let wrong = [("name", "Ada"), ("email", "nonsense"), ("active", "yes")];
    let refused = send(&admin, "/settings/people/ada", &wrong).await.is(422);
    assert!(refused.text.contains("#field-email") && refused.text.contains("value=\"nonsense\""));
    // Somebody must be able to administer.
    let refused = send(&admin, "/settings/people/user_dev", &[("active", "yes")]).await.is(422);
    let needed = "The installation needs at least one active administrator.";
    assert!(refused.text.contains(needed), "{}", refused.text);
    let link = send(&admin, "/settings/people/ada/link", &[]).await.is(201);
    assert!(link.text.contains("/sign-in?token="), "{}", link.text);
    admin.get("/settings/people/ghost").await.is(404);

    let group = [("id", "night"), ("members", "ada"), ("members", "user_dev_2")];
    send(&admin, "/settings/groups", &group).await.is(303);
    send(&admin, "/settings/groups", &[("id", "empty")]).await.is(422);
    well_made("group", &admin.get("/settings/groups/night").await.is(200));
    send(&admin, "/settings/groups/night", &[("members", "ada")]).await.is(303);
    let night = world.human().get("/api/v1/groups/night").await.is(200);
    assert_eq!(night["members"], json!(["ada"]));
    send(&admin, "/settings/groups/night", &[]).await.is(303);
    admin.get("/settings/groups/night").await.is(404);

    send(&admin, "/settings/projects", &[("id", "billing")]).await.is(303);
    let rules = [
        ("floor", "session"),
        ("default_on_silence", "no"),
        ("reminders", "15 min, 1 h"),
        ("envelopes", "strict"),
        ("retention", " 90d "),
        ("recipients", "project"),
        ("allowed_recipients", "slack:C0123ABC, @Example.com"),
        ("quotas", "agent.open_asks=5, project.uploads=0"),
        ("ladder", "2 h"),
        ("ladder.0.who", "@"),
        ("ladder.1.after", "30 min"),
        ("ladder.1.who", "ada"),
    ];
    send(&admin, "/settings/projects/billing", &rules).await.is(303);
    let saved = world.human().get("/api/v1/projects/billing").await.is(200);
    let ladder = json!([
        { "after": 1800, "seat": "person", "human": "ada" },
        { "after": 7200, "seat": "pool", "group": null },
    ]);
    assert_eq!((&saved["ladder"], &saved["reminders"]), (&ladder, &json!([900, 3600])));
    assert_eq!((&saved["envelopes"], &saved["retention"]), (&json!("strict"), &json!("90d")));
    assert_eq!((&saved["floor"], &saved["default_on_silence"]), (&json!("session"), &json!(false)));
    assert_eq!(saved["recipients"], "project");
    assert_eq!(saved["allowed_recipients"], json!(["slack:C0123ABC", "@example.com"]));
    assert_eq!(saved["quotas"], json!({ "agent.open_asks": 5, "project.uploads": 0 }));
    let page = admin.get("/settings/projects/billing").await.is(200);
    well_made("project", &page);
    let allowed = "value=\"slack:C0123ABC, @example.com\"";
    let words = ["30 min", "Anyone in the project", "value=\"15 min, 1 h\"", allowed];
    for words in words {
        assert!(page.text.contains(words), "{words}");
    }
    for (wrong, place) in [
        ([("reminders", "soon"), ("floor", "link")], "#field-reminders"),
        ([("ladder", "soon"), ("ladder.0.who", "ada")], "#field-ladder"),
        ([("ladder", "5 min"), ("ladder.0.who", "")], "#field-ladder.0.who"),
        ([("reminders", "0"), ("floor", "link")], "#field-reminders"),
        ([("retention", "soon"), ("floor", "link")], "#field-retention"),
        ([("allowed_recipients", "nowhere"), ("floor", "link")], "#field-allowed_recipients"),
        ([("quotas", "agent.asks=1"), ("floor", "link")], "#field-quotas"),
        ([("quotas", "person.open_asks=1"), ("floor", "link")], "#field-quotas"),
    ] {
        let refused = send(&admin, "/settings/projects/billing", &wrong).await.is(422);
        assert!(refused.text.contains(&format!("href=\"{place}\"")), "{place}: {}", refused.text);
    }
    assert_eq!(world.human().get("/api/v1/projects/billing").await["floor"], "session");
    world.end().await;
}

#[tokio::test]
async fn keys_are_made_used_and_revoked() {
    let world = World::dev().await;
    let admin = signed_in(&world).await.client;
    let agent = [("id", "biller"), ("project", "dev"), ("owner", "user_dev_2")];
    send(&admin, "/settings/agents", &agent).await.is(303);
    send(&admin, "/settings/agents", &agent).await.is(422);
    let member = member(&world).await.client;
    let list = member.get("/settings/agents").await.is(200);
    assert!(list.text.contains("biller") && !list.text.contains("agent_dev"), "{}", list.text);
    let made = send(&member, "/settings/agents/biller/keys", &[("label", "ci")]).await.is(201);
    let html = Html::parse_document(&made.text);
    let secret = selected(&html, "#secret")[0].attr("value").unwrap().to_owned();
    assert!(secret.starts_with("cs_agent_"), "{secret}");
    world.bearer(&secret).post("/api/v1/asks", question()).await.is(201);
    let page = member.get("/settings/agents/biller").await.is(200);
    assert!(page.text.contains("last used") && !page.text.contains(&secret), "{}", page.text);
    let wide = send(&member, "/settings/agents/biller/keys", &[("project_wide", "yes")]).await;
    let said = words(&wide.is(422), "main").concat();
    let allowed = "Only an administrator or the agent's owner can issue this key.";
    assert!(said.contains(allowed), "{said}");
    let html = Html::parse_document(&page.text);
    let revoke = selected(&html, "a[href*=revoke]")[0].attr("href").unwrap().to_owned();
    let sure = member.get(&revoke).await.is(200);
    assert!(sure.text.contains("This can’t be undone"), "{}", sure.text);
    world.bearer(&secret).post("/api/v1/asks", question()).await.is(201);
    let key = revoke.split_once("key=").unwrap().1;
    send(&member, "/settings/keys/revoke", &[("key", key)]).await.is(303);
    world.bearer(&secret).post("/api/v1/asks", question()).await.is(401);
    assert!(member.get("/settings/agents/biller").await.text.contains("revoked"));
    send(&member, "/settings/keys/revoke", &[("key", "nonsense")]).await.is(404);
    world.end().await;
}

fn question() -> serde_json::Value {
    json!({ "question": { "kind": "approve", "prompt": "Go?" } })
}

#[tokio::test]
async fn rules_are_added_and_removed() {
    let world = World::dev().await;
    let me = signed_in(&world).await.client;
    let rule = [("delegate_to", "user_dev_2"), ("kinds", "approve"), ("tag", "tax")];
    send(&me, "/settings/rules", &rule).await.is(303);
    let page = me.get("/settings/rules").await.is(200);
    well_made("rules", &page);
    assert!(page.text.contains("about tax"), "{}", page.text);
    let html = Html::parse_document(&page.text);
    let id = selected(&html, "button[name=remove]")[0].attr("value").unwrap().to_owned();
    let long = "x".repeat(201);
    let refused =
        send(&me, "/settings/rules", &[("delegate_to", "user_dev_2"), ("tag", &long)]).await;
    assert!(refused.is(422).text.contains("#field-tag"));
    send(&me, "/settings/rules", &[("remove", &id)]).await.is(303);
    let rules = world.human().get("/api/v1/rules").await.is(200);
    assert_eq!(rules["rules"], json!([]));
    world.end().await;
}

#[tokio::test]
async fn an_empty_inbox_leads_to_the_first_answer() {
    let world = World::dev().await;
    let me = signed_in(&world).await.client;
    let empty = me.get("/").await.is(200);
    assert!(empty.text.contains("Create a key") && empty.text.contains("Let the demo agent ask"));
    let made = send(&me, "/settings/first-key", &[]).await.is(201);
    let html = Html::parse_document(&made.text);
    let secret = selected(&html, "#secret")[0].attr("value").unwrap().to_owned();
    let url = world.app().core.config.public_url.as_str().trim_end_matches('/').to_owned();
    let ways: Vec<String> = selected(&html, "pre").iter().map(|pre| pre.text().collect()).collect();
    assert_eq!(ways.len(), 3);
    assert!(ways.iter().all(|way| way.contains(&secret) && way.contains(&url)));
    world.bearer(&secret).post("/api/v1/asks", question()).await.is(201);
    assert!(me.get("/").await.is(200).text.contains("Go?"));
    world.end().await;
}

#[tokio::test]
async fn the_demonstration_says_what_it_is_and_asks_one_at_a_time() {
    let world = World::dev().await;
    let me = signed_in(&world).await.client;
    let asked = send(&me, "/settings/demo", &[]).await.is(303);
    let path = asked.header("location").to_owned();
    let page = me.get(&path).await.is(200);
    for words in ["Demonstration", "Nothing, whatever you answer", "demo-user_dev"] {
        assert!(page.text.contains(words), "{words}");
    }
    assert_eq!(send(&me, "/settings/demo", &[]).await.is(303).header("location"), path);
    // Nobody can ask as it, and nobody else sees what it asks.
    let directory = world.gateway().directory();
    assert_eq!(directory.keys_of(&"demo-user_dev".parse().unwrap()).count(), 0);
    member(&world).await.client.get(&path).await.is(404);
    let token = csrf(&page);
    me.post_form(&format!("{path}/answer"), &[("csrf", &token), ("action", "approve")])
        .await
        .is(303);
    world.let_answers_stand();
    let next = send(&me, "/settings/demo", &[]).await.is(303);
    assert_ne!(next.header("location"), path);
    world.end().await;
}
