//! Issues and revokes credentials. Sessions begin by [signing in](super::session).

use super::passkey::{check_not_own_passkey, with_notifications};
use super::{CredentialKind, Key};
use crate::ask::{Ask, AskState};
use crate::audit::Digest;
use crate::command::Envelope;
use crate::directory::Directory;
use crate::event::DirectoryEvent;
use crate::follow_up::SecurityEvent;
use crate::ids::{KeyId, Subject};
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// A credential to be issued. The caller generated the secret; the kernel receives only its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// SHA-256 of the secret.
    pub hash: Digest,
    /// The kind of the credential and its holder.
    pub kind: CredentialKind,
    /// The name of the credential.
    pub label: String,
    /// When it expires; `None` for never.
    pub expires_at: Option<Time>,
}

pub(crate) fn issue(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewKey,
) -> Result<Decision, Stop> {
    match &new.kind {
        CredentialKind::Session { .. } => {
            let why = "sessions cannot be issued; sign in to get one";
            return Err(Refusal::NotAllowed { why }.into());
        }
        CredentialKind::Passkey { .. } => {
            let why = "passkeys cannot be issued; their owner adds them in a browser";
            return Err(Refusal::NotAllowed { why }.into());
        }
        CredentialKind::Agent { .. }
        | CredentialKind::Token { .. }
        | CredentialKind::Link { .. } => {}
    }
    if !world.directory.manages(&envelope.actor, &new.kind) {
        let why = "only an administrator or the agent's owner can issue this key";
        return Err(Refusal::NotAllowed { why }.into());
    }
    if new.expires_at.is_some_and(|end| end <= world.now) {
        let expected = "a time in the future";
        return Err(Refusal::Invalid { field: "expires_at", expected }.into());
    }
    issued(world, envelope, new)
}

pub(super) fn issued(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewKey,
) -> Result<Decision, Stop> {
    if world.directory.key_by_hash(&new.hash).is_some() {
        return Err(Refusal::Exists { what: "key" }.into());
    }
    match &new.kind {
        CredentialKind::Agent { agent, .. } if world.directory.agent(agent).is_none() => {
            let expected = "the ID of an existing agent";
            return Err(Refusal::Invalid { field: "agent", expected }.into());
        }
        CredentialKind::Token { human }
        | CredentialKind::Link { human, .. }
        | CredentialKind::Session { human, .. }
        | CredentialKind::Passkey { human, .. }
            if world.directory.existing_human(human).is_none() =>
        {
            let expected = "the ID of an existing person";
            return Err(Refusal::Invalid { field: "human", expected }.into());
        }
        CredentialKind::Agent { .. }
        | CredentialKind::Token { .. }
        | CredentialKind::Link { .. }
        | CredentialKind::Session { .. }
        | CredentialKind::Passkey { .. } => {}
    }
    if !is_short(&new.label) {
        let expected = "a string of at most 200 bytes without NUL characters";
        return Err(Refusal::Invalid { field: "label", expected }.into());
    }
    let id = KeyId::new(envelope.fresh);
    let NewKey { hash, kind: holder, label, expires_at } = new.clone();
    let key = Key {
        id,
        hash,
        kind: holder,
        label,
        issued_at: world.now,
        expires_at,
        revoked_at: None,
        tokens_ended: false,
    };
    Ok(Decision::of(Subject::Key(id), DirectoryEvent::KeyIssued(Box::new(key))))
}

/// Revokes a credential. `with_tokens` also revokes the review, submit and poll tokens of the open
/// asks that were created with an agent's key, even if the key itself was revoked before.
pub(crate) fn revoke(
    world: &World<'_>,
    envelope: &Envelope,
    id: KeyId,
    with_tokens: bool,
) -> Result<Decision, Stop> {
    let key = world
        .directory
        .key(id)
        .filter(|key| world.directory.manages(&envelope.actor, &key.kind))
        .ok_or(Refusal::NotFound { what: "key" })?;
    check_not_own_passkey(&envelope.actor, key)?;
    let is_agents = matches!(key.kind, CredentialKind::Agent { .. });
    if with_tokens && !is_agents {
        let expected = "the key of an agent, because other keys have no review tokens";
        return Err(Refusal::Invalid { field: "tokens", expected }.into());
    }
    if with_tokens && !key.tokens_ended {
        return Ok(Decision::of(Subject::Key(id), DirectoryEvent::KeyRevokedWithTokens));
    }
    if key.revoked_at.is_some() {
        return Ok(Decision::default());
    }
    let decision = Decision::of(Subject::Key(id), DirectoryEvent::KeyRevoked);
    match &key.kind {
        CredentialKind::Passkey { human, .. } => Ok(match world.directory.existing_human(human) {
            Some(human) => with_notifications(decision, human, SecurityEvent::PasskeyRemoved),
            None => decision,
        }),
        CredentialKind::Agent { .. }
        | CredentialKind::Token { .. }
        | CredentialKind::Link { .. }
        | CredentialKind::Session { .. } => Ok(decision),
    }
}

