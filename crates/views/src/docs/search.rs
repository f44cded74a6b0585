//! Search over the titles, headings and text of the documentation.
//!
//! A page is scored by the words of the query: a word in its title counts most, then one in a
//! heading, then one in the text; a rare word counts more than a common one. A page that has all
//! words of the query, or the query as it stands, comes before one that does not.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use crate::docs::library::{Guide, GuideLibrary, library};

/// Longer queries are cut.
pub const LONGEST_QUERY: usize = 200;
/// Further words of a query are ignored.
const MOST_WORDS: usize = 8;
/// The number of results of a query.
const MOST_RESULTS: usize = 20;
/// Of the words that begin with a word of the query, or resemble it, so many are looked up.
const MOST_ALTERNATIVES: usize = 12;

// What a word counts for, by its place.
const IN_TITLE: f64 = 10.0;
const IN_HEADING: f64 = 4.0;
const IN_TEXT: f64 = 2.0;
/// The query as it stands, in a title, in a heading, in the text.
const PHRASE: [f64; 3] = [8.0, 6.0, 1.5];
/// A word that means the same as one of the query.
const ALIAS: f64 = 0.7;
/// A word that begins with one of the query.
const PREFIX: f64 = 0.7;
/// A word that resembles one of the query, by the number of differences.
const TYPO: [f64; 2] = [0.6, 0.4];
/// Requirements and error codes repeat the words of the guides that explain them.
const CONFORMANCE: f64 = 0.4;
const ERROR_CODE: f64 = 0.7;

/// Words that say nothing if there are others.
const FILLERS: [&str; 22] = [
    "a", "an", "and", "are", "can", "do", "does", "for", "from", "how", "i", "in", "is", "it",
    "my", "of", "on", "the", "to", "what", "when", "with",
];

/// Words that people search for, and the words that the documentation uses for the same.
const ALIASES: [(&str, &[&str]); 34] = [
    ("2fa", &["passkey"]),
    ("absence", &["office"]),
    ("auth", &["sign"]),
    ("authentication", &["sign"]),
    ("cluster", &["node"]),
    ("db", &["database"]),
    ("delete", &["erase", "erasure"]),
    ("deletion", &["erasure"]),
    ("docker", &["container"]),
    ("dsgvo", &["gdpr"]),
    ("fido", &["passkey"]),
    ("flag", &["setting"]),
    ("grafana", &["metric"]),
    ("hmac", &["signature"]),
    ("holiday", &["office"]),
    ("install", &["deploy"]),
    ("k8s", &["kubernetes"]),
    ("library", &["client"]),
    ("logging", &["log"]),
    ("login", &["sign"]),
    ("logon", &["sign"]),
    ("mail", &["email"]),
    ("mfa", &["passkey"]),
    ("monitoring", &["metric"]),
    ("nginx", &["proxy"]),
    ("option", &["setting"]),
    ("pg", &["postgresql"]),
    ("postgre", &["postgresql"]),
    ("privacy", &["gdpr"]),
    ("sdk", &["client"]),
    ("throttling", &["rate", "limit"]),
    ("tutorial", &["quickstart"]),
    ("vacation", &["office"]),
    ("webauthn", &["passkey"]),
];

/// One page that matches a query.
#[derive(Debug)]
pub struct SearchResult {
    pub title: Vec<SnippetPart>,
    /// The path of the page, with the anchor of the section that matches best.
    pub path: String,
    /// The heading of that section; none for the text below the title.
    pub heading: Option<Vec<SnippetPart>>,
    pub snippet: Vec<SnippetPart>,
}

/// A part of a title, a heading or an excerpt.
#[derive(Debug, PartialEq, Eq)]
pub struct SnippetPart {
    pub text: String,
    /// Whether it is a word of the query.
    pub is_match: bool,
}

/// The pages that match a query, the best first.
pub fn search(query: &str) -> Vec<SearchResult> {
    static INDEX: LazyLock<SearchIndex> = LazyLock::new(|| SearchIndex::new(library()));
    INDEX.search(query)
}

/// How often a word occurs in a section.
struct Occurrences {
    page: usize,
    section: usize,
    in_heading: bool,
    in_text: u32,
}

/// The words of one page, by their numbers.
struct IndexedGuide {
    guide: &'static Guide,
    title: Vec<u32>,
    /// For every section the words of its heading and of its text, in order.
    sections: Vec<(Vec<u32>, Vec<u32>)>,
    factor: f64,
}

