//! The channels that notify people, and how their answers come back. An incomplete channel stops
//! the start: one that cannot receive would look as if people do not answer.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ::channels::ChannelSettings;
use ::channels::email::imap::{ImapSecurity, ImapSettings};
use ::channels::email::provider_webhook::EmailProvider;
use ::channels::email::{
    Dns, EmailSettings, ListenerProtocol, ReplySettings, SenderSettings, SmtpSettings,
};
use ::channels::sms::SmsSettings;
use ::channels::whatsapp::{MetaSettings, Template, TemplateSlot, WhatsappSettings};
use ::channels::{ntfy, slack, telegram, twilio, webhook, whatsapp};
use anyhow::{Context, anyhow, bail, ensure};
use url::Url;

use super::{SecretString, Settings, secret_or_file};

/// A secret of the settings, or the content of its file.
macro_rules! secret {
    ($settings:ident, $name:ident, $file:ident) => {
        secret_or_file(
            stringify!($name),
            $settings.$name.clone(),
            $settings.$file.clone(),
            |text| SecretString::new(text.trim()),
        )
    };
}

/// Reads the channels. `base` is the public URL of this server, `smtp` the mail
/// server that sends emails.
pub(super) fn read(
    settings: &Settings,
    base: &Url,
    smtp: Option<SmtpSettings>,
) -> anyhow::Result<ChannelSettings> {
    let slack = slack(settings)?;
    let telegram = telegram(settings, base)?;
    let sms = sms(settings, base)?;
    let whatsapp = whatsapp(settings, base)?;
    let ntfy = ntfy(settings)?;
    let webhook = webhook(settings)?;
    let replies = replies(settings)?;
    let email = smtp.map(|smtp| EmailSettings { smtp, replies });
    // The server itself adds people's devices and its terminal.
    Ok(ChannelSettings {
        slack,
        email,
        sms,
        whatsapp,
        telegram,
        ntfy,
        webhook,
        push: None,
        terminal: None,
    })
}

/// The URL at which a platform calls this server.
fn callback_url(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url
}

/// Parses a URL of the settings.
fn address(name: &str, text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text).ok().filter(Url::has_host);
    url.with_context(|| format!("{name}: expected a URL such as https://example.com, not {text}"))
}

/// The URL of the setting, or the platform's public one.
fn url_or_default(name: &str, given: Option<&str>, usual: &str) -> anyhow::Result<Url> {
    address(name, given.unwrap_or(usual))
}

fn slack(settings: &Settings) -> anyhow::Result<Option<slack::SlackSettings>> {
    let signing_secret = secret!(settings, slack_signing_secret, slack_signing_secret_file)?;
    let app_token = secret!(settings, slack_app_token, slack_app_token_file)?;
    let Some(bot_token) = secret!(settings, slack_bot_token, slack_bot_token_file)? else {
        ensure!(
            signing_secret.is_none() && app_token.is_none(),
            "slack_bot_token is required to send messages to Slack"
        );
        return Ok(None);
    };
    let base = settings.slack_api.as_deref().map(|text| address("slack_api", text)).transpose()?;
    Ok(Some(slack::SlackSettings { bot_token, signing_secret, app_token, base }))
}

fn telegram(settings: &Settings, base: &Url) -> anyhow::Result<Option<telegram::TelegramSettings>> {
    let secret = secret!(settings, telegram_webhook_secret, telegram_webhook_secret_file)?;
    let Some(token) = secret!(settings, telegram_token, telegram_token_file)? else {
        ensure!(secret.is_none(), "telegram_token is required; @BotFather shows it");
        return Ok(None);
    };
    let hearing = match secret {
        None => telegram::UpdateSource::Poll,
        Some(secret) => {
            let url = callback_url(base, "/channels/telegram/updates");
            telegram::UpdateSource::Webhook { url, secret }
        }
    };
    let api = url_or_default("telegram_api", settings.telegram_api.as_deref(), telegram::API)?;
    Ok(Some(telegram::TelegramSettings { api, token, hearing }))
}

