//! Sanitises a page from an agent, so that it can only show text.
//!
//! - There are no scripts, forms, frames, or anything else that is not text and its style.
//! - There are no images: loading one would reveal to its host who read the email and when. The
//!   alternative text is shown instead.
//! - Links lead to the request and nowhere else: they stay, with the options they choose (A2H-091).
//!   Every other link becomes text, followed by its URL, which is defanged so that email clients do
//!   not turn it into a link.
//! - Hidden characters are shown.

use std::borrow::Cow;
use std::collections::HashSet;

use ammonia::{Builder, UrlRelative};
use kernel::text::reveal;
use scraper::{Html, Node};
use url::Url;

use crate::email::html::is_too_large;

/// The allowed style properties. None of them hides or moves content.
const ALLOWED_STYLES: [&str; 32] = [
    "background-color",
    "border",
    "border-bottom",
    "border-collapse",
    "border-color",
    "border-left",
    "border-radius",
    "border-right",
    "border-spacing",
    "border-style",
    "border-top",
    "border-width",
    "color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "line-height",
    "margin",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "max-width",
    "padding",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "text-align",
    "text-decoration",
    "width",
];

/// Removes everything that is not allowed. Returns `None` if the page is too large or
/// nested too deeply.
pub(super) fn clean(page: &str, base: &Url) -> Option<String> {
    if is_too_large(page) {
        return None;
    }
    let plain = links_as_text(page, base);
    let mut cleaner = Builder::default();
    let base = base.clone();
    cleaner
        .rm_tags(["img", "map", "area"])
        .rm_tag_attributes("a", ["hreflang"])
        .rm_generic_attributes(["lang", "title"])
        .add_generic_attributes(["style"])
        .filter_style_properties(HashSet::from(ALLOWED_STYLES))
        .url_schemes(HashSet::from(["http", "https"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .attribute_filter(move |_, name, value| match name {
            "href" => is_action(value, &base).then_some(Cow::Borrowed(value)),
            "cite" | "src" | "longdesc" => None,
            _ => Some(Cow::Borrowed(value)),
        });
    Some(reveal(&cleaner.clean(&plain).to_string()))
}

/// Replaces images and other links with text.
fn links_as_text(page: &str, base: &Url) -> String {
    let mut page = Html::parse_fragment(page);
    let ids: Vec<_> = page.tree.nodes().map(|node| node.id()).collect();
    for id in ids {
        let Some(mut node) = page.tree.get_mut(id) else { continue };
        let said = match node.value() {
            Node::Text(text) => {
                text.text = defanged(text).into();
                continue;
            }
            Node::Element(element) => {
                match (element.name(), element.attr("href"), element.attr("alt")) {
                    ("a", Some(href), _) if !is_action(href, base) => {
                        format!(" ({})", defanged(href))
                    }
                    ("img", _, Some(alt)) => defanged(alt),
                    _ => continue,
                }
            }
            _ => continue,
        };
        let text = Node::Text(scraper::node::Text { text: said.into() });
        if matches!(node.value(), Node::Element(element) if element.name() == "img") {
            node.insert_before(text);
        } else {
            node.append(text);
        }
    }
    page.html()
}

fn defanged(text: &str) -> String {
    text.replace("://", "[://]").replace("www.", "www[.]").replace("WWW.", "WWW[.]")
}

/// Whether a link leads to the request, with nothing but the options that can be chosen there.
fn is_action(href: &str, base: &Url) -> bool {
    let Ok(mut url) = Url::parse(href) else { return false };
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    url.set_query(None);
    let (mut approve, mut reject, mut option) = (0, 0, 0);
    for (name, value) in &pairs {
        match (name.as_str(), value.as_str()) {
            ("approve", "true" | "") => approve += 1,
            ("reject", "true" | "") => reject += 1,
            ("option", name) if !name.is_empty() => option += 1,
            _ => return false,
        }
    }
    let chosen = matches!((approve, reject, option), (0, 0 | 1, 0 | 1) | (1, 0, 0));
    chosen && url == *base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        "https://ask.example.com/a2h/calls/1".parse().unwrap()
    }

    #[test]
    fn only_to_the_request() {
        let base = base();
        for (query, is) in [
            ("", true),
            ("?approve=true", true),
            ("?reject=true", true),
            ("?reject=true&option=too_dear", true),
            ("?option=A%26B", true),
            ("?approve", true),
            ("?reject", true),
            ("?approve=true&reject=true", false),
            ("?approve=true&option=x", false),
            ("?approve=false", false),
            ("?option=", false),
            ("?option=a&option=b", false),
            ("?next=https://evil.example", false),
            ("#x", false),
            ("/../2", false),
            ("/x", false),
        ] {
            assert_eq!(is_action(&format!("{base}{query}"), &base), is, "{query}");
        }
        for elsewhere in [
            "http://ask.example.com/a2h/calls/1",
            "https://ask.example.com.evil.example/a2h/calls/1",
            "https://ask.example.com@evil.example/a2h/calls/1",
            "https://eve:x@ask.example.com/a2h/calls/1",
            "https://ask.example.com:444/a2h/calls/1",
            "//ask.example.com/a2h/calls/1",
            "?approve=true",
            "javascript:alert(1)",
            "",
        ] {
            assert!(!is_action(elsewhere, &base), "{elsewhere}");
        }
    }

    #[test]
    fn what_is_left_of_a_page() {
        let base = base();
        for (page, left) in [
            ("<p>Hello <b>you</b></p>", "<p>Hello <b>you</b></p>"),
            ("a<script>alert(1)</script><style>x</style>b", "ab"),
            ("<form action=https://e.example><input name=x><button>Go</button></form>", "Go"),
            ("<iframe src=https://e.example></iframe><object></object>x", "x"),
            ("<img src=https://e.example/t.gif alt='a chart'>", "a chart"),
            ("<p onclick=x id=y class=z>a</p>", "<p>a</p>"),
            (
                "<p style='color:red;position:fixed;display:none;background:url(https://e.example)'>a</p>",
                "<p style=\"color:red\">a</p>",
            ),
            (
                "<a href='https://evil.example/x?a=1&b=2'>approve</a>",
                "<a rel=\"noopener noreferrer\">approve (https[://]evil.example/x?a=1&amp;b=2)</a>",
            ),
            (
                "<a href='javascript:x()'>approve</a>",
                "<a rel=\"noopener noreferrer\">approve (javascript:x())</a>",
            ),
            (
                "see https://evil.example or www.evil.example",
                "see https[://]evil.example or www[.]evil.example",
            ),
            (
                "<a href='https://ask.example.com/a2h/calls/1?approve=true' target=_top>Yes</a>",
                "<a href=\"https://ask.example.com/a2h/calls/1?approve=true\" rel=\"noopener noreferrer\">Yes</a>",
            ),
            ("<svg><a xlink:href='https://e.example'>x</a></svg>y", "y"),
            ("a\u{202e}b&#x202e;", "a⟨U+202E⟩b⟨U+202E⟩"),
            ("<!-- c --><meta http-equiv=refresh content='0;url=https://e.example'>x", "x"),
            (
                "<base href='https://e.example'><blockquote cite='https://e.example'>q</blockquote>",
                "<blockquote>q</blockquote>",
            ),
        ] {
            assert_eq!(clean(page, &base).unwrap(), left, "{page}");
        }
        assert_eq!(clean(&"<div>".repeat(50_000), &base), None);
    }
}
