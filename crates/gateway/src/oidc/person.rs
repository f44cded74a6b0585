//! Matches the claims of a provider with a person of the directory.

use std::collections::BTreeSet;

use kernel::audit::Digest;
use kernel::directory::{Directory, Human, NewHuman, Profile};
use kernel::ids::GroupId;
use kernel::{HumanId, text};
use serde_json::Value;

use super::{IdentifyBy, OidcClaims, OidcSettings};

/// The person who signs in, and the changes to make before.
#[derive(Debug, PartialEq)]
pub struct OidcSignIn {
    /// The id of the person.
    pub human: HumanId,
    /// The new profile, if it differs from the stored one.
    pub save: Option<NewHuman>,
    /// The email address that the provider has verified.
    pub email: Option<String>,
}

/// Finds the person, or creates one if the settings allow it. `None` if they may not sign in.
pub fn find_or_create(
    settings: &OidcSettings,
    directory: &Directory,
    claims: &OidcClaims,
) -> Option<OidcSignIn> {
    let own = derived_id(settings, claims)?;
    let text = |name: &str| claims.others.get(name).and_then(Value::as_str);
    let verified = claims.others.get("email_verified") == Some(&Value::Bool(true));
    let email = text("email").filter(|email| verified && text::is_email(email));
    let found = match settings.identify {
        IdentifyBy::Email => email.and_then(|email| directory.human_by_email(email)),
        IdentifyBy::Subject => claims.sub.parse().ok().and_then(|id| directory.human(&id)),
    };
    let found = found.or_else(|| directory.human(&own));
    let before = match (found, &settings.create) {
        (Some(human), _) => as_new_human(human)?,
        (None, Some(projects)) => {
            let known = |id: &&kernel::ProjectId| directory.project(id).is_some();
            // An address of another person is not taken over.
            let free = email.filter(|email| directory.human_by_email(email).is_none());
            NewHuman {
                id: own,
                profile: Profile {
                    name: text("name")
                        .unwrap_or_default()
                        .chars()
                        .filter(|c| *c != '\0')
                        .take(200)
                        .collect(),
                    email: free.map(str::to_owned),
                    ..Profile::default()
                },
                admin: false,
                active: true,
                projects: projects.iter().filter(known).cloned().collect(),
                groups: BTreeSet::new(),
                skills: BTreeSet::new(),
            }
        }
        (None, None) => return None,
    };
    if !before.active {
        return None;
    }
    let after = with_groups(settings, claims, before.clone());
    let human = after.id.clone();
    let changed = found.is_none() || after != before;
    let email = email.map(str::to_owned);
    Some(OidcSignIn { human, save: changed.then_some(after), email })
}

/// The id of a person that the server creates: it reveals nothing about them, and is
/// always the same.
fn derived_id(settings: &OidcSettings, claims: &OidcClaims) -> Option<HumanId> {
    let hash = Digest::of_json(&(settings.issuer.as_str(), &claims.sub)).to_string();
    let name = format!("user_{}", hash.get(..16).unwrap_or_default());
    name.parse().ok()
}

fn as_new_human(human: &Human) -> Option<NewHuman> {
    let Human { id, profile, admin, active, projects, groups, skills, .. } = human.clone();
    let profile = profile.value().cloned()?;
    Some(NewHuman { id, profile, admin, active, projects, groups, skills })
}

/// Groups that the provider manages follow its claim. Other groups stay unchanged. Without the
/// claim, nothing changes.
fn with_groups(settings: &OidcSettings, claims: &OidcClaims, mut human: NewHuman) -> NewHuman {
    let Some(said) = claims.others.get(&settings.groups_claim) else { return human };
    let theirs: BTreeSet<&str> = match said {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        Value::String(one) => [one.as_str()].into(),
        _ => return human,
    };
    let spoken_for: BTreeSet<&GroupId> = settings.groups.values().collect();
    human.groups.retain(|group| !spoken_for.contains(group));
    let now = settings.groups.iter().filter(|(name, _)| theirs.contains(name.as_str()));
    human.groups.extend(now.map(|(_, group)| group.clone()));
    if let Some(admin) = &settings.admin_group {
        human.admin = theirs.contains(admin.as_str());
    }
    human
}

