//! The first start: the people, agents and keys that exist before any are added.

use std::collections::BTreeSet;

use dialects::native::{IssueKey, IssuedKey, KeyView};
use kernel::actor::KeyScope;
use kernel::audit::Digest;
use kernel::directory::{
    CredentialKind, NewAgent, NewHuman, NewKey, NewProject, Profile, RecipientPolicy,
};
use kernel::{Actor, Command, DirectoryCommand, HumanId, ProjectId, Refusal};
use store::StoreError;

use crate::gateway::Gateway;
use crate::ids::NewSecret;
use channels::SecretString;

/// How long a printed sign-in link is valid.
const LINK_SECONDS: u64 = 24 * 60 * 60;

/// The people and agents of `--dev`: fixed and publicly known.
const DEV: InitialDirectory<'static> = InitialDirectory {
    humans: &[("user_dev", "dev", true), ("user_dev_2", "dev", false)],
    agents: &[("agent_dev", "dev", "user_dev"), ("agent_dev_2", "dev2", "user_dev")],
    agent_keys: &[("dev-agent-key", "agent_dev"), ("dev-agent-key-2", "agent_dev_2")],
    human_tokens: &[("dev-human-token", "user_dev"), ("dev-human-token-2", "user_dev_2")],
    trusted: true,
    development: true,
};

struct InitialDirectory<'a> {
    /// Name, project, whether they are an administrator.
    humans: &'a [(&'a str, &'a str, bool)],
    /// Name, project, owner.
    agents: &'a [(&'a str, &'a str, &'a str)],
    /// Secret and agent of each key.
    agent_keys: &'a [(&'a str, &'a str)],
    /// Secret and person of each token.
    human_tokens: &'a [(&'a str, &'a str)],
    /// Whether the keys may relay answers, and bring a bot token.
    trusted: bool,
    /// Whether its projects are for development, without the default rules of new projects.
    development: bool,
}

/// The secrets that the first start creates and shows once.
pub struct FirstStart {
    pub agent_key: String,
}

/// The project of most of the development users.
pub fn dev_project() -> Option<ProjectId> {
    DEV.humans.first().and_then(|(_, project, _)| project.parse().ok())
}

/// Ensures that the development users and agents exist.
pub async fn create_dev_directory(gateway: &Gateway) -> anyhow::Result<()> {
    add(gateway, &DEV, "dev", Some(RecipientPolicy::Any)).await
}

/// Whether the publicly known credentials work on this store.
pub fn is_dev_store(gateway: &Gateway) -> bool {
    let directory = gateway.directory();
    let known = DEV.agent_keys.iter().chain(DEV.human_tokens).map(|(secret, _)| *secret);
    known
        .filter_map(|secret| directory.key_by_hash(&Digest::of(secret.as_bytes())))
        .any(|key| key.is_live(gateway.now()))
}

/// The label of keys from the settings, by which unlisted ones are found.
const FROM_SETTINGS: &str = "from the settings";

/// Enables the keys and tokens in the settings, and disables those no longer there. Each holder is
/// named by the hash of the key, so the order of the list is irrelevant. The first person ever
/// created owns the agents and is an administrator.
pub async fn apply_configured_credentials(
    gateway: &Gateway,
    agent_keys: &[SecretString],
    human_tokens: &[SecretString],
    development: bool,
) -> anyhow::Result<()> {
    let humans: Vec<String> =
        human_tokens.iter().map(|token| credential_name("user", token)).collect();
    let agents: Vec<String> = agent_keys.iter().map(|key| credential_name("agent", key)).collect();
    let directory = gateway.directory();
    let admin = directory.humans().find(|human| human.admin).map(|human| human.id.to_string());
    let first = humans.first().cloned().unwrap_or_else(|| "owner".to_owned());
    let owner = admin.unwrap_or(first);
    let mut people: Vec<_> =
        humans.iter().map(|id| (id.as_str(), "default", *id == owner)).collect();
    if !humans.contains(&owner) {
        people.push((&owner, "default", true));
    }
    let cast = InitialDirectory {
        humans: &people,
        agents: &agents
            .iter()
            .map(|id| (id.as_str(), "default", owner.as_str()))
            .collect::<Vec<_>>(),
        agent_keys: &pairs(agent_keys, &agents),
        human_tokens: &pairs(human_tokens, &humans),
        trusted: false,
        development,
    };
    add(gateway, &cast, FROM_SETTINGS, None).await?;
    let listed: Vec<Digest> = agent_keys.iter().chain(human_tokens).map(hash).collect();
    for key in directory.keys() {
        if key.label == FROM_SETTINGS && key.revoked_at.is_none() && !listed.contains(&key.hash) {
            run(gateway, DirectoryCommand::RevokeKey(key.id)).await?;
        }
    }
    Ok(())
}