struct SearchIndex {
    guides: Vec<IndexedGuide>,
    /// The number of every word.
    words: BTreeMap<String, u32>,
    /// For the number of a word the sections that contain it, in order.
    places: Vec<Vec<Occurrences>>,
}

/// A word of the query with the words that stand for it and what each counts for.
struct QueryWord {
    meanings: BTreeMap<String, f64>,
}

impl SearchIndex {
    fn new(library: &'static GuideLibrary) -> Self {
        let factor = |guide: &Guide| {
            if guide.is_conformance_table() {
                CONFORMANCE
            } else if guide.is_error_code() {
                ERROR_CODE
            } else {
                1.0
            }
        };
        let mut words = BTreeMap::new();
        let mut numbers = |text: &str| -> Vec<u32> {
            let number = |(_, word): (_, String)| {
                let next = u32::try_from(words.len()).unwrap_or(u32::MAX);
                *words.entry(stem(&word)).or_insert(next)
            };
            self::words(text).map(number).collect()
        };
        let guides: Vec<IndexedGuide> = library
            .guides()
            .iter()
            // The index has the titles of all pages, so it would match everything.
            .filter(|guide| guide.path != "/docs")
            .map(|guide| IndexedGuide {
                guide,
                title: numbers(&guide.title),
                sections: guide
                    .sections
                    .iter()
                    .map(|section| (numbers(&section.heading), numbers(&section.text)))
                    .collect(),
                factor: factor(guide),
            })
            .collect();
        let mut places: Vec<Vec<Occurrences>> = Vec::new();
        places.resize_with(words.len(), Vec::new);
        for (page, guide) in guides.iter().enumerate() {
            for (section, (heading, text)) in guide.sections.iter().enumerate() {
                for (words, is_heading) in [(heading, true), (text, false)] {
                    for word in words {
                        let Some(places) = places.get_mut(*word as usize) else { continue };
                        let is_new = places
                            .last()
                            .is_none_or(|last| (last.page, last.section) != (page, section));
                        if is_new {
                            places.push(Occurrences {
                                page,
                                section,
                                in_heading: false,
                                in_text: 0,
                            });
                        }
                        if let Some(last) = places.last_mut() {
                            last.in_heading |= is_heading;
                            last.in_text += u32::from(!is_heading);
                        }
                    }
                }
            }
        }
        Self { guides, words, places }
    }

    fn search(&self, query: &str) -> Vec<SearchResult> {
        let typed = query_words(query);
        let query: Vec<QueryWord> = typed.iter().map(|word| self.meanings(word)).collect();
        // A word that no page has makes a phrase that no page has.
        let phrase: Option<Vec<u32>> =
            typed.iter().map(|word| self.words.get(word).copied()).collect();
        let phrase = phrase.filter(|phrase| phrase.len() > 1).unwrap_or_default();
        let mut pages: BTreeMap<usize, PageScore> = BTreeMap::new();
        for (n, word) in query.iter().enumerate() {
            self.count(word, n, &mut pages);
        }
        let mut scored: Vec<(f64, usize, usize)> = pages
            .into_iter()
            .filter_map(|(page, score)| {
                let guide = self.guides.get(page)?;
                let (total, section) = score.total(guide, &phrase, query.len());
                Some((total, page, section))
            })
            .collect();
        scored.sort_by(|one, other| other.0.total_cmp(&one.0));
        scored.truncate(MOST_RESULTS);
        let found: BTreeSet<&str> =
            query.iter().flat_map(|word| word.meanings.keys().map(String::as_str)).collect();
        let result = |(_, page, section): (f64, usize, usize)| {
            let guide = self.guides.get(page)?.guide;
            let section = guide.sections.get(section)?;
            let is_intro = section.anchor.is_empty();
            Some(SearchResult {
                title: marked(&guide.title, &found),
                path: if is_intro {
                    guide.path.clone()
                } else {
                    format!("{}#{}", guide.path, section.anchor)
                },
                heading: (!is_intro).then(|| marked(&section.heading, &found)),
                snippet: snippet(&section.text, &found),
            })
        };
        scored.into_iter().filter_map(result).collect()
    }

