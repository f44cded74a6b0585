//! The directory: a snapshot that is current as soon as a job is acknowledged.

use std::sync::Arc;

use kernel::actor::KeyScope;
use kernel::directory::{CredentialKind, NewKey, NewProject, NewSession, SignInProof};
use kernel::testing::{Cast, human};
use kernel::{Actor, DirectoryCommand, KeyId, Refusal};
use ulid::Ulid;

use super::stage::{Stage, refusal};

fn key(secret: &str, holder: CredentialKind) -> NewKey {
    NewKey { hash: Cast::hash(secret), kind: holder, label: "test".into(), expires_at: None }
}

fn agent_key(secret: &str) -> NewKey {
    key(
        secret,
        CredentialKind::Agent {
            agent: "bot".parse().unwrap(),
            scope: KeyScope::Agent,
            respond: false,
            own_app: false,
        },
    )
}

async fn issue(stage: &Stage, new: NewKey) -> KeyId {
    let hash = new.hash;
    stage.run(Actor::System, DirectoryCommand::IssueKey(new)).await;
    stage.store.directory().key_by_hash(&hash).unwrap().id
}

pub async fn a_change_shows_at_once(stage: &Stage) {
    for n in 0..20 {
        let id: kernel::ProjectId = format!("project-{n}").parse().unwrap();
        let save = DirectoryCommand::SaveProject(NewProject::plain(id.clone()));
        let outcome = stage.run(Actor::System, save).await;
        assert_eq!(outcome.ask, None);
        assert!(stage.store.directory().project(&id).is_some());
    }
}

pub async fn a_key_is_found_by_its_hash(stage: &Stage) {
    let id = issue(stage, agent_key("secret")).await;
    let directory = stage.store.directory();
    assert_eq!(directory.key_by_hash(&Cast::hash("secret")).unwrap().id, id);
    assert!(directory.key_by_hash(&Cast::hash("guess")).is_none());
    let twice = stage.attempt(Actor::System, DirectoryCommand::IssueKey(agent_key("secret"))).await;
    assert_eq!(refusal(twice), Refusal::Exists { what: "key" });
}

pub async fn a_revoked_key_is_not_live(stage: &Stage) {
    let id = issue(stage, agent_key("secret")).await;
    assert!(stage.store.directory().key(id).unwrap().is_live(stage.now()));
    stage.run(Actor::System, DirectoryCommand::RevokeKey(id)).await;
    assert!(!stage.store.directory().key(id).unwrap().is_live(stage.now()));
}

pub async fn a_snapshot_does_not_move(stage: &Stage) {
    let before = stage.store.directory();
    let id = issue(stage, agent_key("secret")).await;
    assert!(before.key(id).is_none());
    let after = stage.store.directory();
    stage.ask(kernel::testing::new_ask()).await;
    assert!(Arc::ptr_eq(&after, &stage.store.directory()), "asks do not touch it");
}

pub async fn a_link_signs_in_once(stage: &Stage) {
    let link =
        issue(stage, key("link", CredentialKind::Link { human: human("olga"), mailed: false }))
            .await;
    let link = SignInProof::Link(link);
    stage.run(Actor::System, DirectoryCommand::SignIn(link.clone(), session(stage, "one"))).await;
    assert!(stage.store.directory().key_by_hash(&Cast::hash("one")).is_some());
    let again =
        stage.attempt(Actor::System, DirectoryCommand::SignIn(link, session(stage, "two"))).await;
    assert!(matches!(refusal(again), Refusal::NotAllowed { .. }));
    assert!(stage.store.directory().key_by_hash(&Cast::hash("two")).is_none());
}

fn session(stage: &Stage, secret: &str) -> NewSession {
    NewSession {
        hash: Cast::hash(secret),
        browser: Cast::hash("browser"),
        label: "Firefox on Linux".to_owned(),
        expires_at: stage.now().plus_seconds(60),
    }
}

pub async fn sessions_are_known_by_person_until_they_end(stage: &Stage) {
    let mut ids = Vec::new();
    for secret in ["one", "two", "three"] {
        let link = key(
            &format!("link {secret}"),
            CredentialKind::Link { human: human("olga"), mailed: false },
        );
        let link = SignInProof::Link(issue(stage, link).await);
        stage.run(Actor::System, DirectoryCommand::SignIn(link, session(stage, secret))).await;
        ids.push(stage.store.directory().key_by_hash(&Cast::hash(secret)).unwrap().id);
    }
    let listed = || -> Vec<KeyId> {
        stage.store.directory().sessions_of(&human("olga")).map(|key| key.id).collect()
    };
    ids.sort_unstable();
    assert_eq!(listed(), ids);
    stage.run(Actor::System, DirectoryCommand::EndSessions(human("olga"), Some(ids[1]))).await;
    assert_eq!(listed(), [ids[1]]);
    stage.run(Actor::System, DirectoryCommand::RevokeKey(ids[1])).await;
    assert!(listed().is_empty());
    assert!(stage.store.directory().sessions_of(&human("mark")).next().is_none());
}

pub async fn the_last_use_of_a_key_is_known(stage: &Stage) {
    let (one, other) = (KeyId::new(Ulid::from(1_u128)), KeyId::new(Ulid::from(2_u128)));
    let now = stage.now();
    assert_eq!(stage.store.key_used(one).await.unwrap(), None);
    stage.store.touch_keys(vec![(one, now), (other, now)]).await.unwrap();
    stage.store.touch_keys(vec![(one, now.plus_seconds(5))]).await.unwrap();
    stage.store.touch_keys(vec![(one, now.plus_seconds(1))]).await.unwrap();
    assert_eq!(stage.store.key_used(one).await.unwrap(), Some(now.plus_seconds(5)));
    assert_eq!(stage.store.key_used(other).await.unwrap(), Some(now));
}

pub async fn it_answers(stage: &Stage) {
    stage.store.ping().await.unwrap();
}
