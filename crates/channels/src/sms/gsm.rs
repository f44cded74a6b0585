//! The number of segments in a text message. Phones show the segments as one message, but carriers
//! charge for each. A single segment holds 160 characters of the GSM alphabet or 70 of any other.
//! Each segment of a longer message holds slightly fewer.

/// The basic characters of the GSM alphabet (GSM 03.38).
const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
                     ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/// Its characters that count twice.
const EXTENDED: &str = "\u{c}^{}\\[~]|€";

/// The encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// The GSM alphabet.
    Gsm,
    /// UTF-16, for all other characters.
    Ucs,
}

impl Alphabet {
    /// The encoding that fits all of these texts.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |c: char| BASIC.contains(c) || EXTENDED.contains(c);
        if texts.into_iter().all(|text| text.chars().all(known)) { Self::Gsm } else { Self::Ucs }
    }

    /// The function that measures the length of a text.
    pub(super) fn measure(self) -> fn(&str) -> usize {
        match self {
            Self::Gsm => |text| text.chars().map(|c| 1 + usize::from(EXTENDED.contains(c))).sum(),
            Self::Ucs => views::message_card::plain_text::units,
        }
    }

    /// The length that fits three segments. A character that counts twice is not split, so one
    /// place of each segment may stay empty.
    pub(super) fn room(self) -> usize {
        match self {
            Self::Gsm => 3 * 152,
            Self::Ucs => 3 * 66,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_as_carriers_count() {
        let cases = [
            ("Refund 12 € [yes]?", Alphabet::Gsm, 21),
            ("naïve", Alphabet::Ucs, 5),
            ("🙂", Alphabet::Ucs, 2),
            ("`code`", Alphabet::Ucs, 6),
            ("äöüß ÅÆ", Alphabet::Gsm, 7),
            ("", Alphabet::Gsm, 0),
        ];
        for (text, alphabet, length) in cases {
            assert_eq!(
                (Alphabet::of([text]), alphabet.measure()(text)),
                (alphabet, length),
                "{text}"
            );
        }
        assert_eq!(BASIC.chars().count() + 1, 128, "all but the escape");
    }
}
