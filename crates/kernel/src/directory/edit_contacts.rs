//! Addresses that people add, remove and verify themselves.

use super::notification_preferences::{person_to_change, save_profile};
use super::{Contact, ContactMethod, Human, Profile, contact};
use crate::command::Envelope;
use crate::ids::HumanId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// Adds a contact method to the end of a person's list.
pub(crate) fn add(
    world: &World<'_>,
    envelope: &Envelope,
    id: &HumanId,
    new: &Contact,
) -> Result<Decision, Stop> {
    let (human, before) = person_to_change(world, envelope, id)?;
    let mut contacts = before.contacts.clone().unwrap_or_default();
    if contacts.iter().any(|known| ContactMethod::from(known) == ContactMethod::from(new)) {
        return Err(Refusal::Exists { what: "contact" }.into());
    }
    contacts.push(new.clone());
    contact::check(&contacts)?;
    let after = Profile { contacts: Some(contacts), ..before.clone() };
    Ok(save_profile(envelope, human, &before, after))
}

/// Removes a contact method; the server sends nothing there any more. The address a person signs in
/// with cannot be removed.
pub(crate) fn remove(
    world: &World<'_>,
    envelope: &Envelope,
    id: &HumanId,
    gone: &ContactMethod,
) -> Result<Decision, Stop> {
    let (human, before) = person_to_change(world, envelope, id)?;
    let mut contacts = before.contacts.clone().unwrap_or_default();
    let were = contacts.len();
    contacts.retain(|contact| ContactMethod::from(contact) != *gone);
    if contacts.len() == were {
        return Err(Refusal::NotFound { what: "contact" }.into());
    }
    let contacts = Some(contacts).filter(|contacts| !contacts.is_empty());
    let after = Profile { contacts, ..before.clone() };
    Ok(save_profile(envelope, human, &before, after))
}

