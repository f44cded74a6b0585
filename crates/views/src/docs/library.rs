//! The documents that are compiled into the binary, as pages with addresses and an order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::LazyLock;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use crate::docs::render::{self, GuideSection, HeadingEntry};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded_docs.rs"));
}

/// The address of files that this server does not serve.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// The document that names all others in their order.
const INDEX: &str = "README.md";

/// One page of the documentation.
#[derive(Debug)]
pub struct Guide {
    /// The path of its file from `docs`, such as `channels/slack.md`.
    pub source: &'static str,
    /// The Markdown as it was written.
    pub markdown: &'static str,
    /// The path of its page, such as `/docs/channels/slack`.
    pub path: String,
    /// The text of its first heading.
    pub title: String,
    /// The first sentence below the title.
    pub summary: String,
    /// The HTML of the first heading.
    pub(super) heading: String,
    /// The HTML of everything else.
    pub(super) body: String,
    pub(super) contents: Vec<HeadingEntry>,
    pub(super) sections: Vec<GuideSection>,
}

impl Guide {
    fn new(source: &'static str, markdown: &'static str) -> Self {
        let rendered = render::rendered(markdown, |link| resolved(source, link));
        Self {
            source,
            markdown,
            path: page_path(source),
            title: rendered.title,
            summary: rendered.summary,
            heading: rendered.heading,
            body: rendered.body,
            contents: rendered.contents,
            sections: rendered.sections,
        }
    }

    /// The path of its Markdown.
    pub fn markdown_path(&self) -> String {
        format!("{}.md", self.path)
    }

    /// The title as the navigation has it: without what follows a colon, except where that is what
    /// tells a table of requirements from the guide to the same protocol.
    pub(super) fn label(&self) -> &str {
        match self.title.split_once(": ") {
            Some((label, _)) if !self.is_conformance_table() => label,
            _ => &self.title,
        }
    }

    /// Whether it is a table of requirements and not a guide.
    pub(super) fn is_conformance_table(&self) -> bool {
        self.source.starts_with("conformance/")
    }

    /// Whether it explains one error code.
    pub(super) fn is_error_code(&self) -> bool {
        self.source.starts_with("errors/") && !self.source.ends_with(INDEX)
    }
}

/// A group of pages in the navigation.
#[derive(Debug)]
pub(super) struct GuideGroup {
    pub(super) title: String,
    /// Indices of guides.
    pub(super) guides: Vec<usize>,
}

/// All pages and their order.
#[derive(Debug)]
pub struct GuideLibrary {
    guides: Vec<Guide>,
    pub(super) groups: Vec<GuideGroup>,
    by_path: BTreeMap<String, usize>,
}

/// The pages of this binary; rendered when the first one is read.
pub fn library() -> &'static GuideLibrary {
    static LIBRARY: LazyLock<GuideLibrary> = LazyLock::new(GuideLibrary::read);
    &LIBRARY
}

impl GuideLibrary {
    fn read() -> Self {
        let guides: Vec<Guide> =
            embedded::PAGES.iter().map(|(source, text)| Guide::new(source, text)).collect();
        let by_path: BTreeMap<String, usize> =
            guides.iter().enumerate().map(|(n, guide)| (guide.path.clone(), n)).collect();
        let index = embedded::PAGES.iter().find(|(source, _)| *source == INDEX);
        let groups = index.map(|(_, text)| groups(text, &by_path)).unwrap_or_default();
        Self { guides, groups, by_path }
    }

    /// Every page, ordered by its file.
    pub fn guides(&self) -> &[Guide] {
        &self.guides
    }

    /// The page at this path, such as `/docs/webhooks` or `/errors/not-found`.
    pub fn at(&self, path: &str) -> Option<&Guide> {
        self.guides.get(*self.by_path.get(path)?)
    }

    /// The page of a file, by its path from `docs`.
    pub fn from_source(&self, source: &str) -> Option<&Guide> {
        self.guides.iter().find(|guide| guide.source == source)
    }

    /// The pages of the navigation, in its order.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Guide> {
        self.groups.iter().flat_map(|group| self.of(group))
    }

    pub(super) fn of<'a>(&'a self, group: &'a GuideGroup) -> impl Iterator<Item = &'a Guide> {
        group.guides.iter().filter_map(|n| self.guides.get(*n))
    }

    /// The pages before and after one in the navigation.
    pub(super) fn neighbours(&self, guide: &Guide) -> (Option<&Guide>, Option<&Guide>) {
        let ordered: Vec<&Guide> = self.in_order().collect();
        let Some(here) = ordered.iter().position(|one| one.path == guide.path) else {
            return (None, None);
        };
        let before = here.checked_sub(1).and_then(|n| ordered.get(n));
        (before.copied(), ordered.get(here + 1).copied())
    }
}

/// A file that a page shows or links, by its path from `docs`.
pub fn file(path: &str) -> Option<&'static [u8]> {
    embedded::FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}

