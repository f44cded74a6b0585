//! The text of a reply, without quotations. Email clients put the original email above, below or
//! between the text, and each marks it in its own way and language.
//!
//! Losing an answer is worse than keeping a line too many. A line is removed only if it is quoted,
//! attributes a quotation, or follows a line that only a program writes.

use views::email::is_separator;

/// The line that several programs write above the original email.
pub(crate) const HISTORY: &str = "-----Original Message-----";

/// The lines that PGP puts around a signed text.
const SIGNED: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----";

/// The text without quotations, history and signature. May be empty.
pub fn answer(text: &str) -> String {
    let text = text.replace(['\u{feff}', '\u{200b}', '\0'], "").replace('\u{a0}', " ");
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    if let Some(from) = lines.iter().position(|line| *line == SIGNED) {
        // The signed text is between an empty line and the signature.
        let to = lines.iter().skip(from).position(|line| line.is_empty());
        lines.drain(from..to.map_or(from + 1, |to| from + to));
    }
    let end = (0..lines.len()).find(|at| begins_history(&lines, *at)).unwrap_or(lines.len());
    let mut kept: Vec<Option<&str>> = lines.iter().take(end).copied().map(Some).collect();
    let ends_of_words =
        (0..end).filter(|at| is_quoted(&lines, *at) && !is_quoted_before(&lines, *at));
    for at in ends_of_words.chain([end]) {
        let from = attribution(&lines, at);
        kept.iter_mut().take(at).skip(from).for_each(|line| *line = None);
    }
    for (at, line) in kept.iter_mut().enumerate() {
        if is_quoted(&lines, at) {
            *line = None;
        }
    }
    leave_out_signatures(&mut kept);
    join_kept_lines(&kept)
}

/// Joins the lines that a program wrapped (`format=flowed`, RFC 3676).
pub(crate) fn unflow(text: &str, without_space: bool) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut goes_on = false;
    for line in text.lines() {
        let quoted = line.starts_with('>');
        if goes_on && quoted {
            whole.push('\n');
        }
        // A leading space protects a line that begins with a space or a special character.
        let line = line.strip_prefix(' ').unwrap_or(line);
        goes_on = !quoted && line.ends_with(' ') && line != "-- ";
        let joined = line.strip_suffix(' ').filter(|_| goes_on && without_space);
        whole.push_str(joined.unwrap_or(line));
        if !goes_on {
            whole.push('\n');
        }
    }
    whole
}

fn is_quoted(lines: &[&str], at: usize) -> bool {
    lines.get(at).is_some_and(|line| line.trim_start().starts_with('>'))
}

fn is_quoted_before(lines: &[&str], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| is_quoted(lines, before))
}

/// Whether the original email begins at this line.
fn begins_history(lines: &[&str], at: usize) -> bool {
    let Some(line) = lines.get(at).filter(|_| !is_quoted(lines, at)) else { return false };
    is_separator(line)
        || *line == SIGNATURE
        || is_rule_with_words(line)
        || is_header_block(lines, at)
        || is_rule(line) && (1..=2).any(|on| is_header_block(lines, at + on))
        || says_who_wrote(lines, at)
}

/// Recognises `-----Original Message-----` and similar lines.
fn is_rule_with_words(line: &str) -> bool {
    const WORDS: [&str; 18] = [
        "original message",
        "forwarded message",
        "ursprüngliche nachricht",
        "original-nachricht",
        "originalnachricht",
        "weitergeleitete nachricht",
        "message d'origine",
        "message d’origine",
        "message original",
        "message transféré",
        "mensaje original",
        "mensagem original",
        "messaggio originale",
        "oorspronkelijk bericht",
        "ursprungligt meddelande",
        "oprindelig meddelelse",
        "oryginalna wiadomość",
        "исходное сообщение",
    ];
    let bare = line.trim_matches(|c: char| "-_=* ".contains(c)).to_lowercase();
    line.trim_start().starts_with("--") && WORDS.contains(&bare.as_str())
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 5 && (line.chars().all(|c| c == '_') || line.chars().all(|c| c == '-'))
}

