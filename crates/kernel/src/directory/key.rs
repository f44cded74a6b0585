//! Credentials: issued and revoked. Sessions come from [signing in](super::session).

use super::{Holder, Key, passkey};
use crate::audit::Digest;
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::{KeyId, Subject};
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// A credential to be issued. The shell drew the secret; only its hash comes here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// SHA-256 of the secret.
    pub hash: Digest,
    /// What it is and whose.
    pub holder: Holder,
    /// What to call it.
    pub label: String,
    /// Until when it works.
    pub expires_at: Option<Time>,
}

pub(crate) fn issue(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewKey,
) -> Result<Decision, Stop> {
    match &new.holder {
        Holder::Session { .. } => {
            let why = "a session is made by signing in";
            return Err(Refusal::NotAllowed { why }.into());
        }
        Holder::Passkey { human, public } => passkey::check(world, envelope, human, public)?,
        Holder::Agent { .. } | Holder::Token { .. } | Holder::Link { .. } => {}
    }
    if !world.directory.manages(&envelope.actor, &new.holder) {
        let why = "only an administrator or the owner can issue this";
        return Err(Refusal::NotAllowed { why }.into());
    }
    if new.expires_at.is_some_and(|end| end <= world.now) {
        let expected = "a moment in the future";
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
    match &new.holder {
        Holder::Agent { agent, .. } if world.directory.agent(agent).is_none() => {
            let expected = "an agent that exists";
            return Err(Refusal::Invalid { field: "agent", expected }.into());
        }
        Holder::Token { human }
        | Holder::Link { human, .. }
        | Holder::Session { human, .. }
        | Holder::Passkey { human, .. }
            if world.directory.living(human).is_none() =>
        {
            let expected = "a person who exists";
            return Err(Refusal::Invalid { field: "human", expected }.into());
        }
        Holder::Agent { .. }
        | Holder::Token { .. }
        | Holder::Link { .. }
        | Holder::Session { .. }
        | Holder::Passkey { .. } => {}
    }
    if !is_short(&new.label) {
        let expected = "a text of at most 200 bytes, without NUL";
        return Err(Refusal::Invalid { field: "label", expected }.into());
    }
    let id = KeyId::new(envelope.fresh);
    let NewKey { hash, holder, label, expires_at } = new.clone();
    let key = Key { id, hash, holder, label, issued_at: world.now, expires_at, revoked_at: None };
    Ok(Decision::of(Subject::Key(id), Happened::KeyIssued(Box::new(key))))
}

pub(crate) fn revoke(world: &World<'_>, envelope: &Envelope, id: KeyId) -> Result<Decision, Stop> {
    let key = world
        .directory
        .key(id)
        .filter(|key| world.directory.manages(&envelope.actor, &key.holder))
        .ok_or(Refusal::NotFound { what: "key" })?;
    if key.revoked_at.is_some() {
        return Ok(Decision::default());
    }
    Ok(Decision::of(Subject::Key(id), Happened::KeyRevoked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::testing::{Cast, human};

    #[test]
    fn a_key_does_not_begin_run_out() {
        let mut cast = Cast::new();
        let now = cast.now();
        for (expires_at, good) in
            [(None, true), (Some(now), false), (Some(now.plus_seconds(1)), true)]
        {
            let holder = Holder::Token { human: human("olga") };
            let hash = Cast::hash(&format!("{expires_at:?}"));
            let new = NewKey { hash, holder, label: String::new(), expires_at };
            let issued = cast.attempt(cast.human("olga"), Command::IssueKey(new));
            assert_eq!(issued.is_ok(), good, "{expires_at:?}");
        }
    }

    #[test]
    fn labels_can_be_stored() {
        let mut cast = Cast::new();
        for (label, good) in [("laptop", true), ("a\0b", false), (&"x".repeat(201), false)] {
            let new = NewKey {
                hash: Cast::hash(label),
                holder: Holder::Token { human: human("olga") },
                label: label.to_owned(),
                expires_at: None,
            };
            let issued = cast.attempt(cast.human("olga"), Command::IssueKey(new));
            assert_eq!(issued.is_ok(), good, "{label}");
        }
    }
}
