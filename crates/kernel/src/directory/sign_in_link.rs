//! Sign-in links that are sent by email.

use super::key::{NewKey, issued};
use super::{ADMIN_ONLY, CredentialKind};
use crate::actor::Actor;
use crate::audit::Digest;
use crate::command::Envelope;
use crate::follow_up::FollowUp;
use crate::ids::{HumanId, KeyId};
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// A link to be sent. The sender derives its secret again from the seed, so that neither the
/// directory nor the outbox contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLink {
    /// The person who receives the link.
    pub human: HumanId,
    /// SHA-256 of the secret.
    pub hash: Digest,
    /// The seed from which the server derives the secret, together with a key that only the server
    /// knows.
    pub seed: Digest,
    /// When the link expires.
    pub expires_at: Time,
}

/// Issues the link and sends it to a person who can sign in and has an address.
pub(crate) fn send(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewLink,
) -> Result<Decision, Stop> {
    if envelope.actor != Actor::System {
        return Err(ADMIN_ONLY.into());
    }
    let human = world.directory.human(&new.human).filter(|human| human.active);
    let profile = human.and_then(|human| human.profile.value());
    if profile.is_none_or(|profile| profile.email.is_none()) {
        let why = "this person has no email address or is not active";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let key = NewKey {
        hash: new.hash,
        kind: CredentialKind::Link { human: new.human.clone(), mailed: true },
        label: "sign-in link by mail".to_owned(),
        expires_at: Some(new.expires_at),
    };
    let effect = FollowUp::SignInLink { key: KeyId::new(envelope.fresh), seed: new.seed };
    Ok(issued(world, envelope, &key)?.with(effect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DirectoryCommand;
    use crate::directory::{
        BrowserBinding, NewHuman, NewSession, Profile, SignInMethod, SignInProof,
    };
    use crate::testing::{Cast, human};

    fn ann(cast: &mut Cast, email: Option<&str>, active: bool) {
        let new = NewHuman {
            id: human("ann"),
            profile: Profile {
                name: "Ann".to_owned(),
                email: email.map(str::to_owned),
                ..Profile::default()
            },
            admin: false,
            active,
            projects: [].into(),
            groups: [].into(),
            skills: [].into(),
        };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
    }

    fn link(cast: &Cast, name: &str) -> DirectoryCommand {
        DirectoryCommand::MailLink(NewLink {
            human: human(name),
            hash: Cast::hash("secret"),
            seed: Cast::hash("seed"),
            expires_at: cast.now().plus_seconds(900),
        })
    }

    #[test]
    fn only_whoever_can_sign_in_and_has_an_address_is_written_to() {
        let mut cast = Cast::new();
        for (email, active) in [(None, true), (Some("ann@example.com"), false)] {
            ann(&mut cast, email, active);
            let refused = cast.attempt(Actor::System, link(&cast, "ann"));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{email:?} {active}");
        }
        ann(&mut cast, Some("ann@example.com"), true);
        for actor in [cast.human("ann"), cast.human("olga")] {
            let refused = cast.attempt(actor, link(&cast, "ann"));
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })));
        }
        let refused = cast.attempt(Actor::System, link(&cast, "ghost"));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })));
    }

    #[test]
    fn the_letter_is_an_effect_without_the_secret_and_the_link_says_how_it_came() {
        let mut cast = Cast::new();
        ann(&mut cast, Some("ann@example.com"), true);
        cast.run(Actor::System, link(&cast, "ann"));
        let key = cast.directory().key_by_hash(&Cast::hash("secret")).unwrap().id;
        let sent = FollowUp::SignInLink { key, seed: Cast::hash("seed") };
        assert_eq!(cast.follow_ups().last(), Some(&sent));
        assert_eq!(sent.ask(), None);
        let session = NewSession {
            hash: Cast::hash("session"),
            browser: Cast::hash("browser"),
            label: String::new(),
            expires_at: cast.now().plus_seconds(60),
        };
        cast.run(Actor::System, DirectoryCommand::SignIn(SignInProof::Link(key), session));
        let session = cast.directory().key_by_hash(&Cast::hash("session")).unwrap();
        let CredentialKind::Session { binding: Some(BrowserBinding { method: way, .. }), .. } =
            session.kind
        else {
            panic!("{session:?}")
        };
        assert_eq!(way, SignInMethod::Mail);
    }
}
