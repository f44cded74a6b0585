//! Passkeys: enrolling, confirming, using and removing them. The server checks the signatures; the
//! rules are here.

use serde::{Deserialize, Serialize};

use super::{ADMIN_ONLY, CredentialKind, Human, Key};
use crate::actor::Actor;
use crate::ask::Ask;
use crate::ask::answer::PasskeyAnswer;
use crate::audit::Digest;
use crate::command::Envelope;
use crate::event::{DirectoryEvent, DomainEvent};
use crate::follow_up::{FollowUp, SecurityEvent};
use crate::ids::{HumanId, KeyId, Subject};
use crate::passkey_evidence::AnswerStatement;
use crate::question::Reply;
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable};
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// The maximum number of passkeys of a person.
pub const MOST_PASSKEYS: usize = 20;
/// Enrolling the first passkey and removing one need a sign-in that is at most this old, in
/// seconds, unless a passkey vouches for it.
pub const FRESH_SIGN_IN: u64 = 10 * 60;
/// How long the challenge of an assertion is remembered, in seconds. Challenges expire after ten
/// minutes; the rest allows for clocks of nodes that differ.
pub const CHALLENGE_MEMORY: u64 = 60 * 60;
/// The maximum length of the public data. It usually has a few hundred bytes.
const LONGEST: usize = 8192;

/// How a passkey was enrolled. Passkeys from before this was recorded have no enrolment, and count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrolment {
    /// The credential id of the authenticator, base64url.
    pub credential_id: String,
    /// The public key as a COSE key, base64url. Evidence is checked against it.
    pub public_key: String,
    /// From when answers it confirms have the assurance `passkey`.
    pub counts_from: Time,
}

/// The assertions a passkey made, as long as they must be remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyUses {
    /// The highest signature counter seen; 0 if the authenticator does not count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counter: u32,
    /// The challenges it signed recently, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub challenges: Vec<UsedChallenge>,
}

/// A challenge that was signed and cannot be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedChallenge {
    /// The digest of the challenge.
    pub challenge: Digest,
    /// When it was presented.
    pub at: Time,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(counter: &u32) -> bool {
    *counter == 0
}

impl PasskeyUses {
    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        self.counter == 0 && self.challenges.is_empty()
    }

    /// The uses after one more assertion.
    #[must_use]
    pub(crate) fn with_assertion(
        mut self,
        challenge: Option<Digest>,
        counter: u32,
        at: Time,
    ) -> Self {
        self.counter = self.counter.max(counter);
        self.challenges.retain(|used| at < used.at.plus_seconds(CHALLENGE_MEMORY));
        self.challenges.extend(challenge.map(|challenge| UsedChallenge { challenge, at }));
        self
    }
}

/// An assertion of a passkey. The server has checked its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyUse {
    /// The passkey that made the assertion.
    pub key: KeyId,
    /// The public data for checking assertions from now on.
    pub public: String,
    /// The challenge that was signed.
    pub challenge: Digest,
    /// The signature counter; 0 if the authenticator does not count.
    pub counter: u32,
}

/// A passkey to be enrolled. The server has checked the data from the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPasskey {
    /// SHA-256 of the credential id.
    pub hash: Digest,
    /// The credential id, base64url.
    pub credential_id: String,
    /// The public key as a COSE key, base64url.
    pub public_key: String,
    /// The public data with which the server checks assertions.
    pub public: String,
    /// The name its owner gave it.
    pub label: String,
    /// The number of seconds a first passkey waits before it counts.
    pub wait: u64,
}

/// The proof that allows a person to enrol or remove a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasskeyAuthority {
    /// The session of a browser that signed in recently.
    SignIn(KeyId),
    /// An assertion of another passkey of the person.
    Passkey(PasskeyUse),
}

impl Key {
    /// Whether answers it confirms have the assurance `passkey` at `now`.
    pub fn counts_as_passkey(&self, now: Time) -> bool {
        let CredentialKind::Passkey { enrolment, .. } = &self.kind else { return false };
        enrolment.as_ref().is_none_or(|enrolment| enrolment.counts_from <= now)
    }

