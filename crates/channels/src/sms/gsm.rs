//! How many messages a text is cut into. Phones show them as one, carriers charge for each: 160
//! characters of an old alphabet fit into one, or 70 of any other; a little less where there are more.

/// What the old alphabet has (GSM 03.38).
const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
                     ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/// What takes two places in it.
const EXTENDED: &str = "\u{c}^{}\\[~]|€";

/// How a text is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// The old one.
    Gsm,
    /// Any other, as UTF-16.
    Ucs,
}

impl Alphabet {
    /// The one all of these texts fit into.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |c: char| BASIC.contains(c) || EXTENDED.contains(c);
        if texts.into_iter().all(|text| text.chars().all(known)) { Self::Gsm } else { Self::Ucs }
    }

    /// How much room a text takes.
    pub(super) fn measure(self) -> fn(&str) -> usize {
        match self {
            Self::Gsm => |text| text.chars().map(|c| 1 + usize::from(EXTENDED.contains(c))).sum(),
            Self::Ucs => views::message_card::plain_text::units,
        }
    }

    /// How much room there is in three: a character of two places is not cut in half, so one place of
    /// each may stay empty.
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
