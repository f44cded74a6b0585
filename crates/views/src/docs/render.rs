//! Renders a document of the project as the parts of a page.
//!
//! Only the project's own files are rendered here, so their HTML needs only escaping. Agent text
//! goes through [`markdown`](crate::components::markdown).

use std::collections::BTreeMap;
use std::fmt::Write;

use askama::filters::{Html, escape};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::docs::strings;

pub(super) const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);

/// Longer first sentences are cut in lists of pages.
const LONGEST_SUMMARY: usize = 200;

/// The parts of a rendered document.
pub(super) struct RenderedGuide {
    pub(super) title: String,
    pub(super) summary: String,
    pub(super) heading: String,
    pub(super) body: String,
    pub(super) contents: Vec<HeadingEntry>,
    pub(super) sections: Vec<GuideSection>,
}

/// A line of the table of contents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeadingEntry {
    pub(super) text: String,
    pub(super) anchor: String,
    /// Whether it belongs to the entry before it.
    pub(super) is_nested: bool,
}

/// The text below one heading, as the search reads it.
#[derive(Debug)]
pub(super) struct GuideSection {
    pub(super) heading: String,
    /// Empty for the text below the title.
    pub(super) anchor: String,
    pub(super) text: String,
}

/// Renders a document. `resolve` gives the address of a link.
pub(super) fn rendered(markdown: &str, resolve: impl Fn(&str) -> String) -> RenderedGuide {
    let mut writer = GuideWriter {
        resolve,
        html: String::with_capacity(markdown.len() * 2),
        heading: String::new(),
        title: String::new(),
        summary: String::new(),
        contents: Vec::new(),
        sections: vec![GuideSection {
            heading: String::new(),
            anchor: String::new(),
            text: String::new(),
        }],
        anchors: BTreeMap::new(),
        open_heading: None,
        in_table_head: false,
        paragraphs: 0,
        image: None,
    };
    for event in Parser::new_ext(markdown, OPTIONS) {
        writer.write(event);
    }
    let summary = first_sentence(&writer.summary);
    RenderedGuide {
        title: writer.title,
        summary,
        heading: writer.heading,
        body: writer.html,
        contents: writer.contents,
        sections: writer.sections,
    }
}

struct GuideWriter<R> {
    resolve: R,
    html: String,
    heading: String,
    title: String,
    summary: String,
    contents: Vec<HeadingEntry>,
    sections: Vec<GuideSection>,
    /// How often each anchor was used.
    anchors: BTreeMap<String, usize>,
    /// The text of the heading that is being read, and where its HTML begins.
    open_heading: Option<(String, usize)>,
    in_table_head: bool,
    /// The number of paragraphs begun so far.
    paragraphs: usize,
    /// The address of the image whose alternative text is being read, and that text.
    image: Option<(String, String)>,
}