/// Recognises Outlook's header block: sender, date, recipient and subject on separate lines.
fn is_header_block(lines: &[&str], at: usize) -> bool {
    const FROM: [&str; 18] = [
        "from",
        "von",
        "de",
        "da",
        "van",
        "från",
        "fra",
        "od",
        "lähettäjä",
        "от",
        "发件人",
        "差出人",
        "보낸 사람",
        "寄件者",
        "gönderen",
        "kimden",
        "feladó",
        "remitente",
    ];
    const OTHERS: [&str; 54] = [
        "sent",
        "date",
        "to",
        "cc",
        "subject",
        "gesendet",
        "datum",
        "an",
        "betreff",
        "envoyé",
        "à",
        "objet",
        "enviado",
        "enviado el",
        "fecha",
        "para",
        "asunto",
        "enviada",
        "enviada em",
        "data",
        "assunto",
        "inviato",
        "a",
        "oggetto",
        "verzonden",
        "aan",
        "onderwerp",
        "skickat",
        "till",
        "ämne",
        "sendt",
        "dato",
        "til",
        "emne",
        "wysłano",
        "do",
        "temat",
        "lähetetty",
        "aihe",
        "отправлено",
        "дата",
        "кому",
        "тема",
        "发送时间",
        "收件人",
        "主题",
        "送信日時",
        "宛先",
        "件名",
        "보낸 날짜",
        "받는 사람",
        "제목",
        "gönderildi",
        "konu",
    ];
    let key = |line: &&str| {
        let (key, _) = line.split_once([':', '：'])?;
        Some(key.trim_matches(|c: char| c == '*' || c.is_whitespace()).to_lowercase())
    };
    let named =
        |line: &&str, names: &[&str]| key(line).is_some_and(|key| names.contains(&key.as_str()));
    let below = || lines.iter().skip(at + 1).filter(|line| !line.is_empty()).take(5);
    lines.get(at).is_some_and(|line| named(line, &FROM))
        && below().filter(|line| named(line, &OTHERS)).count() >= 2
}

/// Whether an unmarked quotation begins here: the line says who wrote it and when, in a form that
/// only programs use.
fn says_who_wrote(lines: &[&str], at: usize) -> bool {
    let below = |len: usize| lines.iter().skip(at + len).take(2);
    (1..=3).any(|len| {
        let words = paragraph(lines, at, len);
        words.is_some_and(|words| is_attribution(&words) && is_dated(&words))
            // If the quotation is marked, an answer may follow it.
            && !below(len).any(|line| line.trim_start().starts_with('>'))
    })
}

/// The first line of the attribution that precedes this line.
fn attribution(lines: &[&str], at: usize) -> usize {
    let blanks = lines.iter().take(at).rev().take_while(|line| line.is_empty()).count();
    let end = at - blanks;
    let found = (1..=4).filter_map(|len| end.checked_sub(len).map(|from| (from, len)));
    let known = found.clone().find(|(from, len)| {
        paragraph(lines, *from, *len).is_some_and(|words| is_attribution(&words))
    });
    // In any language: the line ends in a colon and contains an address, a year or a time.
    let last = || {
        end.checked_sub(1).filter(|last| {
            lines.get(*last).is_some_and(|line| {
                line.ends_with([':', '：']) && is_dated(line) && !is_quoted(lines, *last)
            })
        })
    };
    known.map(|(from, _)| from).or_else(last).unwrap_or(at)
}

/// Joins some lines, if none of them is empty or quoted.
fn paragraph(lines: &[&str], from: usize, len: usize) -> Option<String> {
    let lines = lines.get(from..from + len)?;
    let whole = lines.iter().all(|line| !line.is_empty() && !line.trim_start().starts_with('>'));
    whole.then(|| lines.join(" "))
}

