//! `validation.pattern`: a regular expression that always runs in linear time (C-11).
//!
//! Reading a pattern checks its syntax only, so that reading a stored form is cheap. Compiling is a
//! separate step ([`Pattern::compile`]): it happens once, the result is cached within a limit in
//! bytes, and the budget of the question limits it (see `budget.rs`).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use regex_syntax::ast::parse::ParserBuilder;
use sha2::{Digest as _, Sha256};

use super::error::{FormError, shorten};

/// The maximum length of a pattern, in bytes.
pub(super) const MAX_LENGTH: usize = 1_000;
/// The maximum memory of a compiled pattern, in bytes.
pub(super) const MAX_COMPILED: usize = 1 << 20;
/// The maximum nesting depth of groups.
const MAX_NESTING: u32 = 50;
/// The maximum memory a search may use for its cache, in bytes.
const SEARCH_CACHE: usize = 1 << 18;
/// The maximum memory of all cached patterns together, in bytes.
const CACHE_BYTES: usize = 32 << 20;
/// The product of a text's length and a pattern's compiled size bounds the work of a search. Above
/// this the text counts as too long.
const MAX_WORK: u64 = 1 << 34;
/// From this much work on, the pattern remembers the outcome of a search.
const REMEMBERED_WORK: u64 = 1 << 24;
/// The number of outcomes a pattern remembers.
const REMEMBERED: usize = 16;

/// A pattern that the *whole* value has to match, as in HTML.
///
/// HITL does not define the syntax of patterns. Countersign uses RE2's: no look-around and no back
/// references, and `\d` and `\w` match ASCII as they do in both RE2 and ECMAScript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    source: String,
}

/// The result of matching a text with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternMatch {
    Yes,
    No,
    /// The search would take too much work.
    TooLong,
}

/// A compiled pattern. It stays in the cache as long as a reference to it exists.
#[derive(Debug)]
pub(super) struct CompiledPattern {
    regex: Regex,
    bytes: usize,
    /// Outcomes of expensive searches, oldest first. An answer is checked before it is committed
    /// and again when it is: the second check must not repeat the work.
    outcomes: Mutex<Vec<([u8; 32], bool)>>,
}

impl Pattern {
    /// Checks length and syntax. Whether the pattern exceeds its budget is known only after
    /// compiling.
    pub(super) fn parse(key: &str, source: &str) -> Result<Self, FormError> {
        let refuse = |reason: String| FormError::Pattern { key: key.to_owned(), reason };
        if source.len() > MAX_LENGTH {
            return Err(refuse(format!("it is longer than {MAX_LENGTH} bytes")));
        }
        let parsed =
            ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(&with_ascii_classes(source));
        match parsed {
            Ok(_) => Ok(Self { source: source.to_owned() }),
            Err(error) => Err(refuse(shorten(&error.kind().to_string()))),
        }
    }

    /// The pattern as its author wrote it.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The compiled pattern, from the cache if it is there.
    ///
    /// Fails with the reason if the pattern needs more memory than a single pattern may take, or
    /// names a Unicode property that does not exist.
    pub(super) fn compile(&self) -> Result<Arc<CompiledPattern>, String> {
        if let Some(compiled) = PatternCache::lock().find(&self.source) {
            return Ok(compiled);
        }
        // The pattern is compiled without the lock, so that requests do not wait for each other's
        // patterns.
        let compiled = Arc::new(CompiledPattern::new(&self.source)?);
        PatternCache::lock().keep(&self.source, &compiled);
        Ok(compiled)
    }

    /// Whether the whole of `text` matches.
    pub(super) fn matches(&self, text: &str) -> PatternMatch {
        self.compile().map_or(PatternMatch::No, |compiled| compiled.matches(text))
    }
}

impl CompiledPattern {
    fn new(source: &str) -> Result<Self, String> {
        let config = Config::new()
            .nfa_size_limit(Some(MAX_COMPILED))
            .onepass_size_limit(Some(SEARCH_CACHE))
            .hybrid_cache_capacity(SEARCH_CACHE)
            .dfa(false)
            .which_captures(WhichCaptures::Implicit);
        let ascii = with_ascii_classes(source);
        let regex = Regex::builder()
            .configure(config)
            .syntax(syntax::Config::new().nest_limit(MAX_NESTING + 2))
            .build(&format!(r"\A(?:{ascii})\z"))
            .map_err(|error| reason(&error))?;
        let bytes = regex.memory_usage().max(source.len());
        Ok(Self { regex, bytes, outcomes: Mutex::default() })
    }

