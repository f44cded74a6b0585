//! The pages of the error codes, rendered from `docs/errors`.
//!
//! Only the project's own files are rendered here, so their HTML needs only escaping. Agent text
//! goes through [`markdown`](crate::components::markdown).

use std::fmt::Write;

use askama::Template;
use askama::filters::{Html, escape};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::site::assets;
use crate::{PageContext, render};

/// The URL of documentation pages that this server does not serve.
const DOCS: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/");

#[derive(Template)]
#[template(path = "docs/error_code.html")]
struct ErrorPage<'a> {
    frame: &'a PageContext,
    title: &'a str,
    body: String,
    index: bool,
}

/// The page of one error code.
pub fn page(frame: &PageContext, code: &str, markdown: &str) -> String {
    render(&ErrorPage { frame, title: code, body: body(markdown), index: false })
}

/// The list of all error codes.
pub fn index(frame: &PageContext, markdown: &str) -> String {
    render(&ErrorPage { frame, title: "Error codes", body: body(markdown), index: true })
}

fn body(markdown: &str) -> String {
    let mut html = String::with_capacity(markdown.len() * 2);
    let mut in_head = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(tag) => {
                in_head |= tag == Tag::TableHead;
                html.push_str(&start(&tag, in_head));
            }
            Event::End(tag) => {
                html.push_str(end(tag, in_head));
                in_head &= tag != TagEnd::TableHead;
            }
            Event::Code(text) => {
                let _ = write!(html, "<code>{}</code>", escaped(&text));
            }
            Event::SoftBreak | Event::HardBreak => html.push('\n'),
            Event::Rule => html.push_str("<hr>"),
            Event::TaskListMarker(_) => {}
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => html.push_str(&escaped(&text)),
        }
    }
    html
}

fn start(tag: &Tag<'_>, in_head: bool) -> String {
    match tag {
        Tag::Link { dest_url, .. } => format!("<a href=\"{}\">", escaped(&address(dest_url))),
        Tag::Heading { level: HeadingLevel::H1, .. } => "<h1>".to_owned(),
        Tag::Heading { .. } => "<h2>".to_owned(),
        Tag::TableCell if in_head => "<th scope=\"col\">".to_owned(),
        Tag::TableCell => "<td>".to_owned(),
        Tag::TableHead => "<thead><tr>".to_owned(),
        Tag::TableRow => "<tr>".to_owned(),
        Tag::Table(_) => "<div class=\"wide\"><table>".to_owned(),
        Tag::CodeBlock(_) => "<pre>".to_owned(),
        Tag::List(Some(_)) => "<ol>".to_owned(),
        Tag::List(None) => "<ul>".to_owned(),
        Tag::Item => "<li>".to_owned(),
        Tag::Emphasis => "<em>".to_owned(),
        Tag::Strong => "<strong>".to_owned(),
        Tag::Paragraph => "<p>".to_owned(),
        _ => String::new(),
    }
}

fn end(tag: TagEnd, in_head: bool) -> &'static str {
    match tag {
        TagEnd::Link => "</a>",
        TagEnd::Heading(HeadingLevel::H1) => "</h1>",
        TagEnd::Heading(_) => "</h2>",
        TagEnd::TableCell if in_head => "</th>",
        TagEnd::TableCell => "</td>",
        TagEnd::TableHead => "</tr></thead>",
        TagEnd::TableRow => "</tr>",
        TagEnd::Table => "</table></div>",
        TagEnd::CodeBlock => "</pre>",
        TagEnd::List(true) => "</ol>",
        TagEnd::List(false) => "</ul>",
        TagEnd::Item => "</li>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Paragraph => "</p>",
        _ => "",
    }
}

/// Converts a link between files to a link between pages. The server serves the error codes; the
/// rest of the documentation is in the repository.
fn address(link: &str) -> String {
    if link.contains("://") {
        return link.to_owned();
    }
    match link.strip_prefix("../") {
        Some(elsewhere) => format!("{DOCS}{elsewhere}"),
        None => format!("/errors/{}", link.trim_end_matches(".md")),
    }
}

fn escaped(text: &str) -> String {
    let Ok(escaped) = escape(text, Html);
    escaped.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_files_become_links_between_pages() {
        for (link, page) in [
            ("invalid-json.md", "/errors/invalid-json"),
            (
                "../hitl.md#proof-of-a-person",
                "https://github.com/countersign/countersign/blob/main/docs/hitl.md#proof-of-a-person",
            ),
            ("https://a.example/", "https://a.example/"),
        ] {
            assert_eq!(address(link), page);
        }
    }

    #[test]
    fn markdown_becomes_a_page() {
        let html = body("# a-code\n\nUse `<x>`, see [b](b.md).\n\n| c |\n|---|\n| d |\n");
        assert_eq!(
            html,
            "<h1>a-code</h1><p>Use <code>&#60;x&#62;</code>, see <a href=\"/errors/b\">b</a>.</p>\
             <div class=\"wide\"><table><thead><tr><th scope=\"col\">c</th></tr></thead>\
             <tr><td>d</td></tr></table></div>"
        );
    }
}