/// Recognises "On Monday Ada wrote:" in many languages.
fn is_attribution(words: &str) -> bool {
    const WAYS: [(&str, &str); 27] = [
        ("on ", "wrote"),
        ("am ", "schrieb"),
        ("am ", "geschrieben"),
        ("le ", "a écrit"),
        ("el ", "escribió"),
        ("il ", "ha scritto"),
        ("em ", "escreveu"),
        ("a ", "escreveu"),
        ("op ", "schreef"),
        ("op ", "geschreven"),
        ("den ", "skrev"),
        ("på ", "skrev"),
        ("", "följande"),
        ("w dniu ", "napisał"),
        ("", "napisał"),
        ("dne ", "napsal"),
        ("", "kirjoitti"),
        ("", "ezt írta"),
        ("", "a scris"),
        ("", "έγραψε"),
        ("", "yazdı"),
        ("", "пишет"),
        ("", "написал"),
        ("", "пише"),
        ("", "写道"),
        ("", "寫道"),
        ("", "님이 작성"),
    ];
    let words = words.trim_matches(|c: char| c == '*' || c.is_whitespace()).to_lowercase();
    words.ends_with([':', '：'])
        && WAYS.iter().any(|(begins, verb)| words.starts_with(begins) && words.contains(verb))
}

/// Whether the text contains an address, a year or a time.
fn is_dated(words: &str) -> bool {
    let numbers = words.split(|c: char| !c.is_ascii_digit());
    let year = numbers.clone().any(|number| number.len() == 4);
    let time = words.as_bytes().windows(4).any(|four| {
        matches!(four, [a, b':', b, c] if [a, b, c].iter().all(|byte| byte.is_ascii_digit()))
    });
    words.contains('@') || year || time
}

/// Removes signatures: the lines after `-- `, and the line that a phone adds at the end.
fn leave_out_signatures(kept: &mut [Option<&str>]) {
    for words in kept.split_mut(Option::is_none) {
        let signed = words.iter().position(|line| *line == Some("--"));
        words.iter_mut().skip(signed.unwrap_or(usize::MAX)).for_each(|line| *line = Some(""));
        let blank = |line: &&mut Option<&str>| line.is_none_or(str::is_empty);
        if let Some(last) = words.iter_mut().rev().find(|line| !blank(line))
            && last.is_some_and(is_advertisement)
        {
            *last = Some("");
        }
    }
}

/// Recognises "Sent from my iPhone" and similar lines.
fn is_advertisement(line: &str) -> bool {
    const BEGINNINGS: [&str; 34] = [
        "sent from my ",
        "sent from mail ",
        "sent from outlook",
        "sent from yahoo",
        "sent from proton",
        "sent from samsung",
        "sent with proton",
        "get outlook for ",
        "gesendet von mein",
        "gesendet von mail",
        "gesendet von outlook",
        "gesendet mit der ",
        "diese nachricht wurde von meinem ",
        "outlook für ",
        "holen sie sich outlook",
        "envoyé de mon ",
        "envoyé depuis mon ",
        "envoyé à partir de ",
        "télécharger outlook",
        "obtenez outlook",
        "enviado desde mi ",
        "enviado do meu ",
        "obtener outlook",
        "inviato da iphone",
        "inviato dal mio ",
        "verzonden vanaf mijn ",
        "verstuurd vanaf mijn ",
        "skickat från min ",
        "sendt fra min ",
        "wysłane z mojego ",
        "отправлено с iphone",
        "отправлено с моего ",
        "发自我的",
        "iphoneから送信",
    ];
    let line = line.trim_start_matches(['*', '_', '[']).to_lowercase();
    let mine = line.starts_with("von meinem ") && line.ends_with("gesendet");
    line.chars().count() <= 120
        && (mine || BEGINNINGS.iter().any(|begins| line.starts_with(begins)))
}

/// Joins the remaining lines, with at most one empty line between them.
fn join_kept_lines(kept: &[Option<&str>]) -> String {
    let mut tidy = String::new();
    let mut blank = false;
    for line in kept {
        match line {
            Some(line) if !line.trim().is_empty() => {
                if blank && !tidy.is_empty() {
                    tidy.push('\n');
                }
                if !tidy.is_empty() {
                    tidy.push('\n');
                }
                tidy.push_str(line);
                blank = false;
            }
            _ => blank = true,
        }
    }
    tidy.trim().to_owned()
}

#[cfg(test)]
mod tests;
