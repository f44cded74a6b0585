//! Renders an agent's Markdown for a page.
//!
//! The output has only tags from a short list, without any attribute from the agent. HTML in the
//! text is shown as text, images are not fetched, and a link shows its target. Everything else is
//! escaped as in every template.

use std::fmt::Write;

use askama::filters::{Html, escape};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use crate::components::facts::link;
use crate::components::wording::VisibleText;

/// The maximum nesting of lists and quotes; deeper levels are not indented further.
const DEEPEST: usize = 12;
/// The maximum length of a text on a page, in bytes. The full text is available elsewhere.
const LONGEST: usize = 48 * 1024;

/// A rendered text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedMarkdown {
    /// Safe to insert into a page without escaping.
    pub html: String,
    /// Whether the text was cut.
    pub cut: bool,
}

/// Renders a Markdown text.
pub fn render_markdown(text: &str) -> RenderedMarkdown {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = MarkdownWriter::default();
    for event in Parser::new_ext(text, options) {
        page.handle_event(event);
        if page.html.len() > LONGEST {
            page.cut = true;
            break;
        }
    }
    while let Some(end) = page.open.pop() {
        page.html.push_str(&end);
    }
    RenderedMarkdown { html: page.html, cut: page.cut }
}

#[derive(Default)]
struct MarkdownWriter {
    html: String,
    /// The closing tags of the open elements; empty for elements that are not rendered.
    open: Vec<String>,
    cut: bool,
}

impl MarkdownWriter {
    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(&tag),
            Event::End(_) => {
                let end = self.open.pop().unwrap_or_default();
                self.html.push_str(&end);
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.push_text(&text),
            Event::Code(text) => {
                self.html.push_str("<code>");
                self.push_text(&text);
                self.html.push_str("</code>");
            }
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(done) => {
                self.html.push_str(if done { "☑ " } else { "☐ " });
            }
        }
    }

    fn begin(&mut self, tag: &Tag<'_>) {
        let (start, end) = match tag {
            Tag::Paragraph => ("<p dir=\"auto\">", "</p>"),
            Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. } => {
                ("<h4 dir=\"auto\">", "</h4>")
            }
            Tag::Heading { .. } => ("<h5 dir=\"auto\">", "</h5>"),
            Tag::BlockQuote(_) => ("<blockquote dir=\"auto\">", "</blockquote>"),
            Tag::CodeBlock(_) | Tag::HtmlBlock => ("<pre dir=\"auto\">", "</pre>"),
            Tag::List(Some(_)) => ("<ol dir=\"auto\">", "</ol>"),
            Tag::List(None) => ("<ul dir=\"auto\">", "</ul>"),
            Tag::Item => ("<li dir=\"auto\">", "</li>"),
            Tag::Table(_) => ("<div class=\"wide\"><table>", "</table></div>"),
            Tag::TableHead | Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell => ("<td dir=\"auto\">", "</td>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<s>", "</s>"),
            Tag::Link { dest_url, .. } => return self.open.push(target(dest_url)),
            Tag::Image { dest_url, .. } => {
                let note = safe(&t!("markdown-image"));
                let _ = write!(self.html, "[{note} ");
                return self.open.push(format!("]{}", target(dest_url)));
            }
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => ("", ""),
        };
        if self.open.len() >= DEEPEST {
            return self.open.push(String::new());
        }
        self.html.push_str(start);
        self.open.push(end.to_owned());
    }

    fn push_text(&mut self, text: &str) {
        self.html.push_str(&safe(text));
    }
}

/// The target of a link, shown after its text. Only a URL that is safe to show as written
/// becomes a link.
fn target(to: &str) -> String {
    match link(to) {
        Some(address) => {
            let (address, note) = (safe(address.as_str()), safe(&t!("link-opens-elsewhere")));
            format!(
                " (<a class=\"away\" href=\"{address}\" rel=\"noreferrer noopener nofollow\" \
                 target=\"_blank\">{address}<span class=\"vh\"> {note}</span></a>)"
            )
        }
        None => format!(" (<code>{}</code>)", safe(to)),
    }
}

/// Makes hidden characters visible and escapes markup.
fn safe(text: &str) -> String {
    let words = VisibleText::of(text);
    let mut out = String::with_capacity(text.len());
    let Ok(escaped) = escape(words.as_str(), Html);
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{escaped}");
    out
}

#[cfg(test)]
mod tests {
    use scraper::{Html as Page, Selector};

    use super::*;

    #[test]
    fn a_text_reads_as_it_was_meant() {
        let text =
            "# Plan\n\n1. *first*\n2. **then**\n\n> so `x`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
        assert_eq!(
            render_markdown(text).html,
            "<h4 dir=\"auto\">Plan</h4><ol dir=\"auto\"><li dir=\"auto\"><em>first</em></li>\
             <li dir=\"auto\"><strong>then</strong></li></ol>\
             <blockquote dir=\"auto\"><p dir=\"auto\">so <code>x</code></p></blockquote>\
             <div class=\"wide\"><table><tr><td dir=\"auto\">a</td><td dir=\"auto\">b</td></tr>\
             <tr><td dir=\"auto\">1</td><td dir=\"auto\">2</td></tr></table></div>"
        );
    }

    /// UX 4: agent text never becomes markup, nothing is fetched, and links show their targets.
    #[test]
    fn nothing_hostile_comes_through() {
        let hostile = "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> \
                       [pay](javascript:alert(1)) [bank](https://bank.com@evil.example/) \
                       ![p](https://evil.example/p.png) <https://a.example/?\"onclick=x> \
                       [a](https://ok.example/ \"t\") `<b>` \u{202e}x \"'&\n\n```html\n</pre><script>\n```\n\
                       [r]: javascript:alert(2)\n\n[r] <a href='javascript:1'>y</a>";
        let html = render_markdown(hostile).html;
        let page = Page::parse_fragment(&html);
        let any = Selector::parse("*").unwrap();
        let all = page.select(&any);
        for element in all {
            let name = element.value().name();
            let known = ["html", "p", "h4", "pre", "code", "a", "span", "em", "strong"];
            assert!(known.contains(&name), "{name} in {html}");
            for (attribute, value) in element.value().attrs() {
                match attribute {
                    "href" => assert!(
                        value.starts_with("https://ok.example/")
                            || value.starts_with("https://a.example/")
                            || value.starts_with("https://evil.example/p.png"),
                        "{value}"
                    ),
                    other => assert!(["class", "dir", "rel", "target"].contains(&other), "{other}"),
                }
            }
        }
        assert!(html.contains("⟨U+202E⟩") && html.contains("javascript:alert(1)"), "{html}");
    }

    #[test]
    fn deep_and_long_texts_end() {
        for text in [">".repeat(100_000), "- ".repeat(50_000), "*a ".repeat(60_000)] {
            let RenderedMarkdown { html, .. } = render_markdown(&text);
            let opens = html.matches("<blockquote ").count() + html.matches("<ul ").count();
            let deep = html.split("<p ").next().unwrap_or_default().matches("<blockquote ").count();
            assert!(deep <= DEEPEST && html.len() < 2 * LONGEST, "{opens} {}", html.len());
        }
        assert!(render_markdown(&"word ".repeat(20_000)).cut && !render_markdown("word").cut);
    }
}
