//! Rejects template syntax that makes values larger than the input. Otherwise a few lines that each
//! double a text or a list would exhaust the memory within a few hundred steps.
//!
//! Templates may use `if`, `for`, and expressions of names, members, comparisons and filters.
//! Assignments, concatenation, list literals and other templates are not allowed. Unclear
//! syntax is rejected.

use super::BrokenTemplate;

const TAGS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];
/// Keywords after which a new expression begins. A bracket after one of them is not a call
/// or an index.
const KEYWORDS: [&str; 9] = ["in", "not", "and", "or", "if", "else", "elif", "is", "for"];

/// Checks that a template may be rendered.
pub(super) fn check(template: &str) -> Result<(), BrokenTemplate> {
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        rest = rest.get(at + 1..).unwrap_or_default();
        rest = match rest.chars().next() {
            Some('#') => {
                let end = rest
                    .find("#}")
                    .ok_or_else(|| BrokenTemplate::new("a comment is not closed"))?;
                rest.get(end + 2..).unwrap_or_default()
            }
            Some('{') => code(rest.get(1..).unwrap_or_default(), "}}", false)?,
            Some('%') => {
                let rest = rest.get(1..).unwrap_or_default().trim_start_matches(['-', '+']);
                let tag = tag(rest);
                if !TAGS.contains(&tag) {
                    return Err(BrokenTemplate::new(format!(
                        "unknown tag {tag:?}; allowed tags: if, for"
                    )));
                }
                code(rest, "%}", tag == "for")?
            }
            _ => rest,
        };
    }
    Ok(())
}

fn tag(rest: &str) -> &str {
    let mut words = rest.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_');
    words.next().unwrap_or_default()
}

/// An open bracket.
#[derive(PartialEq)]
enum OpenBracket {
    Call,
    Group,
    Member,
}

/// Checks the code up to the closing delimiter, and returns the text after it. The head of a loop
/// may have commas before `in`.
fn code<'a>(text: &'a str, end: &str, mut head: bool) -> Result<&'a str, BrokenTemplate> {
    let refused = |what: &str| Err(BrokenTemplate::new(format!("templates do not support {what}")));
    let mut opened = Vec::new();
    // The current word, if any, and whether a bracket was closed immediately before.
    let (mut word, mut closed) = (String::new(), false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if opened.is_empty() && text.get(at..).is_some_and(|rest| rest.starts_with(end)) {
            return Ok(text.get(at + end.len()..).unwrap_or_default());
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            closed = false;
            continue;
        }
        // Whether a bracket here continues an expression, as a call or an index.
        let follows = closed || !word.is_empty() && !KEYWORDS.contains(&word.as_str());
        head = head && word != "in";
        word.clear();
        closed = matches!(c, ')' | ']');
        match c {
            '\'' | '"' => skip_text(&mut chars, c)?,
            '(' => opened.push(if follows { OpenBracket::Call } else { OpenBracket::Group }),
            '[' if follows => opened.push(OpenBracket::Member),
            ')' if opened.pop().is_some_and(|open| open != OpenBracket::Member) => {}
            ']' if opened.pop() == Some(OpenBracket::Member) => {}
            ')' | ']' => {
                return Err(BrokenTemplate::new("a closing bracket has no opening bracket"));
            }
            ',' if opened.last() == Some(&OpenBracket::Call) || head && opened.is_empty() => {}
            '[' | ',' => return refused("a list"),
            '{' | '}' => return refused("a mapping"),
            '~' | '+' | '*' => return refused("combining values"),
            _ => {}
        }
    }
    Err(BrokenTemplate::new("an opening bracket or tag is not closed"))
}

fn skip_text(chars: &mut std::str::CharIndices<'_>, quote: char) -> Result<(), BrokenTemplate> {
    while let Some((_, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            c if c == quote => return Ok(()),
            _ => {}
        }
    }
    Err(BrokenTemplate::new("a string is not closed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_and_what_may_not() {
        for template in [
            "",
            "plain { } text [ ] * + ~",
            "{{ event.spec.fn }} {{- urls.base_url -}}",
            "{{ event['spec'][\"kwargs\"]|tojson(indent=2) }}",
            "{{ a or b }} {{ not a }} {{ (a or b) and c }} {{ a - 1 }} {{ a > 1 }}",
            "{{ x|default('~ [ { +', true)|upper }}",
            "{%- if a == 'x%}' -%}y{% elif b is defined %}{% else %}z{%+ endif %}",
            "{% for k, v in event.spec.kwargs.items() %}{{ k }}{% endfor %}",
            "{% for item in event.items %}{{ loop.index }}{% endfor %}",
            "{# ~ [ anything #}",
            "{{ items(x)[0] }}",
            "{{ 'it\\'s' }}",
            "{{ inside[0] }} {{ iffy(1, 2) }}",
        ] {
            assert_eq!(check(template), Ok(()), "{template}");
        }
        for template in [
            "{% set x = 1 %}",
            "{%set x = 1%}",
            "{% include 'x' %}",
            "{% macro m() %}{% endmacro %}",
            "{% raw %}{% endraw %}",
            "{% with x = 1 %}{% endwith %}",
            "{% filter upper %}{% endfilter %}",
            "{% %}",
            "{{ a ~ b }}",
            "{{ a + b }}",
            "{{ 'a' * 100 }}",
            "{{ 2 ** 100 }}",
            "{{ [a, a] }}",
            "{% for x in [a, a] %}{% endfor %}",
            "{% for x in[a, a] %}{% endfor %}",
            "{% for x in (a, a) %}{% endfor %}",
            "{% for x in(a, a) %}{% endfor %}",
            "{% for x in a, a %}{% endfor %}",
            "{{ (a, a) }}",
            "{{ a, a }}",
            "{{ x[a, a] }}",
            "{{ f((a, a)) }}",
            "{{ {'a': 1} }}",
            "{{{}}}",
            "{{ a",
            "{{ 'a }}",
            "{% if a",
            "{# a",
            "{{ a) }}",
            "{{ (a] }}",
            "{{ a [0] }}",
        ] {
            assert!(check(template).is_err(), "{template}");
        }
    }
}
