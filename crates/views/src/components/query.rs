//! The filter of a list, as the query of its URL.

use std::str::FromStr;

/// Longer values cannot be a choice on the page; search terms are limited elsewhere.
const LONGEST: usize = 500;

/// The query of a page's URL: each name once, in the order of the page's form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageQuery {
    pairs: Vec<(&'static str, String)>,
}

impl PageQuery {
    /// Keeps the last value of every name that the page knows; empty values are dropped.
    pub fn of(sent: &[(String, String)], known: &[&'static str]) -> Self {
        let value = |name: &str| {
            let (_, value) = sent.iter().rfind(|(key, _)| key == name)?;
            let value = value.trim();
            (!value.is_empty() && value.chars().count() <= LONGEST).then(|| value.to_owned())
        };
        let pairs = known.iter().filter_map(|name| Some((*name, value(name)?))).collect();
        Self { pairs }
    }

    /// Parses the output of [`PageQuery::text`].
    pub fn read(text: &str, known: &[&'static str]) -> Self {
        let sent: Vec<(String, String)> =
            url::form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        Self::of(&sent, known)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }

    /// A value that `read` accepts. A value that it rejects is removed, so that no page shows a
    /// filter that was not applied.
    pub fn take<T>(&mut self, name: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let found = self.get(name).and_then(read);
        if found.is_none() {
            self.pairs.retain(|(key, _)| *key != name);
        }
        found
    }

    /// The same, with the type's `FromStr`.
    pub fn parsed<T: FromStr>(&mut self, name: &str) -> Option<T> {
        self.take(name, |text| text.parse().ok())
    }

    /// The same query with another value for `name`.
    #[must_use]
    pub fn with(&self, name: &'static str, value: impl Into<String>) -> Self {
        let mut query = self.without(&[name]);
        query.pairs.push((name, value.into()));
        query
    }

    /// The same query without these names.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let kept = self.pairs.iter().filter(|(key, _)| !names.contains(key)).cloned();
        Self { pairs: kept.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub fn pairs(&self) -> &[(&'static str, String)] {
        &self.pairs
    }

    /// The query string of a URL.
    pub fn text(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.pairs).finish()
    }

    /// The URL of a page with this query.
    pub fn href(&self, path: &str) -> String {
        if self.pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", self.text()) }
    }
}

/// One option of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterOption {
    /// The submitted value.
    pub value: String,
    pub label: String,
    /// Whether the list is filtered by it.
    pub chosen: bool,
}

/// A filter with more options than this becomes a text field, so that the page stays small.
const MOST: usize = 40;

/// A field of a filter form: a list of options, or a text field if the list would be long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterField {
    /// Its name in the URL.
    pub name: &'static str,
    pub label: String,
    /// The label of the option that does not filter.
    pub any: String,
    /// The options; empty for a text field.
    pub choices: Vec<FilterOption>,
    /// The value of the text field.
    pub typed: String,
}

impl FilterField {
    /// A field with these options, or a text field if there are too many.
    pub fn new(
        (name, label, any): (&'static str, String, String),
        choices: impl Iterator<Item = (String, String)>,
        query: &PageQuery,
    ) -> Self {
        let chosen = query.get(name).unwrap_or_default();
        let mut listed: Vec<FilterOption> = choices
            .take(MOST + 1)
            .map(|(value, label)| FilterOption { chosen: value == chosen, value, label })
            .collect();
        if listed.len() > MOST {
            listed.clear();
        } else if !chosen.is_empty() && !listed.iter().any(|choice| choice.chosen) {
            let (value, label) = (chosen.to_owned(), chosen.to_owned());
            listed.push(FilterOption { value, label, chosen: true });
        }
        Self { name, label, any, choices: listed, typed: chosen.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["view", "agent", "q"];

    #[test]
    fn an_address_says_what_is_known_once_and_reads_back() {
        let mut query =
            PageQuery::read("q=a+b%26c&x=1&agent=&view=mine&view=groups&agent=bot", &KNOWN);
        assert_eq!(query.href("/"), "/?view=groups&agent=bot&q=a+b%26c");
        assert_eq!(PageQuery::read(&query.text(), &KNOWN), query);
        assert_eq!(query.take("view", |view| (view == "mine").then_some(1)), None);
        assert_eq!(query.with("agent", "b&t").text(), "q=a+b%26c&agent=b%26t");
        assert_eq!(query.without(&["q", "agent"]).href("/"), "/");
        assert!(PageQuery::read(&format!("q={}", "x".repeat(501)), &KNOWN).is_empty());
    }

    #[test]
    fn long_lists_are_typed_and_a_choice_is_never_lost() {
        let named = |n: usize| (0..n).map(|n| (format!("a{n}"), format!("Agent {n}")));
        let query = PageQuery::read("agent=a3", &KNOWN);
        let picker = |n: usize| {
            let words = ("agent", "Agent".to_owned(), "Any agent".to_owned());
            FilterField::new(words, named(n), &query)
        };
        assert!(picker(40).choices[3].chosen && picker(40).choices.len() == 40);
        assert_eq!((picker(41).choices.len(), picker(41).typed.as_str()), (0, "a3"));
        assert_eq!(picker(2).choices[2].label, "a3");
    }
}
