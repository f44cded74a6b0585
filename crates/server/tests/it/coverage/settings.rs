//! The routes of the settings, all of which ask for a session; and a changed profile.

use kernel::directory::NewProfile;

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
    ("get", "/settings/signing"),
    ("post", "/settings/first-key"),
    ("post", "/settings/demo"),
];

/// A profile that is another one.
pub(super) fn renamed(human: &str) -> NewProfile {
    NewProfile { human: human.parse().unwrap(), name: Some("Renamed".to_owned()), about: None }
}
