//! The total of several requests: exact decimals in one currency, or no total. A wrong total is
//! worse than none, so ambiguous amounts are not added.

use std::fmt;

use kernel::Ask;
use kernel::question::{Question, QuestionBody};
use serde_json::Value;

use crate::components::facts;
use crate::locale;

/// An amount of money, as an agent wrote it: an integer and its number of decimal places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    units: i128,
    scale: u32,
    currency: String,
}

/// Numbers with more decimal places are not taken for money.
const DIGITS: usize = 12;

impl Amount {
    /// The amount of a request: the only amount in its details, with its currency in it or
    /// in another field.
    pub fn of(ask: &Ask) -> Option<Self> {
        let QuestionBody::Approve { details, .. } = ask.question.value().map(Question::body)?
        else {
            return None;
        };
        let leaves = facts::leaves(details);
        let mut amounts = leaves.iter().filter(|leaf| leaf.is_amount());
        let amount = amounts.next().filter(|_| amounts.next().is_none())?;
        let mut beside = leaves
            .iter()
            .filter(|leaf| leaf.path.last().is_some_and(|key| key.eq_ignore_ascii_case("currency")))
            .filter_map(|leaf| leaf.value.as_str().map(str::trim));
        let currency = beside.next();
        if beside.next().is_some() {
            return None;
        }
        match amount.value {
            Value::Number(number) => Self::read(&number.to_string(), currency),
            Value::String(text) => Self::read(text, currency),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Reads `1250.50`, `1,250.50 EUR`, `€ 12` and the like. Refuses a single comma that could be a
    /// decimal point, as in `1,250`, because it is ambiguous.
    fn read(text: &str, beside: Option<&str>) -> Option<Self> {
        let text = text.trim();
        let numeric = |c: char| c.is_ascii_digit() || c == '.' || c == ',' || c == '-';
        let start = text.find(numeric)?;
        let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
        let number = text.get(start..end)?;
        let within: Vec<&str> = [text.get(..start)?, text.get(end..)?]
            .into_iter()
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        let currency = match (within.as_slice(), beside) {
            ([], Some(beside)) => beside,
            ([within], None) => within,
            ([within], Some(beside)) if *within == beside => within,
            _ => return None,
        };
        let named = currency.chars().count() <= 8 && !currency.chars().any(numeric);
        let (units, scale) = decimal(number)?;
        (named && !currency.is_empty()).then(|| Self {
            units,
            scale,
            currency: currency.to_owned(),
        })
    }

    /// The sum of several amounts; `None` if one of them is absent or has another currency.
    pub fn total(all: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        let mut all = all.into_iter();
        let mut sum = all.next()??;
        for amount in all {
            let amount = amount.filter(|amount| amount.currency == sum.currency)?;
            let scale = sum.scale.max(amount.scale);
            let (a, b) = (sum.scaled(scale)?, amount.scaled(scale)?);
            sum = Self { units: a.checked_add(b)?, scale, currency: sum.currency };
        }
        Some(sum)
    }

    /// The integer with this many decimal places.
    pub fn scaled(&self, scale: u32) -> Option<i128> {
        let more = scale.checked_sub(self.scale)?;
        self.units.checked_mul(10_i128.checked_pow(more)?)
    }

    /// The number of decimal places.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// The currency, as the agent wrote it.
    pub fn currency(&self) -> &str {
        &self.currency
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.units.unsigned_abs().to_string();
        let scale = usize::try_from(self.scale).unwrap_or_default();
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, part) = digits.split_at(digits.len() - scale);
        let sign = if self.units < 0 { "-" } else { "" };
        let point = if scale > 0 { "." } else { "" };
        let number = format!("{sign}{whole}{point}{part}");
        write!(f, "{} {}", locale::decimal(&number).unwrap_or(number), self.currency)
    }
}

/// A decimal number as an integer and its scale.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let grouped: Vec<&str> = whole.split(',').collect();
    let sure = match grouped.as_slice() {
        [one] => digits(one) && !one.is_empty(),
        // Without a decimal point, a single group of three digits may be a fraction.
        [first, rest @ ..] => {
            let threes = rest.iter().all(|group| group.len() == 3 && digits(group));
            let unmistakable = rest.len() > 1 || !part.is_empty();
            (1..=3).contains(&first.len()) && digits(first) && threes && unmistakable
        }
        [] => false,
    };
    // A point before exactly three digits may be a thousands separator: `1.250`.
    let clear = digits(part) && part.len() <= DIGITS && part.len() != 3 && !text.ends_with('.');
    let number: i128 =
        format!("{}{part}", grouped.concat()).parse().ok().filter(|_| sure && clear)?;
    let units = if negative { number.checked_neg()? } else { number };
    Some((units, u32::try_from(part.len()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, beside: Option<&str>) -> Option<String> {
        Amount::read(text, beside).map(|amount| amount.to_string())
    }

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        for (text, beside, expected) in [
            ("120", Some("EUR"), Some("120 EUR")),
            ("120.00", Some("EUR"), Some("120.00 EUR")),
            ("1,250.50 EUR", None, Some("1,250.50 EUR")),
            ("€120.00", None, Some("120.00 €")),
            ("-0.05 USD", None, Some("-0.05 USD")),
            ("1,250,000 JPY", None, Some("1,250,000 JPY")),
            ("120 EUR", Some("EUR"), Some("120 EUR")),
            ("120 EUR", Some("USD"), None),
            ("120", None, None),
            ("1,250", Some("EUR"), None),
            ("1.250", Some("EUR"), None),
            ("12,5", Some("EUR"), None),
            ("1.250,50", Some("EUR"), None),
            ("1e9", Some("EUR"), None),
            ("about 10 or 20 EUR", None, None),
            ("10-20", Some("EUR"), None),
            ("EUR", None, None),
            ("", Some("EUR"), None),
        ] {
            assert_eq!(read(text, beside).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn totals_are_exact_and_of_one_currency() {
        let amount = |text: &str| Amount::read(text, None);
        let total = |all: &[&str]| {
            Amount::total(all.iter().map(|text| amount(text))).map(|sum| sum.to_string())
        };
        assert_eq!(total(&["0.10 EUR", "0.20 EUR"]).as_deref(), Some("0.30 EUR"));
        assert_eq!(total(&["1 EUR", "0.05 EUR"]).as_deref(), Some("1.05 EUR"));
        assert_eq!(total(&["1 EUR", "1 USD"]), None);
        assert_eq!(total(&["1 EUR", "x"]), None);
        assert_eq!(total(&[]), None);
    }
}