#[cfg(test)]
mod tests {
    use kernel::testing::{Cast, human};
    use kernel::{Actor, DirectoryCommand};
    use serde_json::json;

    use super::*;

    fn settings() -> OidcSettings {
        OidcSettings {
            issuer: "https://id.example.com".parse().unwrap(),
            name: String::new(),
            client_id: "countersign".to_owned(),
            client_secret: None,
            scopes: Vec::new(),
            identify: IdentifyBy::Email,
            create: None,
            groups_claim: "groups".to_owned(),
            groups: [("ops-team".to_owned(), "ops".parse().unwrap())].into(),
            admin_group: Some("admins".to_owned()),
        }
    }

    fn claims(sub: &str, others: &Value) -> OidcClaims {
        let mut all = json!({ "sub": sub, "exp": 0 });
        all.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    fn cast() -> Cast {
        let mut cast = Cast::new();
        let known = as_new_human(cast.directory().human(&human("mark")).unwrap()).unwrap();
        let profile =
            Profile { email: Some("mark@example.com".to_owned()), ..known.profile.clone() };
        let legal = ["legal".parse().unwrap()].into();
        let mark = NewHuman { profile, groups: legal, ..known };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(mark));
        cast
    }

    #[test]
    fn people_are_found_by_a_verified_address_or_by_their_subject() {
        let cast = cast();
        let found = |settings: &OidcSettings, claims: &OidcClaims| {
            find_or_create(settings, cast.directory(), claims)
                .map(|arrival| arrival.human.to_string())
        };
        let verified = json!({ "email": "Mark@example.com", "email_verified": true });
        for (sub, others, who) in [
            ("7", verified.clone(), Some("mark")),
            ("7", json!({ "email": "mark@example.com", "email_verified": false }), None),
            ("7", json!({ "email": "mark@example.com" }), None),
            ("7", json!({ "email": "mark@example.com", "email_verified": "true" }), None),
            ("mark", json!({}), None),
        ] {
            assert_eq!(found(&settings(), &claims(sub, &others)).as_deref(), who, "{sub}");
        }
        let by_subject = OidcSettings { identify: IdentifyBy::Subject, ..settings() };
        assert_eq!(found(&by_subject, &claims("mark", &json!({}))).as_deref(), Some("mark"));
        assert_eq!(found(&by_subject, &claims("7", &verified)), None);
    }

    #[test]
    fn strangers_are_added_only_if_told_and_never_take_an_address() {
        let cast = cast();
        let open = OidcSettings {
            create: Some(vec!["acme".parse().unwrap(), "gone".parse().unwrap()]),
            ..settings()
        };
        let eve = claims("8", &json!({ "email": "mark@example.com", "name": "Eve\0" }));
        let arrival = find_or_create(&open, cast.directory(), &eve).unwrap();
        let new = arrival.save.unwrap();
        assert!(new.id.as_str().starts_with("user_") && new.id == arrival.human);
        assert_eq!((new.profile.name.as_str(), new.profile.email), ("Eve", None));
        assert!(!new.admin && new.active);
        assert_eq!(
            new.projects.iter().map(kernel::ProjectId::as_str).collect::<Vec<_>>(),
            ["acme"]
        );
        assert_eq!(find_or_create(&settings(), cast.directory(), &eve), None);
    }

    #[test]
    fn groups_it_speaks_for_follow_the_provider_and_others_stay() {
        let cast = cast();
        let mark = |groups: Value| {
            let said =
                json!({ "email": "mark@example.com", "email_verified": true, "groups": groups });
            let arrival =
                find_or_create(&settings(), cast.directory(), &claims("7", &said)).unwrap();
            arrival.save.map(|new| {
                let groups = new.groups.iter().map(ToString::to_string).collect::<Vec<_>>();
                (groups.join(" "), new.admin)
            })
        };
        assert_eq!(mark(json!(["ops-team", "admins", 7])), Some(("legal ops".to_owned(), true)));
        assert_eq!(mark(json!("ops-team")), Some(("legal ops".to_owned(), false)));
        assert_eq!(mark(json!([])), None, "nothing changes");
        assert_eq!(mark(json!({ "odd": true })), None, "it says nothing we understand");
    }
}
