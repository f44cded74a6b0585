//! Reply codes: one of `A`–`Z` and a digit, by which a written answer names the request it answers.

use channels::{sms, whatsapp};
use gateway::Gateway;
use kernel::Ask;
use kernel::audit::Digest;
use store::StoreError;

use views::message_card::AnswerOptions;

/// How many of the last messages to an address are checked for codes in use.
const MESSAGES_CHECKED: usize = 100;
/// Characters that do not look like a digit or like each other.
const CODE_CHARACTERS: &[u8] = b"ABCDEFGHJKLMNPRSTUVWXYZ";
const ALL_CODES: usize = CODE_CHARACTERS.len() * 8;

/// The code that a written answer begins with, where the platform has no threads: the same for the
/// same ask, and different from those of other asks that were sent there recently.
pub(super) async fn reply_code(
    gateway: &Gateway,
    ask: &Ask,
    to: Digest,
    channel: &str,
    options: &AnswerOptions,
) -> Result<Option<String>, StoreError> {
    if options.is_none() || !matches!(channel, sms::NAME | whatsapp::NAME) {
        return Ok(None);
    }
    let lately = gateway
        .store()
        .messages_by(store::MessageQuery::To { to, limit: MESSAGES_CHECKED })
        .await?;
    let own = lately.iter().find(|message| message.ask == ask.id);
    if let Some(code) = own.and_then(|message| message.code.clone()) {
        return Ok(Some(code));
    }
    let Digest([first, second, ..]) = Digest::of(ask.id.to_string().as_bytes());
    let begin = usize::from(first) * 256 + usize::from(second);
    let free = |code: &String| lately.iter().all(|one| one.code.as_ref() != Some(code));
    Ok((0..ALL_CODES).map(|n| code((begin + n) % ALL_CODES)).find(free))
}

fn code(n: usize) -> String {
    let letter = CODE_CHARACTERS.get(n / 8 % CODE_CHARACTERS.len()).copied().unwrap_or(b'A');
    format!("{}{}", char::from(letter), n % 8 + 2)
}
