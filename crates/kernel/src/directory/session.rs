//! Sessions: signing in and ending sessions.

use crate::event::DomainEvent;

use super::key::{NewKey, issued};
use super::passkey::use_event;
use super::{
    ADMIN_ONLY, BrowserBinding, ContactMethod, CredentialKind, PasskeyUse, SignInMethod,
    edit_contacts,
};
use crate::actor::Actor;
use crate::audit::Digest;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{HumanId, KeyId, Subject};
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// The maximum number of sessions of a person. A further sign-in ends the oldest session.
pub const MOST_SESSIONS: usize = 50;

/// The proof of identity of a sign-in. The server has checked it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInProof {
    /// A one-time link, which can then no longer be used.
    Link(KeyId),
    /// A passkey that signed its challenge.
    Passkey(PasskeyUse),
    /// A person whom a trusted OIDC provider identified, and the address the provider vouches for.
    Oidc(HumanId, Option<String>),
}

/// A session to begin. The caller generated the secrets; the kernel receives only their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// SHA-256 of the session secret.
    pub hash: Digest,
    /// SHA-256 of the secret that binds the session to the browser.
    pub browser: Digest,
    /// The name of the browser, as it reports itself.
    pub label: String,
    /// When it expires, regardless of use.
    pub expires_at: Time,
}

/// Accepts the proof and begins the session in one decision: a link works once.
pub(crate) fn sign_in(
    world: &World<'_>,
    envelope: &Envelope,
    proof: &SignInProof,
    session: &NewSession,
) -> Result<Decision, Stop> {
    if envelope.actor != Actor::System {
        return Err(ADMIN_ONLY.into());
    }
    let VerifiedSignIn { human, way, used, reads } = verify_proof(world, proof)?;
    let known = world.directory.human(&human).filter(|human| human.active).ok_or(STALE)?;
    let shown = reads.map(|means| edit_contacts::mark_verified(envelope, known.clone(), &means));
    let NewSession { hash, browser, label, expires_at } = session.clone();
    let visit = Some(BrowserBinding { method: way, browser });
    let holder = CredentialKind::Session { human: human.clone(), binding: visit };
    let new = NewKey { hash, kind: holder, label, expires_at: Some(expires_at) };
    let mut decision = issued(world, envelope, &new)?;
    decision.happened.extend(used);
    decision.happened.extend(shown.into_iter().flat_map(|shown| shown.happened));
    let others = world.directory.sessions_of(&human).count();
    let oldest =
        world.directory.sessions_of(&human).take((others + 1).saturating_sub(MOST_SESSIONS));
    decision
        .happened
        .extend(oldest.map(|key| (Subject::Key(key.id), DirectoryEvent::KeyRevoked.into())));
    Ok(decision)
}

const STALE: Refusal = Refusal::NotAllowed { why: "this sign-in was already used or has expired" };

/// The person whom a proof identifies, the sign-in method, and the events that use up the proof.
struct VerifiedSignIn {
    human: HumanId,
    way: SignInMethod,
    used: Option<(Subject, DomainEvent)>,
    /// The address that the sign-in verifies.
    reads: Option<ContactMethod>,
}

/// The address a person signs in with.
fn own_address(world: &World<'_>, human: &HumanId) -> Option<ContactMethod> {
    let profile = world.directory.human(human)?.profile.value()?;
    profile.email.as_deref().map(ContactMethod::email)
}

/// The address to which an email was sent at this time, unless the person's record changed since.
fn emailed_address(world: &World<'_>, human: &HumanId, at: Time) -> Option<ContactMethod> {
    let known = world.directory.entity(&Subject::Human(human.clone()))?;
    own_address(world, human).filter(|_| known.head().at < at)
}