impl<R: Fn(&str) -> String> GuideWriter<R> {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.image = Some(((self.resolve)(&dest_url), String::new()));
            }
            Event::End(TagEnd::Image) => {
                if let Some((address, text)) = self.image.take() {
                    self.write_image(&address, &text, None);
                }
            }
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Code(text) => {
                self.note(&text);
                let _ = write!(self.html, "<code>{}</code>", escaped(&text));
            }
            Event::SoftBreak => {
                self.note(" ");
                self.html.push('\n');
            }
            Event::HardBreak => {
                self.note(" ");
                self.html.push_str("<br>");
            }
            Event::Rule => self.html.push_str("<hr>"),
            Event::Html(text) | Event::InlineHtml(text) => self.write_html(&text),
            Event::Text(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => {
                if let Some((_, alternative)) = &mut self.image {
                    alternative.push_str(&text);
                    return;
                }
                self.note(&text);
                self.html.push_str(&escaped(&text));
            }
            Event::TaskListMarker(_) => {}
        }
    }

    /// HTML in a document: images are shown, comments are left out, the rest is text.
    fn write_html(&mut self, text: &str) {
        let tag = text.trim();
        match (attribute(tag, "src"), attribute(tag, "alt")) {
            (Some(source), Some(alternative)) if tag.starts_with("<img ") => {
                let address = (self.resolve)(source);
                self.write_image(&address, alternative, attribute(tag, "width"));
            }
            _ if tag.starts_with("<!--") => {}
            _ => {
                self.note(text);
                self.html.push_str(&escaped(text));
            }
        }
    }

    fn write_image(&mut self, address: &str, alternative: &str, width: Option<&str>) {
        self.note(alternative);
        let width = width.map(|width| format!(" width=\"{}\"", escaped(width)));
        let _ = write!(
            self.html,
            "<img src=\"{}\" alt=\"{}\"{} loading=\"lazy\">",
            escaped(address),
            escaped(alternative),
            width.unwrap_or_default(),
        );
    }

    /// Adds text to what the search reads, to the open heading and to the summary.
    fn note(&mut self, text: &str) {
        if let Some((heading, _)) = &mut self.open_heading {
            heading.push_str(text);
            return;
        }
        if self.paragraphs == 1 {
            self.summary.push_str(text);
        }
        if let Some(section) = self.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let html = match tag {
            Tag::Heading { .. } => {
                self.open_heading = Some((String::new(), self.html.len()));
                return;
            }
            Tag::Paragraph => {
                self.paragraphs += 1;
                "<p>".to_owned()
            }
            Tag::Link { dest_url, .. } => {
                format!("<a href=\"{}\">", escaped(&(self.resolve)(dest_url)))
            }
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',']).next(),
                    CodeBlockKind::Indented => None,
                };
                let language = language.filter(|language| !language.is_empty());
                let class = language.map(|name| format!(" class=\"language-{}\"", escaped(name)));
                format!("<pre tabindex=\"0\"><code{}>", class.unwrap_or_default())
            }
            Tag::TableHead => {
                self.in_table_head = true;
                "<thead><tr>".to_owned()
            }
            Tag::TableCell if self.in_table_head => "<th scope=\"col\">".to_owned(),
            Tag::TableCell => "<td>".to_owned(),
            Tag::TableRow => "<tr>".to_owned(),
            Tag::Table(_) => "<div class=\"wide\" tabindex=\"0\"><table>".to_owned(),
            Tag::List(None) => "<ul>".to_owned(),
            Tag::List(Some(1)) => "<ol>".to_owned(),
            Tag::List(Some(from)) => format!("<ol start=\"{from}\">"),
            Tag::Item => "<li>".to_owned(),
            Tag::BlockQuote(_) => "<blockquote>".to_owned(),
            Tag::Emphasis => "<em>".to_owned(),
            Tag::Strong => "<strong>".to_owned(),
            Tag::Strikethrough => "<s>".to_owned(),
            _ => String::new(),
        };
        self.html.push_str(&html);
    }

    fn end(&mut self, tag: TagEnd) {
        let html = match tag {
            TagEnd::Heading(level) => return self.end_heading(level),
            TagEnd::Paragraph => "</p>",
            TagEnd::Link => "</a>",
            TagEnd::CodeBlock => "</code></pre>",
            TagEnd::TableHead => {
                self.in_table_head = false;
                "</tr></thead>"
            }
            TagEnd::TableCell if self.in_table_head => "</th>",
            TagEnd::TableCell => "</td>",
            TagEnd::TableRow => "</tr>",
            TagEnd::Table => "</table></div>",
            TagEnd::List(true) => "</ol>",
            TagEnd::List(false) => "</ul>",
            TagEnd::Item => "</li>",
            TagEnd::BlockQuote(_) => "</blockquote>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            TagEnd::Strikethrough => "</s>",
            _ => "",
        };
        self.html.push_str(html);
        let ends_block =
            matches!(tag, TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::TableCell | TagEnd::Item);
        if ends_block && let Some(section) = self.sections.last_mut() {
            section.text.push(' ');
        }
        if tag == TagEnd::Paragraph && self.paragraphs == 1 {
            // Later text that is in no paragraph does not belong to the summary.
            self.paragraphs = 2;
        }
    }

    /// The first heading is the title. The others get an anchor, which is that of the repository's
    /// site, and begin a section.
    fn end_heading(&mut self, level: HeadingLevel) {
        let Some((text, begin)) = self.open_heading.take() else { return };
        let inner = self.html.split_off(begin);
        if level == HeadingLevel::H1 && self.title.is_empty() {
            self.heading = format!("<h1>{inner}</h1>");
            self.title.clone_from(&text);
            if let Some(first) = self.sections.first_mut() {
                first.heading = text;
            }
            return;
        }
        let anchor = self.unused_anchor(&text);
        let tag = match level {
            HeadingLevel::H1 | HeadingLevel::H2 => "h2",
            HeadingLevel::H3 => "h3",
            HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => "h4",
        };
        let _ = write!(
            self.html,
            "<{tag} id=\"{anchor}\">{inner} <a class=\"anchor\" href=\"#{anchor}\" \
             aria-label=\"{} {}\">#</a></{tag}>",
            strings::LINK_TO_SECTION,
            escaped(&text),
        );
        if matches!(tag, "h2" | "h3") {
            self.contents.push(HeadingEntry {
                text: text.clone(),
                anchor: anchor.clone(),
                is_nested: tag == "h3",
            });
        }
        self.sections.push(GuideSection { heading: text, anchor, text: String::new() });
    }

    /// An anchor that is used twice gets a number, as on the repository's site.
    fn unused_anchor(&mut self, heading: &str) -> String {
        let anchor = slug(heading);
        let times = self.anchors.entry(anchor.clone()).or_default();
        *times += 1;
        match *times {
            1 => anchor,
            n => format!("{anchor}-{}", n - 1),
        }
    }
}