/// A Twilio account that sends from this number and posts its status reports to this URL.
fn account(settings: &Settings, from: &str, status: Url) -> anyhow::Result<twilio::TwilioAccount> {
    let sid =
        settings.twilio_account.clone().context("twilio_account is required; it starts with AC")?;
    let auth_token = secret!(settings, twilio_auth_token, twilio_auth_token_file)?;
    let auth_token = auth_token.context("twilio_auth_token is required")?;
    let key_secret = secret!(settings, twilio_key_secret, twilio_key_secret_file)?;
    let key = match (settings.twilio_key.clone(), key_secret) {
        (Some(key), Some(secret)) => Some((key, secret)),
        (None, None) => None,
        _ => bail!("twilio_key and twilio_key_secret must be set together"),
    };
    let sender = if from.starts_with("MG") {
        twilio::TwilioSender::Service(from.to_owned())
    } else {
        twilio::TwilioSender::Number(from.to_owned())
    };
    Ok(twilio::TwilioAccount {
        api: url_or_default("twilio_api", settings.twilio_api.as_deref(), twilio::API)?,
        content: url_or_default(
            "twilio_content_api",
            settings.twilio_content_api.as_deref(),
            twilio::CONTENT,
        )?,
        sid,
        auth_token,
        key,
        sender,
        status: Some(status),
    })
}

fn sms(settings: &Settings, base: &Url) -> anyhow::Result<Option<SmsSettings>> {
    let Some(from) = &settings.twilio_sms_from else {
        ensure!(
            settings.twilio_account.is_none() || settings.twilio_whatsapp_from.is_some(),
            "twilio_account requires twilio_sms_from, twilio_whatsapp_from or both"
        );
        return Ok(None);
    };
    let account = account(settings, from, callback_url(base, "/channels/sms/status"))?;
    Ok(Some(SmsSettings(account)))
}

fn whatsapp(settings: &Settings, base: &Url) -> anyhow::Result<Option<WhatsappSettings>> {
    let template = settings.whatsapp_template.as_deref().map(template).transpose()?;
    let token = secret!(settings, whatsapp_token, whatsapp_token_file)?;
    let app_secret = secret!(settings, whatsapp_app_secret, whatsapp_app_secret_file)?;
    let verify_token = secret!(settings, whatsapp_verify_token, whatsapp_verify_token_file)?;
    let phone = settings.whatsapp_phone_id.clone();
    match (phone, token, app_secret, verify_token, &settings.twilio_whatsapp_from) {
        (None, None, None, None, None) => {
            ensure!(
                template.is_none(),
                "whatsapp_template requires whatsapp_phone_id (Meta) or twilio_whatsapp_from \
                 (Twilio)"
            );
            Ok(None)
        }
        (Some(phone_number_id), Some(token), Some(app_secret), Some(verify_token), None) => {
            let graph =
                url_or_default("whatsapp_api", settings.whatsapp_api.as_deref(), whatsapp::GRAPH)?;
            let meta =
                MetaSettings { graph, phone_number_id, token, app_secret, verify_token, template };
            Ok(Some(WhatsappSettings::Meta(Box::new(meta))))
        }
        (None, None, None, None, Some(from)) => {
            let account = account(settings, from, callback_url(base, "/channels/whatsapp/status"))?;
            Ok(Some(WhatsappSettings::Twilio(Box::new(account), template)))
        }
        (.., Some(_)) => bail!(
            "whatsapp_… (Meta) and twilio_whatsapp_from (Twilio) cannot both be set; choose one \
             provider for WhatsApp"
        ),
        _ => bail!(
            "whatsapp_phone_id, whatsapp_token, whatsapp_app_secret and whatsapp_verify_token \
             must be set together"
        ),
    }
}