fn verify_proof(world: &World<'_>, proof: &SignInProof) -> Result<VerifiedSignIn, Refusal> {
    match proof {
        SignInProof::Link(id) => {
            let key = world.directory.key(*id).filter(|key| key.is_live(world.now));
            match key.map(|key| &key.kind) {
                Some(CredentialKind::Link { human, mailed }) => {
                    let way = if *mailed { SignInMethod::Mail } else { SignInMethod::Link };
                    let used = Some((Subject::Key(*id), DirectoryEvent::KeyRevoked.into()));
                    let sent = key.filter(|_| *mailed).map(|key| key.issued_at);
                    let reads = sent.and_then(|at| emailed_address(world, human, at));
                    Ok(VerifiedSignIn { human: human.clone(), way, used, reads })
                }
                Some(
                    CredentialKind::Agent { .. }
                    | CredentialKind::Token { .. }
                    | CredentialKind::Session { .. }
                    | CredentialKind::Passkey { .. },
                )
                | None => Err(STALE),
            }
        }
        SignInProof::Oidc(human, said) => {
            let said = said.as_deref().map(ContactMethod::email);
            let reads = said.filter(|said| own_address(world, human).as_ref() == Some(said));
            Ok(VerifiedSignIn { human: human.clone(), way: SignInMethod::Oidc, used: None, reads })
        }
        SignInProof::Passkey(used) => {
            let key = world.directory.key(used.key).filter(|key| key.is_live(world.now));
            let (human, _, used) = key.and_then(|key| use_event(key, used)).ok_or(STALE)??;
            Ok(VerifiedSignIn {
                human: human.clone(),
                way: SignInMethod::Passkey,
                used: Some(used),
                reads: None,
            })
        }
    }
}