fn hash(secret: &SecretString) -> Digest {
    Digest::of(secret.reveal().as_bytes())
}

fn credential_name(kind: &str, secret: &SecretString) -> String {
    let hash = hash(secret).to_string();
    format!("{kind}_{}", hash.get(..8).unwrap_or_default())
}

fn pairs<'a>(secrets: &'a [SecretString], names: &'a [String]) -> Vec<(&'a str, &'a str)> {
    secrets.iter().map(SecretString::reveal).zip(names.iter().map(String::as_str)).collect()
}

/// Creates a project, its owner, an agent and its key, if there are no people yet.
pub async fn first_start(gateway: &Gateway) -> anyhow::Result<Option<FirstStart>> {
    if gateway.directory().humans().next().is_some() {
        return Ok(None);
    }
    let NewSecret { secret, .. } = gateway.ids().mint("cs_agent_");
    let cast = InitialDirectory {
        humans: &[("owner", "default", true)],
        agents: &[("agent", "default", "owner")],
        agent_keys: &[(&secret, "agent")],
        human_tokens: &[],
        trusted: false,
        development: false,
    };
    add(gateway, &cast, "first start", None).await?;
    Ok(Some(FirstStart { agent_key: secret }))
}

/// How the first administrator signs in.
pub enum FirstSignIn {
    /// An administrator can already sign in.
    Exists,
    /// A new one-time link, to be shown once.
    Link {
        /// The secret in the link.
        secret: String,
    },
    /// Another node printed a link that is still valid.
    PrintedElsewhere {
        /// The person it is for.
        human: HumanId,
    },
}

/// Creates a one-time link if no administrator can sign in yet. On a `shared` database a valid link
/// is not replaced, so that only one of the nodes that start together prints one.
pub async fn link_if_locked_out(gateway: &Gateway, shared: bool) -> anyhow::Result<FirstSignIn> {
    let directory = gateway.directory();
    let now = gateway.now();
    let has_way_in = directory.keys().any(|key| {
        key.is_live(now)
            && matches!(&key.kind, CredentialKind::Session { human, .. } | CredentialKind::Token { human }
                | CredentialKind::Passkey { human, .. }
                if directory.human(human).is_some_and(|human| human.admin && human.active))
    });
    if has_way_in {
        return Ok(FirstSignIn::Exists);
    }
    let administers = |id: &HumanId| directory.human(id).is_some_and(|h| h.admin && h.active);
    let mut printed = directory.keys().filter_map(|key| match &key.kind {
        CredentialKind::Link { human, mailed: false } if key.is_live(now) => Some(human),
        _ => None,
    });
    if shared && let Some(human) = printed.find(|human| administers(human)) {
        return Ok(FirstSignIn::PrintedElsewhere { human: human.clone() });
    }
    let Some(admin) = directory.humans().find(|human| human.admin && human.active) else {
        return Ok(FirstSignIn::Exists);
    };
    let secret = create_sign_in_link(gateway, Actor::System, admin.id.clone()).await?;
    Ok(FirstSignIn::Link { secret })
}

/// Creates a one-time sign-in link and returns its secret.
pub async fn create_sign_in_link(
    gateway: &Gateway,
    actor: Actor,
    human: HumanId,
) -> Result<String, StoreError> {
    let NewSecret { secret, hash } = gateway.ids().mint("");
    let expires_at = Some(gateway.now().plus_seconds(LINK_SECONDS));
    let label = "sign-in link".to_owned();
    let new =
        NewKey { hash, kind: CredentialKind::Link { human, mailed: false }, label, expires_at };
    gateway.run(actor, DirectoryCommand::IssueKey(new)).await?;
    Ok(secret)
}