    /// The memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn matches(&self, text: &str) -> PatternMatch {
        let work = (text.len() as u64).saturating_mul(self.bytes as u64);
        if work > MAX_WORK {
            return PatternMatch::TooLong;
        }
        let name = (work > REMEMBERED_WORK).then(|| Sha256::digest(text).into());
        if let Some(known) = name.and_then(|name| self.outcome(&name)) {
            return known.into();
        }
        // The memory of the search is freed with it, so that a cached pattern takes no more than
        // was counted.
        let input = Input::new(text).anchored(Anchored::Yes).earliest(true);
        let found = self.regex.search_half_with(&mut self.regex.create_cache(), &input).is_some();
        if let Some(name) = name {
            let mut outcomes = self.outcomes();
            if outcomes.len() >= REMEMBERED {
                outcomes.remove(0);
            }
            outcomes.push((name, found));
        }
        found.into()
    }

    fn outcome(&self, name: &[u8; 32]) -> Option<bool> {
        self.outcomes().iter().find(|(known, _)| known == name).map(|(_, found)| *found)
    }

    fn outcomes(&self) -> MutexGuard<'_, Vec<([u8; 32], bool)>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<bool> for PatternMatch {
    fn from(found: bool) -> Self {
        if found { Self::Yes } else { Self::No }
    }
}

/// Compiled patterns by their source. The least recently used are evicted first.
#[derive(Default)]
struct PatternCache {
    kept: HashMap<Arc<str>, (u64, Arc<CompiledPattern>)>,
    order: BTreeMap<u64, Arc<str>>,
    /// Evicted patterns that are still referenced elsewhere.
    held: HashMap<Arc<str>, Weak<CompiledPattern>>,
    bytes: usize,
    clock: u64,
}

impl PatternCache {
    fn lock() -> MutexGuard<'static, Self> {
        static CACHE: LazyLock<Mutex<PatternCache>> = LazyLock::new(Mutex::default);
        CACHE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&mut self, source: &str) -> Option<Arc<CompiledPattern>> {
        self.clock += 1;
        let clock = self.clock;
        let Some((used, compiled)) = self.kept.get_mut(source) else {
            return self.held.get(source).and_then(Weak::upgrade);
        };
        if let Some(name) = self.order.remove(used) {
            self.order.insert(clock, name);
        }
        *used = clock;
        Some(Arc::clone(compiled))
    }

    fn keep(&mut self, source: &str, compiled: &Arc<CompiledPattern>) {
        self.clock += 1;
        let name: Arc<str> = source.into();
        let before = self.kept.insert(Arc::clone(&name), (self.clock, Arc::clone(compiled)));
        if let Some((used, before)) = before {
            self.order.remove(&used);
            self.bytes -= before.bytes;
        }
        self.order.insert(self.clock, name);
        self.bytes += compiled.bytes;
        while self.bytes > CACHE_BYTES
            && let Some((_, name)) = self.order.pop_first()
            && let Some((_, gone)) = self.kept.remove(&name)
        {
            self.bytes -= gone.bytes;
            if Arc::strong_count(&gone) > 1 {
                self.held.retain(|_, held| held.strong_count() > 0);
                self.held.insert(name, Arc::downgrade(&gone));
            }
        }
    }
}

fn reason(error: &BuildError) -> String {
    if error.size_limit().is_some() {
        return format!("compiled, it exceeds the size limit of {MAX_COMPILED} bytes");
    }
    match error.syntax_error() {
        Some(error) => one_line(&error.to_string()),
        None => one_line(&error.to_string()),
    }
}

