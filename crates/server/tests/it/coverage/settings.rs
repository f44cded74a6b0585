//! The routes of the settings, all of which ask for a session; and a changed profile.

use kernel::directory::{Format, Hears, NewProfile, NewWebhook};
use kernel::{Topic, WebhookId};

pub(super) const SETTINGS: &[(&str, &str)] = &[
    ("get", "/settings"),
    ("get", "/settings/profile"),
    ("post", "/settings/profile"),
    ("get", "/settings/away"),
    ("post", "/settings/away"),
    ("get", "/settings/devices"),
    ("post", "/settings/devices"),
    ("get", "/settings/people"),
    ("post", "/settings/people"),
    ("get", "/settings/people/{id}"),
    ("post", "/settings/people/{id}"),
    ("post", "/settings/people/{id}/link"),
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

/// An endpoint nobody listens at.
pub(super) fn endpoint(id: WebhookId) -> NewWebhook {
    NewWebhook {
        id,
        of: Hears::Agent("agent_dev".parse().unwrap()),
        url: "http://127.0.0.1:9/hook".to_owned(),
        events: Topic::ENDINGS.into(),
        format: Format::Standard,
        description: String::new(),
        enabled: true,
    }
}
