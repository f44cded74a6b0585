//! The addresses to which the agents of a project may send requests, besides the people of the
//! project.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Agent, ContactMethod, Directory, Human};
use crate::refusal::Refusal;

/// The maximum number of entries of an allow-list.
pub const MOST_ALLOWED: usize = 500;
/// The addresses that a project with [`RecipientPolicy::Project`] accepts.
const EXPECTED: &str = "an address of a member of this project, a verified address of the agent's \
                        owner, or an entry of the project's allowed_recipients";

/// The addresses that an agent may name for a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipients {
    /// The policy for the addresses that agents may name.
    pub reachable: RecipientPolicy,
    /// Further addresses that may be used.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub allow: BTreeSet<AllowedRecipient>,
}

/// Which addresses the agents of a project can use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProjectRecipients))]
#[serde(rename_all = "snake_case")]
pub enum RecipientPolicy {
    /// Any address. Projects created before this setting existed have it.
    #[default]
    Any,
    /// The people of the project, the agent's owner, and the allow-list.
    Project,
}

impl Recipients {
    /// The setting of a new project.
    pub fn of_new_projects() -> Self {
        Self { reachable: RecipientPolicy::Project, allow: BTreeSet::new() }
    }

    /// Whether every address may be used.
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.allow.len() <= MOST_ALLOWED {
            return Ok(());
        }
        let expected = "at most 500 addresses";
        Err(Refusal::Invalid { field: "allowed_recipients", expected })
    }

    /// Refuses an address that the agent may not use.
    pub(crate) fn check_recipient(
        &self,
        directory: &Directory,
        agent: &Agent,
        means: &ContactMethod,
    ) -> Result<(), Refusal> {
        let known = |human: &Human| {
            human.active && (human.id == agent.owner || human.projects.contains(&agent.project))
        };
        let admitted = match self.reachable {
            RecipientPolicy::Any => true,
            RecipientPolicy::Project => {
                self.allow.iter().any(|allowed| allowed.admits(means))
                    || directory.humans_by_contact_method(means).any(known)
            }
        };
        if admitted { Ok(()) } else { Err(Refusal::Invalid { field: "place", expected: EXPECTED }) }
    }
}

impl Directory {
    /// All people who verified this contact method.
    pub fn humans_by_contact_method(&self, means: &ContactMethod) -> impl Iterator<Item = &Human> {
        self.by_means.get(means).into_iter().flatten().filter_map(|id| self.human(id))
    }
}

/// An entry of an allow-list: an address such as `slack:C0123ABC`, an email domain such as
/// `@example.com`, or all addresses of a kind such as `slack:*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum AllowedRecipient {
    /// Exactly this address.
    Address(ContactMethod),
    /// Every email address of a domain, in lower case. Subdomains are not included.
    Domain(String),
    /// Every address of a kind, such as `slack`.
    Kind(String),
}

/// The text is not an entry of an allow-list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a recipient; expected an address such as email:ada@example.com or \
     slack:C0123ABC, an email domain such as @example.com, or a whole kind such as slack:*"
)]
pub struct BadAllowedRecipient {
    given: String,
}

impl AllowedRecipient {
    fn admits(&self, means: &ContactMethod) -> bool {
        match self {
            Self::Address(address) => address == means,
            Self::Domain(domain) => match means {
                ContactMethod::Email(address) => {
                    address.rsplit_once('@').is_some_and(|(_, host)| host == domain)
                }
                ContactMethod::Devices
                | ContactMethod::Slack(_)
                | ContactMethod::Sms(_)
                | ContactMethod::Whatsapp(_)
                | ContactMethod::Telegram(_)
                | ContactMethod::Ntfy(_)
                | ContactMethod::Webhook(_) => false,
            },
            Self::Kind(kind) => means.kind() == kind,
        }
    }
}

impl FromStr for AllowedRecipient {
    type Err = BadAllowedRecipient;

