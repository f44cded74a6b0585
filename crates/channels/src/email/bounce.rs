//! Bounces of the server's emails: reports in the standard format (RFC 3464), and those of mail
//! servers that do not follow it.
//!
//! A report goes to the envelope sender, which is the signed reply address. The reporter therefore
//! knows that address, and the report is about that email.

use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};

use crate::inbound::DeliveryReport;

/// The longest part of a server's explanation that is kept.
const LONGEST_WHY: usize = 300;

/// The content of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BounceReport {
    /// The email that bounced, by its Message-ID.
    pub(super) posted: Option<String>,
    /// The address that was not reached.
    pub(super) recipient: Option<String>,
    /// The delivery state. Absent while the email is still on its way.
    pub(super) state: Option<DeliveryReport>,
}

/// Reads a report. Returns `None` if the email is not one.
pub(super) fn report(message: &Message<'_>) -> Option<BounceReport> {
    let status = message.parts.iter().find(|part| is_type(part, "message", "delivery-status"));
    let posted = original(message);
    if let Some(status) = status {
        let status = String::from_utf8_lossy(status.contents()).into_owned();
        return Some(BounceReport { posted, ..from_fields(&status) });
    }
    let named = message
        .headers_raw()
        .find(|(name, _)| name.eq_ignore_ascii_case("x-failed-recipients"))
        .and_then(|(_, value)| value.split(',').next())
        .map(|value| value.trim().to_owned());
    if named.is_none() && !is_from_a_server(message) {
        return None;
    }
    let text: String = message
        .text_bodies()
        .filter_map(|part| match &part.body {
            PartType::Text(text) => Some(text.to_string()),
            PartType::Html(page) => Some(super::html::to_text(page)),
            _ => None,
        })
        .collect();
    Some(BounceReport { posted, ..from_words(&text, named) })
}

fn is_type(part: &MessagePart<'_>, kind: &str, subtype: &str) -> bool {
    part.content_type().is_some_and(|is| {
        is.ctype().eq_ignore_ascii_case(kind)
            && is.subtype().is_some_and(|is| is.eq_ignore_ascii_case(subtype))
    })
}

/// Whether a mail server wrote the email: the sender's name says so, and it accepts no reply.
fn is_from_a_server(message: &Message<'_>) -> bool {
    let from = message.from().and_then(|from| from.first()).and_then(|from| from.address());
    let local = from.and_then(|from| from.split('@').next()).unwrap_or_default().to_lowercase();
    let returns = |(name, value): (&str, &str)| {
        name.eq_ignore_ascii_case("return-path") && value.trim() != "<>"
    };
    matches!(local.as_str(), "mailer-daemon" | "mail-daemon" | "postmaster")
        && !message.headers_raw().any(returns)
}

/// The Message-ID of the bounced email: from the attached email or its headers, which most reports
/// include, or from the email that the report replies to.
fn original(message: &Message<'_>) -> Option<String> {
    let enclosed = message.parts.iter().find_map(|part| match &part.body {
        PartType::Message(letter) => letter.message_id().map(str::to_owned),
        _ if is_type(part, "text", "rfc822-headers") => {
            let headers = MessageParser::default().parse_headers(part.contents())?;
            headers.message_id().map(str::to_owned)
        }
        _ => None,
    });
    enclosed.or_else(|| quoted_id(message)).or_else(|| {
        let answers = [message.in_reply_to(), message.references()];
        answers.iter().find_map(|header| {
            let one = header.as_text().or_else(|| header.as_text_list()?.last().map(AsRef::as_ref));
            one.map(str::to_owned)
        })
    })
}

/// The value after `Message-ID:` in the text of a report.
fn quoted_id(message: &Message<'_>) -> Option<String> {
    message.text_bodies().find_map(|part| {
        let PartType::Text(text) = &part.body else { return None };
        text.lines().find_map(|line| {
            let line = line.trim_start_matches(['>', ' ', '\t']);
            let (name, value) = line.split_once(':')?;
            let id = value.trim().strip_prefix('<')?.strip_suffix('>')?;
            name.eq_ignore_ascii_case("message-id").then(|| id.to_owned())
        })
    })
}

/// Reads the fields of a `message/delivery-status`: those of the first recipient with a status.
fn from_fields(status: &str) -> BounceReport {
    let status = status.replace("\r\n", "\n");
    // A field continues on the next line if that line begins with a space.
    let status = status.replace("\n ", " ").replace("\n\t", " ");
    let mut recipients = status.split("\n\n").map(|group| {
        let field = |wanted: &str| {
            group.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
            })
        };
        (
            field("action"),
            field("final-recipient").or_else(|| field("original-recipient")),
            field("status"),
            field("diagnostic-code"),
        )
    });
    let found = recipients.find(|(action, ..)| action.is_some());
    let Some((Some(action), recipient, code, said)) = found else {
        // The report names no recipient with a status. The email bounced nevertheless.
        let why = "no reason given in the report".to_owned();
        let state = Some(DeliveryReport::Failed { why, forever: false });
        return BounceReport { posted: None, recipient: None, state };
    };
    // An address is prefixed with its type: `rfc822; ada@example.com`.
    let bare = |text: &str| text.rsplit(';').next().unwrap_or_default().trim().to_owned();
    let said = said.map(|said| said.split_once(';').map_or(said, |(_, said)| said).trim());
    let code = code.and_then(|code| code.split_whitespace().next());
    let state = match action.to_lowercase().as_str() {
        "failed" => Some(DeliveryReport::Failed {
            why: why(said.or(code).unwrap_or("no reason given in the report")),
            forever: code.and_then(parts).is_some_and(is_permanent)
                || said.and_then(code_in).is_some_and(is_permanent),
        }),
        "delivered" | "relayed" | "expanded" => Some(DeliveryReport::Delivered),
        _ => None,
    };
    BounceReport { posted: None, recipient: recipient.map(bare), state }
}

