//! The documentation that the server serves: pages, search, Markdown, files for language models,
//! the API reference.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use scraper::{Html, Selector};
use sha2::{Digest, Sha256};
use views::docs::library::library;

use crate::client::Reply;
use crate::world::World;

/// The longest page with its stylesheets and scripts, as sent.
const LONGEST_PAGE: usize = 120 * 1024;

fn all(css: &str) -> Selector {
    Selector::parse(css).unwrap()
}

async fn head(world: &World, path: &str) -> Reply {
    Reply::of(world.anonymous().request(Method::HEAD, path)).await
}

/// Every page with every link on it: to a page, to an anchor of a page, to a file, to the Markdown.
#[tokio::test]
async fn every_link_leads_somewhere() {
    let world = World::dev().await;
    let mut next = vec!["/docs".to_owned()];
    let mut pages: BTreeMap<String, (BTreeSet<String>, Vec<String>)> = BTreeMap::new();
    let mut others = BTreeSet::new();
    next.extend(library().guides().iter().map(|guide| guide.path.clone()));
    let browser = world.anonymous().header("accept", "text/html");
    while let Some(path) = next.pop() {
        if pages.contains_key(&path) || others.contains(&path) {
            continue;
        }
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        if !page.header("content-type").starts_with("text/html") {
            assert!(!page.text.is_empty(), "{path}");
            others.insert(path);
            continue;
        }
        assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
        let html = Html::parse_document(&page.text);
        let mut ids = BTreeSet::new();
        for element in html.select(&all("[id]")) {
            let id = element.value().attr("id").unwrap();
            assert!(ids.insert(id.to_owned()), "{path}: #{id} is there twice");
        }
        if path.starts_with("/docs") || path.starts_with("/errors") {
            assert_eq!(html.select(&all("[style], style, script:not([src])")).count(), 0, "{path}");
        }
        if path != "/docs/api" {
            // The script of the API reference writes its heading.
            assert_eq!(html.select(&all("h1")).count(), 1, "{path}");
        }
        let mut links = Vec::new();
        for link in html.select(&all("a[href], link[href], script[src], img[src]")) {
            let value = link.value();
            let target = value.attr("href").or_else(|| value.attr("src")).unwrap();
            assert!(!target.starts_with("//") && !target.is_empty(), "{path}: {target}");
            if value.name() != "a" {
                assert!(target.starts_with('/'), "{path} loads {target}");
            }
            if !target.contains("://") && !target.starts_with("mailto:") {
                links.push(target.to_owned());
            }
        }
        for link in &links {
            let (page, _) = link.split_once('#').unwrap_or((link, ""));
            // The rest of the site has its own tests, and asks for a credential.
            let ours = ["/docs", "/errors", "/llms", "/openapi", "/assets"];
            if ours.iter().any(|prefix| page.starts_with(prefix)) {
                next.push(page.to_owned());
            }
        }
        pages.insert(path, (ids, links));
    }
    let mut wrong = Vec::new();
    for (path, (ids, links)) in &pages {
        for link in links {
            let Some((page, anchor)) = link.split_once('#') else { continue };
            let there = match page {
                "" => Some(ids),
                page => pages.get(page).map(|(ids, _)| ids),
            };
            // The anchors of the API reference are for its script.
            let is_checked = !anchor.is_empty() && page != "/docs/api";
            if is_checked && there.is_some_and(|ids| !ids.contains(anchor)) {
                wrong.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(pages.len() > 80, "{} pages", pages.len());
    assert!(others.iter().any(|path| path.contains(".png")), "{others:?}");
    world.end().await;
}

/// What people search for, and the page that has to come first.
#[tokio::test]
async fn the_search_finds_the_right_page_first() {
    let world = World::dev().await;
    for (query, page) in [
        ("SSO", "/docs/sign-in"),
        ("GDPR", "/docs/erasure"),
        ("email", "/docs/channels/email"),
        ("webhook+signature", "/docs/webhooks"),
        ("rate+limit", "/docs/rate-limits"),
        ("backup", "/docs/backup"),
        ("audit+log", "/docs/audit"),
        ("webhok+signatrue", "/docs/webhooks"),
    ] {
        let shown = world.anonymous().get(&format!("/docs/search?q={query}")).await.is(200);
        let html = Html::parse_document(&shown.text);
        let first = html.select(&all(".docs-results a")).next().unwrap();
        let path = first.value().attr("href").unwrap();
        assert_eq!(path.split('#').next().unwrap(), page, "{query}");
        assert!(html.select(&all(".docs-results li:first-child mark")).count() > 0, "{query}");
    }
    let shown = world.anonymous().get("/docs/search?q=%3Cb%3Ewebhook").await.is(200);
    assert!(shown.text.contains("value=\"&#60;b&#62;webhook\"") && !shown.text.contains("<b>web"));
    let none = world.anonymous().get("/docs/search?q=zxqvwyzxqvwy").await.is(200);
    assert!(none.text.contains("No page contains these words"));
    for query in ["", "?q=", "?q=%FF", "?other=1", "?q=1&q=2"] {
        let shown = world.anonymous().get(&format!("/docs/search{query}")).await.is(200);
        assert_eq!(Html::parse_document(&shown.text).select(&all("h1")).count(), 1, "{query}");
    }
    let long = format!("/docs/search?q={}", "webhook+".repeat(500));
    let shown = world.anonymous().get(&long).await.is(200);
    assert!(shown.text.len() < 40 * 1024, "{}", shown.text.len());
    world.end().await;
}

#[tokio::test]
async fn every_page_is_there_as_markdown() {
    let world = World::dev().await;
    let base = world.app().core.config.public_url.as_str().trim_end_matches('/').to_owned();
    for guide in library().guides() {
        let page = world.anonymous().get(&guide.markdown_path()).await.is(200);
        assert_eq!(page.header("content-type"), "text/markdown; charset=utf-8", "{}", guide.path);
        assert_eq!(page.text.lines().next(), guide.markdown.lines().next(), "{}", guide.path);
        for link in page.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let is_code = link.contains(['`', ' ', '\n', '|']);
            let is_absolute = link.contains("://") || link.starts_with("mailto:");
            assert!(is_code || is_absolute || link.starts_with('#'), "{}: {link}", guide.path);
        }
    }
    let page = world.anonymous().get("/docs/channels.md").await.is(200);
    assert!(page.text.contains(&format!("]({base}/docs/channels/slack.md)")), "{}", page.text);
    let reader = world.anonymous().header("accept", "text/markdown");
    assert_eq!(reader.get("/docs/channels").await.is(200).text, page.text);
    // The path in the repository leads to the page.
    for (path, to) in [
        ("/docs/channels/README.md", "/docs/channels.md"),
        ("/docs/api.md", "/docs/api-guide.md"),
        ("/docs/errors", "/errors"),
        ("/docs/errors/not-found", "/errors/not-found"),
        ("/docs/errors/not-found.md", "/errors/not-found.md"),
    ] {
        assert_eq!(world.anonymous().get(path).await.is(308).header("location"), to);
    }
    world.end().await;
}

#[tokio::test]
async fn language_models_get_a_list_and_the_whole() {
    let world = World::dev().await;
    let list = world.anonymous().get("/llms.txt").await.is(200);
    assert_eq!(list.header("content-type"), "text/plain; charset=utf-8");
    assert!(list.text.starts_with("# Countersign\n\n> "), "{}", list.text);
    let base = world.app().core.config.public_url.as_str().trim_end_matches('/').to_owned();
    let mut entries = 0;
    for line in list.text.lines().filter(|line| line.starts_with("- ")) {
        let (_, rest) = line.split_once("](").unwrap();
        let (address, about) = rest.split_once("): ").unwrap();
        assert!(!about.is_empty(), "{line}");
        world.anonymous().get(address.strip_prefix(&base).unwrap()).await.is(200);
        entries += 1;
    }
    assert!(entries > 40, "{entries}");
    let whole = world.anonymous().get("/llms-full.txt").await.is(200);
    assert_eq!(whole.header("content-type"), "text/plain; charset=utf-8");
    for title in ["\n# Quickstart\n", "\n# Webhooks\n", "\n# Audit log\n"] {
        assert_eq!(whole.text.matches(title).count(), 1, "{title}");
    }
    world.end().await;
}

/// What is still the same is not sent again; HEAD has the headers of GET.
#[tokio::test]
async fn caches_ask_whether_they_still_have_it() {
    let world = World::dev().await;
    for path in [
        "/docs",
        "/docs/webhooks",
        "/docs/webhooks.md",
        "/docs/screenshots/inbox.png",
        "/errors/not-found",
        "/llms.txt",
        "/llms-full.txt",
        "/openapi.json",
    ] {
        let first = head(&world, path).await.is(200);
        assert!(first.text.is_empty(), "{path}");
        assert_eq!(first.header("cache-control"), "no-cache", "{path}");
        assert_eq!(first.header("x-content-type-options"), "nosniff", "{path}");
        let tag = first.header("etag").to_owned();
        for known in [tag.clone(), format!("\"other\", {tag}"), "*".to_owned()] {
            let again = world.anonymous().header("if-none-match", &known).get(path).await.is(304);
            assert!(again.text.is_empty(), "{path}");
            assert_eq!(again.header("etag"), tag, "{path}");
        }
        let other = world.anonymous().header("if-none-match", "\"other\"").get(path).await.is(200);
        assert!(!other.headers.contains_key("content-encoding"), "{path}");
    }
    world.end().await;
}

#[tokio::test]
async fn only_what_is_embedded_is_served() {
    let world = World::dev().await;
    for path in [
        "/docs/nothing-here",
        "/docs/nothing-here.md",
        "/docs/..%2F..%2FCargo.toml",
        "/docs/%2e%2e/%2e%2e/Cargo.toml",
        "/docs/channels/..%2Fwebhooks",
        "/docs/%2Fetc%2Fpasswd",
        "/docs/adr/README.md",
        "/docs/adr/0002-erasable-audit",
        "/docs/assets/redoc.js",
        "/docs/webhooks.md.md",
        "/docs/%00",
        "/docs/%FF",
    ] {
        let page = world.anonymous().get(path).await.is(404);
        assert!(page.header("content-type").starts_with("text/html"), "{path}: {page:?}");
        assert!(!page.text.contains("[workspace"), "{path}");
    }
    // The page for what is missing searches for the words of the address.
    let page = world.anonymous().get("/docs/webhook-signatures").await.is(404);
    let html = Html::parse_document(&page.text);
    assert_eq!(html.select(&all("form[role=search] input[name=q]")).count(), 1);
    let first = html.select(&all(".docs-results a")).next().unwrap();
    assert!(first.value().attr("href").unwrap().starts_with("/docs/webhooks"));
    world.end().await;
}

/// The longest pages with what they load, compressed as browsers ask for it.
#[tokio::test]
async fn pages_are_light() {
    let world = World::dev().await;
    let browser = world.anonymous().header("accept-encoding", "gzip");
    let mut loaded: BTreeMap<String, usize> = BTreeMap::new();
    let mut guides: Vec<_> = library().guides().iter().collect();
    guides.sort_by_key(|guide| std::cmp::Reverse(guide.markdown.len()));
    for guide in guides.into_iter().take(8) {
        let page = world.anonymous().header("accept", "text/html").get(&guide.path).await.is(200);
        let mut weight = bytes(&browser, &guide.path).await;
        let parts: Vec<String> = {
            let html = Html::parse_document(&page.text);
            let parts = all("link[rel=stylesheet], script[src]");
            let parts = html
                .select(&parts)
                .filter_map(|part| part.value().attr("href").or_else(|| part.value().attr("src")));
            parts.map(str::to_owned).collect()
        };
        for part in parts {
            if !loaded.contains_key(&part) {
                loaded.insert(part.clone(), bytes(&browser, &part).await);
            }
            weight += loaded[&part];
        }
        assert!(weight < LONGEST_PAGE, "{}: {weight} bytes", guide.path);
    }
    world.end().await;
}

async fn bytes(browser: &crate::client::Client, path: &str) -> usize {
    let answer = browser.request(Method::GET, path).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    assert_eq!(answer.headers()["content-encoding"], "gzip", "{path}");
    answer.bytes().await.unwrap().len()
}

/// The page of the API reference loads one script of ours; only what carries the nonce of the
/// response may style it.
#[tokio::test]
async fn the_api_reference_loads_nothing_from_elsewhere() {
    let world = World::dev().await;
    let page = world.anonymous().get("/docs/api").await.is(200);
    let policy = page.header("content-security-policy").to_owned();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    for never in ["unsafe", "http", "*", "blob:", "img-src data:"] {
        assert!(!policy.contains(never), "{policy}");
    }
    let html = Html::parse_document(&page.text);
    let nonce = html.select(&all("meta[property=csp-nonce]")).next().unwrap();
    let nonce = nonce.value().attr("nonce").unwrap().to_owned();
    assert!(policy.contains(&format!("style-src 'self' 'nonce-{nonce}';")), "{policy}");
    let again = world.anonymous().get("/docs/api").await.is(200);
    assert!(!again.text.contains(&nonce), "each response has a nonce of its own");
    assert_eq!(html.select(&all("script")).count(), 1);
    for path in ["/docs/api-guide", "/docs/api-guide.md", "/openapi.json"] {
        assert!(page.text.contains(&format!("href=\"{path}\"")), "without JavaScript: {path}");
    }
    let script = html.select(&all("script")).next().unwrap().value().attr("src").unwrap();
    let answer = world.anonymous().request(Method::GET, script).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/javascript; charset=utf-8");
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    assert_eq!(answer.headers()["cache-control"], "public, max-age=31536000, immutable");
    let sum = hex::encode(Sha256::digest(answer.bytes().await.unwrap()));
    assert!(script.contains(&sum[..8]), "{script} has the hash {sum}");
    for (accepts, status) in [
        ("gzip, deflate, br", 200),
        ("br;q=1.0, gzip;q=0.8", 200),
        ("*", 200),
        ("identity", 406),
        ("br, gzip;q=0", 406),
    ] {
        let client = world.anonymous().header("accept-encoding", accepts);
        let answer = client.request(Method::GET, script).send().await.unwrap();
        assert_eq!(answer.status(), status, "{accepts}");
    }
    world.end().await;
}
