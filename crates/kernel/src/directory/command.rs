//! The commands of the directory.

use ulid::Ulid;

use super::{
    Contact, ContactMethod, HumanChange, NewAgent, NewGroup, NewHuman, NewKey, NewLink,
    NewNotificationPreferences, NewPasskey, NewProfile, NewProject, NewRule, NewSession,
    NewWebhook, PasskeyAuthority, SignInProof,
};
use crate::ids::{HumanId, KeyId, RuleId, Subject, WebhookId};

/// A command about the directory.
#[derive(Debug, Clone)]
pub enum DirectoryCommand {
    /// Erase a person.
    EraseHuman(HumanId),
    /// Add a project or change its settings.
    SaveProject(NewProject),
    /// Add a project that does not exist yet.
    AddProject(NewProject),
    /// Add an agent or change it.
    SaveAgent(NewAgent),
    /// Add a person or change them.
    SaveHuman(NewHuman),
    /// Add a person who does not exist yet.
    AddHuman(NewHuman),
    /// Change the named fields of an existing person and nothing else.
    ChangeHuman(HumanId, Box<HumanChange>),
    /// Change a person's name and profile.
    SaveProfile(NewProfile),
    /// Change how a person is notified.
    SaveNotices(NewNotificationPreferences),
    /// Add a contact method.
    AddContact(HumanId, Contact),
    /// Remove a contact method.
    RemoveContact(HumanId, ContactMethod),
    /// A contact method was verified.
    VerifyContact(HumanId, ContactMethod),
    /// Set the members of a group.
    SaveGroup(NewGroup),
    /// Issue a credential.
    IssueKey(NewKey),
    /// Revoke a credential.
    RevokeKey(KeyId),
    /// Revoke an agent's key, together with the tokens of the open asks that were made with it.
    RevokeKeyWithTokens(KeyId),
    /// Send a person a sign-in link by mail.
    MailLink(NewLink),
    /// Begin a session for a person who proved their identity.
    SignIn(SignInProof, NewSession),
    /// Enrol a passkey.
    EnrolPasskey(Box<NewPasskey>, Box<PasskeyAuthority>),
    /// Remove a passkey of one's own.
    RemovePasskey(KeyId, Box<PasskeyAuthority>),
    /// Confirm a pending passkey, as an administrator.
    ConfirmPasskey(KeyId),
    /// End all sessions of a person, except for one.
    EndSessions(HumanId, Option<KeyId>),
    /// Revoke everything that gives a person access: sessions, tokens, links, passkeys, channel
    /// identities.
    EndAccess(HumanId),
    /// Record that the private key of a retired signing key is destroyed.
    DestroySigningKey(String),
    /// Add delegation rules, under ids the caller generated.
    AddRules(Vec<(RuleId, NewRule)>),
    /// Remove a delegation rule.
    RemoveRule(RuleId),
    /// Add a webhook endpoint or change it.
    SaveWebhook(NewWebhook),
    /// Replace the secret of a webhook endpoint; the previous one signs for this many more seconds.
    RotateWebhook(WebhookId, u64),
    /// Send a webhook endpoint a test message.
    TestWebhook(WebhookId),
    /// A webhook endpoint answered that it is gone.
    WebhookGone(WebhookId),
    /// Remove a webhook endpoint.
    RemoveWebhook(WebhookId),
}

impl DirectoryCommand {
    /// The command's name in logs and metrics.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::EraseHuman(_) => "erase_human",
            Self::SaveProject(_) => "save_project",
            Self::AddProject(_) => "add_project",
            Self::SaveAgent(_) => "save_agent",
            Self::SaveHuman(_) => "save_human",
            Self::AddHuman(_) => "add_human",
            Self::ChangeHuman(..) => "change_human",
            Self::SaveProfile(_) => "save_profile",
            Self::SaveNotices(_) => "save_notices",
            Self::AddContact(..) => "add_contact",
            Self::RemoveContact(..) => "remove_contact",
            Self::VerifyContact(..) => "verify_contact",
            Self::SaveGroup(_) => "save_group",
            Self::IssueKey(_) => "issue_key",
            Self::RevokeKey(_) | Self::RevokeKeyWithTokens(_) => "revoke_key",
            Self::MailLink(_) => "mail_link",
            Self::SignIn(..) => "sign_in",
            Self::EnrolPasskey(..) => "enrol_passkey",
            Self::RemovePasskey(..) => "remove_passkey",
            Self::ConfirmPasskey(_) => "confirm_passkey",
            Self::EndSessions(..) => "end_sessions",
            Self::EndAccess(_) => "end_access",
            Self::DestroySigningKey(_) => "destroy_signing_key",
            Self::AddRules(_) => "add_rules",
            Self::RemoveRule(_) => "remove_rule",
            Self::SaveWebhook(_) => "save_webhook",
            Self::RotateWebhook(..) => "rotate_webhook",
            Self::TestWebhook(_) => "test_webhook",
            Self::WebhookGone(_) => "webhook_gone",
            Self::RemoveWebhook(_) => "remove_webhook",
        }
    }

    /// The object it changes, as logs name it: the kind and the id. `fresh` is the id of an object
    /// it creates.
    pub fn object(&self, fresh: Ulid) -> (&'static str, String) {
        let subject = match self {
            Self::SaveProject(new) | Self::AddProject(new) => Subject::Project(new.id.clone()),
            Self::SaveAgent(new) => Subject::Agent(new.id.clone()),
            Self::SaveHuman(new) | Self::AddHuman(new) => Subject::Human(new.id.clone()),
            Self::SaveProfile(new) => Subject::Human(new.human.clone()),
            Self::SaveNotices(new) => Subject::Human(new.human.clone()),
            Self::ChangeHuman(human, _)
            | Self::AddContact(human, _)
            | Self::RemoveContact(human, _)
            | Self::VerifyContact(human, _)
            | Self::EndSessions(human, _)
            | Self::EndAccess(human)
            | Self::EraseHuman(human) => Subject::Human(human.clone()),
            Self::IssueKey(_) | Self::MailLink(_) | Self::SignIn(..) | Self::EnrolPasskey(..) => {
                Subject::Key(KeyId::new(fresh))
            }
            Self::RevokeKey(key)
            | Self::RevokeKeyWithTokens(key)
            | Self::RemovePasskey(key, _)
            | Self::ConfirmPasskey(key) => Subject::Key(*key),
            Self::AddRules(rules) => {
                let ids: Vec<String> = rules.iter().map(|(id, _)| id.to_string()).collect();
                return ("rule", ids.join(" "));
            }
            Self::RemoveRule(rule) => Subject::Rule(*rule),
            Self::SaveWebhook(new) => Subject::Webhook(new.id),
            Self::RotateWebhook(webhook, _)
            | Self::TestWebhook(webhook)
            | Self::WebhookGone(webhook)
            | Self::RemoveWebhook(webhook) => Subject::Webhook(*webhook),
            Self::SaveGroup(new) => return ("group", new.id.to_string()),
            Self::DestroySigningKey(kid) => return ("signing_key", kid.clone()),
        };
        (subject.kind(), subject.id())
    }
}
