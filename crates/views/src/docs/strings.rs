//! The words of the documentation site that are not in the documents themselves.

pub(super) const API_REFERENCE: &str = "API reference";
pub(super) const DOCUMENTATION: &str = "Documentation";
pub(super) const ALL_PAGES: &str = "All pages";
pub(super) const ON_THIS_PAGE: &str = "On this page";
pub(super) const TURN_PAGE: &str = "Previous and next page";
pub(super) const PREVIOUS: &str = "Previous";
pub(super) const NEXT: &str = "Next";
pub(super) const AS_MARKDOWN: &str = "This page as Markdown";
pub(super) const SEARCH: &str = "Search";
pub(super) const SEARCH_LABEL: &str = "Search the documentation";
pub(super) const SEARCH_TITLE: &str = "Search";
pub(super) const SEARCH_HINT: &str =
    "Enter what you look for, such as webhook signature, SSO or backup.";
pub(super) const SEARCH_RESULTS: &str = "Results for";
pub(super) const SEARCH_NOTHING: &str = "No page contains these words";
pub(super) const SEARCH_NOTHING_HINT: &str =
    "Check the spelling, use fewer words, or choose a page from the list of all pages.";
pub(super) const NOT_FOUND_TITLE: &str = "This page doesn't exist";
pub(super) const NOT_FOUND_HINT: &str =
    "The documentation has no page at this address. Search for it, or choose one of these pages:";
pub(super) const COPY: &str = "Copy";
pub(super) const COPIED: &str = "Copied";
pub(super) const LINK_TO_SECTION: &str = "Link to this section:";
pub(super) const API_NEEDS_SCRIPT: &str =
    "The API reference needs JavaScript. Without it, read the same content here:";
pub(super) const API_DOCUMENT: &str = "openapi.json: every operation and type, for programs";
pub(super) const API_GUIDE: &str = "API guide";
pub(super) const API_MARKDOWN: &str = "API guide as Markdown";
pub(super) const SKIP: &str = "Skip to the content";

// What llms.txt says of itself.
pub(super) const LLMS_ABOUT: &str = "Countersign is the human gateway for AI agents: agents ask, \
     people answer, and every answer has a signed receipt. It runs as one binary.";
pub(super) const LLMS_HINT: &str = "Every link below leads to Markdown. The same pages are HTML \
     without the ending `.md`.";
pub(super) const LLMS_OPTIONAL: &str = "Optional";
pub(super) const LLMS_FULL: &str = "all guides in one file";
pub(super) const LLMS_OPENAPI: &str = "the OpenAPI document of the native API";
pub(super) const LLMS_ERRORS: &str = "every error code, its reason and remedy";
