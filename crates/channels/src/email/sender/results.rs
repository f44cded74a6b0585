//! Reads the statements of a forwarder about the signatures of an email, from an ARC set
//! (`ARC-Authentication-Results`, RFC 8617 and RFC 8601).

/// The domains of the DKIM signatures that passed. Returns `None` if a quotation or a comment is
/// not closed, because the value is then ambiguous. Text in quotes and comments may come from
/// strangers and is ignored.
pub(super) fn dkim_domains(value: &[u8]) -> Option<Vec<String>> {
    let statements = statements(std::str::from_utf8(value).ok()?)?;
    Some(statements.iter().filter_map(|statement| passed(statement)).collect())
}

/// Reads `dkim=pass header.d=example.com`, or the form with `header.i=@example.com`.
fn passed(statement: &[(String, String)]) -> Option<String> {
    let ((method, result), properties) = statement.split_first()?;
    let method = method.split('/').next().unwrap_or_default();
    if method != "dkim" || result != "pass" {
        return None;
    }
    let all = |name: &str| {
        let named = properties.iter().filter(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    match (all("header.d").as_slice(), all("header.i").as_slice()) {
        ([domain], _) => Some((*domain).to_owned()),
        ([], [identity]) => identity.rsplit_once('@').map(|(_, domain)| domain.to_owned()),
        _ => None,
    }
}

/// One part of a statement.
#[derive(PartialEq)]
enum ResultToken {
    Word(String),
    Equals,
}

/// The statements between semicolons: pairs of name and value, in lower case.
fn statements(value: &str) -> Option<Vec<Vec<(String, String)>>> {
    let mut all: Vec<Vec<ResultToken>> = vec![Vec::new()];
    let mut word = String::new();
    let mut chars = value.chars();
    let end = |word: &mut String, all: &mut Vec<Vec<ResultToken>>| {
        if let (false, Some(last)) = (word.is_empty(), all.last_mut()) {
            last.push(ResultToken::Word(std::mem::take(word).to_ascii_lowercase()));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '(' => {
                end(&mut word, &mut all);
                let mut depth = 1_usize;
                while depth > 0 {
                    match chars.next()? {
                        '\\' => drop(chars.next()?),
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                }
            }
            '"' => {
                // A quoted value is arbitrary text. It is skipped and matches no domain.
                word.push('"');
                loop {
                    match chars.next()? {
                        '\\' => drop(chars.next()?),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ';' => {
                end(&mut word, &mut all);
                all.push(Vec::new());
            }
            '=' => {
                end(&mut word, &mut all);
                if let Some(last) = all.last_mut() {
                    last.push(ResultToken::Equals);
                }
            }
            c if c.is_whitespace() => end(&mut word, &mut all),
            c => word.push(c),
        }
    }
    end(&mut word, &mut all);
    Some(all.iter().map(|pieces| pairs(pieces)).collect())
}

fn pairs(pieces: &[ResultToken]) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = pieces;
    while let Some((piece, after)) = rest.split_first() {
        rest = after;
        if let (
            ResultToken::Word(name),
            [ResultToken::Equals, ResultToken::Word(value), more @ ..],
        ) = (piece, after)
        {
            pairs.push((name.clone(), value.clone()));
            rest = more;
        }
    }
    pairs
}