impl Directory {
    /// Whether the tokens of an ask still work. They do unless the key that created the ask was
    /// revoked together with its tokens while the ask was open.
    pub fn tokens_work(&self, ask: &Ask) -> bool {
        let key = ask.key.and_then(|key| self.key(key)).filter(|key| key.tokens_ended);
        let Some(revoked_at) = key.and_then(|key| key.revoked_at) else { return true };
        matches!(&ask.state, AskState::Over { place, .. } if place.at <= revoked_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{AskCommand, DirectoryCommand};
    use crate::testing::{Cast, human};

    #[test]
    fn a_key_does_not_begin_run_out() {
        let mut cast = Cast::new();
        let now = cast.now();
        for (expires_at, good) in
            [(None, true), (Some(now), false), (Some(now.plus_seconds(1)), true)]
        {
            let holder = CredentialKind::Token { human: human("olga") };
            let hash = Cast::hash(&format!("{expires_at:?}"));
            let new = NewKey { hash, kind: holder, label: String::new(), expires_at };
            let issued = cast.attempt(cast.human("olga"), DirectoryCommand::IssueKey(new));
            assert_eq!(issued.is_ok(), good, "{expires_at:?}");
        }
    }

    #[test]
    fn revoking_an_agents_key_can_end_the_tokens_of_its_open_asks() {
        use crate::actor::{Actor, KeyScope};
        use crate::testing::{new_ask, yes};
        let mut cast = Cast::new();
        let issue = |cast: &mut Cast, secret: &str| {
            let agent = "bot".parse().unwrap();
            let holder = CredentialKind::Agent {
                agent,
                scope: KeyScope::Agent,
                respond: false,
                own_app: false,
            };
            let (hash, label) = (Cast::hash(secret), String::new());
            let new = NewKey { hash, kind: holder, label, expires_at: None };
            cast.run(Actor::System, DirectoryCommand::IssueKey(new));
            cast.directory().key_by_hash(&Cast::hash(secret)).unwrap().id
        };
        let (leaked, other) = (issue(&mut cast, "leaked"), issue(&mut cast, "other"));
        let ask_with = |cast: &mut Cast, key: KeyId| {
            let Actor::Agent { id, project, scope: reach, .. } = cast.agent("bot") else {
                panic!("an agent")
            };
            let actor = Actor::Agent { id, project, scope: reach, key };
            cast.run(actor, AskCommand::Create(Box::new(new_ask())));
            cast.newest()
        };
        let (open, over) = (ask_with(&mut cast, leaked), ask_with(&mut cast, leaked));
        let others = ask_with(&mut cast, other);
        cast.run(cast.human("olga"), AskCommand::Answer(over, yes()));
        cast.advance(1);
        let works = |cast: &Cast, id| cast.directory().tokens_work(cast.seen(id));
        cast.run(Actor::System, DirectoryCommand::RevokeKey(leaked));
        assert!(works(&cast, open), "off unless it is asked for");
        cast.run(Actor::System, DirectoryCommand::RevokeKeyWithTokens(leaked));
        assert!(!works(&cast, open));
        assert!(works(&cast, over), "what was over then can still be read");
        assert!(works(&cast, others));
        cast.advance(1);
        cast.run(cast.human("olga"), AskCommand::Answer(open, yes()));
        assert!(!works(&cast, open), "ended tokens do not come back");
        let records = cast.records().len();
        cast.run(Actor::System, DirectoryCommand::RevokeKeyWithTokens(leaked));
        assert_eq!(cast.records().len(), records);
        let holder = CredentialKind::Token { human: human("olga") };
        let new =
            NewKey { hash: Cast::hash("t"), kind: holder, label: String::new(), expires_at: None };
        cast.run(cast.human("olga"), DirectoryCommand::IssueKey(new));
        let token = cast.directory().key_by_hash(&Cast::hash("t")).unwrap().id;
        let refused =
            cast.attempt(cast.human("olga"), DirectoryCommand::RevokeKeyWithTokens(token));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "tokens", .. })), "{refused:?}");
    }

    #[test]
    fn labels_can_be_stored() {
        let mut cast = Cast::new();
        for (label, good) in [("laptop", true), ("a\0b", false), (&"x".repeat(201), false)] {
            let new = NewKey {
                hash: Cast::hash(label),
                kind: CredentialKind::Token { human: human("olga") },
                label: label.to_owned(),
                expires_at: None,
            };
            let issued = cast.attempt(cast.human("olga"), DirectoryCommand::IssueKey(new));
            assert_eq!(issued.is_ok(), good, "{label}");
        }
    }
}