/// `countersign_notice:en:title,question,link`
fn template(text: &str) -> anyhow::Result<Template> {
    let expected = "whatsapp_template: expected NAME:LANGUAGE:SLOT,SLOT… with slots of title, question, \
                    until, answer and link";
    let mut parts = text.splitn(3, ':');
    let mut part = || parts.next().filter(|part| !part.is_empty()).context(expected);
    let (name, language, slots) = (part()?.to_owned(), part()?.to_owned(), part()?);
    let slot = |name: &str| match name.trim() {
        "title" => Ok(TemplateSlot::Title),
        "question" => Ok(TemplateSlot::Question),
        "until" => Ok(TemplateSlot::Until),
        "answer" => Ok(TemplateSlot::Answer),
        "link" => Ok(TemplateSlot::Link),
        _ => Err(anyhow!(expected)),
    };
    let slots = slots.split(',').map(slot).collect::<anyhow::Result<_>>()?;
    Ok(Template { name, language, slots })
}

fn ntfy(settings: &Settings) -> anyhow::Result<Option<ntfy::NtfySettings>> {
    let token = secret!(settings, ntfy_token, ntfy_token_file)?;
    let Some(server) = &settings.ntfy_url else {
        ensure!(token.is_none(), "ntfy_url is required, such as https://ntfy.sh");
        return Ok(None);
    };
    let server = address("ntfy_url", server)?;
    let login = token.map_or(ntfy::NtfyCredentials::Nobody, ntfy::NtfyCredentials::Token);
    Ok(Some(ntfy::NtfySettings { server, login, updates: true }))
}

fn webhook(settings: &Settings) -> anyhow::Result<Option<webhook::WebhookSettings>> {
    let secret = secret!(settings, channel_webhook_secret, channel_webhook_secret_file)?;
    match (&settings.channel_webhook_url, secret) {
        (Some(url), Some(secret)) => {
            let url = address("channel_webhook_url", url)?;
            Ok(Some(webhook::WebhookSettings { url, secret }))
        }
        (None, None) => Ok(None),
        _ => bail!("channel_webhook_url and channel_webhook_secret must be set together"),
    }
}

fn replies(settings: &Settings) -> anyhow::Result<Option<ReplySettings>> {
    let imap = secret!(settings, imap_url, imap_url_file)?.as_ref().map(mailbox).transpose()?;
    let inbound = secret!(settings, mail_inbound, mail_inbound_file)?;
    let inbound = inbound.as_ref().map(provider).transpose()?;
    let listen = settings.mail_listen.as_deref().map(listening).transpose()?;
    let any = imap.is_some() || inbound.is_some() || listen.is_some();
    let Some(address) = settings.mail_replies.clone() else {
        ensure!(
            !any,
            "mail_replies is required: the address that receives email replies, such as \
             ask@example.com"
        );
        return Ok(None);
    };
    ensure!(
        any,
        "mail_replies requires a way to receive email: set imap_url, mail_listen or mail_inbound"
    );
    ensure!(
        settings.smtp_url.is_some() || settings.smtp_url_file.is_some(),
        "mail_replies requires smtp_url, because people reply to emails that the server sends"
    );
    let senders = senders(settings)?;
    // The server itself adds the key that signs reply addresses.
    let key = [0; 32];
    Ok(Some(ReplySettings { address, key, imap, listen, inbound, senders }))
}