    /// Adds what one word of the query counts for to every page that has it.
    fn count(&self, word: &QueryWord, n: usize, pages: &mut BTreeMap<usize, PageScore>) {
        let mut sections: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        let mut titles: BTreeMap<usize, f64> = BTreeMap::new();
        for (meaning, weight) in &word.meanings {
            let Some(number) = self.words.get(meaning) else { continue };
            let Some(places) = self.places.get(*number as usize) else { continue };
            let with_it: BTreeSet<usize> = places.iter().map(|place| place.page).collect();
            let weight = weight * rarity(self.guides.len(), with_it.len());
            for Occurrences { page, section, in_heading, in_text } in places {
                let often = f64::from(*in_text);
                let text = IN_TEXT * often / (often + 1.5);
                let heading = if *in_heading { IN_HEADING } else { 0.0 };
                let score = sections.entry((*page, *section)).or_default();
                *score = score.max(weight * (heading + text));
            }
            for page in with_it {
                let Some(guide) = self.guides.get(page) else { continue };
                if guide.title.contains(number) {
                    // A title of one word is about that word alone.
                    let alone = 0.5 + 0.5 / length(guide.title.len());
                    let score = titles.entry(page).or_default();
                    *score = score.max(weight * IN_TITLE * alone);
                }
            }
        }
        for ((page, section), score) in sections {
            let page = pages.entry(page).or_default();
            *page.sections.entry(section).or_default() += score;
            let best = page.best.entry(n).or_default();
            *best = best.max(score);
        }
        for (page, score) in titles {
            pages.entry(page).or_default().title += score;
        }
    }

    /// The words that stand for a word of the query. If the documentation does not have it, these
    /// are the words that begin with it, or else those that resemble it.
    fn meanings(&self, word: &str) -> QueryWord {
        let mut meanings = BTreeMap::from([(word.to_owned(), 1.0)]);
        let aliases = ALIASES.iter().filter(|(name, _)| stem(name) == word);
        for alias in aliases.flat_map(|(_, aliases)| *aliases) {
            meanings.insert(stem(alias), ALIAS);
        }
        if self.words.contains_key(word) || meanings.len() > 1 {
            return QueryWord { meanings };
        }
        if word.len() >= 3 {
            let begins = self.words.range(word.to_owned()..).map(|(known, _)| known);
            let begins = begins.take_while(|known| known.starts_with(word));
            meanings.extend(begins.take(MOST_ALTERNATIVES).map(|known| (known.clone(), PREFIX)));
        }
        if meanings.len() == 1 {
            let mut resembling: Vec<(usize, &String)> = self
                .words
                .keys()
                .filter_map(|known| Some((differences(word, known)?, known)))
                .collect();
            resembling.sort();
            let least = resembling.first().map(|(n, _)| *n);
            let nearest = resembling.into_iter().filter(|(n, _)| Some(*n) == least);
            for (n, known) in nearest.take(MOST_ALTERNATIVES) {
                let weight = TYPO.get(n - 1).copied().unwrap_or_default();
                meanings.insert(known.clone(), weight);
            }
        }
        QueryWord { meanings }
    }
}

/// The score of a page while the words of the query are counted.
#[derive(Default)]
struct PageScore {
    title: f64,
    /// The sum of the scores of the words, for every section that has one.
    sections: BTreeMap<usize, f64>,
    /// The best score of each word in any section.
    best: BTreeMap<usize, f64>,
}

impl PageScore {
    /// The score of the page, and its best section.
    fn total(&self, guide: &IndexedGuide, phrase: &[u32], words: usize) -> (f64, usize) {
        let [in_title, in_heading, in_text] = PHRASE;
        let (mut best, mut best_section, mut phrase_score) = (0.0_f64, 0, 0.0_f64);
        for (section, score) in &self.sections {
            let Some((heading, text)) = guide.sections.get(*section) else { continue };
            let bonus = if contains(heading, phrase) {
                in_heading
            } else if contains(text, phrase) {
                in_text
            } else {
                0.0
            };
            phrase_score = phrase_score.max(bonus);
            if score + bonus > best {
                (best, best_section) = (score + bonus, *section);
            }
        }
        if contains(&guide.title, phrase) {
            phrase_score = phrase_score.max(in_title);
        }
        let found = length(self.best.len()) / length(words);
        let together = self.best.values().sum::<f64>() + best / 2.0;
        ((self.title + together + phrase_score) * found * found * guide.factor, best_section)
    }
}

/// How much a word counts for that this many of all pages have.
fn rarity(all: usize, with_it: usize) -> f64 {
    (1.0 + length(all) / length(with_it)).ln()
}

fn length(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX)).max(1.0)
}

fn contains(words: &[u32], phrase: &[u32]) -> bool {
    !phrase.is_empty() && words.windows(phrase.len()).any(|window| window == phrase)
}