    /// When it begins to count; `None` if it already counts.
    pub fn counts_from(&self, now: Time) -> Option<Time> {
        let CredentialKind::Passkey { enrolment: Some(enrolment), .. } = &self.kind else {
            return None;
        };
        Some(enrolment.counts_from).filter(|from| now < *from)
    }
}

/// Enrols a passkey for the actor. If they have one, it needs an assertion of it. A first passkey
/// needs a fresh sign-in, and counts after a waiting period or when an administrator confirms it.
pub(crate) fn enrol(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewPasskey,
    authority: &PasskeyAuthority,
) -> Result<Decision, Stop> {
    let human = world.directory.person(&envelope.actor)?;
    let longest = [&new.public, &new.public_key, &new.credential_id].into_iter();
    if !longest.into_iter().all(|text| is_storable(text) && text.len() <= LONGEST) {
        let expected = "a string of at most 8192 bytes without NUL characters";
        return Err(Refusal::Invalid { field: "public", expected }.into());
    }
    if !is_short(&new.label) {
        let expected = "a string of at most 200 bytes without NUL characters";
        return Err(Refusal::Invalid { field: "label", expected }.into());
    }
    if world.directory.key_by_hash(&new.hash).is_some() {
        return Err(Refusal::Exists { what: "key" }.into());
    }
    let have = world.directory.passkeys_of(&human.id).count();
    if have >= MOST_PASSKEYS {
        let expected = "at most 20 passkeys per person";
        return Err(Refusal::Invalid { field: "passkeys", expected }.into());
    }
    let (used, counts_from) = match authority {
        PasskeyAuthority::Passkey(used) => {
            let (key, happened) = asserted(world, &human.id, used)?;
            // The new passkey counts no earlier than the passkey that vouches for it.
            (Some(happened), key.counts_from(world.now).unwrap_or(world.now))
        }
        PasskeyAuthority::SignIn(_) if have > 0 => {
            let why = "adding another passkey requires a passkey you already have; if you lost \
                       it, remove it first or ask an administrator to remove it";
            return Err(Refusal::NotAllowed { why }.into());
        }
        PasskeyAuthority::SignIn(session) => {
            check_fresh_session(world, &human.id, *session)?;
            let exempt = is_sole_owner(world, human) && !had_passkey(world, &human.id);
            let wait = if exempt { 0 } else { new.wait };
            (None, world.now.plus_seconds(wait))
        }
    };
    let id = KeyId::new(envelope.fresh);
    let NewPasskey { hash, credential_id, public_key, public, label, .. } = new.clone();
    let holder = CredentialKind::Passkey {
        human: human.id.clone(),
        public,
        enrolment: Some(Box::new(Enrolment { credential_id, public_key, counts_from })),
        uses: PasskeyUses::default(),
    };
    let key = Key {
        id,
        hash,
        kind: holder,
        label,
        issued_at: world.now,
        expires_at: None,
        revoked_at: None,
        tokens_ended: false,
    };
    let mut decision = Decision::of(Subject::Key(id), DirectoryEvent::KeyIssued(Box::new(key)));
    decision.happened.extend(used);
    Ok(with_notifications(decision, human, SecurityEvent::PasskeyAdded))
}

/// Removes a passkey of the actor, with an assertion of any of their passkeys or after a fresh
/// sign-in. Administrators remove those of others by revoking the key.
pub(crate) fn remove(
    world: &World<'_>,
    envelope: &Envelope,
    id: KeyId,
    authority: &PasskeyAuthority,
) -> Result<Decision, Stop> {
    let human = world.directory.person(&envelope.actor)?;
    let own = world.directory.passkeys_of(&human.id).any(|key| key.id == id);
    if !own {
        return Err(Refusal::NotFound { what: "passkey" }.into());
    }
    let mut decision = Decision::default();
    match authority {
        PasskeyAuthority::Passkey(used) => {
            decision.happened.push(asserted(world, &human.id, used)?.1);
        }
        PasskeyAuthority::SignIn(session) => check_fresh_session(world, &human.id, *session)?,
    }
    decision.happened.push((Subject::Key(id), DirectoryEvent::KeyRevoked.into()));
    Ok(with_notifications(decision, human, SecurityEvent::PasskeyRemoved))
}

