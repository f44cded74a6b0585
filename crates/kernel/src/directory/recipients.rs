//! The addresses to which the agents of a project may send requests, besides the people of the
//! project.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Agent, Directory, Human, Means};
use crate::refusal::Refusal;

/// The maximum number of entries of an allow-list.
pub const MOST_ALLOWED: usize = 500;
/// The addresses that a project with [`Reachable::Project`] accepts.
const EXPECTED: &str = "an address of somebody in this project, a verified address of the agent's \
    owner, or one on the project's list of allowed recipients (setting `recipients`)";

/// The addresses that an agent may name for a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipients {
    /// Whom agents may reach.
    pub reachable: Reachable,
    /// Further addresses that may be used.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub allow: BTreeSet<Allowed>,
}

/// Whom the agents of a project may reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProjectRecipients))]
#[serde(rename_all = "snake_case")]
pub enum Reachable {
    /// Any address an agent names. Projects that are older than this setting have it.
    #[default]
    Any,
    /// The people of the project, the agent's owner, and the allow-list.
    Project,
}

impl Recipients {
    /// The setting of a new project.
    pub fn of_new_projects() -> Self {
        Self { reachable: Reachable::Project, allow: BTreeSet::new() }
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
    pub(crate) fn admit(
        &self,
        directory: &Directory,
        agent: &Agent,
        means: &Means,
    ) -> Result<(), Refusal> {
        let known = |human: &Human| {
            human.active && (human.id == agent.owner || human.projects.contains(&agent.project))
        };
        let admitted = match self.reachable {
            Reachable::Any => true,
            Reachable::Project => {
                self.allow.iter().any(|allowed| allowed.admits(means))
                    || directory.humans_by_means(means).any(known)
            }
        };
        if admitted { Ok(()) } else { Err(Refusal::Invalid { field: "place", expected: EXPECTED }) }
    }
}

impl Directory {
    /// All people who verified this contact method.
    pub fn humans_by_means(&self, means: &Means) -> impl Iterator<Item = &Human> {
        self.by_means.get(means).into_iter().flatten().filter_map(|id| self.human(id))
    }
}

/// An entry of an allow-list: an address such as `slack:C0123ABC`, an email domain such as
/// `@example.com`, or all addresses of a kind such as `slack:*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Allowed {
    /// Exactly this address.
    Address(Means),
    /// Every email address of a domain, in lower case. Subdomains are not included.
    Domain(String),
    /// Every address of a kind, such as `slack`.
    Kind(String),
}

/// The text is not an entry of an allow-list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a recipient; expected an address such as email:ada@example.com or slack:C0123ABC, a mail domain such as @example.com, or a whole kind such as slack:*"
)]
pub struct BadAllowed {
    given: String,
}

impl Allowed {
    fn admits(&self, means: &Means) -> bool {
        match self {
            Self::Address(address) => address == means,
            Self::Domain(domain) => match means {
                Means::Email(address) => {
                    address.rsplit_once('@').is_some_and(|(_, host)| host == domain)
                }
                Means::Devices
                | Means::Slack(_)
                | Means::Sms(_)
                | Means::Whatsapp(_)
                | Means::Telegram(_)
                | Means::Ntfy(_)
                | Means::Webhook(_) => false,
            },
            Self::Kind(kind) => means.kind() == kind,
        }
    }
}

impl FromStr for Allowed {
    type Err = BadAllowed;

    fn from_str(text: &str) -> Result<Self, BadAllowed> {
        let bad = || BadAllowed { given: text.chars().take(100).collect() };
        let domain = text.strip_prefix('@').or_else(|| text.strip_prefix("*@"));
        if let Some(domain) = domain.or_else(|| text.strip_prefix("email:*@")) {
            let domain = domain.to_lowercase();
            let sound = Means::from_str(&format!("email:a@{domain}")).is_ok();
            return if sound { Ok(Self::Domain(domain)) } else { Err(bad()) };
        }
        if let Some(kind) = text.strip_suffix(":*") {
            let kinds = ["slack", "email", "sms", "whatsapp", "telegram", "ntfy", "webhook"];
            return kinds.contains(&kind).then(|| Self::Kind(kind.to_owned())).ok_or_else(bad);
        }
        match text.parse() {
            Ok(Means::Devices) | Err(_) => Err(bad()),
            Ok(means) => Ok(Self::Address(means)),
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(means) => write!(f, "{means}"),
            Self::Domain(domain) => write!(f, "@{domain}"),
            Self::Kind(kind) => write!(f, "{kind}:*"),
        }
    }
}

impl TryFrom<String> for Allowed {
    type Error = BadAllowed;

    fn try_from(text: String) -> Result<Self, BadAllowed> {
        text.parse()
    }
}

impl From<Allowed> for String {
    fn from(allowed: Allowed) -> Self {
        allowed.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::ask::Place;
    use crate::command::{AskCommand, DirectoryCommand, NewAsk};
    use crate::directory::{Contact, NewProject};
    use crate::testing::{Cast, human, new_ask};

    fn placed(at: &str) -> AskCommand {
        let place = Place { means: at.parse().unwrap(), only: Vec::new(), thread: None };
        AskCommand::Create(Box::new(NewAsk { place: Some(place), ..new_ask() }))
    }

    fn add_verified(cast: &mut Cast, who: &str, address: &str) {
        let contact = Contact::Email { address: address.to_owned(), context: None };
        let person = cast.human(who);
        cast.run(person.clone(), DirectoryCommand::AddContact(human(who), contact));
        cast.run(person, DirectoryCommand::VerifyContact(human(who), Means::email(address)));
    }

    fn save(cast: &mut Cast, reachable: Reachable, allow: &[&str]) {
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
        save(&mut cast, Reachable::Project, &allow);
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
        save(&mut cast, Reachable::Any, &[]);
        assert!(cast.attempt(cast.agent("bot"), placed("email:stranger@acme.example")).is_ok());
    }

    /// Addresses to which an agent copies a message are recipients like any other.
    #[test]
    fn copies_go_only_where_the_message_may_go() {
        let mut cast = Cast::new();
        add_verified(&mut cast, "mark", "mark@acme.example");
        save(&mut cast, Reachable::Project, &["@partner.example"]);
        let copied = |to: &[&str]| {
            let copies = to.iter().map(|address| Means::email(address)).collect();
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
        save(&mut cast, Reachable::Project, &[]);
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
        save(&mut cast, Reachable::Any, &[]);
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
            let allowed: Allowed = given.parse().unwrap();
            assert_eq!(allowed.to_string(), written);
            assert_eq!(written.parse::<Allowed>().unwrap(), allowed);
        }
        for bad in ["", "@", "devices", "devices:*", "fax:*", "ada", "@exa mple", "*"] {
            assert!(bad.parse::<Allowed>().is_err(), "{bad}");
        }
    }
}