/// Records that a person verified an address: the server has checked the code that was sent there.
/// People can verify only their own addresses.
pub(crate) fn verify(
    world: &World<'_>,
    envelope: &Envelope,
    id: &HumanId,
    means: &ContactMethod,
) -> Result<Decision, Stop> {
    if world.directory.person(&envelope.actor)?.id != *id {
        let why = "only the person themselves can do this";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let (human, before) = person_to_change(world, envelope, id)?;
    if *means == ContactMethod::Devices || !before.has_contact_method(means) {
        return Err(Refusal::NotFound { what: "contact" }.into());
    }
    Ok(mark_verified(envelope, human, means))
}

/// The decision that marks an address of a person as verified.
pub(super) fn mark_verified(envelope: &Envelope, human: Human, means: &ContactMethod) -> Decision {
    let before = human.profile.value().cloned().unwrap_or_default();
    let mut after = before.clone();
    after.verified.insert(means.clone());
    save_profile(envelope, human, &before, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Actor;
    use crate::command::DirectoryCommand;
    use crate::directory::{NewHuman, NewKey, NewLink, NewSession, Profile, SignInProof};
    use crate::ids::KeyId;
    use crate::testing::{Cast, human};

    fn mail(address: &str) -> Contact {
        Contact::Email { address: address.to_owned(), context: None }
    }

    fn profile(cast: &Cast) -> Profile {
        cast.directory().human(&human("olga")).unwrap().profile.value().unwrap().clone()
    }

    fn save(cast: &mut Cast, profile: Profile) {
        let known = cast.directory().human(&human("olga")).unwrap().clone();
        let Human { id, admin, active, projects, groups, skills, .. } = known;
        let new = NewHuman { id, profile, admin, active, projects, groups, skills };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
    }

    #[test]
    fn people_add_and_remove_their_own() {
        let mut cast = Cast::new();
        let add = |address: &str| DirectoryCommand::AddContact(human("olga"), mail(address));
        cast.run(cast.human("olga"), add("olga@example.com"));
        cast.run(Actor::System, add("home@example.com"));
        let means: Vec<_> =
            profile(&cast).contact_methods().iter().map(ContactMethod::to_string).collect();
        assert_eq!(means, ["devices", "email:olga@example.com", "email:home@example.com"]);
        let again = cast.attempt(cast.human("olga"), add("OLGA@example.com"));
        assert_eq!(again, Err(Refusal::Exists { what: "contact" }));
        let wrong = cast.attempt(cast.human("olga"), add("olga"));
        assert!(matches!(wrong, Err(Refusal::Invalid { field: "contacts", .. })), "{wrong:?}");
        let nosy = cast.attempt(cast.human("mark"), add("mark@example.com"));
        assert!(matches!(nosy, Err(Refusal::NotAllowed { .. })), "{nosy:?}");
        for n in 2..20 {
            cast.run(cast.human("olga"), add(&format!("n{n}@example.com")));
        }
        let full = cast.attempt(cast.human("olga"), add("more@example.com"));
        assert!(matches!(full, Err(Refusal::Invalid { field: "contacts", .. })), "{full:?}");
        let remove =
            |address| DirectoryCommand::RemoveContact(human("olga"), ContactMethod::email(address));
        cast.run(cast.human("olga"), remove("home@example.com"));
        let gone = cast.attempt(cast.human("olga"), remove("home@example.com"));
        assert_eq!(gone, Err(Refusal::NotFound { what: "contact" }));
    }

    #[test]
    fn an_address_is_theirs_once_they_show_it_and_as_long_as_it_is_there() {
        let mut cast = Cast::new();
        let home = || ContactMethod::email("home@example.com");
        let verify = || DirectoryCommand::VerifyContact(human("olga"), home());
        let early = cast.attempt(cast.human("olga"), verify());
        assert_eq!(early, Err(Refusal::NotFound { what: "contact" }));
        let add = || DirectoryCommand::AddContact(human("olga"), mail("Home@example.com"));
        cast.run(cast.human("olga"), add());
        assert!(!profile(&cast).may_notify(&home()));
        for actor in [cast.human("mark"), Actor::System, cast.agent("bot")] {
            let other = cast.attempt(actor, verify());
            assert!(matches!(other, Err(Refusal::NotAllowed { .. })), "{other:?}");
        }
        let devices = DirectoryCommand::VerifyContact(human("olga"), ContactMethod::Devices);
        assert!(cast.attempt(cast.human("olga"), devices).is_err());
        cast.run(cast.human("olga"), verify());
        assert!(profile(&cast).may_notify(&home()));
        // An administrator cannot verify an address. An unchanged address stays verified; a changed
        // one does not.
        let contacts = Some(vec![mail("home@EXAMPLE.com")]);
        save(&mut cast, Profile { contacts, ..Profile::default() });
        assert!(profile(&cast).may_notify(&home()));
        let contacts = Some(vec![mail("new@example.com")]);
        let verified = [ContactMethod::email("new@example.com")].into();
        save(&mut cast, Profile { contacts, verified, ..Profile::default() });
        assert!(!profile(&cast).may_notify(&ContactMethod::email("new@example.com")));
        cast.run(cast.human("olga"), add());
        assert!(!profile(&cast).may_notify(&home()), "it has to be shown anew");
    }

    fn session(cast: &Cast, secret: &str) -> NewSession {
        NewSession {
            hash: Cast::hash(secret),
            browser: Cast::hash("browser"),
            label: String::new(),
            expires_at: cast.now().plus_seconds(60),
        }
    }

    fn mailed(cast: &mut Cast, secret: &str) -> KeyId {
        let link = NewLink {
            human: human("olga"),
            hash: Cast::hash(secret),
            seed: Cast::hash("seed"),
            expires_at: cast.now().plus_seconds(900),
        };
        cast.run(Actor::System, DirectoryCommand::MailLink(link));
        cast.directory().key_by_hash(&Cast::hash(secret)).unwrap().id
    }

    fn with_address(cast: &mut Cast, email: &str) {
        save(cast, Profile { email: Some(email.to_owned()), ..Profile::default() });
        cast.advance(1);
    }

    /// A person who signs in with an emailed link has read the email.
    #[test]
    fn a_link_by_mail_shows_that_the_address_is_theirs() {
        let mut cast = Cast::new();
        let own = ContactMethod::email("olga@example.com");
        with_address(&mut cast, "olga@example.com");
        // A link that was handed over directly verifies nothing.
        let handed = NewKey {
            hash: Cast::hash("handed"),
            kind: crate::directory::CredentialKind::Link { human: human("olga"), mailed: false },
            label: String::new(),
            expires_at: None,
        };
        cast.run(Actor::System, DirectoryCommand::IssueKey(handed));
        let handed = cast.directory().key_by_hash(&Cast::hash("handed")).unwrap().id;
        let new = session(&cast, "a");
        cast.run(Actor::System, DirectoryCommand::SignIn(SignInProof::Link(handed), new));
        assert!(!profile(&cast).may_notify(&own));
        // An email to the previous address verifies nothing either.
        let early = mailed(&mut cast, "early");
        cast.advance(1);
        with_address(&mut cast, "new@example.com");
        let new = session(&cast, "b");
        cast.run(Actor::System, DirectoryCommand::SignIn(SignInProof::Link(early), new));
        assert!(profile(&cast).verified.is_empty());
        let link = mailed(&mut cast, "late");
        let new = session(&cast, "c");
        cast.run(Actor::System, DirectoryCommand::SignIn(SignInProof::Link(link), new));
        assert!(profile(&cast).may_notify(&ContactMethod::email("new@example.com")));
        let before = cast.records().len();
        let link = mailed(&mut cast, "again");
        let new = session(&cast, "d");
        cast.run(Actor::System, DirectoryCommand::SignIn(SignInProof::Link(link), new));
        assert_eq!(cast.records().len(), before + 3, "a link, a session, a link used up");
    }

    /// A sign-in provider vouches for the address it names, if that is the one in the directory.
    #[test]
    fn a_provider_shows_it_too() {
        let mut cast = Cast::new();
        with_address(&mut cast, "olga@example.com");
        for (said, shown) in
            [(None, false), (Some("eve@example.com"), false), (Some("Olga@example.com"), true)]
        {
            let proof = SignInProof::Oidc(human("olga"), said.map(str::to_owned));
            let new = session(&cast, &format!("{said:?}"));
            cast.run(Actor::System, DirectoryCommand::SignIn(proof, new));
            assert_eq!(
                profile(&cast).may_notify(&ContactMethod::email("olga@example.com")),
                shown,
                "{said:?}"
            );
        }
    }
}