/// An administrator confirms a passkey that is waiting, so that it counts at once. A person cannot
/// confirm their own passkey.
pub(crate) fn confirm(world: &World<'_>, envelope: &Envelope, id: KeyId) -> Result<Decision, Stop> {
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    let live = world.directory.key(id).filter(|key| key.is_live(world.now));
    let passkey = live.filter(|key| matches!(key.kind, CredentialKind::Passkey { .. }));
    let key = passkey.ok_or(Refusal::NotFound { what: "passkey" })?;
    if matches!(&envelope.actor, Actor::Human { id, .. } if key.human() == Some(id)) {
        let why = "you cannot confirm your own passkey; ask another administrator";
        return Err(Refusal::NotAllowed { why }.into());
    }
    if key.counts_as_passkey(world.now) {
        return Ok(Decision::default());
    }
    Ok(Decision::of(Subject::Key(id), DirectoryEvent::PasskeyConfirmed))
}

/// Refuses to revoke one's own passkey through the command for other keys.
pub(super) fn check_not_own_passkey(actor: &Actor, key: &Key) -> Result<(), Refusal> {
    let own = matches!(actor, Actor::Human { id, .. } if key.human() == Some(id));
    if own && matches!(key.kind, CredentialKind::Passkey { .. }) {
        let why =
            "remove your own passkey in the settings, with a passkey or right after signing in";
        return Err(Refusal::NotAllowed { why });
    }
    Ok(())
}

/// The events of a passkey that signs this answer. Its use is recorded in the same commit as the
/// answer.
pub(crate) fn confirm_answer(
    world: &World<'_>,
    envelope: &Envelope,
    ask: &Ask,
    reply: &Reply,
    given: &PasskeyAnswer,
) -> Result<(Subject, DomainEvent), Refusal> {
    let human = &world.directory.person(&envelope.actor)?.id;
    let PasskeyAnswer { used, evidence } = given;
    let (key, happened) = asserted(world, human, used)?;
    if !key.counts_as_passkey(world.now) {
        let why = "this passkey was added recently and cannot confirm answers yet; an \
                   administrator can confirm it";
        return Err(Refusal::NotAllowed { why });
    }
    let stated = AnswerStatement::of(ask, human, reply, evidence.statement.nonce);
    let same = stated.as_ref() == Some(&evidence.statement)
        && evidence.key == key.id
        && used.challenge == evidence.statement.challenge();
    if !same || !evidence.is_small() {
        let why = "the passkey did not sign this answer";
        return Err(Refusal::NotAllowed { why });
    }
    Ok(happened)
}

/// The passkey that made an assertion, and the event that records its use. A challenge is signed
/// once, and a counter never decreases.
pub(super) fn asserted<'d>(
    world: &World<'d>,
    human: &HumanId,
    used: &PasskeyUse,
) -> Result<(&'d Key, (Subject, DomainEvent)), Refusal> {
    let key = world.directory.key(used.key).filter(|key| key.is_live(world.now));
    let (whose, key, happened) = key.and_then(|key| use_event(key, used)).ok_or(UNKNOWN)??;
    if whose != human {
        return Err(UNKNOWN);
    }
    Ok((key, happened))
}

const UNKNOWN: Refusal = Refusal::NotAllowed { why: "this passkey is unknown or was removed" };
const REPLAYED: Refusal = Refusal::NotAllowed { why: "this passkey assertion was already used" };

type RecordedUse<'k> = (&'k HumanId, &'k Key, (Subject, DomainEvent));

/// The event that records the use of a passkey of any person; `None` if the key is no passkey.
pub(super) fn use_event<'k>(
    key: &'k Key,
    used: &PasskeyUse,
) -> Option<Result<RecordedUse<'k>, Refusal>> {
    let CredentialKind::Passkey { human, uses, .. } = &key.kind else { return None };
    let again = uses.challenges.iter().any(|before| before.challenge == used.challenge);
    let counts = used.counter > 0 || uses.counter > 0;
    if again || (counts && used.counter <= uses.counter) {
        return Some(Err(REPLAYED));
    }
    let happened = DirectoryEvent::PasskeyUsed {
        public: used.public.clone(),
        challenge: Some(used.challenge),
        counter: used.counter,
    };
    Some(Ok((human, key, (Subject::Key(key.id), happened.into()))))
}