    fn from_str(text: &str) -> Result<Self, BadAllowedRecipient> {
        let bad = || BadAllowedRecipient { given: text.chars().take(100).collect() };
        let domain = text.strip_prefix('@').or_else(|| text.strip_prefix("*@"));
        if let Some(domain) = domain.or_else(|| text.strip_prefix("email:*@")) {
            let domain = domain.to_lowercase();
            let sound = ContactMethod::from_str(&format!("email:a@{domain}")).is_ok();
            return if sound { Ok(Self::Domain(domain)) } else { Err(bad()) };
        }
        if let Some(kind) = text.strip_suffix(":*") {
            let kinds = ["slack", "email", "sms", "whatsapp", "telegram", "ntfy", "webhook"];
            return kinds.contains(&kind).then(|| Self::Kind(kind.to_owned())).ok_or_else(bad);
        }
        match text.parse() {
            Ok(ContactMethod::Devices) | Err(_) => Err(bad()),
            Ok(means) => Ok(Self::Address(means)),
        }
    }
}

impl fmt::Display for AllowedRecipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(means) => write!(f, "{means}"),
            Self::Domain(domain) => write!(f, "@{domain}"),
            Self::Kind(kind) => write!(f, "{kind}:*"),
        }
    }
}

impl TryFrom<String> for AllowedRecipient {
    type Error = BadAllowedRecipient;

    fn try_from(text: String) -> Result<Self, BadAllowedRecipient> {
        text.parse()
    }
}

