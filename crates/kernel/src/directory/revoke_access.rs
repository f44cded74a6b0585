//! Revokes everything that gives one person access: sessions, tokens, sign-in links, passkeys, the
//! channel identities by which chats and emails are attributed to them, and the review links and
//! answerable messages sent to them.

use super::passkey::with_notifications;
use super::{ADMIN_ONLY, Profile};
use crate::actor::Actor;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::Human;
use crate::event::DirectoryEvent;
use crate::follow_up::SecurityEvent;
use crate::ids::{HumanId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// Revokes all access of a person, by an administrator or the operator. The account stays: a new
/// sign-in link gives access again, and every contact method must be verified again.
///
/// Links and messages sent to the person belong to many asks, so the person records the time of the
/// revocation, and each use of a link or message is compared with it. The time is recorded on every
/// call: something may have been sent since the last one although nothing else is left to revoke.
pub(crate) fn revoke(
    world: &World<'_>,
    envelope: &Envelope,
    id: &HumanId,
) -> Result<Decision, Stop> {
    let directory = world.directory;
    if !directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    if matches!(&envelope.actor, Actor::Human { id: own, .. } if own == id) {
        let why = "you cannot end your own access; ask another administrator or use the command \
                   line on the server";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let human = directory.existing_human(id).ok_or(Refusal::NotFound { what: "person" })?;
    let mut decision = Decision::default();
    let keys = directory.keys().filter(|key| key.human() == Some(id) && key.revoked_at.is_none());
    decision
        .happened
        .extend(keys.map(|key| (Subject::Key(key.id), DirectoryEvent::KeyRevoked.into())));
    let profile = human.profile.value().cloned().unwrap_or_default();
    let profile = Profile { verified: std::collections::BTreeSet::new(), ..profile };
    let profile = Erasable::new(profile, &mut envelope.salts.clone());
    let saved = Human { profile, access_ended_at: Some(world.now), ..human.clone() };
    let subject = Subject::Human(id.clone());
    decision.happened.push((subject, DirectoryEvent::HumanSaved(Box::new(saved)).into()));
    Ok(with_notifications(decision, human, SecurityEvent::AccessEnded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DirectoryCommand;
    use crate::directory::passkey::tests::first;
    use crate::directory::{Contact, ContactMethod, CredentialKind, NewHuman, NewKey};
    use crate::follow_up::FollowUp;
    use crate::testing::{Cast, human};

    #[test]
    fn nothing_of_a_person_lets_anybody_in_any_more() {
        let mut cast = Cast::new();
        // `first` starts a session and enrols a passkey with it.
        first(&mut cast, "mark", "passkey");
        let email = Contact::Email { address: "mark@example.com".to_owned(), context: None };
        cast.run(cast.human("mark"), DirectoryCommand::AddContact(human("mark"), email));
        let means = ContactMethod::email("mark@example.com");
        cast.run(cast.human("mark"), DirectoryCommand::VerifyContact(human("mark"), means.clone()));
        for (secret, holder) in [
            ("token", CredentialKind::Token { human: human("mark") }),
            ("link", CredentialKind::Link { human: human("mark"), mailed: false }),
            ("hers", CredentialKind::Token { human: human("nina") }),
        ] {
            let (hash, label) = (Cast::hash(secret), String::new());
            let new = NewKey { hash, kind: holder, label, expires_at: None };
            cast.run(Actor::System, DirectoryCommand::IssueKey(new));
        }
        assert_eq!(cast.directory().human_by_contact_method(&means).unwrap().id, human("mark"));
        let end = || DirectoryCommand::EndAccess(human("mark"));
        for nosy in [cast.human("mark"), cast.human("nina"), cast.agent("bot")] {
            let refused = cast.attempt(nosy, end());
            assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        }
        let before = cast.follow_ups().len();
        cast.run(Actor::System, end());
        let directory = cast.directory();
        let of_mark = |key: &&crate::directory::Key| key.human() == Some(&human("mark"));
        assert_eq!(directory.keys().filter(of_mark).count(), 4);
        assert!(directory.keys().filter(of_mark).all(|key| key.revoked_at.is_some()));
        assert!(
            directory.human_by_contact_method(&means).is_none(),
            "the channel identity is gone"
        );
        assert!(directory.human(&human("mark")).unwrap().active, "the account stays");
        assert!(directory.key_by_hash(&Cast::hash("hers")).unwrap().revoked_at.is_none());
        let told = cast.follow_ups()[before..].iter().any(|effect| {
            matches!(effect, FollowUp::Security { event: SecurityEvent::AccessEnded, to, .. }
                if *to == means.digest())
        });
        assert!(told);
        // Only the time changes if nothing else is left to revoke.
        let records = cast.records().len();
        cast.advance(1);
        cast.run(Actor::System, end());
        assert_eq!(cast.records().len(), records + 1);
        let mark = cast.directory().human(&human("mark")).unwrap();
        assert_eq!(mark.access_ended_at, Some(cast.now()));
        // The time stays when the person is changed.
        let new = NewHuman {
            id: human("mark"),
            profile: mark.profile.value().unwrap().clone(),
            admin: false,
            active: true,
            projects: mark.projects.clone(),
            groups: mark.groups.clone(),
            skills: mark.skills.clone(),
        };
        let ended = mark.access_ended_at;
        cast.advance(1);
        cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
        assert_eq!(cast.directory().human(&human("mark")).unwrap().access_ended_at, ended);
        let ghost = cast.attempt(Actor::System, DirectoryCommand::EndAccess(human("ghost")));
        assert_eq!(ghost, Err(Refusal::NotFound { what: "person" }));
    }
}