/// Nested classes are allowed, so `[\d.]` becomes `[[0-9].]` and needs no parser.
fn with_ascii_classes(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        match chars.next() {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('w') => out.push_str("[0-9A-Za-z_]"),
            Some('W') => out.push_str("[^0-9A-Za-z_]"),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

/// The regex engine prints carets under the pattern; the last line of its message is the reason.
fn one_line(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default().trim();
    shorten(last.strip_prefix("error: ").unwrap_or(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::parse("k", pattern).unwrap().matches(text) == PatternMatch::Yes
    }

    /// HITL-134, HXPX-031.
    #[test]
    fn matches_the_whole_value() {
        for (pattern, text, expected) in [
            ("[a-z]+", "abc", true),
            ("[a-z]+", "abc1", false),
            ("a|bc", "bc", true),
            ("a|bc", "abc", false),
            ("^\\+?[0-9\\s-]{7,20}$", "+49 170 1234567", true),
            ("(?m)^a$", "a\nb", false),
            ("a", "a\n", false),
            ("\\d{3}", "123", true),
            ("\\d{3}", "١٢٣", false),
            ("[\\w.-]{1,64}", "a.b-c_d", true),
            ("[\\w-.]+", "a-b", true),
            ("\\\\d", "\\d", true),
            ("https:\\/\\/.+", "https://x", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn what_cannot_run_is_refused_with_a_reason() {
        for (pattern, reason) in [
            ("(", "unclosed group"),
            ("a)|(b", "unopened group"),
            ("(?=a)b", "look-around"),
            ("(a)\\1", "backreferences"),
            ("\\", "incomplete escape"),
            (&"a".repeat(1_001), "longer than 1000 bytes"),
            (&"(".repeat(500), ""),
            (&format!("{}a{}", "(".repeat(90), ")".repeat(90)), "nest"),
        ] {
            let error = Pattern::parse("k", pattern).unwrap_err().to_string();
            assert!(error.contains(reason), "{pattern}: {error}");
            assert!(error.starts_with("field `k`: ") && !error.contains('\n'), "{error}");
        }
        for (pattern, expected) in [
            ("(((a{100}){100}){100}){100}", "size limit of 1048576 bytes"),
            (r"\p{Klingon}", "Unicode property"),
        ] {
            let error = Pattern::parse("k", pattern).unwrap().compile().unwrap_err();
            assert!(error.contains(expected) && !error.contains('\n'), "{pattern}: {error}");
        }
    }

    /// Stored forms are read on shared paths, so reading must not compile their patterns.
    #[test]
    fn a_pattern_is_compiled_once_and_not_when_it_is_read() {
        let pattern = Pattern::parse("k", "[^x]{611}").unwrap();
        assert!(PatternCache::lock().find("[^x]{611}").is_none(), "reading compiles nothing");
        let first = pattern.compile().unwrap();
        let again = Pattern::parse("other", "[^x]{611}").unwrap().compile().unwrap();
        assert!(Arc::ptr_eq(&first, &again));
    }

    #[test]
    fn the_cache_is_bounded_by_bytes_and_keeps_what_is_held() {
        let held = Pattern::parse("k", "[^y]{650}").unwrap().compile().unwrap();
        for n in 0..100 {
            Pattern::parse("k", &format!("[^y]{{{}}}", 500 + n)).unwrap().compile().unwrap();
            assert!(PatternCache::lock().bytes <= CACHE_BYTES);
        }
        let again = Pattern::parse("k", "[^y]{650}").unwrap().compile().unwrap();
        assert!(Arc::ptr_eq(&held, &again), "nobody compiles again what somebody holds");
        let cache = PatternCache::lock();
        assert_eq!(cache.bytes, cache.kept.values().map(|(_, kept)| kept.bytes).sum::<usize>());
        assert_eq!(cache.order.len(), cache.kept.len());
    }

    /// The work of a search is bounded, and the outcome of an expensive one is remembered.
    #[test]
    fn a_text_can_be_too_long_for_its_pattern() {
        let pattern = Pattern::parse("k", "[^z]{1,600}").unwrap();
        assert_eq!(pattern.matches(&"é".repeat(600)), PatternMatch::Yes);
        assert_eq!(pattern.matches(&"a".repeat(1 << 20)), PatternMatch::TooLong);
        let compiled = pattern.compile().unwrap();
        let text = "b".repeat(601);
        assert_eq!(compiled.matches(&text), PatternMatch::No);
        assert_eq!(compiled.outcome(&Sha256::digest(&text).into()), Some(false));
        assert_eq!(compiled.matches(&text), PatternMatch::No);
        for n in 0..50 {
            compiled.matches(&"c".repeat(400 + n));
        }
        assert!(compiled.outcomes().len() <= REMEMBERED);
    }

    #[test]
    fn nested_quantifiers_do_not_stall() {
        let text = format!("{}!", "a".repeat(1 << 20));
        assert!(!matches("(a+)+", &text));
        assert!(!matches("(a|a)*", &text));
        assert!(!matches("(.*a){10}x", &text));
    }
}
