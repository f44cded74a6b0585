//! All settings as given, with their help.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    DatabaseUrl, EvidenceForm, FilesUrl, Identify, LogFormat, ProviderTables, RetentionSetting,
    SecretString,
};

macro_rules! settings {
    ($( $(#[$attr:meta])* $name:ident : $type:ty ),* $(,)?) => {
        /// Every setting, as given. An absent setting has the default that its help names.
        #[derive(Debug, Clone, Default, Args, Deserialize, Serialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Settings {
            $( $(#[$attr])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>, )*
        }

        impl Settings {
            /// These settings; `other` supplies those that are absent.
            pub(super) fn or(self, other: Self) -> Self {
                Self { $( $name: self.$name.or(other.$name), )* }
            }
        }
    };
}

settings! {
    /// Address to listen on; `localhost:PORT` means both loopback addresses [default:
    /// localhost:3402]
    #[arg(long, env = "COUNTERSIGN_LISTEN", value_name = "HOST:PORT")]
    listen: String,
    /// Folder for the database, keys and uploads [default: ./countersign-data]
    #[arg(long, env = "COUNTERSIGN_DATA", value_name = "DIR")]
    data: PathBuf,
    /// Database: `postgres://…`, `sqlite:FILE` or `memory:` [default: sqlite in the data folder]
    #[arg(long, env = "COUNTERSIGN_DATABASE", hide_env_values = true, value_name = "URL")]
    database: DatabaseUrl,
    /// Storage of uploads and artifacts: `s3://BUCKET/PREFIX` with its options [default: a folder
    /// beside the database, or the shared database]
    #[arg(long, env = "COUNTERSIGN_FILES", hide_env_values = true, value_name = "URL")]
    files: FilesUrl,
    /// Access key ID for that bucket [default: from the AWS environment variables or the machine]
    #[arg(long, env = "COUNTERSIGN_FILES_ACCESS_KEY_ID", value_name = "ID")]
    files_access_key_id: String,
    /// Secret access key for that bucket
    #[arg(long, env = "COUNTERSIGN_FILES_SECRET_ACCESS_KEY", hide_env_values = true, value_name = "TEXT")]
    files_secret_access_key: SecretString,
    /// File with the secret access key
    #[arg(long, env = "COUNTERSIGN_FILES_SECRET_ACCESS_KEY_FILE", value_name = "FILE")]
    files_secret_access_key_file: PathBuf,
    /// Key that encrypts the server's private keys: 32 bytes in Base64
    #[arg(long, env = "COUNTERSIGN_MASTER_KEY", hide_env_values = true, value_name = "BASE64")]
    master_key: SecretString,
    /// File with the master key
    #[arg(long, env = "COUNTERSIGN_MASTER_KEY_FILE", value_name = "FILE")]
    master_key_file: PathBuf,
    /// The URL under which people and agents reach this server; the server builds links from it
    #[arg(long, env = "COUNTERSIGN_PUBLIC_URL", value_name = "URL")]
    public_url: Url,
    /// Certificate chain (PEM) for built-in TLS
    #[arg(long, env = "COUNTERSIGN_TLS_CERT", value_name = "FILE")]
    tls_cert: PathBuf,
    /// Private key (PEM) for built-in TLS
    #[arg(long, env = "COUNTERSIGN_TLS_KEY", value_name = "FILE")]
    tls_key: PathBuf,
    /// Listen without TLS on addresses other than loopback, for example behind a reverse proxy that
    /// terminates TLS
    #[arg(long, env = "COUNTERSIGN_ALLOW_PLAIN_HTTP", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    allow_plain_http: bool,
    /// Origins of web clients that can call the API (CORS), comma-separated
    #[arg(long, env = "COUNTERSIGN_CORS_ORIGINS", value_delimiter = ',', value_name = "ORIGIN")]
    cors_origins: Vec<String>,
    /// Largest request body in bytes [default: 1048576]
    #[arg(long, env = "COUNTERSIGN_BODY_LIMIT", value_name = "BYTES")]
    body_limit: usize,
    /// Largest uploaded file in bytes [default: 26214400]
    #[arg(long, env = "COUNTERSIGN_UPLOAD_LIMIT", value_name = "BYTES")]
    upload_limit: usize,
    /// Largest artifact in bytes [default: 1073741824]
    #[arg(long, env = "COUNTERSIGN_ARTIFACT_LIMIT", value_name = "BYTES")]
    artifact_limit: u64,
    /// Rate limit: requests per second per key, with bursts of twice that; 0 for no limit [default:
    /// 100]
    #[arg(long, env = "COUNTERSIGN_RATE_LIMIT", value_name = "N")]
    rate_limit: u32,
    /// Close new records into a signed block after this many seconds; 0 for every second [default:
    /// 10]
    #[arg(long, env = "COUNTERSIGN_SEAL_SECONDS", value_name = "N")]
    seal_seconds: u64,
    /// Command that receives every sealed block, to store it elsewhere; run by `/bin/sh -c`
    #[arg(long, env = "COUNTERSIGN_ANCHOR_COMMAND", value_name = "COMMAND")]
    anchor_command: String,
    /// Open streams (server-sent events, WebSockets) per key; 0 for no limit [default: 100]
    #[arg(long, env = "COUNTERSIGN_STREAM_LIMIT", value_name = "N")]
    stream_limit: u32,
    /// Quotas that differ from the defaults, such as
    /// `agent.open_asks=10000,project.notifications=500`; 0 for no limit
    #[arg(long, env = "COUNTERSIGN_QUOTAS", value_name = "NAME=N")]
    quotas: String,
    /// Connections open at once; further ones are refused with 503 [default: as many as the limit
    /// of open files allows, at most 50000]
    #[arg(long, env = "COUNTERSIGN_CONNECTION_LIMIT", value_name = "N")]
    connection_limit: usize,
    /// Connections open at once from one client address (IPv6: one /64 network), except loopback
    /// and `trusted_proxies`; 0 for no limit [default: 1000]
    #[arg(long, env = "COUNTERSIGN_CONNECTION_LIMIT_PER_ADDRESS", value_name = "N")]
    connection_limit_per_address: usize,
    /// Address for `/healthz`, `/readyz` and `/metrics` alone, in plain HTTP; `/metrics` is then
    /// served only there [default: none, they are served on `listen`]
    #[arg(long, env = "COUNTERSIGN_OPERATIONS_LISTEN", value_name = "HOST:PORT")]
    operations_listen: String,
    /// Name projects in `/metrics` [default: false]
    #[arg(long, env = "COUNTERSIGN_METRICS_PROJECTS", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    metrics_projects: bool,
    /// Private addresses that webhooks and callbacks can use: ranges such as 10.0.0.0/8,
    /// comma-separated
    #[arg(long, env = "COUNTERSIGN_CALLBACK_ALLOW", value_delimiter = ',', value_name = "RANGE")]
    callback_allow: Vec<String>,
    /// Commands that receive the operations for the runtimes of agents: AGENT=COMMAND,
    /// comma-separated; run by `/bin/sh -c`
    #[arg(long, env = "COUNTERSIGN_RUNTIME_COMMAND", value_delimiter = ',', value_name = "AGENT=COMMAND")]
    runtime_command: Vec<String>,
    /// How long the text of a closed request is kept: days such as 30d, hours such as 12h, or off
    /// [default: off]
    #[arg(long, env = "COUNTERSIGN_RETENTION", value_name = "DURATION")]
    retention: RetentionSetting,
    /// How long the counts of `/insights` are kept: days such as 730d, or off [default: off]
    #[arg(long, env = "COUNTERSIGN_INSIGHTS_RETENTION", value_name = "DURATION")]
    insights_retention: RetentionSetting,
    /// Number of seconds after which an A2H call without an answer expires [default: never]
    #[arg(long, env = "COUNTERSIGN_A2H_TIMEOUT", value_name = "N")]
    a2h_timeout: u64,
    /// How the HXP evidence hash is formed: `seed` or `upstream` [default: seed]
    #[arg(long, env = "COUNTERSIGN_EVIDENCE_FORM", value_name = "FORM", hide_possible_values = true)]
    evidence_form: EvidenceForm,
    /// Secret of the HXP evidence hash [default: created at the first start]
    #[arg(long, env = "COUNTERSIGN_EVIDENCE_SECRET", hide_env_values = true, value_name = "TEXT")]
    evidence_secret: SecretString,
    /// File with the secret of the HXP evidence hash
    #[arg(long, env = "COUNTERSIGN_EVIDENCE_SECRET_FILE", value_name = "FILE")]
    evidence_secret_file: PathBuf,
    /// Allow anyone who knows a request ID to watch it over WebSocket
    #[arg(long, env = "COUNTERSIGN_OPEN_WEBSOCKETS", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    open_websockets: bool,
    /// Issuer of the JWTs that people can use as tokens
    #[arg(long, env = "COUNTERSIGN_JWT_ISSUER", value_name = "URL")]
    jwt_issuer: String,
    /// Audience that those JWTs must have
    #[arg(long, env = "COUNTERSIGN_JWT_AUDIENCE", value_name = "TEXT")]
    jwt_audience: String,
    /// Keys of the issuer: a URL or a file with a JWKS
    #[arg(long, env = "COUNTERSIGN_JWT_JWKS", value_name = "URL|FILE")]
    jwt_jwks: String,
    /// Log lines as `json` or `text` [default: text on a terminal, else json]
    #[arg(long, env = "COUNTERSIGN_LOG_FORMAT", value_name = "FORMAT", hide_possible_values = true)]
    log_format: LogFormat,
    /// What to log, for example `info` or `server=debug,warn` [default: info]
    #[arg(long, env = "COUNTERSIGN_LOG_LEVEL", value_name = "FILTER")]
    log_level: String,
    /// Development mode on loopback: fixed credentials and relaxed rules
    #[arg(long, env = "COUNTERSIGN_DEV", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    dev: bool,
    /// File with scripted people who answer by rules; requires --dev
    #[arg(long, env = "COUNTERSIGN_SCRIPTED", value_name = "FILE")]
    scripted: PathBuf,
    /// Agent keys to accept, comma-separated (also as `AGENT_API_KEYS`)
    #[arg(long, env = "COUNTERSIGN_AGENT_API_KEYS", value_delimiter = ',', hide_env_values = true, value_name = "KEY")]
    agent_api_keys: Vec<SecretString>,
    /// Human tokens to accept, comma-separated (also as `HUMAN_TOKENS`)
    #[arg(long, env = "COUNTERSIGN_HUMAN_TOKENS", value_delimiter = ',', hide_env_values = true, value_name = "TOKEN")]
    human_tokens: Vec<SecretString>,
    /// File with agent keys to accept, one per line
    #[arg(long, env = "COUNTERSIGN_AGENT_API_KEYS_FILE", value_name = "FILE")]
    agent_api_keys_file: PathBuf,
    /// File with human tokens to accept, one per line
    #[arg(long, env = "COUNTERSIGN_HUMAN_TOKENS_FILE", value_name = "FILE")]
    human_tokens_file: PathBuf,
    /// Maximum length of a session in hours [default: 720, 30 days]
    #[arg(long, env = "COUNTERSIGN_SESSION_HOURS", value_name = "N")]
    session_hours: u64,
    /// Minutes without use after which a session ends [default: 10080, a week]
    #[arg(long, env = "COUNTERSIGN_SESSION_IDLE_MINUTES", value_name = "N")]
    session_idle_minutes: u64,
    /// Hours until a person's first passkey gives the assurance `passkey`, unless an administrator
    /// confirms it earlier [default: 24]
    #[arg(long, env = "COUNTERSIGN_PASSKEY_WAIT_HOURS", value_name = "N")]
    passkey_wait_hours: u64,
    /// SMTP server that sends emails: `smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS`, or `smtps://`
    #[arg(long, env = "COUNTERSIGN_SMTP_URL", hide_env_values = true, value_name = "URL")]
    smtp_url: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_SMTP_URL_FILE", value_name = "FILE")]
    smtp_url_file: PathBuf,
    /// Send push notifications to people's devices [default: true]
    #[arg(long, env = "COUNTERSIGN_PUSH", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    push: bool,
    /// Contact for push services: `mailto:ADDRESS` or an https URL [default: `public_url`]
    #[arg(long, env = "COUNTERSIGN_PUSH_CONTACT", value_name = "URL")]
    push_contact: String,
    /// Single sign-on (OIDC): issuer URL of the provider
    #[arg(long, env = "COUNTERSIGN_OIDC_ISSUER", value_name = "URL")]
    oidc_issuer: Url,
    /// Single sign-on (OIDC): client ID
    #[arg(long, env = "COUNTERSIGN_OIDC_CLIENT_ID", value_name = "TEXT")]
    oidc_client_id: String,
    /// Single sign-on (OIDC): client secret
    #[arg(long, env = "COUNTERSIGN_OIDC_CLIENT_SECRET", hide_env_values = true, value_name = "TEXT")]
    oidc_client_secret: SecretString,
    /// File with the client secret
    #[arg(long, env = "COUNTERSIGN_OIDC_CLIENT_SECRET_FILE", value_name = "FILE")]
    oidc_client_secret_file: PathBuf,
    /// Name of the OIDC provider on the sign-in page [default: your organisation]
    #[arg(long, env = "COUNTERSIGN_OIDC_NAME", value_name = "TEXT")]
    oidc_name: String,
    /// OIDC scopes, comma-separated [default: openid,email,profile]
    #[arg(long, env = "COUNTERSIGN_OIDC_SCOPES", value_delimiter = ',', value_name = "SCOPE")]
    oidc_scopes: Vec<String>,
    /// How people of the OIDC provider are matched: by verified `email`, or by `subject` as their
    /// ID [default: email]
    #[arg(long, env = "COUNTERSIGN_OIDC_IDENTIFY", value_name = "HOW", hide_possible_values = true)]
    oidc_identify: Identify,
    /// Add people at their first OIDC sign-in
    #[arg(long, env = "COUNTERSIGN_OIDC_CREATE", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    oidc_create: bool,
    /// Projects that people added by OIDC become members of, comma-separated
    #[arg(long, env = "COUNTERSIGN_OIDC_PROJECTS", value_delimiter = ',', value_name = "ID")]
    oidc_projects: Vec<String>,
    /// OIDC claim with the groups of a person [default: groups]
    #[arg(long, env = "COUNTERSIGN_OIDC_GROUPS_CLAIM", value_name = "NAME")]
    oidc_groups_claim: String,
    /// Mapping of OIDC groups: `PROVIDER_GROUP=GROUP`, comma-separated
    #[arg(long, env = "COUNTERSIGN_OIDC_GROUPS", value_delimiter = ',', value_name = "THEIRS=OURS")]
    oidc_groups: Vec<String>,
    /// OIDC group whose members are administrators
    #[arg(long, env = "COUNTERSIGN_OIDC_ADMIN_GROUP", value_name = "NAME")]
    oidc_admin_group: String,
    /// Login rate limit: sign-in attempts per minute from one IP address; 0 for no limit [default:
    /// 30]
    #[arg(long, env = "COUNTERSIGN_SIGN_IN_LIMIT", value_name = "N")]
    sign_in_limit: u32,
    /// Proxies whose X-Forwarded-For is trusted: addresses or ranges such as 10.0.0.0/8,
    /// comma-separated
    #[arg(long, env = "COUNTERSIGN_TRUSTED_PROXIES", value_delimiter = ',', value_name = "RANGE")]
    trusted_proxies: Vec<String>,
    /// Slack: the bot token of the app, `xoxb-…`
    #[arg(long, env = "COUNTERSIGN_SLACK_BOT_TOKEN", hide_env_values = true, value_name = "TOKEN", help_heading = "Channels")]
    slack_bot_token: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_SLACK_BOT_TOKEN_FILE", value_name = "FILE", help_heading = "Channels")]
    slack_bot_token_file: PathBuf,
    /// Slack: the signing secret of the app
    #[arg(long, env = "COUNTERSIGN_SLACK_SIGNING_SECRET", hide_env_values = true, value_name = "TEXT", help_heading = "Channels")]
    slack_signing_secret: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_SLACK_SIGNING_SECRET_FILE", value_name = "FILE", help_heading = "Channels")]
    slack_signing_secret_file: PathBuf,
    /// Slack: the app token, `xapp-…`, for Socket Mode, which needs no public URL
    #[arg(long, env = "COUNTERSIGN_SLACK_APP_TOKEN", hide_env_values = true, value_name = "TOKEN", help_heading = "Channels")]
    slack_app_token: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_SLACK_APP_TOKEN_FILE", value_name = "FILE", help_heading = "Channels")]
    slack_app_token_file: PathBuf,
    /// Slack: URL of the Web API [default: `https://slack.com/api/`]
    #[arg(long, env = "COUNTERSIGN_SLACK_API", value_name = "URL", help_heading = "Channels")]
    slack_api: String,
    /// Telegram: the token of the bot
    #[arg(long, env = "COUNTERSIGN_TELEGRAM_TOKEN", hide_env_values = true, value_name = "TOKEN", help_heading = "Channels")]
    telegram_token: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_TELEGRAM_TOKEN_FILE", value_name = "FILE", help_heading = "Channels")]
    telegram_token_file: PathBuf,
    /// Telegram: the webhook secret; without it, the server polls Telegram
    #[arg(long, env = "COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET", hide_env_values = true, value_name = "TEXT", help_heading = "Channels")]
    telegram_webhook_secret: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET_FILE", value_name = "FILE", help_heading = "Channels")]
    telegram_webhook_secret_file: PathBuf,
    /// Telegram: URL of the Bot API [default: `https://api.telegram.org`]
    #[arg(long, env = "COUNTERSIGN_TELEGRAM_API", value_name = "URL", help_heading = "Channels")]
    telegram_api: String,
    /// Twilio: the account SID, `AC…`
    #[arg(long, env = "COUNTERSIGN_TWILIO_ACCOUNT", value_name = "SID", help_heading = "Channels")]
    twilio_account: String,
    /// Twilio: the auth token of the account
    #[arg(long, env = "COUNTERSIGN_TWILIO_AUTH_TOKEN", hide_env_values = true, value_name = "TOKEN", help_heading = "Channels")]
    twilio_auth_token: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_TWILIO_AUTH_TOKEN_FILE", value_name = "FILE", help_heading = "Channels")]
    twilio_auth_token_file: PathBuf,
    /// Twilio: an API key to send with, `SK…`
    #[arg(long, env = "COUNTERSIGN_TWILIO_KEY", value_name = "SID", help_heading = "Channels")]
    twilio_key: String,
    /// Twilio: the secret of that key
    #[arg(long, env = "COUNTERSIGN_TWILIO_KEY_SECRET", hide_env_values = true, value_name = "TEXT", help_heading = "Channels")]
    twilio_key_secret: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_TWILIO_KEY_SECRET_FILE", value_name = "FILE", help_heading = "Channels")]
    twilio_key_secret_file: PathBuf,
    /// SMS through Twilio: the sender's number or messaging service `MG…`
    #[arg(long, env = "COUNTERSIGN_TWILIO_SMS_FROM", value_name = "NUMBER", help_heading = "Channels")]
    twilio_sms_from: String,
    /// WhatsApp through Twilio: the sender's number or messaging service
    #[arg(long, env = "COUNTERSIGN_TWILIO_WHATSAPP_FROM", value_name = "NUMBER", help_heading = "Channels")]
    twilio_whatsapp_from: String,
    /// Twilio: URL of the API [default: `https://api.twilio.com`]
    #[arg(long, env = "COUNTERSIGN_TWILIO_API", value_name = "URL", help_heading = "Channels")]
    twilio_api: String,
    /// Twilio: URL of the Content API [default: `https://content.twilio.com`]
    #[arg(long, env = "COUNTERSIGN_TWILIO_CONTENT_API", value_name = "URL", help_heading = "Channels")]
    twilio_content_api: String,
    /// WhatsApp through Meta: the ID of the sender's phone number
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_PHONE_ID", value_name = "ID", help_heading = "Channels")]
    whatsapp_phone_id: String,
    /// WhatsApp through Meta: the access token of a system user
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_TOKEN", hide_env_values = true, value_name = "TOKEN", help_heading = "Channels")]
    whatsapp_token: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_TOKEN_FILE", value_name = "FILE", help_heading = "Channels")]
    whatsapp_token_file: PathBuf,
    /// WhatsApp through Meta: the app secret, which signs its webhooks
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_APP_SECRET", hide_env_values = true, value_name = "TEXT", help_heading = "Channels")]
    whatsapp_app_secret: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_APP_SECRET_FILE", value_name = "FILE", help_heading = "Channels")]
    whatsapp_app_secret_file: PathBuf,
    /// WhatsApp through Meta: the verify token of the webhook
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_VERIFY_TOKEN", hide_env_values = true, value_name = "TEXT", help_heading = "Channels")]
    whatsapp_verify_token: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_VERIFY_TOKEN_FILE", value_name = "FILE", help_heading = "Channels")]
    whatsapp_verify_token_file: PathBuf,
    /// WhatsApp: an approved template for people who have not written for 24 hours, as
    /// NAME:LANGUAGE:SLOT,SLOT…
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_TEMPLATE", value_name = "TEMPLATE", help_heading = "Channels")]
    whatsapp_template: String,
    /// WhatsApp through Meta: URL of the Graph API with its version [default:
    /// `https://graph.facebook.com/v23.0`]
    #[arg(long, env = "COUNTERSIGN_WHATSAPP_API", value_name = "URL", help_heading = "Channels")]
    whatsapp_api: String,
    /// ntfy: URL of the server, such as `https://ntfy.sh`
    #[arg(long, env = "COUNTERSIGN_NTFY_URL", value_name = "URL", help_heading = "Channels")]
    ntfy_url: String,
    /// ntfy: an access token, `tk_…`
    #[arg(long, env = "COUNTERSIGN_NTFY_TOKEN", hide_env_values = true, value_name = "TOKEN", help_heading = "Channels")]
    ntfy_token: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_NTFY_TOKEN_FILE", value_name = "FILE", help_heading = "Channels")]
    ntfy_token_file: PathBuf,
    /// Webhook channel: URL of a program that notifies people
    #[arg(long, env = "COUNTERSIGN_CHANNEL_WEBHOOK_URL", value_name = "URL", help_heading = "Channels")]
    channel_webhook_url: String,
    /// Webhook channel: the secret with which both sides sign, `whsec_…`
    #[arg(long, env = "COUNTERSIGN_CHANNEL_WEBHOOK_SECRET", hide_env_values = true, value_name = "TEXT", help_heading = "Channels")]
    channel_webhook_secret: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_CHANNEL_WEBHOOK_SECRET_FILE", value_name = "FILE", help_heading = "Channels")]
    channel_webhook_secret_file: PathBuf,
    /// Email: the reply address, such as ask@example.com; each email gets its own suffix after a
    /// `+`
    #[arg(long, env = "COUNTERSIGN_MAIL_REPLIES", value_name = "ADDRESS", help_heading = "Channels")]
    mail_replies: String,
    /// Email: the mailbox that receives replies: `imaps://USER:PASSWORD@HOST/FOLDER`
    #[arg(long, env = "COUNTERSIGN_IMAP_URL", hide_env_values = true, value_name = "URL", help_heading = "Channels")]
    imap_url: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_IMAP_URL_FILE", value_name = "FILE", help_heading = "Channels")]
    imap_url_file: PathBuf,
    /// Email: receive replies as a mail server: `smtp://HOST:PORT` or `lmtp://HOST:PORT`
    #[arg(long, env = "COUNTERSIGN_MAIL_LISTEN", value_name = "URL", help_heading = "Channels")]
    mail_listen: String,
    /// Email: receive replies from a provider's webhook: `mailgun:KEY`, `postmark:USER:PASSWORD` or
    /// `signed:whsec_…`
    #[arg(long, env = "COUNTERSIGN_MAIL_INBOUND", hide_env_values = true, value_name = "TEXT", help_heading = "Channels")]
    mail_inbound: SecretString,
    /// File with this secret
    #[arg(long, env = "COUNTERSIGN_MAIL_INBOUND_FILE", value_name = "FILE", help_heading = "Channels")]
    mail_inbound_file: PathBuf,
    /// Email: name servers for the DKIM keys of senders: `system`, comma-separated IP addresses
    /// such as `10.0.0.53` or `10.0.0.53:5353`, or `off`, which gives every reply the assurance
    /// `link` [default: system]
    #[arg(long, env = "COUNTERSIGN_MAIL_DNS", value_name = "SERVERS", help_heading = "Channels")]
    mail_dns: String,
    /// Email: seconds for verifying a sender; after that, the reply counts as not verified
    /// [default: 5]
    #[arg(long, env = "COUNTERSIGN_MAIL_DNS_TIMEOUT", value_name = "SECONDS", help_heading = "Channels")]
    mail_dns_timeout: u64,
    /// Email: domains of forwarders whose ARC seals are trusted, comma-separated [default: none]
    #[arg(long, env = "COUNTERSIGN_MAIL_ARC_SEALERS", value_name = "DOMAINS", help_heading = "Channels")]
    mail_arc_sealers: String,
    /// Providers of proofs that a person is present; only in the settings file
    #[arg(skip)]
    verification: ProviderTables,
}
