//! Converts an HTML email to text. Quotations become lines that begin with `>`, so that the code
//! that strips quotations handles one notation only.

use std::collections::HashMap;

use mail_parser::decoders::html::html_to_text;
use scraper::node::Element;
use scraper::{Html, Node};

use super::quotes::HISTORY;

/// The limit for the number of tags times their nesting depth. The parser creates up to that many
/// nodes. Beyond this limit, quotations are not recognised.
const MOST_NODES: usize = 1_000_000;

/// The limit for the attributes of one tag, counted generously: the parser compares each with
/// all before it.
const MOST_ATTRIBUTES: usize = 20_000;

/// The ids of elements with which the quoted history begins.
const HISTORY_IDS: [&str; 6] = [
    "divRplyFwdMsg",
    "x_divRplyFwdMsg",
    "appendonsend",
    "mail-editor-reference-message-container",
    "isForwardContent",
    "OLK_SRC_BODY_SECTION",
];
/// The classes of such elements.
const HISTORY_CLASSES: [&str; 3] = ["yahoo_quoted", "protonmail_quote", "moz-forward-container"];
const SIGNATURE_IDS: [&str; 3] = ["Signature", "ms-outlook-mobile-signature", "x_Signature"];
const SIGNATURE_CLASSES: [&str; 3] =
    ["gmail_signature", "moz-signature", "protonmail_signature_block"];

/// Converts a page to text.
pub(crate) fn to_text(html: &str) -> String {
    if is_too_large(html) {
        return html_to_text(html);
    }
    let page = Html::parse_document(html);
    let mut text = TextBuilder::default();
    let mut left_out = 0_usize;
    // Iterates instead of recursing, because pages can be nested deeper than the stack.
    let mut node = page.tree.root();
    loop {
        match node.value() {
            Node::Element(element) if left_out > 0 || is_left_out(element) => left_out += 1,
            Node::Element(element) => text.open(element),
            Node::Text(words) if left_out == 0 => text.words(words),
            _ => {}
        }
        if let Some(child) = node.first_child() {
            node = child;
            continue;
        }
        loop {
            match node.value() {
                Node::Element(_) if left_out > 0 => left_out -= 1,
                Node::Element(element) => text.close(element),
                _ => {}
            }
            if let Some(next) = node.next_sibling() {
                node = next;
                break;
            }
            let Some(parent) = node.parent() else { return text.finish() };
            node = parent;
        }
    }
}

/// Whether parsing a page could take too much time or memory.
pub(crate) fn is_too_large(html: &str) -> bool {
    nodes(html) > MOST_NODES
}

/// The approximate upper limit for the number of nodes.
fn nodes(html: &str) -> usize {
    let (mut tags, mut deep, mut deepest) = (0_usize, 0_usize, 0_usize);
    let mut open: HashMap<String, usize> = HashMap::new();
    for tag in html.split('<').skip(1) {
        tags += 1;
        let apart = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'".contains(byte);
        if tag.as_bytes().iter().filter(|byte| apart(byte)).count() > MOST_ATTRIBUTES {
            return usize::MAX;
        }
        let ends = tag.strip_prefix('/');
        let name = ends.unwrap_or(tag).split(|c: char| !c.is_ascii_alphanumeric()).next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        match (ends, name.as_str()) {
            // These elements are void, or usually have no end tag.
            (
                _,
                "" | "area" | "base" | "br" | "col" | "hr" | "img" | "input" | "link" | "meta"
                | "wbr" | "p" | "li" | "td" | "th" | "tr" | "dd" | "dt",
            ) => {}
            // An end tag without a start tag is ignored.
            (Some(_), name) => {
                if let Some(count) = open.get_mut(name).filter(|count| **count > 0) {
                    *count -= 1;
                    deep -= 1;
                }
            }
            (None, _) => {
                *open.entry(name).or_default() += 1;
                deep += 1;
            }
        }
        deepest = deepest.max(deep);
    }
    // Flat pages need memory as well.
    tags.saturating_mul(deepest.max(10))
}

fn is_left_out(element: &Element) -> bool {
    let styled = element.attr("style").unwrap_or_default().to_ascii_lowercase();
    let styled: String = styled.split_whitespace().collect();
    matches!(element.name(), "head" | "script" | "style" | "title" | "template" | "noscript")
        || styled.contains("display:none")
        || element.id().is_some_and(|id| SIGNATURE_IDS.contains(&id))
        || element.classes().any(|class| SIGNATURE_CLASSES.contains(&class))
}

