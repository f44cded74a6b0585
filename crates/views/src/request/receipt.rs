//! The receipt on the page of a request that is over, and what a check of it found.

/// The receipt of a request that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// There is one.
    Signed {
        /// Its name.
        id: String,
        /// What was found, if somebody wanted it checked.
        checked: Option<Checked>,
    },
    /// The words were erased, so none can be made any more.
    Erased,
}

/// What a check of a receipt found, line by line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Each with whether it speaks for the receipt.
    pub lines: Vec<Line>,
    /// What the receipt claims, in sentences.
    pub words: Vec<String>,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What came of it.
    pub found: Found,
    /// In a sentence.
    pub text: String,
}

/// What came of one thing that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It holds.
    Holds,
    /// It cannot be told yet.
    Later,
    /// It does not hold.
    Fails,
}

impl Found {
    /// The name of the style.
    pub fn tone(self) -> &'static str {
        match self {
            Self::Holds => "yes",
            Self::Later => "over",
            Self::Fails => "no",
        }
    }

    /// The same for those who do not see it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "Holds",
            Self::Later => "Not yet",
            Self::Fails => "Does not hold",
        }
    }
}

impl Checked {
    /// Notes one thing that was checked.
    pub fn note(&mut self, found: Found, text: impl Into<String>) {
        self.lines.push(Line { found, text: text.into() });
    }

    /// Whether nothing speaks against it.
    pub fn holds(&self) -> bool {
        self.lines.iter().all(|line| line.found != Found::Fails)
    }
}