/// The anchor of a heading: its letters, digits, hyphens and underscores in lower case, and a
/// hyphen for each space.
fn slug(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().replace(' ', "-")
}

/// The value of an attribute of an HTML tag, in double quotes.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn first_sentence(text: &str) -> String {
    let sentence = text.split_once(". ").map_or(text, |(first, _)| first);
    let sentence = sentence.trim().trim_end_matches(['.', ':']);
    match sentence.char_indices().nth(LONGEST_SUMMARY) {
        Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or_default()),
        None => sentence.to_owned(),
    }
}

pub(super) fn escaped(text: &str) -> String {
    let Ok(escaped) = escape(text, Html);
    escaped.to_string()
}

/// The Markdown with every link replaced by what `resolve` gives for it.
pub(super) fn with_links(markdown: &str, resolve: impl Fn(&str) -> String) -> String {
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        let target = match &event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => &**dest_url,
            Event::Html(text) | Event::InlineHtml(text) => {
                attribute(text, "src").unwrap_or_default()
            }
            _ => continue,
        };
        let text = markdown.get(range.clone()).unwrap_or_default();
        if let (Some(at), false) = (text.rfind(target), target.is_empty()) {
            let begin = range.start + at;
            found.push((begin..begin + target.len(), resolve(target)));
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(markdown.len());
    let mut written = 0;
    for (range, link) in found {
        out.push_str(markdown.get(written..range.start).unwrap_or_default());
        out.push_str(&link);
        written = range.end;
    }
    out.push_str(markdown.get(written..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(markdown: &str) -> RenderedGuide {
        rendered(markdown, |link| link.replace(".md", ""))
    }

    #[test]
    fn markdown_becomes_a_page() {
        let page = html("# A <b>\n\nUse `<x>`, see [b](b.md). More.\n\n| c |\n|---|\n| d |\n");
        assert_eq!(page.title, "A <b>");
        assert_eq!(page.summary, "Use <x>, see b");
        assert_eq!(
            page.body,
            "<p>Use <code>&#60;x&#62;</code>, see <a href=\"b\">b</a>. More.</p>\
             <div class=\"wide\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">c</th></tr>\
             </thead><tr><td>d</td></tr></table></div>"
        );
    }

    #[test]
    fn headings_have_anchors_of_their_own() {
        let page = html("# T\n\n## Do `it` now\n\n### Do it now\n\n#### Deep\n\nx\n");
        let anchors: Vec<&str> =
            page.sections.iter().map(|section| section.anchor.as_str()).collect();
        assert_eq!(anchors, ["", "do-it-now", "do-it-now-1", "deep"]);
        assert_eq!(page.contents.len(), 2);
        assert!(page.contents[1].is_nested);
        assert!(page.body.contains("<h3 id=\"do-it-now-1\">Do it now <a class=\"anchor\""));
    }

    #[test]
    fn html_is_text_except_for_images() {
        let page = html(
            "# T\n\n<img src=\"a.png\" width=\"10\" alt=\"A &\">\n\n<script>alert(1)</script>\n\n\
             <!-- not shown -->\n\n![b \"c](b.png)\n",
        );
        assert!(page.body.contains("<img src=\"a.png\" alt=\"A &#38;\" width=\"10\""));
        assert!(page.body.contains("<img src=\"b.png\" alt=\"b &#34;c\" loading"));
        assert!(!page.body.contains("<script") && !page.body.contains("not shown"));
    }

    #[test]
    fn code_is_kept_as_written() {
        let page = html("# T\n\n```bash test\na <b>\n  c\n```\n\n3. d\n");
        let code = "<pre tabindex=\"0\"><code class=\"language-bash\">a &#60;b&#62;\n  c\n</code>";
        assert!(page.body.contains(code), "{}", page.body);
        assert!(page.body.contains("<ol start=\"3\"><li>d"), "{}", page.body);
    }

    #[test]
    fn links_are_replaced_where_they_stand() {
        let text =
            "[a.md](a.md#x) and `[a](a.md)` and [![p](p.png)](b.md)\n\n<img src=\"c.png\">\n";
        assert_eq!(
            with_links(text, |link| format!("/{link}")),
            "[a.md](/a.md#x) and `[a](a.md)` and [![p](/p.png)](/b.md)\n\n<img src=\"/c.png\">\n"
        );
    }
}
