//! The catalogs against each other and against the code that uses them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::locale::{ReaderLocale, with};

/// The variables of each message of a language.
fn messages(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales").join(language.tag());
    let mut found = BTreeMap::new();
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        if let Err((_, errors)) = FluentResource::try_new(source.clone()) {
            panic!("{} cannot be read: {errors:?}", file.display());
        }
        let mut current: Option<String> = None;
        for line in source.lines().filter(|line| !line.starts_with('#')) {
            if line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-') {
                let id = line.split('=').next().unwrap().trim().to_owned();
                let first = found.insert(id.clone(), BTreeSet::new()).is_none();
                assert!(first, "{id} occurs twice in {}", language.tag());
                current = Some(id);
            }
            if let Some(variables) = current.as_ref().and_then(|id| found.get_mut(id)) {
                let names = line.split('$').skip(1).map(|rest| {
                    rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
                });
                variables.extend(names);
            }
        }
    }
    found
}

/// Every source file and template that may use a message.
fn sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<PathBuf> = ["views", "channels", "notify", "gateway", "server"]
        .map(|name| crates.join(name).join("src"))
        .into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let wanted =
                path.extension().is_some_and(|end| end == "rs" || end == "html" || end == "txt");
            if path.is_dir() {
                folders.push(path);
            } else if wanted && !path.ends_with("locale/mod.rs") {
                found.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// The messages that a source uses, with the names of the values that it gives.
fn uses(source: &str) -> Vec<(String, BTreeSet<String>)> {
    let mut found = Vec::new();
    for opening in ["t!(", "th!("] {
        for (at, _) in source.match_indices(opening) {
            let before = source.get(..at).unwrap().chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let parts = arguments(source.get(at + opening.len()..).unwrap());
            let mut parts = parts.iter().map(|part| part.trim());
            let Some(id) = parts.next().and_then(|id| id.strip_prefix('"')?.strip_suffix('"'))
            else {
                continue;
            };
            let names = parts
                .filter_map(|part| part.split_once('='))
                .map(|(name, _)| name.trim().to_owned());
            found.push((id.to_owned(), names.collect()));
        }
    }
    found
}

/// The arguments of a macro call, up to its closing parenthesis.
fn arguments(call: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    let mut parts = vec![String::new()];
    for c in call.chars() {
        if quoted {
            quoted = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
        } else {
            match c {
                '"' => quoted = true,
                '(' | '[' | '{' => depth += 1,
                ')' if depth == 0 => break,
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(String::new());
                    continue;
                }
                _ => {}
            }
        }
        parts.last_mut().unwrap().push(c);
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[test]
fn every_message_exists_in_each_language_with_the_same_values() {
    let (english, german) = (messages(Language::English), messages(Language::German));
    let ids =
        |all: &BTreeMap<String, BTreeSet<String>>| all.keys().cloned().collect::<BTreeSet<_>>();
    let missing: Vec<_> = ids(&english).difference(&ids(&german)).cloned().collect();
    assert!(missing.is_empty(), "not in German: {missing:?}");
    let more: Vec<_> = ids(&german).difference(&ids(&english)).cloned().collect();
    assert!(more.is_empty(), "only in German: {more:?}");
    for (id, variables) in &english {
        let unknown: Vec<_> = german[id].difference(variables).collect();
        assert!(
            unknown.is_empty(),
            "{id} has values in German that English does not have: {unknown:?}"
        );
    }
}

#[test]
fn every_message_is_used_and_every_use_names_a_message_and_its_values() {
    let english = messages(Language::English);
    let mut unused: BTreeSet<&String> = english.keys().collect();
    let mut wrong = Vec::new();
    for (path, source) in sources() {
        for (id, given) in uses(&source) {
            match english.get(&id) {
                None => wrong.push(format!("{}: {id} does not exist", path.display())),
                Some(wanted) if !wanted.is_subset(&given) => {
                    wrong
                        .push(format!("{}: {id} needs {wanted:?}, gets {given:?}", path.display()));
                }
                Some(_) => {}
            }
            unused.remove(&id);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty(), "no source uses {unused:?}");
}

#[test]
fn values_are_escaped_in_markup_and_only_there() {
    let hostile = "<b>&\"Ada\"</b>";
    assert_eq!(Argument::argument(&hostile), FluentValue::from(hostile));
    let FluentValue::String(safe) = hostile.html_argument() else { panic!("a text") };
    assert!(!safe.contains('<') && !safe.contains('"'), "{safe}");
    assert_eq!(Safe("<b>").html_argument(), FluentValue::from("<b>"));
}

#[test]
fn a_message_follows_the_reader() {
    let german = ReaderLocale { language: Language::German, time_zone: None };
    let shown = || crate::t!("nav-inbox");
    assert_eq!(shown(), "Inbox");
    assert_eq!(with(german.clone(), shown), "Eingang");
    assert_eq!(with(german, || crate::t!("inbox-critical", n = 12_345)), "12.345 kritisch");
}