/// The groups of the index: each heading of the second level, with the pages linked below it that
/// no earlier group has.
fn groups(index: &str, by_path: &BTreeMap<String, usize>) -> Vec<GuideGroup> {
    let mut groups: Vec<GuideGroup> = Vec::new();
    let mut seen = BTreeSet::from([page_path(INDEX)]);
    let mut in_heading = false;
    for event in Parser::new_ext(index, render::OPTIONS) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => {
                in_heading = true;
                groups.push(GuideGroup { title: String::new(), guides: Vec::new() });
            }
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            Event::Text(text) | Event::Code(text) if in_heading => {
                if let Some(group) = groups.last_mut() {
                    group.title.push_str(&text);
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let link = resolved(INDEX, &dest_url);
                let path = link.split('#').next().unwrap_or_default().to_owned();
                if let (Some(group), Some(n)) = (groups.last_mut(), by_path.get(&path))
                    && seen.insert(path)
                {
                    group.guides.push(*n);
                }
            }
            _ => {}
        }
    }
    groups.retain(|group| !group.guides.is_empty());
    groups
}

/// The path of the page of a file. The API reference has `/docs/api`, so the guide to the API has
/// another address. Error codes keep the addresses that problems name.
fn page_path(source: &str) -> String {
    let name = source.strip_suffix(".md").unwrap_or(source);
    let name = name.strip_suffix("README").map_or(name, |folder| folder.trim_end_matches('/'));
    match name {
        "" => "/docs".to_owned(),
        "api" => "/docs/api-guide".to_owned(),
        "errors" => "/errors".to_owned(),
        name if name.starts_with("errors/") => format!("/{name}"),
        name => format!("/docs/{name}"),
    }
}

/// Converts a link between files into one between pages. Files that are not embedded are in the
/// repository.
pub(super) fn resolved(source: &str, link: &str) -> String {
    if link.contains("://") || link.starts_with(['#', '/']) || link.starts_with("mailto:") {
        return link.to_owned();
    }
    let (target, anchor) = match link.split_once('#') {
        Some((target, anchor)) => (target, format!("#{anchor}")),
        None => (link, String::new()),
    };
    let folder = Path::new("docs").join(source);
    let folder = folder.parent().unwrap_or_else(|| Path::new(""));
    let mut parts: Vec<String> = Vec::new();
    for part in folder.join(target).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
        }
    }
    let path = parts.join("/");
    match path.strip_prefix("docs/") {
        Some(inside) if embedded::PAGES.iter().any(|(name, _)| *name == inside) => {
            format!("{}{anchor}", page_path(inside))
        }
        Some(inside) if file(inside).is_some() => format!("{}/{inside}", page_path(INDEX)),
        _ => format!("{REPOSITORY}{path}{anchor}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_files_become_links_between_pages() {
        let repository = env!("CARGO_PKG_REPOSITORY");
        for (source, link, page) in [
            ("errors/not-found.md", "invalid-json.md", "/errors/invalid-json".to_owned()),
            ("errors/not-found.md", "../hitl.md#callbacks", "/docs/hitl#callbacks".to_owned()),
            ("channels/slack.md", "README.md", "/docs/channels".to_owned()),
            ("webhooks.md", "channels/README.md", "/docs/channels".to_owned()),
            ("webhooks.md", "api.md#streams", "/docs/api-guide#streams".to_owned()),
            ("webhooks.md", "errors/README.md", "/errors".to_owned()),
            ("webhooks.md", "#retries", "#retries".to_owned()),
            ("webhooks.md", "/docs", "/docs".to_owned()),
            ("webhooks.md", "https://a.example/x.md", "https://a.example/x.md".to_owned()),
            ("inbox.md", "screenshots/inbox.png", "/docs/screenshots/inbox.png".to_owned()),
            ("channels/slack.md", "../adr/x.md", format!("{repository}/blob/main/docs/adr/x.md")),
            ("webhooks.md", "../CHANGELOG.md", format!("{repository}/blob/main/CHANGELOG.md")),
        ] {
            assert_eq!(resolved(source, link), page);
        }
    }

    #[test]
    fn every_page_has_a_title_a_summary_and_an_address_of_its_own() {
        let library = library();
        assert!(library.guides().len() > 80, "{}", library.guides().len());
        assert_eq!(library.by_path.len(), library.guides().len());
        for guide in library.guides() {
            assert!(!guide.title.is_empty() && !guide.summary.is_empty(), "{}", guide.source);
            for taken in ["/docs/api", "/docs/search", "/docs/assets"] {
                assert_ne!(guide.path, taken, "another page has this address");
            }
        }
    }

    #[test]
    fn the_navigation_has_the_groups_of_the_index() {
        let library = library();
        assert!(library.groups.len() > 3, "{:?}", library.groups);
        for source in ["quickstart.md", "webhooks.md", "api.md", "errors/README.md"] {
            let guide = library.from_source(source).unwrap();
            let times = library.in_order().filter(|one| one.path == guide.path).count();
            assert_eq!(times, 1, "{source}");
        }
        let first = library.in_order().next().unwrap();
        assert!(matches!(library.neighbours(first), (None, Some(_))));
    }

    /// A link that leads to the repository is meant to: nothing else below `docs` is missing here.
    #[test]
    fn only_decision_records_and_folders_are_left_to_the_repository() {
        for guide in library().guides() {
            for link in
                guide.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next())
            {
                if let Some(path) = link.strip_prefix(&format!("{REPOSITORY}docs/")) {
                    let is_folder = !path.rsplit('/').next().unwrap_or_default().contains('.');
                    assert!(path.starts_with("adr/") || is_folder, "{}: {link}", guide.source);
                }
            }
        }
    }
}