/// The stems of the words of a query, without words that say nothing.
fn query_words(query: &str) -> Vec<String> {
    let query: String = query.chars().take(LONGEST_QUERY).collect();
    let query = query.to_lowercase().replace("e-mail", "email");
    let all: Vec<String> = words(&query).map(|(_, word)| word).collect();
    let mut told: Vec<String> = all
        .iter()
        .filter(|word| !FILLERS.contains(&word.as_str()))
        .map(|word| stem(word))
        .collect();
    if told.is_empty() {
        told = all.iter().map(|word| stem(word)).collect();
    }
    told.truncate(MOST_WORDS);
    told
}

/// The words of a text in lower case, each with its place.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let from = rest + text.get(rest..)?.find(char::is_alphanumeric)?;
        let tail = text.get(from..)?;
        let end = tail.find(|c: char| !c.is_alphanumeric()).unwrap_or(tail.len());
        rest = from + end;
        Some((from..rest, tail.get(..end)?.to_lowercase()))
    })
}

/// The singular of an English word, roughly.
fn stem(word: &str) -> String {
    let is_long = word.len() > 3;
    match word.strip_suffix("ies") {
        Some(begin) if word.len() > 4 => return format!("{begin}y"),
        _ => {}
    }
    let keeps = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    match word.strip_suffix('s') {
        Some(singular) if is_long && !keeps => singular.to_owned(),
        _ => word.to_owned(),
    }
}

