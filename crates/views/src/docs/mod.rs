//! The documentation site: the guides of `docs` and the pages of the error codes as pages with a
//! navigation, a search over them, their Markdown, and the API reference.
//!
//! Everything is compiled into the binary. The API reference is rendered in the browser by Redoc
//! ([ADR 0067](https://github.com/countersign/countersign/blob/main/docs/adr/0067-api-reference-by-redoc.md)).

pub mod library;
pub mod llms;
pub mod search;

mod render;
mod strings;

use askama::Template;

use self::library::{Guide, GuideLibrary, library};
use self::search::SearchResult;
use crate::site::{assets, vendor};
use crate::{PageContext, render};

/// The number of pages that are suggested for an address that does not exist.
const SUGGESTIONS: usize = 5;

#[derive(Template)]
#[template(path = "docs/guide.html")]
struct GuidePage<'a> {
    frame: &'a PageContext,
    library: &'a GuideLibrary,
    /// The path that the navigation marks as the current page.
    current: &'a str,
    query: &'a str,
    guide: &'a Guide,
    before: Option<&'a Guide>,
    after: Option<&'a Guide>,
}

#[derive(Template)]
#[template(path = "docs/search.html")]
struct SearchPage<'a> {
    frame: &'a PageContext,
    library: &'a GuideLibrary,
    current: &'a str,
    query: &'a str,
    results: Vec<SearchResult>,
}

#[derive(Template)]
#[template(path = "docs/missing.html")]
struct MissingPage<'a> {
    frame: &'a PageContext,
    library: &'a GuideLibrary,
    current: &'a str,
    query: &'a str,
    suggestions: Vec<SearchResult>,
}

#[derive(Template)]
#[template(path = "docs/api_reference.html")]
struct ApiReferencePage<'a> {
    nonce: &'a str,
}

/// The page of a guide or of an error code.
pub fn guide(frame: &PageContext, guide: &Guide) -> String {
    let library = library();
    let (before, after) = library.neighbours(guide);
    // The list of error codes stands for each of them.
    let current = if guide.is_error_code() { "/errors" } else { &guide.path };
    render(&GuidePage { frame, library, current, query: "", guide, before, after })
}

/// The results of a search. Words beyond the limits are ignored.
pub fn results(frame: &PageContext, query: &str) -> String {
    let query: String = query.trim().chars().take(search::LONGEST_QUERY).collect();
    let results = search::search(&query);
    render(&SearchPage { frame, library: library(), current: "", query: &query, results })
}

/// The page for an address below `/docs` that does not exist; it searches for the words of the
/// address.
pub fn missing(frame: &PageContext, path: &str) -> String {
    let words: String = path.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let query: String = words.trim().chars().take(search::LONGEST_QUERY).collect();
    let mut suggestions = search::search(&query);
    suggestions.truncate(SUGGESTIONS);
    render(&MissingPage { frame, library: library(), current: "", query: &query, suggestions })
}

/// The API reference. The script inserts style elements, which need the nonce.
pub fn api_reference(nonce: &str) -> String {
    render(&ApiReferencePage { nonce })
}