fn is_history(element: &Element) -> bool {
    element.id().is_some_and(|id| HISTORY_IDS.contains(&id))
        || element.classes().any(|class| HISTORY_CLASSES.contains(&class))
        || element.attr("name") == Some("messageReplySection")
}

/// Whether the element is a quotation. Email clients also use it for indentation.
fn is_quote(element: &Element) -> bool {
    let styled = element.attr("style").unwrap_or_default().to_ascii_lowercase();
    let styled: String = styled.split_whitespace().collect();
    element.name() == "blockquote" && !styled.contains("border:none")
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "dd"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "table"
            | "tbody"
            | "tr"
            | "ul"
    )
}

#[derive(Default)]
struct TextBuilder {
    lines: Vec<String>,
    line: String,
    /// Whether a space separates the text so far from the next one.
    space: bool,
    quoted: usize,
    /// Whether whitespace is preserved.
    exact: usize,
}

impl TextBuilder {
    fn open(&mut self, element: &Element) {
        let name = element.name();
        if is_history(element) {
            self.end_line();
            self.line.push_str(HISTORY);
            self.end_line();
        }
        match name {
            "br" => self.push_line(),
            "td" | "th" if !self.line.is_empty() => self.space = true,
            _ if is_block(name) => self.end_line(),
            _ => {}
        }
        if name == "li" {
            self.line.push_str("- ");
        }
        self.quoted += usize::from(is_quote(element));
        self.exact += usize::from(name == "pre");
    }

    fn close(&mut self, element: &Element) {
        let name = element.name();
        if is_block(name) {
            self.end_line();
        }
        self.quoted -= usize::from(is_quote(element));
        self.exact -= usize::from(name == "pre");
        if matches!(name, "p" | "blockquote" | "pre" | "ul" | "ol" | "table") {
            self.blank();
        }
    }

    fn words(&mut self, words: &str) {
        for c in words.chars() {
            match c {
                '\n' if self.exact > 0 => self.push_line(),
                '\r' => {}
                _ if self.exact > 0 => self.line.push(c),
                _ if c.is_whitespace() => self.space = !self.line.is_empty(),
                _ => {
                    if self.space {
                        self.line.push(' ');
                        self.space = false;
                    }
                    self.line.push(c);
                }
            }
        }
    }

    /// Ends a line that has begun.
    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.push_line();
        }
        self.space = false;
    }

    fn push_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let marks = ">".repeat(self.quoted.min(8));
        self.lines.push(match marks.as_str() {
            "" => line,
            marks => format!("{marks} {line}"),
        });
        self.space = false;
    }

    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) && self.quoted == 0 {
            self.lines.push(String::new());
        }
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_as_text() {
        for (html, text) in [
            ("<div>Yes</div>", "Yes"),
            ("<p>One\n two</p><p>three</p>", "One two\n\nthree\n"),
            ("<div>a<br>b</div><div><br></div><div>c</div>", "a\nb\n\nc"),
            ("a<b>b</b> <i> c</i>", "ab c"),
            ("<blockquote>old<br>older</blockquote>new", "> old\n> older\n\nnew"),
            ("<blockquote><blockquote>a</blockquote>b</blockquote>", ">> a\n> b\n"),
            ("<blockquote style='margin:0 0 0 40px; border: none'>mine</blockquote>", "mine\n"),
            ("<pre>a\n  b</pre>", "a\n  b\n"),
            ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc\n"),
            ("<ul><li>a<li>b</ul>", "- a\n- b\n"),
            ("<style>p{}</style><script>x()</script>a<span style='Display: None'>b</span>", "a"),
            ("a&nbsp;b &lt;c&gt;", "a b <c>"),
            ("yes<div class='gmail_signature'>Ada<div>CEO</div></div>", "yes"),
            ("yes<div id='appendonsend'></div>old", "yes\n-----Original Message-----\nold"),
            ("", ""),
            ("<<<>>><a<b", "<<<>>>"),
        ] {
            assert_eq!(to_text(html), text, "{html}");
        }
    }

    #[test]
    fn deep_and_large_pages_are_read() {
        for page in [
            "<div>".repeat(900),
            "<div>".repeat(100_000),
            "<div></x>".repeat(100_000),
            "<div><table><td></div>".repeat(20_000),
            "<p>".repeat(200_000),
            "<p><font>".repeat(100_000),
            (0..200_000).fold("<p".to_owned(), |page, n| page + &format!(" a{n}")) + ">",
            (0..200_000).fold("<p".to_owned(), |page, n| page + &format!("a{n}=''")) + ">",
            (0..2000).fold(String::new(), |page, n| page + &format!("<p><font color={n}>")),
        ] {
            assert!(to_text(&format!("{page}yes")).contains("yes"));
        }
    }
}