/// Issues an agent key or a human token. Only the answer contains its secret.
pub async fn issue_key(
    gateway: &Gateway,
    actor: Actor,
    new: IssueKey,
) -> Result<IssuedKey, StoreError> {
    let IssueKey { agent, reach, respond, own_app, human, label, expires_at } = new;
    let invalid = |field, expected| Refusal::Invalid { field, expected }.into();
    let (holder, prefix) = match (agent, human) {
        (Some(agent), None) => {
            let reach = reach.unwrap_or(KeyScope::Agent);
            (CredentialKind::Agent { agent, scope: reach, respond, own_app }, "cs_agent_")
        }
        (None, Some(_)) if respond => {
            return Err(invalid("respond", "no value, because it requires `agent`"));
        }
        (None, Some(_)) if own_app => {
            return Err(invalid("own_app", "no value, because it requires `agent`"));
        }
        (None, Some(human)) if reach.is_none() => (CredentialKind::Token { human }, "cs_human_"),
        (None, Some(_)) => return Err(invalid("reach", "no value, because it requires `agent`")),
        (Some(_), Some(_)) => return Err(invalid("human", "`agent` or `human`, not both")),
        (None, None) => return Err(invalid("agent", "`agent` or `human`")),
    };
    let NewSecret { secret, hash } = gateway.ids().mint(prefix);
    let key = NewKey { hash, kind: holder, label, expires_at };
    gateway.run(actor, DirectoryCommand::IssueKey(key)).await?;
    let directory = gateway.directory();
    let key = directory.key_by_hash(&hash).ok_or(Refusal::NotFound { what: "key" })?;
    Ok(IssuedKey { key: KeyView::of(key, &directory, None, gateway.now()), secret })
}

/// Adds the missing people, agents and keys. Existing ones stay unchanged.
async fn add(
    gateway: &Gateway,
    cast: &InitialDirectory<'_>,
    label: &str,
    recipients: Option<RecipientPolicy>,
) -> anyhow::Result<()> {
    for project in cast.humans.iter().map(|h| h.1).chain(cast.agents.iter().map(|a| a.1)) {
        let id: ProjectId = project.parse()?;
        if gateway.directory().project(&id).is_none() {
            let new = if cast.development { NewProject::plain(id) } else { NewProject::fresh(id) };
            let new = NewProject { recipients, ..new };
            run(gateway, DirectoryCommand::SaveProject(new)).await?;
        }
    }
    for (id, project, admin) in cast.humans {
        let id: HumanId = id.parse()?;
        if gateway.directory().human(&id).is_none() {
            let new = NewHuman {
                profile: Profile { name: id.to_string(), email: None, ..Profile::default() },
                id,
                admin: *admin,
                active: true,
                projects: [project.parse()?].into(),
                groups: BTreeSet::new(),
                skills: BTreeSet::new(),
            };
            run(gateway, DirectoryCommand::SaveHuman(new)).await?;
        }
    }
    for (id, project, owner) in cast.agents {
        let new = NewAgent {
            id: id.parse()?,
            project: project.parse()?,
            owner: owner.parse()?,
            conversations: None,
        };
        if gateway.directory().agent(&new.id).is_none() {
            run(gateway, DirectoryCommand::SaveAgent(new)).await?;
        }
    }
    for (secret, agent) in cast.agent_keys {
        let (respond, own_app) = (cast.trusted, cast.trusted);
        let (agent, reach) = (agent.parse()?, KeyScope::Agent);
        let holder = CredentialKind::Agent { agent, scope: reach, respond, own_app };
        issue(gateway, secret, holder, label).await?;
    }
    for (secret, human) in cast.human_tokens {
        issue(gateway, secret, CredentialKind::Token { human: human.parse()? }, label).await?;
    }
    Ok(())
}

async fn issue(
    gateway: &Gateway,
    secret: &str,
    holder: CredentialKind,
    label: &str,
) -> anyhow::Result<()> {
    let hash = Digest::of(secret.as_bytes());
    let new = NewKey { hash, kind: holder, label: label.to_owned(), expires_at: None };
    match gateway.run(Actor::System, DirectoryCommand::IssueKey(new)).await {
        Ok(_) | Err(StoreError::Refused(Refusal::Exists { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn run(gateway: &Gateway, command: impl Into<Command>) -> Result<(), StoreError> {
    gateway.run(Actor::System, command).await.map(|_| ())
}