/// How the senders of replies are verified.
fn senders(settings: &Settings) -> anyhow::Result<SenderSettings> {
    let listed = |text: &str| -> Vec<String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_ascii_lowercase).collect()
    };
    let dns = match settings.mail_dns.as_deref().map(str::trim) {
        None | Some("system") => Dns::System,
        Some("off") => Dns::Off,
        Some(text) => {
            let expected = "mail_dns: expected system, off, or comma-separated IP addresses of \
                            name servers such as 10.0.0.53 or 10.0.0.53:5353";
            let server = |text: &String| -> Option<SocketAddr> {
                let bare = || text.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, 53));
                text.parse().ok().or_else(bare)
            };
            let servers: Option<Vec<_>> = listed(text).iter().map(server).collect();
            Dns::Servers(servers.filter(|servers| !servers.is_empty()).context(expected)?)
        }
    };
    let seconds = settings.mail_dns_timeout.unwrap_or(5);
    ensure!(
        (1..=30).contains(&seconds),
        "mail_dns_timeout: expected 1 to 30 seconds, not {seconds}"
    );
    let arc_sealers = settings.mail_arc_sealers.as_deref().map(listed).unwrap_or_default();
    let domain = |text: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        text.contains('.') && text.chars().all(plain)
    };
    if let Some(wrong) = arc_sealers.iter().find(|text| !domain(text)) {
        bail!(
            "mail_arc_sealers: expected comma-separated domains such as lists.example.org, not \
             {wrong}"
        );
    }
    Ok(SenderSettings { dns, timeout: Duration::from_secs(seconds), arc_sealers })
}

/// `imaps://user:password@host:port/folder`. Errors do not repeat the value, because it holds a
/// password.
fn mailbox(given: &SecretString) -> anyhow::Result<ImapSettings> {
    let expected = "imap_url: expected imaps://USER:PASSWORD@HOST/FOLDER, or imap:// with \
                    ?tls=none for a server on this machine";
    let url = Url::parse(given.reveal()).ok().filter(|url| url.host_str().is_some());
    let url = url.context(expected)?;
    let plain = |text: &str| {
        let text = percent_encoding::percent_decode_str(text).decode_utf8();
        text.map(String::from).context(expected)
    };
    let password = url.password().context(expected)?;
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut mailbox =
        ImapSettings::new(host, &plain(url.username())?, SecretString::new(plain(password)?));
    let local = matches!(host, "localhost" | "127.0.0.1" | "::1");
    (mailbox.security, mailbox.port) = match (url.scheme(), url.query()) {
        ("imaps", None) => (ImapSecurity::Tls, 993),
        ("imap", None) => (ImapSecurity::StartTls, 143),
        ("imap", Some("tls=none")) if local => (ImapSecurity::None, 143),
        _ => bail!(expected),
    };
    mailbox.port = url.port().unwrap_or(mailbox.port);
    let folder = plain(url.path().trim_start_matches('/'))?;
    if !folder.is_empty() {
        mailbox.folder = folder;
    }
    Ok(mailbox)
}

fn listening(text: &str) -> anyhow::Result<(ListenerProtocol, SocketAddr)> {
    let expected = "mail_listen: expected smtp://ADDRESS:PORT or lmtp://ADDRESS:PORT";
    let url = Url::parse(text).context(expected)?;
    let spoken = match url.scheme() {
        "smtp" => ListenerProtocol::Smtp,
        "lmtp" => ListenerProtocol::Lmtp,
        _ => bail!(expected),
    };
    let place = format!("{}:{}", url.host_str().context(expected)?, url.port().context(expected)?);
    let place = place.replace("localhost", "127.0.0.1");
    Ok((spoken, place.parse().context(expected)?))
}