/// Ends all sessions of a person except one. The person or an administrator may do this.
pub(crate) fn end_all(
    world: &World<'_>,
    envelope: &Envelope,
    human: &HumanId,
    except: Option<KeyId>,
) -> Result<Decision, Stop> {
    let own = world.directory.person(&envelope.actor).is_ok_and(|person| person.id == *human);
    if !own && !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    if world.directory.human(human).is_none() {
        return Err(Refusal::NotFound { what: "person" }.into());
    }
    let ended = world.directory.sessions_of(human).filter(|key| Some(key.id) != except);
    let happened =
        ended.map(|key| (Subject::Key(key.id), DirectoryEvent::KeyRevoked.into())).collect();
    Ok(Decision { happened, ..Decision::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DirectoryCommand;
    use crate::testing::{Cast, human};

    fn link(cast: &mut Cast, secret: &str, name: &str) -> KeyId {
        let new = NewKey {
            hash: Cast::hash(secret),
            kind: CredentialKind::Link { human: human(name), mailed: false },
            label: String::new(),
            expires_at: Some(cast.now().plus_seconds(60)),
        };
        cast.run(Actor::System, DirectoryCommand::IssueKey(new));
        cast.directory().key_by_hash(&Cast::hash(secret)).unwrap().id
    }

    fn session(cast: &Cast, secret: &str) -> NewSession {
        NewSession {
            hash: Cast::hash(secret),
            browser: Cast::hash("browser"),
            label: "Firefox on Linux".to_owned(),
            expires_at: cast.now().plus_seconds(3600),
        }
    }

    fn enter(cast: &mut Cast, secret: &str, name: &str) -> KeyId {
        let link = link(cast, &format!("link of {secret}"), name);
        let new = session(cast, secret);
        cast.run(Actor::System, DirectoryCommand::SignIn(SignInProof::Link(link), new));
        cast.directory().key_by_hash(&Cast::hash(secret)).unwrap().id
    }

    fn sessions(cast: &Cast, name: &str) -> Vec<KeyId> {
        cast.directory().sessions_of(&human(name)).map(|key| key.id).collect()
    }

    #[test]
    fn a_link_lets_its_person_in_once_and_in_time() {
        let mut cast = Cast::new();
        let used = link(&mut cast, "used", "olga");
        let late = link(&mut cast, "late", "olga");
        let sign = |cast: &mut Cast, actor, id, secret: &str| {
            let new = session(cast, secret);
            cast.attempt(actor, DirectoryCommand::SignIn(SignInProof::Link(id), new))
                .map_err(|refusal| refusal.code())
        };
        let olga = cast.human("olga");
        assert_eq!(sign(&mut cast, olga, used, "a"), Err("not-allowed"));
        assert!(sign(&mut cast, Actor::System, used, "a").is_ok());
        assert_eq!(sign(&mut cast, Actor::System, used, "b"), Err("not-allowed"));
        let [own] = sessions(&cast, "olga")[..] else { panic!("one session") };
        // A credential that is not a link cannot be used as one.
        assert_eq!(sign(&mut cast, Actor::System, own, "c"), Err("not-allowed"));
        cast.advance(60);
        assert_eq!(sign(&mut cast, Actor::System, late, "d"), Err("not-allowed"));
        let key = cast.directory().key(own).unwrap();
        let CredentialKind::Session { binding: Some(visit), .. } = &key.kind else {
            panic!("{key:?}")
        };
        assert_eq!(
            *visit,
            BrowserBinding { method: SignInMethod::Link, browser: Cast::hash("browser") }
        );
    }

    #[test]
    fn a_provider_lets_in_whom_we_know_and_nobody_else() {
        let mut cast = Cast::new();
        let olga = session(&cast, "a");
        cast.run(
            Actor::System,
            DirectoryCommand::SignIn(SignInProof::Oidc(human("olga"), None), olga),
        );
        assert_eq!(sessions(&cast, "olga").len(), 1);
        let ghost = session(&cast, "b");
        let refused = cast.attempt(
            Actor::System,
            DirectoryCommand::SignIn(SignInProof::Oidc(human("ghost"), None), ghost),
        );
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
    }

    #[test]
    fn nobody_makes_a_session_without_signing_in() {
        let mut cast = Cast::new();
        let holder = CredentialKind::Session { human: human("olga"), binding: None };
        let new =
            NewKey { hash: Cast::hash("x"), kind: holder, label: String::new(), expires_at: None };
        for actor in [Actor::System, cast.human("olga")] {
            let refused = cast.attempt(actor, DirectoryCommand::IssueKey(new.clone()));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
    }

    /// Sessions and links of earlier versions are read and written unchanged.
    #[test]
    fn what_was_stored_before_is_stored_the_same() {
        for text in [r#"{"kind":"session","human":"olga"}"#, r#"{"kind":"link","human":"olga"}"#] {
            let read: CredentialKind = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let mut cast = Cast::new();
        let all: Vec<KeyId> =
            (0..=MOST_SESSIONS).map(|n| enter(&mut cast, &format!("s{n}"), "olga")).collect();
        assert_eq!(sessions(&cast, "olga"), all[1..]);
        assert!(cast.directory().key(all[0]).unwrap().revoked_at.is_some());
    }

    #[test]
    fn people_end_their_own_and_administrators_anybodys() {
        let mut cast = Cast::new();
        let mine: Vec<KeyId> =
            ["a", "b", "c"].map(|secret| enter(&mut cast, secret, "mark")).into();
        let hers = enter(&mut cast, "z", "nina");
        let end = |name: &str, except| DirectoryCommand::EndSessions(human(name), except);
        let nosy = cast.attempt(cast.human("nina"), end("mark", None));
        assert!(matches!(nosy, Err(Refusal::NotAllowed { .. })), "{nosy:?}");
        cast.run(cast.human("mark"), end("mark", Some(mine[1])));
        assert_eq!(sessions(&cast, "mark"), [mine[1]]);
        assert_eq!(sessions(&cast, "nina"), [hers]);
        cast.run(Actor::System, end("mark", None));
        assert!(sessions(&cast, "mark").is_empty());
        let ghost = cast.attempt(Actor::System, end("ghost", None));
        assert_eq!(ghost, Err(Refusal::NotFound { what: "person" }));
    }
}
