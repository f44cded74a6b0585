//! The routes of the settings, all of which ask for a session; and a changed profile.

use kernel::directory::{
    Contact, ContactMethod, DigestFrequency, NewNotificationPreferences, NewProfile, NewWebhook,
    WebhookFormat, WebhookScope,
};
use kernel::{DirectoryCommand, Topic, WebhookId};

pub(super) const SETTINGS: &[(&str, &str)] = &[
    ("get", "/settings"),
    ("get", "/settings/profile"),
    ("post", "/settings/profile"),
    ("get", "/settings/away"),
    ("post", "/settings/away"),
    ("get", "/settings/devices"),
    ("post", "/settings/devices"),
    ("get", "/settings/notices"),
    ("post", "/settings/notices"),
    ("get", "/settings/people"),
    ("post", "/settings/people"),
    ("get", "/settings/people/{id}"),
    ("post", "/settings/people/{id}"),
    ("post", "/settings/people/{id}/link"),
    ("get", "/settings/people/{id}/erase"),
    ("post", "/settings/people/{id}/erase"),
    ("get", "/settings/groups"),
    ("post", "/settings/groups"),
    ("get", "/settings/groups/{id}"),
    ("post", "/settings/groups/{id}"),
    ("get", "/settings/agents"),
    ("post", "/settings/agents"),
    ("get", "/settings/agents/{id}"),
    ("post", "/settings/agents/{id}"),
    ("post", "/settings/agents/{id}/keys"),
    ("get", "/settings/keys/revoke"),
    ("post", "/settings/keys/revoke"),
    ("get", "/settings/projects"),
    ("post", "/settings/projects"),
    ("get", "/settings/projects/{id}"),
    ("post", "/settings/projects/{id}"),
    ("get", "/settings/rules"),
    ("post", "/settings/rules"),
    ("get", "/settings/webhooks"),
    ("post", "/settings/webhooks"),
    ("get", "/settings/webhooks/{id}"),
    ("post", "/settings/webhooks/{id}"),
    ("post", "/settings/webhooks/{id}/rotate"),
    ("post", "/settings/webhooks/{id}/test"),
    ("post", "/settings/webhooks/{id}/redeliver"),
    ("get", "/settings/webhooks/{id}/remove"),
    ("post", "/settings/webhooks/{id}/remove"),
    ("get", "/settings/signing"),
    ("post", "/settings/first-key"),
    ("post", "/settings/demo"),
];

/// A profile that is another one.
pub(super) fn renamed(human: &str) -> NewProfile {
    NewProfile { human: human.parse().unwrap(), name: Some("Renamed".to_owned()), about: None }
}

/// How Ada wants to be told, and where.
pub(super) fn told() -> [DirectoryCommand; 4] {
    let ada = || "ada".parse().unwrap();
    let home = || ContactMethod::email("home@example.com");
    let contact = Contact::Email { address: "home@example.com".to_owned(), context: None };
    let digest = Some(DigestFrequency::Off);
    [
        DirectoryCommand::SaveNotices(NewNotificationPreferences {
            human: ada(),
            order: None,
            off: None,
            digest,
        }),
        DirectoryCommand::AddContact(ada(), contact),
        DirectoryCommand::VerifyContact(ada(), home()),
        DirectoryCommand::RemoveContact(ada(), home()),
    ]
}

/// An endpoint nobody listens at.
pub(super) fn endpoint(id: WebhookId) -> NewWebhook {
    NewWebhook {
        id,
        of: WebhookScope::Agent("agent_dev".parse().unwrap()),
        url: "http://127.0.0.1:9/hook".to_owned(),
        events: Topic::ENDINGS.into(),
        format: WebhookFormat::Standard,
        description: String::new(),
        enabled: true,
    }
}