fn provider(given: &SecretString) -> anyhow::Result<EmailProvider> {
    let expected = "mail_inbound: expected mailgun:KEY, postmark:USER:PASSWORD or signed:whsec_…";
    let (who, rest) = given.reveal().split_once(':').context(expected)?;
    Ok(match who {
        "mailgun" => EmailProvider::Mailgun { signing_key: SecretString::new(rest) },
        "signed" => EmailProvider::Signed { secret: SecretString::new(rest) },
        "postmark" => {
            let (user, password) = rest.split_once(':').context(expected)?;
            EmailProvider::Postmark { user: user.to_owned(), password: SecretString::new(password) }
        }
        _ => bail!(expected),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::smtp::read_smtp;

    fn read(text: &str) -> Result<ChannelSettings, String> {
        let settings: Settings = toml::from_str(text).unwrap();
        let base = "https://ask.example.com".parse().unwrap();
        let smtp = settings.smtp_url.as_ref().map(|url| read_smtp(url).unwrap());
        super::read(&settings, &base, smtp).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn half_of_a_channel_stops_the_start_and_says_what_is_missing() {
        for (text, says) in [
            ("slack_signing_secret = 'hush'", "slack_bot_token is required"),
            ("telegram_webhook_secret = 'hush'", "telegram_token is required"),
            ("twilio_account = 'AC1'", "twilio_account requires"),
            ("twilio_sms_from = '+15005550006'", "twilio_account is required"),
            ("twilio_sms_from = '+1'\ntwilio_account = 'AC1'", "twilio_auth_token is required"),
            ("whatsapp_token = 'hush'", "whatsapp_verify_token must be set together"),
            ("whatsapp_template = 'a:en:title'", "whatsapp_template requires"),
            ("ntfy_token = 'hush'", "ntfy_url is required"),
            ("channel_webhook_secret = 'hush'", "channel_webhook_secret must be set together"),
            ("mail_replies = 'ask@example.com'", "mail_replies requires a way to receive email"),
            ("imap_url = 'imaps://u:hush@mail.example.com'", "mail_replies is required"),
            (
                "imap_url = 'imaps://u:hush@mail.example.com'\nmail_replies = 'ask@example.com'",
                "requires smtp_url",
            ),
            ("imap_url = 'imap://u:hush@mail.example.com?tls=none'", "imap_url: expected"),
            ("imap_url = 'hush'", "imap_url: expected"),
            ("mail_listen = 'http://localhost:25'", "mail_listen: expected"),
            ("ntfy_url = 'ntfy.sh'", "ntfy_url: expected a URL"),
            ("mail_inbound = 'hush'", "mail_inbound: expected"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
            assert!(!refused.contains("hush"), "{refused}");
        }
        let none = read("").unwrap();
        assert!(none.slack.is_none() && none.email.is_none());
    }

    #[test]
    fn what_is_whole_is_taken() {
        let all = "
            slack_bot_token = 'xoxb-1'
            slack_signing_secret = 's'
            telegram_token = '1:a'
            telegram_webhook_secret = 's'
            twilio_account = 'AC1'
            twilio_auth_token = 't'
            twilio_sms_from = '+15005550006'
            twilio_whatsapp_from = 'MG1'
            whatsapp_template = 'HX1:en:title,link'
            ntfy_url = 'https://ntfy.sh'
            channel_webhook_url = 'https://program.example.com'
            channel_webhook_secret = 'whsec_x'
            smtp_url = 'smtp://mail.example.com?from=a%40b.example'
            mail_replies = 'ask@example.com'
            imap_url = 'imaps://ann%40example.com:p%3Aw@mail.example.com/Answers'
            mail_listen = 'lmtp://localhost:2424'
            mail_inbound = 'postmark:u:p:q'
        ";
        let read = read(all).unwrap();
        let telegram::UpdateSource::Webhook { url, .. } = read.telegram.unwrap().hearing else {
            panic!()
        };
        assert_eq!(url.as_str(), "https://ask.example.com/channels/telegram/updates");
        let status = read.sms.unwrap().0.status.unwrap();
        assert_eq!(status.as_str(), "https://ask.example.com/channels/sms/status");
        assert!(matches!(read.whatsapp, Some(WhatsappSettings::Twilio(_, Some(_)))));
        let ReplySettings { imap, listen, inbound, .. } = read.email.unwrap().replies.unwrap();
        let imap = imap.unwrap();
        assert_eq!((imap.user.as_str(), imap.password.reveal()), ("ann@example.com", "p:w"));
        assert_eq!((imap.folder.as_str(), imap.port), ("Answers", 993));
        assert_eq!(listen.unwrap().0, ListenerProtocol::Lmtp);
        let Some(EmailProvider::Postmark { user, password }) = inbound else { panic!() };
        assert_eq!((user.as_str(), password.reveal()), ("u", "p:q"));
    }
}