/// Reads the text of a server that follows no standard: the line with a status code is
/// the most precise.
fn from_words(text: &str, recipient: Option<String>) -> BounceReport {
    const UNKNOWN: [&str; 6] = [
        "user unknown",
        "unknown user",
        "no such user",
        "does not exist",
        "mailbox unavailable",
        "recipient not found",
    ];
    let lower = text.to_lowercase();
    let coded = text.lines().find(|line| code_in(line).is_some());
    let told = lower.lines().find(|line| UNKNOWN.iter().any(|words| line.contains(words)));
    let said = coded.or(told).or_else(|| text.lines().find(|line| !line.trim().is_empty()));
    let forever = coded.and_then(code_in).map_or_else(|| told.is_some(), is_permanent);
    let address = || {
        let apart = |c: char| c.is_whitespace() || "<>(),;:\"".contains(c);
        let mut words = text.split(apart).filter(|word| word.contains('@'));
        words.next().map(str::to_owned)
    };
    let why = why(said.unwrap_or("no reason given by the mail server"));
    let state = Some(DeliveryReport::Failed { why, forever });
    BounceReport { posted: None, recipient: recipient.or_else(address), state }
}

fn why(said: &str) -> String {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    kernel::text::reveal(&line).chars().take(LONGEST_WHY).collect()
}

/// The three numbers of a status code such as `5.1.1`.
fn parts(code: &str) -> Option<(u16, u16, u16)> {
    let mut numbers = code.trim_matches(|c: char| !c.is_ascii_digit()).splitn(3, '.');
    let mut next = || {
        let number = numbers.next().filter(|number| number.len() <= 3)?;
        number.parse().ok()
    };
    let found = (next()?, next()?, next()?);
    matches!(found.0, 2 | 4 | 5).then_some(found)
}

/// The first status code in a sentence.
fn code_in(said: &str) -> Option<(u16, u16, u16)> {
    said.split(|c: char| c.is_whitespace() || "#();,-".contains(c)).find_map(|word| {
        let numbers = word.split('.').all(|part| {
            !part.is_empty() && part.trim_end_matches(':').chars().all(|c| c.is_ascii_digit())
        });
        parts(word).filter(|_| numbers)
    })
}

/// Whether the failure is permanent for this address (RFC 3463): the address does not exist, or was
/// closed. A server that rejects this email, or this sender, may accept the next one.
fn is_permanent((class, subject, detail): (u16, u16, u16)) -> bool {
    class == 5 && (subject == 1 && !matches!(detail, 7 | 8) || (subject, detail) == (2, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_and_weighed() {
        for (said, code, forever) in [
            ("550 5.1.1 <a@b>: user unknown", Some((5, 1, 1)), true),
            ("550-5.1.1 The email account does not exist", Some((5, 1, 1)), true),
            ("5.1.10", Some((5, 1, 10)), true),
            ("552 5.2.2 mailbox full", Some((5, 2, 2)), false),
            ("550 5.2.1 disabled", Some((5, 2, 1)), true),
            ("550 5.7.26 not authenticated", Some((5, 7, 26)), false),
            ("550 5.1.8 bad sender", Some((5, 1, 8)), false),
            ("451 4.3.0 later", Some((4, 3, 0)), false),
            ("(#5.1.1)", Some((5, 1, 1)), true),
            ("host 192.168.5.1 said no", None, false),
            ("version 3.2.1", None, false),
            ("550 no", None, false),
            ("", None, false),
        ] {
            assert_eq!(code_in(said), code, "{said}");
            assert_eq!(code_in(said).is_some_and(is_permanent), forever, "{said}");
        }
    }

    #[test]
    fn fields_of_a_report() {
        let failed =
            |why: &str, forever| Some(DeliveryReport::Failed { why: why.to_owned(), forever });
        for (status, recipient, state) in [
            (
                "Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; ada@example.com\r\n\
                 Action: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 user\r\n unknown\r\n",
                Some("ada@example.com"),
                failed("550 5.1.1 user unknown", true),
            ),
            (
                "Reporting-MTA: dns; a\n\nAction: failed\nStatus: 4.4.7 (expired)\n",
                None,
                failed("4.4.7", false),
            ),
            (
                "A: b\n\nFINAL-RECIPIENT: RFC822;a@b\nACTION: Failed\nSTATUS: 5.0.0\n\
                 Diagnostic-Code: X-Unix; 550 5.1.1 gone\n",
                Some("a@b"),
                failed("550 5.1.1 gone", true),
            ),
            (
                "A: b\n\nFinal-Recipient: rfc822; a@b\nAction: delayed\nStatus: 4.0.0",
                Some("a@b"),
                None,
            ),
            ("A: b\n\nAction: relayed", None, Some(DeliveryReport::Delivered)),
            ("", None, failed("no reason given in the report", false)),
            ("Action", None, failed("no reason given in the report", false)),
        ] {
            let report = from_fields(status);
            assert_eq!(report.recipient.as_deref(), recipient, "{status}");
            assert_eq!(report.state, state, "{status}");
        }
    }
}
