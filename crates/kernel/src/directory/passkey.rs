//! Passkeys: whose they may be, and what using one does to it. What they sign is checked outside.

use super::{ADMIN_ONLY, Holder, Key};
use crate::actor::Actor;
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::{HumanId, KeyId, Subject};
use crate::refusal::Refusal;
use crate::text::is_storable;
use crate::world::{Decision, Stop, World};

/// More than this nobody has.
pub const MOST_PASSKEYS: usize = 20;
/// Public material is a few hundred bytes.
const LONGEST: usize = 8192;

/// Whether the actor may have this as a new passkey: for themselves only, whoever they are.
pub(super) fn check(
    world: &World<'_>,
    envelope: &Envelope,
    human: &HumanId,
    public: &str,
) -> Result<(), Refusal> {
    let own = world.directory.person(&envelope.actor).is_ok_and(|person| person.id == *human);
    if !own {
        return Err(Refusal::NotAllowed { why: "people add their own passkeys" });
    }
    if !is_storable(public) || public.len() > LONGEST {
        let expected = "a text of at most 8192 bytes, without NUL";
        return Err(Refusal::Invalid { field: "public", expected });
    }
    if world.directory.passkeys_of(human).count() >= MOST_PASSKEYS {
        let expected = "at most 20 passkeys per person";
        return Err(Refusal::Invalid { field: "passkeys", expected });
    }
    Ok(())
}

/// Notes that one was used, if that changed it: some count their uses.
pub(crate) fn used(
    world: &World<'_>,
    envelope: &Envelope,
    id: KeyId,
    public: &str,
) -> Result<Decision, Stop> {
    if envelope.actor != Actor::System {
        return Err(ADMIN_ONLY.into());
    }
    let live = world.directory.key(id).filter(|key| key.is_live(world.now));
    let key = live.ok_or(Refusal::NotFound { what: "passkey" })?;
    let (_, changed) = moved(key, public).ok_or(Refusal::NotFound { what: "passkey" })?;
    Ok(changed
        .map_or_else(Decision::default, |(subject, happened)| Decision::of(subject, happened)))
}

/// Whose passkey it is, and what happened to it if it is like this now.
pub(super) fn moved<'k>(
    key: &'k Key,
    public: &str,
) -> Option<(&'k HumanId, Option<(Subject, Happened)>)> {
    let Holder::Passkey { human, public: before } = &key.holder else { return None };
    let used = || (Subject::Key(key.id), Happened::PasskeyUsed { public: public.to_owned() });
    Some((human, (before != public).then(used)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::directory::{NewKey, NewSession, Proof, Visit, Way};
    use crate::testing::{Cast, human};

    fn new(name: &str, secret: &str, public: &str) -> Command {
        let holder = Holder::Passkey { human: human(name), public: public.to_owned() };
        let label = "laptop".to_owned();
        Command::IssueKey(NewKey { hash: Cast::hash(secret), holder, label, expires_at: None })
    }

    fn id(cast: &Cast, secret: &str) -> KeyId {
        cast.directory().key_by_hash(&Cast::hash(secret)).unwrap().id
    }

    fn public(cast: &Cast, id: KeyId) -> String {
        let holder = &cast.directory().key(id).unwrap().holder;
        let Holder::Passkey { public, .. } = holder else { panic!("{holder:?}") };
        public.clone()
    }

    #[test]
    fn people_add_their_own_and_nobody_elses() {
        let mut cast = Cast::new();
        for actor in [Actor::System, cast.human("olga"), cast.agent("bot")] {
            let refused = cast.attempt(actor, new("mark", "a", "{}"));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        for bad in ["\0", &"x".repeat(LONGEST + 1)] {
            let refused = cast.attempt(cast.human("mark"), new("mark", "a", bad));
            assert!(matches!(refused, Err(Refusal::Invalid { field: "public", .. })));
        }
        for n in 0..MOST_PASSKEYS {
            cast.run(cast.human("mark"), new("mark", &n.to_string(), "{}"));
        }
        let refused = cast.attempt(cast.human("mark"), new("mark", "more", "{}"));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "passkeys", .. })));
        // Removed by themselves or by an administrator, and by nobody else.
        let first = id(&cast, "0");
        let refused = cast.attempt(cast.human("nina"), Command::RevokeKey(first));
        assert_eq!(refused, Err(Refusal::NotFound { what: "key" }));
        cast.run(cast.human("mark"), Command::RevokeKey(first));
        cast.run(Actor::System, Command::RevokeKey(id(&cast, "1")));
        assert_eq!(cast.directory().passkeys_of(&human("mark")).count(), MOST_PASSKEYS - 2);
        assert_eq!(cast.directory().sessions_of(&human("mark")).count(), 0);
    }

    #[test]
    fn using_one_moves_it_and_a_removed_one_opens_nothing() {
        let mut cast = Cast::new();
        cast.run(cast.human("mark"), new("mark", "a", "0"));
        let key = id(&cast, "a");
        let refused = cast.attempt(cast.human("mark"), Command::UsePasskey(key, "1".to_owned()));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        cast.run(Actor::System, Command::UsePasskey(key, "1".to_owned()));
        assert_eq!(public(&cast, key), "1");
        let before = cast.records().len();
        cast.run(Actor::System, Command::UsePasskey(key, "1".to_owned()));
        assert_eq!(cast.records().len(), before, "nothing changed");
        let sign_in = |cast: &Cast, secret: &str, public: &str| {
            let session = NewSession {
                hash: Cast::hash(secret),
                browser: Cast::hash("browser"),
                label: String::new(),
                expires_at: cast.now().plus_seconds(60),
            };
            Command::SignIn(Proof::Passkey { key, public: public.to_owned() }, session)
        };
        cast.run(Actor::System, sign_in(&cast, "in", "2"));
        assert_eq!(public(&cast, key), "2");
        let session = cast.directory().key_by_hash(&Cast::hash("in")).unwrap();
        let Holder::Session { visit: Some(Visit { way, .. }), human: who } = &session.holder else {
            panic!("{session:?}")
        };
        assert_eq!((*way, who.as_str()), (Way::Passkey, "mark"));
        cast.run(cast.human("mark"), Command::RevokeKey(key));
        let refused = cast.attempt(Actor::System, sign_in(&cast, "again", "3"));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        let refused = cast.attempt(Actor::System, Command::UsePasskey(key, "3".to_owned()));
        assert_eq!(refused, Err(Refusal::NotFound { what: "passkey" }));
    }
}
