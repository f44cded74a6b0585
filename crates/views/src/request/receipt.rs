//! The receipt on the page of a closed request, and the result of verifying it.

/// The receipt of a closed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// The receipt exists.
    Signed {
        /// The id of the receipt.
        id: String,
        /// The result, if the person requested a verification.
        checked: Option<Checked>,
    },
    /// The request's text was erased, so its receipt can no longer be created.
    Erased,
}

/// The result of verifying a receipt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// The individual checks.
    pub lines: Vec<Line>,
    /// The statements of the receipt, as sentences.
    pub words: Vec<String>,
}

/// One check of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub found: Found,
    /// The check as a sentence.
    pub text: String,
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Holds,
    /// It cannot be checked yet.
    Later,
    Fails,
}

impl Found {
    /// The style class.
    pub fn tone(self) -> &'static str {
        match self {
            Self::Holds => "yes",
            Self::Later => "over",
            Self::Fails => "no",
        }
    }

    /// The same as a word, for screen readers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "Holds",
            Self::Later => "Not yet",
            Self::Fails => "Does not hold",
        }
    }
}

impl Checked {
    /// Adds a check.
    pub fn note(&mut self, found: Found, text: impl Into<String>) {
        self.lines.push(Line { found, text: text.into() });
    }

    /// Whether no check failed.
    pub fn holds(&self) -> bool {
        self.lines.iter().all(|line| line.found != Found::Fails)
    }
}
