//! The documentation for language models: `/llms.txt` lists every page, `/llms-full.txt` holds all
//! guides. The format of the list is that of <https://llmstxt.org>.

use std::fmt::Write;

use crate::docs::library::{Guide, library, resolved};
use crate::docs::{render, strings};

/// The Markdown of a page. Its links are absolute, so that they work wherever the text is read;
/// links to other pages lead to their Markdown.
pub fn markdown(guide: &Guide, public_url: &str) -> String {
    render::with_links(guide.markdown, |link| {
        let link = resolved(guide.source, link);
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (link.as_str(), String::new()),
        };
        match library().at(path) {
            Some(other) => format!("{public_url}{}{anchor}", other.markdown_path()),
            None if path.starts_with('/') => format!("{public_url}{link}"),
            None => link,
        }
    })
}

/// The list of all pages, in the groups of the navigation.
pub fn index(public_url: &str) -> String {
    let library = library();
    let mut out = format!("# Countersign\n\n> {}\n\n{}\n", strings::LLMS_ABOUT, strings::LLMS_HINT);
    let mut optional: Vec<&Guide> = Vec::new();
    for group in &library.groups {
        let (tables, guides): (Vec<&Guide>, Vec<&Guide>) =
            library.of(group).partition(|guide| guide.is_conformance_table());
        optional.extend(tables);
        if !guides.is_empty() {
            let _ = writeln!(out, "\n## {}\n", group.title);
        }
        for guide in guides {
            write_entry(&mut out, guide, public_url);
        }
    }
    let _ = writeln!(out, "\n## {}\n", strings::LLMS_OPTIONAL);
    for (path, about) in [
        ("/llms-full.txt", strings::LLMS_FULL),
        ("/openapi.json", strings::LLMS_OPENAPI),
        ("/errors.md", strings::LLMS_ERRORS),
    ] {
        let name = path.trim_start_matches('/');
        let _ = writeln!(out, "- [{name}]({public_url}{path}): {about}");
    }
    for guide in optional {
        write_entry(&mut out, guide, public_url);
    }
    out
}

/// A line of the list. A summary that ends in an abbreviation or in code is still one line.
fn write_entry(out: &mut String, guide: &Guide, public_url: &str) {
    let Guide { title, summary, .. } = guide;
    let _ = writeln!(out, "- [{title}]({public_url}{}): {summary}", guide.markdown_path());
}

/// All guides one after the other, each with its address. Tables of requirements and the pages of
/// single error codes are not guides.
pub fn full(public_url: &str) -> String {
    let guides = library().in_order().filter(|guide| !guide.is_conformance_table());
    guides.fold(String::new(), |mut out, guide| {
        if !out.is_empty() {
            out.push_str("\n---\n\n");
        }
        let _ = write!(out, "<!-- {public_url}{} -->\n\n", guide.path);
        out.push_str(markdown(guide, public_url).trim_end());
        out.push('\n');
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_markdown_at_absolute_addresses() {
        let guide = library().from_source("channels/README.md").unwrap();
        let text = markdown(guide, "https://ask.example");
        assert!(text.contains("](https://ask.example/docs/channels/slack.md)"), "{text}");
        assert!(!text.contains("](slack.md"), "{text}");
    }

    #[test]
    fn the_list_has_the_form_of_llmstxt() {
        let text = index("https://ask.example");
        assert!(text.starts_with("# Countersign\n\n> Countersign is"));
        let lines = text.lines().filter(|line| line.starts_with("- ["));
        let entries: Vec<&str> = lines.collect();
        assert!(entries.len() > 40, "{text}");
        assert!(entries.iter().all(|line| line.contains("](https://ask.example/")), "{text}");
        let optional = text.find("## Optional").unwrap();
        assert!(text[optional..].contains("/docs/conformance/hitl.md"), "{text}");
    }

    #[test]
    fn the_whole_has_every_guide_once() {
        let text = full("https://ask.example");
        for source in ["quickstart.md", "webhooks.md", "api.md", "channels/slack.md"] {
            let guide = library().from_source(source).unwrap();
            let marker = format!("<!-- https://ask.example{} -->", guide.path);
            assert_eq!(text.matches(&marker).count(), 1, "{source}");
        }
        assert!(!text.contains("requirement by requirement\n\n|"), "tables are left out");
    }
}
