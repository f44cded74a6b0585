//! Who reads, for whatever renders in the same call.

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll};

use jiff::tz::TimeZone;
use kernel::directory::profile_settings::zone;
use kernel::directory::{Human, ProfileSettings};

/// A language that has a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    German,
}

impl Language {
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// The tag of the language (BCP 47), for the attribute `lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    /// The name of the language in itself.
    pub fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
        }
    }

    /// The language of a tag such as `de-AT`, if it has a catalog.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default().trim();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// The language with the highest quality in an `Accept-Language` header, among those that
    /// have a catalog. A header that cannot be read names no language.
    pub fn negotiate(header: &str) -> Option<Self> {
        // Browsers send a few tags. More than twenty is not a person's choice.
        let tags = header.split(',').take(20);
        let mut best: Option<(u32, Self)> = None;
        for tag in tags {
            let mut parts = tag.split(';');
            let name = parts.next().unwrap_or_default();
            let quality = parts.find_map(|part| part.trim().strip_prefix("q="));
            let quality = match quality {
                None => 1000,
                Some(text) => match text.trim().parse::<f32>() {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "between 0 and 1000 after the check"
                    )]
                    Ok(quality) if (0.0..=1.0).contains(&quality) => (quality * 1000.0) as u32,
                    Ok(_) | Err(_) => continue,
                },
            };
            let Some(language) = Self::from_tag(name) else { continue };
            if quality > 0 && best.is_none_or(|(most, _)| quality > most) {
                best = Some((quality, language));
            }
        }
        best.map(|(_, language)| language)
    }
}

/// The language and the time zone of the person who reads.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReaderLocale {
    pub language: Language,
    /// Their time zone; `None` if it is unknown, then times are given in UTC.
    pub time_zone: Option<TimeZone>,
}

impl ReaderLocale {
    /// The reader of a message to a person, by their settings.
    pub fn of(human: &Human) -> Self {
        Self::default().with_settings_of(human)
    }

    /// The same reader with what the person has set. A language without a catalog changes nothing.
    #[must_use]
    pub fn with_settings_of(self, human: &Human) -> Self {
        let Some(settings) = human.profile_settings() else { return self };
        let ProfileSettings { language, time_zone, .. } = settings;
        Self {
            language: language.as_deref().and_then(Language::from_tag).unwrap_or(self.language),
            time_zone: time_zone.as_deref().and_then(zone).or(self.time_zone),
        }
    }

    /// The time zone for this reader's times.
    pub fn zone(&self) -> TimeZone {
        self.time_zone.clone().unwrap_or(TimeZone::UTC)
    }
}

thread_local! {
    /// `None` outside of every [`scope`] and [`with`].
    static READER: RefCell<Option<ReaderLocale>> = const { RefCell::new(None) };
}

/// The reader for whom this thread renders.
pub fn current() -> ReaderLocale {
    READER.with_borrow(|reader| reader.clone().unwrap_or_default())
}

/// The language in which this thread renders.
pub(super) fn language() -> Language {
    READER.with_borrow(|reader| reader.as_ref().map(|reader| reader.language).unwrap_or_default())
}

/// Changes the reader of the innermost [`scope`] or [`with`], for a handler that learns in its
/// course who reads. Outside of both it changes nothing: the thread serves others too.
pub fn adopt(reader: ReaderLocale) {
    READER.with_borrow_mut(|current| {
        if current.is_some() {
            *current = Some(reader);
        }
    });
}

/// Runs `render` for a reader.
pub fn with<T>(reader: ReaderLocale, render: impl FnOnce() -> T) -> T {
    let outer = Restore(READER.replace(Some(reader)));
    let rendered = render();
    drop(outer);
    rendered
}

/// Puts the outer reader back, also if the inner call panics.
struct Restore(Option<ReaderLocale>);

impl Drop for Restore {
    fn drop(&mut self) {
        READER.set(self.0.take());
    }
}

/// Runs a future for a reader: each time it is polled, on whichever thread.
pub fn scope<F: Future>(reader: ReaderLocale, future: F) -> Scope<F> {
    Scope { reader, future: Box::pin(future) }
}

/// The future of [`scope`].
#[derive(Debug)]
pub struct Scope<F> {
    reader: ReaderLocale,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let outer = Restore(READER.replace(Some(std::mem::take(&mut this.reader))));
        let polled = this.future.as_mut().poll(context);
        // Keeps what the future adopted for its next poll.
        this.reader = current();
        drop(outer);
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_language_with_a_catalog_is_chosen() {
        for (header, expected) in [
            ("de", Some(Language::German)),
            ("de-AT, en;q=0.8", Some(Language::German)),
            ("fr, en;q=0.5, de;q=0.7", Some(Language::German)),
            ("en, de", Some(Language::English)),
            ("de;q=0", None),
            ("DE-ch", Some(Language::German)),
            ("fr", None),
            ("*", None),
            ("", None),
            ("de;q=2, en;q=x", None),
            ("🦀;q=1,,,;", None),
        ] {
            assert_eq!(Language::negotiate(header), expected, "{header}");
        }
    }

    #[test]
    fn a_reader_lasts_as_long_as_their_scope() {
        let german = || ReaderLocale { language: Language::German, time_zone: None };
        assert_eq!(with(german(), language), Language::German);
        assert_eq!(language(), Language::English);
        adopt(german());
        assert_eq!(language(), Language::English);
        let panicked = std::panic::catch_unwind(|| with(german(), || panic!("inside")));
        assert!(panicked.is_err());
        assert_eq!(language(), Language::English);
    }

    #[test]
    fn a_future_keeps_its_reader_between_polls() {
        let german = ReaderLocale { language: Language::German, time_zone: None };
        let mut before = true;
        let inner = std::future::poll_fn(move |_| {
            if std::mem::take(&mut before) {
                assert_eq!(language(), Language::English);
                adopt(german.clone());
                return Poll::Pending;
            }
            Poll::Ready(language())
        });
        let mut scoped = scope(ReaderLocale::default(), inner);
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(Pin::new(&mut scoped).poll(&mut context).is_pending());
        assert_eq!(language(), Language::English);
        assert_eq!(Pin::new(&mut scoped).poll(&mut context), Poll::Ready(Language::German));
        assert_eq!(language(), Language::English);
    }
}