/// The number of inserted, removed, changed or swapped letters between two words; none if these are
/// more than a typing error explains.
fn differences(typed: &str, known: &str) -> Option<usize> {
    let (typed, known): (Vec<char>, Vec<char>) = (typed.chars().collect(), known.chars().collect());
    let most = match typed.len() {
        0..=3 => return None,
        4..=6 => 1,
        _ => 2,
    };
    if typed.len().abs_diff(known.len()) > most {
        return None;
    }
    // The last two rows of the table of distances between the beginnings of both words.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=known.len()).collect();
    for (i, one) in typed.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in known.iter().enumerate() {
            let at = |row: &[usize], n: usize| row.get(n).copied().unwrap_or(usize::MAX - 1);
            let mut least = (at(&last, j + 1) + 1)
                .min(at(&row, j) + 1)
                .min(at(&last, j) + usize::from(one != other));
            let swapped =
                i > 0 && j > 0 && typed.get(i - 1) == Some(other) && known.get(j - 1) == Some(one);
            if swapped {
                least = least.min(at(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|n| (1..=most).contains(n))
}

/// The words around the first place that has most of the words found, these marked.
fn snippet(text: &str, found: &BTreeSet<&str>) -> Vec<SnippetPart> {
    /// The words of an excerpt, and those before the first match.
    const LENGTH: usize = 32;
    const BEFORE: usize = 6;
    let words: Vec<(Range<usize>, String)> =
        words(text).map(|(place, word)| (place, stem(&word))).collect();
    let is_match = |word: &(Range<usize>, String)| found.contains(word.1.as_str());
    let first = (0..words.len())
        .filter(|n| words.get(*n).is_some_and(is_match))
        .max_by_key(|n| {
            let window = words.get(*n..(*n + LENGTH - BEFORE).min(words.len())).unwrap_or_default();
            let distinct: BTreeSet<&str> =
                window.iter().filter(|word| is_match(word)).map(|word| word.1.as_str()).collect();
            (distinct.len(), std::cmp::Reverse(*n))
        })
        .unwrap_or_default();
    let from = first.saturating_sub(BEFORE);
    let Some(shown) = words.get(from..(from + LENGTH).min(words.len())) else { return Vec::new() };
    let (Some(begin), Some(end)) = (shown.first(), shown.last()) else { return Vec::new() };
    let mut parts = marked(text.get(begin.0.start..end.0.end).unwrap_or_default(), found);
    let dots = |text: &str| SnippetPart { text: text.to_owned(), is_match: false };
    if from > 0 {
        parts.insert(0, dots("… "));
    }
    if from + shown.len() < words.len() {
        parts.push(dots(" …"));
    }
    parts
}

/// The text in parts, of which the words found are marked.
fn marked(text: &str, found: &BTreeSet<&str>) -> Vec<SnippetPart> {
    let mut parts = Vec::new();
    let mut written = 0;
    let mut push = |text: Option<&str>, is_match| match text {
        None | Some("") => {}
        Some(text) => parts.push(SnippetPart { text: text.replace('\n', " "), is_match }),
    };
    for (place, _) in words(text).filter(|(_, word)| found.contains(stem(word).as_str())) {
        push(text.get(written..place.start), false);
        push(text.get(place.clone()), true);
        written = place.end;
    }
    push(text.get(written..), false);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(query: &str) -> &'static str {
        let results = search(query);
        let Some(result) = results.first() else { return "" };
        let path = result.path.split('#').next().unwrap();
        library().at(path).unwrap().source
    }

    #[test]
    fn the_right_page_comes_first() {
        for (query, source) in [
            ("SSO", "sign-in.md"),
            ("GDPR", "erasure.md"),
            ("email", "channels/email.md"),
            ("webhook signature", "webhooks.md"),
            ("rate limit", "rate-limits.md"),
            ("backup", "backup.md"),
            ("audit log", "audit.md"),
            // The same in other words, and with typing errors.
            ("verify webhook signatures", "webhooks.md"),
            ("e-mail", "channels/email.md"),
            ("rate limits", "rate-limits.md"),
            ("rate_limit", "rate-limits.md"),
            ("how do I back up and restore", "backup.md"),
            ("bakcup", "backup.md"),
            ("webhok signatrue", "webhooks.md"),
            ("audit lgo", "audit.md"),
            ("oidc", "sign-in.md"),
            ("login", "sign-in.md"),
            ("kubernetes", "deploy.md"),
            ("k8s", "deploy.md"),
            ("docker", "deploy.md"),
            ("slack", "channels/slack.md"),
            ("whatsapp", "channels/whatsapp.md"),
            ("sms", "channels/sms.md"),
            ("telegram", "channels/telegram.md"),
            ("quickstart", "quickstart.md"),
            ("LangGraph", "approve-a-tool-call.md"),
            ("receipt", "receipts.md"),
            ("out of office", "routing.md"),
            ("vacation", "routing.md"),
            ("prometheus metrics", "metrics.md"),
            ("upgrade", "upgrade.md"),
            ("passkeys", "sign-in.md"),
            ("glossary", "glossary.md"),
            ("postgres", "postgresql.md"),
            ("quotas", "rate-limits.md"),
            ("invalid-field", "errors/invalid-field.md"),
        ] {
            let found = search(query);
            let paths: Vec<&str> = found.iter().take(4).map(|one| one.path.as_str()).collect();
            assert_eq!(first(query), source, "{query}: {paths:?}");
        }
    }

    #[test]
    fn a_result_shows_where_its_words_are() {
        let found = search("webhook signature");
        let best = found.first().unwrap();
        assert!(best.path.starts_with("/docs/webhooks#"), "{}", best.path);
        let heading = best.heading.iter().flatten();
        let marked: Vec<String> = heading
            .chain(&best.snippet)
            .chain(&best.title)
            .filter(|part| part.is_match)
            .map(|part| stem(&part.text.to_lowercase()))
            .collect();
        assert!(marked.len() > 2, "{best:?}");
        assert!(marked.iter().all(|word| word == "webhook" || word == "signature"), "{marked:?}");
    }

    #[test]
    fn queries_are_bounded() {
        assert!(search("").is_empty());
        assert!(search(" \u{1F600} -- ?").is_empty());
        assert!(search("zxqvwyzxqvwy").is_empty());
        assert_eq!(query_words(&"word ".repeat(10_000)).len(), MOST_WORDS);
        assert!(query_words(&"x".repeat(10_000))[0].len() <= LONGEST_QUERY);
        assert!(search("server").len() <= MOST_RESULTS);
    }

    #[test]
    fn typing_errors_are_few_differences() {
        for (typed, known, n) in [
            ("webhok", "webhook", Some(1)),
            ("bakcup", "backup", Some(1)),
            ("backup", "backup", None),
            ("signatrue", "signature", Some(1)),
            ("kuberntes", "kubernetes", Some(1)),
            ("cat", "car", None),
            ("audit", "about", None),
        ] {
            assert_eq!(differences(typed, known), n, "{typed} {known}");
        }
    }

    #[test]
    fn words_are_found_in_any_number() {
        for (word, expected) in [
            ("webhooks", "webhook"),
            ("retries", "retry"),
            ("sms", "sms"),
            ("status", "status"),
            ("address", "address"),
            ("keys", "key"),
        ] {
            assert_eq!(stem(word), expected);
        }
    }

    #[test]
    fn an_excerpt_keeps_the_text_as_it_is() {
        let found = BTreeSet::from(["retry", "webhook"]);
        let parts = snippet("A failed\nwebhook retry: see webhooks.", &found);
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(text, "A failed webhook retry: see webhooks");
        assert_eq!(parts.iter().filter(|part| part.is_match).count(), 3);
    }
}