/// Refuses unless this is a session of the person that began recently.
fn check_fresh_session(world: &World<'_>, human: &HumanId, session: KeyId) -> Result<(), Refusal> {
    let key = world.directory.key(session).filter(|key| key.is_live(world.now));
    let own = key.filter(
        |key| matches!(&key.kind, CredentialKind::Session { human: whose, .. } if whose == human),
    );
    if own.is_none_or(|key| !key.is_fresh(world.now)) {
        let why = "this requires a sign-in within the last ten minutes; sign in again";
        return Err(Refusal::NotAllowed { why });
    }
    Ok(())
}

impl Key {
    /// Whether it was issued at most ten minutes ago.
    pub fn is_fresh(&self, now: Time) -> bool {
        now <= self.issued_at.plus_seconds(FRESH_SIGN_IN)
    }
}

/// Whether they are the only active administrator, so that no other administrator could confirm
/// their passkey.
fn is_sole_owner(world: &World<'_>, human: &Human) -> bool {
    let other = |other: &Human| other.admin && other.active && other.id != human.id;
    human.admin && !world.directory.humans().any(other)
}

/// Whether they ever had a passkey.
fn had_passkey(world: &World<'_>, human: &HumanId) -> bool {
    let passkey =
        |key: &Key| matches!(&key.kind, CredentialKind::Passkey { human: of, .. } if of == human);
    world.directory.keys().any(passkey)
}