impl From<AllowedRecipient> for String {
    fn from(allowed: AllowedRecipient) -> Self {
        allowed.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::ask::PostingAddress;
    use crate::command::{AskCommand, DirectoryCommand, NewAsk};
    use crate::directory::{Contact, NewProject};
    use crate::testing::{Cast, human, new_ask};

    fn placed(at: &str) -> AskCommand {
        let place =
            PostingAddress { contact_method: at.parse().unwrap(), only: Vec::new(), thread: None };
        AskCommand::Create(Box::new(NewAsk { posting_address: Some(place), ..new_ask() }))
    }

    fn add_verified(cast: &mut Cast, who: &str, address: &str) {
        let contact = Contact::Email { address: address.to_owned(), context: None };
        let person = cast.human(who);
        cast.run(person.clone(), DirectoryCommand::AddContact(human(who), contact));
        cast.run(
            person,
            DirectoryCommand::VerifyContact(human(who), ContactMethod::email(address)),
        );
    }

    fn save(cast: &mut Cast, reachable: RecipientPolicy, allow: &[&str]) {
        let allowed_recipients = Some(allow.iter().map(|text| text.parse().unwrap()).collect());
        let recipients = Some(reachable);
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(
            Actor::System,
            DirectoryCommand::SaveProject(NewProject { recipients, allowed_recipients, ..plain }),
        );
    }

    #[test]
    fn only_known_addresses_where_the_project_wants_it() {
        let mut cast = Cast::new();
        // olga owns the agent; mark is a member of the project; zoe is in another one.
        for (who, address) in [
            ("olga", "olga@home.example"),
            ("mark", "mark@acme.example"),
            ("zoe", "zoe@else.example"),
        ] {
            add_verified(&mut cast, who, address);
        }
        let allow = ["@partner.example", "slack:C0123ABC", "sms:*"];
        save(&mut cast, RecipientPolicy::Project, &allow);
        for (at, admitted) in [
            ("email:olga@home.example", true),
            ("email:Mark@acme.example", true),
            ("email:zoe@else.example", false),
            ("email:stranger@acme.example", false),
            ("email:bob@partner.example", true),
            ("email:bob@sub.partner.example", false),
            ("email:bob@evilpartner.example", false),
            ("slack:C0123ABC", true),
            ("slack:C9999ZZZ", false),
            ("sms:+4915112345678", true),
        ] {
            let asked = cast.attempt(cast.agent("bot"), placed(at));
            if admitted {
                assert!(asked.is_ok(), "{at}: {asked:?}");
            } else {
                let refused = matches!(asked, Err(Refusal::Invalid { field: "place", .. }));
                assert!(refused, "{at}: {asked:?}");
            }
        }
        save(&mut cast, RecipientPolicy::Any, &[]);
        assert!(cast.attempt(cast.agent("bot"), placed("email:stranger@acme.example")).is_ok());
    }

    /// Addresses to which an agent copies a message are recipients like any other.
    #[test]
    fn copies_go_only_where_the_message_may_go() {
        let mut cast = Cast::new();
        add_verified(&mut cast, "mark", "mark@acme.example");
        save(&mut cast, RecipientPolicy::Project, &["@partner.example"]);
        let copied = |to: &[&str]| {
            let copies = to.iter().map(|address| ContactMethod::email(address)).collect();
            AskCommand::Create(Box::new(NewAsk { copies, ..new_ask() }))
        };
        cast.run(cast.agent("bot"), copied(&["mark@acme.example", "bob@partner.example"]));
        let asked =
            cast.attempt(cast.agent("bot"), copied(&["mark@acme.example", "eve@else.example"]));
        assert!(matches!(asked, Err(Refusal::Invalid { field: "place", .. })), "{asked:?}");
    }

    /// An address that a person entered but did not verify is not theirs yet.
    #[test]
    fn an_unverified_address_counts_for_nobody() {
        let mut cast = Cast::new();
        let contact = Contact::Email { address: "victim@else.example".into(), context: None };
        cast.run(cast.human("mark"), DirectoryCommand::AddContact(human("mark"), contact));
        save(&mut cast, RecipientPolicy::Project, &[]);
        let asked = cast.attempt(cast.agent("bot"), placed("email:victim@else.example"));
        assert!(matches!(asked, Err(Refusal::Invalid { field: "place", .. })), "{asked:?}");
    }

    #[test]
    fn new_projects_are_closed_and_older_ones_stay_open() {
        let mut cast = Cast::new();
        let fresh = NewProject::plain("fresh".parse().unwrap());
        cast.run(Actor::System, DirectoryCommand::AddProject(fresh.clone()));
        let project =
            |cast: &Cast, id: &str| cast.directory().project(&id.parse().unwrap()).unwrap().clone();
        assert_eq!(project(&cast, "fresh").recipients, Recipients::of_new_projects());
        // A project stored before this setting existed.
        let mut stored = serde_json::to_value(project(&cast, "fresh")).unwrap();
        stored.as_object_mut().unwrap().remove("recipients").unwrap();
        let old: crate::directory::Project = serde_json::from_value(stored.clone()).unwrap();
        assert!(old.recipients.is_any());
        assert_eq!(serde_json::to_value(&old).unwrap(), stored, "and is written as it was");
        // Saving without naming it keeps the current value.
        save(&mut cast, RecipientPolicy::Any, &[]);
        let plain = NewProject::plain("acme".parse().unwrap());
        cast.run(Actor::System, DirectoryCommand::SaveProject(plain));
        assert!(project(&cast, "acme").recipients.is_any());
    }

    #[test]
    fn entries_are_written_as_they_are_read() {
        for (given, written) in [
            ("email:Ada@Example.com", "email:ada@example.com"),
            ("@Example.com", "@example.com"),
            ("*@example.com", "@example.com"),
            ("email:*@example.com", "@example.com"),
            ("slack:*", "slack:*"),
            ("slack:C0123ABC", "slack:C0123ABC"),
        ] {
            let allowed: AllowedRecipient = given.parse().unwrap();
            assert_eq!(allowed.to_string(), written);
            assert_eq!(written.parse::<AllowedRecipient>().unwrap(), allowed);
        }
        for bad in ["", "@", "devices", "devices:*", "fax:*", "ada", "@exa mple", "*"] {
            assert!(bad.parse::<AllowedRecipient>().is_err(), "{bad}");
        }
    }
}
