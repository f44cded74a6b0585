//! What people see, held against the rules for it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests too")]

mod conversations;
mod every_page;
mod fixture;
mod german;
mod inbox_and_history;
mod insights;
mod related_requests;
mod request_pages;
mod review_links;
mod right_to_left;
mod samples;
mod sign_in_and_devices;
mod submitted_forms;
mod task_scenario;
mod tasks;
mod webhooks;

use samples::{german_pages, pages};

/// Writes every page to a folder, to be looked at in a browser:
/// `PAGES=/tmp/pages cargo test -p countersign-views --test pages -- --ignored`; with `LANGUAGE=de`
/// in German.
#[test]
#[ignore = "only for looking at the pages"]
#[expect(clippy::disallowed_methods, reason = "where to write is for whoever runs it to say")]
fn write_gallery() {
    let folder = std::env::var("PAGES").unwrap();
    let german = std::env::var("LANGUAGE").is_ok_and(|language| language == "de");
    for (name, html) in if german { german_pages() } else { pages() } {
        let html = ["css", "js"].iter().fold(html.clone(), |html, ext| {
            let asset = views::site::assets::asset(&format!("app.{ext}")).unwrap();
            std::fs::write(format!("{folder}/app.{ext}"), asset.bytes).unwrap();
            html.replace(&asset.href, &format!("app.{ext}"))
        });
        std::fs::write(format!("{folder}/{name}.html"), html).unwrap();
    }
}