/// The decision with a notification to every contact method the person verified.
pub(super) fn with_notifications(
    mut decision: Decision,
    human: &Human,
    event: SecurityEvent,
) -> Decision {
    let profile = human.profile.value();
    let mut means: Vec<_> = human.verified().cloned().collect();
    // The address they sign in with was set by an administrator and counts as verified here.
    let email =
        profile.and_then(|profile| profile.email.as_deref()).map(super::ContactMethod::email);
    means.extend(email.filter(|email| !human.verified().any(|known| known == email)));
    for means in means {
        decision.work.push(FollowUp::Security {
            human: human.id.clone(),
            event,
            medium: means.kind().to_owned(),
            to: means.digest(),
        });
    }
    decision
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::command::DirectoryCommand;
    use crate::directory::{
        BrowserBinding, NewHuman, NewKey, NewSession, Profile, SignInMethod, SignInProof,
    };
    use crate::testing::{Cast, human};

    const DAY: u64 = 24 * 60 * 60;

    pub(crate) fn new(secret: &str) -> NewPasskey {
        NewPasskey {
            hash: Cast::hash(secret),
            credential_id: secret.to_owned(),
            public_key: "cose".to_owned(),
            public: "0".to_owned(),
            label: "laptop".to_owned(),
            wait: DAY,
        }
    }

    pub(crate) fn id(cast: &Cast, secret: &str) -> KeyId {
        cast.directory().key_by_hash(&Cast::hash(secret)).unwrap().id
    }

    fn session(cast: &mut Cast, name: &str, secret: &str) -> KeyId {
        let session = NewSession {
            hash: Cast::hash(secret),
            browser: Cast::hash("browser"),
            label: String::new(),
            expires_at: cast.now().plus_seconds(30 * DAY),
        };
        let proof = SignInProof::Oidc(human(name), None);
        cast.run(Actor::System, DirectoryCommand::SignIn(proof, session));
        id(cast, secret)
    }

    fn used(cast: &Cast, secret: &str, challenge: &str, counter: u32) -> PasskeyUse {
        let (key, public) = (id(cast, secret), counter.to_string());
        PasskeyUse { key, public, challenge: Cast::hash(challenge), counter }
    }

    fn enrol_with(secret: &str, authority: PasskeyAuthority) -> DirectoryCommand {
        DirectoryCommand::EnrolPasskey(Box::new(new(secret)), Box::new(authority))
    }

    /// Enrols a first passkey right after signing in.
    pub(crate) fn first(cast: &mut Cast, name: &str, secret: &str) -> KeyId {
        let session = session(cast, name, &format!("session for {secret}"));
        cast.run(cast.human(name), enrol_with(secret, PasskeyAuthority::SignIn(session)));
        id(cast, secret)
    }

    fn admin(cast: &mut Cast, name: &str) {
        let new = NewHuman {
            id: human(name),
            profile: Profile { email: Some(format!("{name}@example.com")), ..Profile::default() },
            admin: true,
            active: true,
            projects: ["acme".parse().unwrap()].into(),
            groups: [].into(),
            skills: [].into(),
        };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
    }

    fn counts(cast: &Cast, secret: &str) -> bool {
        cast.directory().key(id(cast, secret)).unwrap().counts_as_passkey(cast.now())
    }

    #[test]
    fn a_first_passkey_needs_a_fresh_sign_in_and_waits() {
        let mut cast = Cast::new();
        let old = session(&mut cast, "mark", "old");
        let others = session(&mut cast, "nina", "hers");
        cast.advance(FRESH_SIGN_IN + 1);
        let fresh = session(&mut cast, "mark", "fresh");
        for session in [old, others] {
            let refused = cast
                .attempt(cast.human("mark"), enrol_with("a", PasskeyAuthority::SignIn(session)));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        for actor in [Actor::System, cast.agent("bot")] {
            assert!(cast.attempt(actor, enrol_with("a", PasskeyAuthority::SignIn(fresh))).is_err());
        }
        cast.run(cast.human("mark"), enrol_with("a", PasskeyAuthority::SignIn(fresh)));
        assert!(!counts(&cast, "a"));
        cast.advance(DAY - 1);
        assert!(!counts(&cast, "a"));
        cast.advance(1);
        assert!(counts(&cast, "a"));
    }

    #[test]
    fn an_administrator_confirms_a_passkey_that_waits() {
        let mut cast = Cast::new();
        admin(&mut cast, "root");
        let key = first(&mut cast, "mark", "a");
        for nosy in [cast.human("mark"), cast.human("nina"), cast.agent("bot")] {
            let refused = cast.attempt(nosy, DirectoryCommand::ConfirmPasskey(key));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        cast.run(cast.human("root"), DirectoryCommand::ConfirmPasskey(key));
        assert!(counts(&cast, "a"));
        let records = cast.records().len();
        cast.run(Actor::System, DirectoryCommand::ConfirmPasskey(key));
        assert_eq!(cast.records().len(), records, "it counts already");
    }

    #[test]
    fn the_sole_owner_does_not_wait_for_the_first_and_does_for_the_next() {
        let mut cast = Cast::new();
        admin(&mut cast, "root");
        let key = first(&mut cast, "root", "a");
        assert!(counts(&cast, "a"));
        let own = cast.attempt(cast.human("root"), DirectoryCommand::ConfirmPasskey(key));
        assert!(matches!(own, Err(Refusal::NotAllowed { .. })), "{own:?}");
        // After all passkeys were removed, a stolen session must not get one at once.
        let session = session(&mut cast, "root", "again");
        let removed =
            DirectoryCommand::RemovePasskey(key, Box::new(PasskeyAuthority::SignIn(session)));
        cast.run(cast.human("root"), removed);
        cast.run(cast.human("root"), enrol_with("b", PasskeyAuthority::SignIn(session)));
        assert!(!counts(&cast, "b"));
        // The operator's command line can confirm it; this is how a sole administrator recovers.
        let key = id(&cast, "b");
        cast.run(Actor::System, DirectoryCommand::ConfirmPasskey(key));
        assert!(counts(&cast, "b"));
        // With a second administrator there is no exemption.
        admin(&mut cast, "second");
        first(&mut cast, "second", "c");
        assert!(!counts(&cast, "c"));
    }

    #[test]
    fn a_further_passkey_needs_one_they_have() {
        let mut cast = Cast::new();
        first(&mut cast, "mark", "a");
        first(&mut cast, "nina", "hers");
        let fresh = session(&mut cast, "mark", "fresh");
        let refused =
            cast.attempt(cast.human("mark"), enrol_with("b", PasskeyAuthority::SignIn(fresh)));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        let hers = PasskeyAuthority::Passkey(used(&cast, "hers", "c", 1));
        assert!(cast.attempt(cast.human("mark"), enrol_with("b", hers)).is_err());
        let own = PasskeyAuthority::Passkey(used(&cast, "a", "c", 1));
        cast.run(cast.human("mark"), enrol_with("b", own.clone()));
        // The new passkey counts no earlier than the one that vouched for it, and an assertion
        // vouches once.
        assert!(!counts(&cast, "b"));
        let again = cast.attempt(cast.human("mark"), enrol_with("c", own));
        assert_eq!(again, Err(REPLAYED));
        cast.advance(DAY);
        assert!(counts(&cast, "a") && counts(&cast, "b"));
        let own = PasskeyAuthority::Passkey(used(&cast, "b", "d", 0));
        cast.run(cast.human("mark"), enrol_with("c", own));
        assert!(counts(&cast, "c"));
    }

    #[test]
    fn nobody_has_more_than_twenty_and_nothing_that_cannot_be_stored() {
        let mut cast = Cast::new();
        let fresh = session(&mut cast, "mark", "fresh");
        for bad in ["\0", &"x".repeat(LONGEST + 1)] {
            let bad = NewPasskey { public: bad.to_owned(), ..new("a") };
            let command = DirectoryCommand::EnrolPasskey(
                Box::new(bad),
                Box::new(PasskeyAuthority::SignIn(fresh)),
            );
            let refused = cast.attempt(cast.human("mark"), command);
            assert!(matches!(refused, Err(Refusal::Invalid { field: "public", .. })));
        }
        cast.run(cast.human("mark"), enrol_with("0", PasskeyAuthority::SignIn(fresh)));
        for n in 1..MOST_PASSKEYS {
            let own = PasskeyAuthority::Passkey(used(&cast, "0", &format!("c{n}"), 0));
            cast.run(cast.human("mark"), enrol_with(&n.to_string(), own));
        }
        let own = PasskeyAuthority::Passkey(used(&cast, "0", "more", 0));
        let refused = cast.attempt(cast.human("mark"), enrol_with("more", own));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "passkeys", .. })));
        let holder = CredentialKind::Passkey {
            human: human("mark"),
            public: "0".to_owned(),
            enrolment: None,
            uses: PasskeyUses::default(),
        };
        let key =
            NewKey { hash: Cast::hash("k"), kind: holder, label: String::new(), expires_at: None };
        let refused = cast.attempt(cast.human("mark"), DirectoryCommand::IssueKey(key));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
    }

    #[test]
    fn removing_one_needs_a_passkey_or_a_fresh_sign_in() {
        let mut cast = Cast::new();
        let key = first(&mut cast, "mark", "a");
        let old = session(&mut cast, "mark", "old");
        cast.advance(FRESH_SIGN_IN + 1);
        let remove = |key, authority| DirectoryCommand::RemovePasskey(key, Box::new(authority));
        let refused = cast.attempt(cast.human("mark"), remove(key, PasskeyAuthority::SignIn(old)));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        let refused = cast.attempt(cast.human("mark"), DirectoryCommand::RevokeKey(key));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        let refused = cast.attempt(cast.human("nina"), DirectoryCommand::RevokeKey(key));
        assert_eq!(refused, Err(Refusal::NotFound { what: "key" }));
        let own = PasskeyAuthority::Passkey(used(&cast, "a", "c", 1));
        let nosy = cast.attempt(cast.human("nina"), remove(key, own.clone()));
        assert_eq!(nosy, Err(Refusal::NotFound { what: "passkey" }));
        cast.run(cast.human("mark"), remove(key, own));
        assert_eq!(cast.directory().passkeys_of(&human("mark")).count(), 0);
        let key = first(&mut cast, "mark", "b");
        let fresh = session(&mut cast, "mark", "fresh");
        cast.run(cast.human("mark"), remove(key, PasskeyAuthority::SignIn(fresh)));
        // An administrator removes a lost passkey.
        let key = first(&mut cast, "mark", "c");
        cast.run(Actor::System, DirectoryCommand::RevokeKey(key));
        assert_eq!(cast.directory().passkeys_of(&human("mark")).count(), 0);
    }

    #[test]
    fn every_contact_method_is_notified() {
        let mut cast = Cast::new();
        admin(&mut cast, "root");
        admin(&mut cast, "other");
        let before = cast.follow_ups().len();
        let key = first(&mut cast, "root", "a");
        let told = |cast: &Cast, from: usize| -> Vec<(SecurityEvent, Digest)> {
            let effects = cast.follow_ups()[from..].iter();
            let notices = effects.filter_map(|effect| {
                let FollowUp::Security { event, to, .. } = effect else { return None };
                Some((*event, *to))
            });
            notices.collect()
        };
        let email = crate::directory::ContactMethod::email("root@example.com").digest();
        assert_eq!(told(&cast, before), [(SecurityEvent::PasskeyAdded, email)]);
        let before = cast.follow_ups().len();
        cast.run(cast.human("other"), DirectoryCommand::RevokeKey(key));
        assert_eq!(told(&cast, before), [(SecurityEvent::PasskeyRemoved, email)]);
    }

    #[test]
    fn an_assertion_works_once_and_a_counter_never_goes_back() {
        let mut cast = Cast::new();
        let key = first(&mut cast, "mark", "a");
        let sign_in = |cast: &mut Cast, secret: &str, used: PasskeyUse| {
            let session = NewSession {
                hash: Cast::hash(secret),
                browser: Cast::hash("browser"),
                label: String::new(),
                expires_at: cast.now().plus_seconds(60),
            };
            cast.attempt(
                Actor::System,
                DirectoryCommand::SignIn(SignInProof::Passkey(used), session),
            )
        };
        let two = used(&cast, "a", "one", 2);
        sign_in(&mut cast, "in", two.clone()).unwrap();
        let session = cast.directory().key_by_hash(&Cast::hash("in")).unwrap();
        let CredentialKind::Session {
            binding: Some(BrowserBinding { method: way, .. }),
            human: who,
        } = &session.kind
        else {
            panic!("{session:?}")
        };
        assert_eq!((*way, who.as_str()), (SignInMethod::Passkey, "mark"));
        assert_eq!(sign_in(&mut cast, "again", two).unwrap_err(), REPLAYED);
        for (challenge, counter) in [("one", 3), ("other", 2), ("other", 1), ("other", 0)] {
            let replayed = used(&cast, "a", challenge, counter);
            assert_eq!(sign_in(&mut cast, "again", replayed).unwrap_err(), REPLAYED);
        }
        // A challenge is remembered much longer than it is valid, but not permanently.
        cast.advance(CHALLENGE_MEMORY - 1);
        let replayed = used(&cast, "a", "one", 3);
        assert_eq!(sign_in(&mut cast, "again", replayed).unwrap_err(), REPLAYED);
        let three = used(&cast, "a", "three", 3);
        sign_in(&mut cast, "third", three).unwrap();
        cast.advance(1);
        let four = used(&cast, "a", "four", 4);
        sign_in(&mut cast, "fourth", four).unwrap();
        let CredentialKind::Passkey { uses, public, .. } = &cast.directory().key(key).unwrap().kind
        else {
            panic!("a passkey")
        };
        assert_eq!((uses.counter, uses.challenges.len(), &**public), (4, 2, "4"));
        cast.run(Actor::System, DirectoryCommand::RevokeKey(key));
        let five = used(&cast, "a", "five", 5);
        assert!(sign_in(&mut cast, "fifth", five).is_err());
    }

    /// Passkeys of earlier versions are read and written unchanged, and count.
    #[test]
    fn what_was_stored_before_is_stored_the_same() {
        let text = r#"{"kind":"passkey","human":"olga","public":"{}"}"#;
        let read: CredentialKind = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let event = r#"{"event":"passkey_used","public":"{}"}"#;
        let read: DomainEvent = serde_json::from_str(event).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), event);
    }
}
