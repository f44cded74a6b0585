//! Usage counters.

use kernel::quota::{Account, Metric, resets_at};
use kernel::testing::yes;
use kernel::{Actor, AskCommand};
use ulid::Ulid;

use super::stage::{Stage, bot, person};
use crate::usage::{Charge, ChargeLifetime};

fn agent() -> Account {
    Account::Agent("bot".parse().unwrap())
}

fn accounts() -> [Account; 3] {
    let owner = "olga".parse().unwrap();
    [agent(), Account::Project("acme".parse().unwrap()), Account::Person(owner)]
}

async fn used(stage: &Stage, metric: Metric) -> Vec<u64> {
    let names = accounts().iter().map(|account| account.counter(metric, stage.now())).collect();
    stage.store.used(names).await.unwrap()
}

/// Open requests are counted for their agent, project and people, whichever way they are closed.
pub async fn open_requests_are_counted(stage: &Stage) {
    assert_eq!(used(stage, Metric::OpenAsks).await, [0, 0, 0]);
    let first = stage.ask(kernel::testing::new_ask()).await;
    let second = stage.ask(kernel::testing::new_ask()).await;
    assert_eq!(used(stage, Metric::OpenAsks).await, [2, 2, 2]);
    stage.run(person("olga"), AskCommand::Open(first)).await;
    assert_eq!(used(stage, Metric::OpenAsks).await, [2, 2, 2], "looking closes nothing");
    stage.run(person("olga"), AskCommand::Answer(first, yes())).await;
    assert_eq!(used(stage, Metric::OpenAsks).await, [1, 1, 1]);
    stage.run(bot(), AskCommand::Cancel(second, None)).await;
    assert_eq!(used(stage, Metric::OpenAsks).await, [0, 0, 0]);
}

/// The bytes of requests are counted, and fall when their text is erased.
pub async fn bytes_of_requests_are_counted(stage: &Stage) {
    let mut new = kernel::testing::new_ask();
    new.metadata.insert("blob".into(), "x".repeat(10_000).into());
    let id = stage.ask(new).await;
    let [agent, project, person] = used(stage, Metric::StoredBytes).await[..] else { panic!() };
    assert!((10_000..20_000).contains(&agent), "{agent}");
    assert_eq!((project, person), (agent, 0));
    stage.run(self::person("olga"), AskCommand::Answer(id, yes())).await;
    stage.run(Actor::System, AskCommand::Erase(id)).await;
    let after = used(stage, Metric::StoredBytes).await[0];
    assert!(after < 5_000, "{after}");
}

/// A charge that exceeds a limit changes nothing, and a window ends.
pub async fn charges_are_taken_whole_or_not_at_all(stage: &Stage) {
    let now = stage.now();
    let until = resets_at(Metric::Notifications, now).unwrap();
    let name = agent().counter(Metric::Notifications, now);
    let other = "notifications/project/acme/1".to_owned();
    let charge = |name: &str, by, limit| {
        let (name, kind) = (name.to_owned(), ChargeLifetime::Until(until));
        Charge { name, by, limit, kind }
    };
    let both = |by| vec![charge(&other, by, None), charge(&name, by, Some(5))];
    assert_eq!(stage.store.charge(both(3)).await.unwrap(), None);
    assert_eq!(stage.store.charge(both(2)).await.unwrap(), None);
    assert_eq!(stage.store.charge(both(1)).await.unwrap(), Some(1));
    let all = vec![name.clone(), other, "notifications/agent/nobody/1".into()];
    assert_eq!(stage.store.used(all).await.unwrap(), [5, 5, 0]);
    stage.store.sweep(until).await.unwrap();
    assert_eq!(stage.store.used(vec![name]).await.unwrap(), [0]);
}

/// The same recipient counts once.
pub async fn recipients_count_once(stage: &Stage) {
    let now = stage.now();
    let until = resets_at(Metric::Recipients, now).unwrap();
    let name = agent().counter(Metric::Recipients, now);
    let charge = async |who: &str| {
        let kind = ChargeLifetime::OnceUntil(until, who.to_owned());
        let charge = Charge { name: name.clone(), by: 1, limit: Some(2), kind };
        stage.store.charge(vec![charge]).await.unwrap()
    };
    for (who, expected) in
        [("a", None), ("b", None), ("a", None), ("c", Some(0)), ("b", None), ("c", Some(0))]
    {
        assert_eq!(charge(who).await, expected, "{who}");
    }
    assert_eq!(stage.store.used(vec![name.clone()]).await.unwrap(), [2]);
}

/// The bytes of files are released with their holder.
pub async fn files_are_released_with_their_holder(stage: &Stage) {
    let name = agent().counter(Metric::StoredBytes, stage.now());
    let (one, other) = (Ulid::from(1_u128), Ulid::from(2_u128));
    let charge = async |holder, by| {
        let kind = ChargeLifetime::Held(holder);
        let charge = Charge { name: name.clone(), by, limit: Some(100), kind };
        stage.store.charge(vec![charge]).await.unwrap()
    };
    assert_eq!(charge(one, 40).await, None);
    assert_eq!(charge(one, 20).await, None);
    assert_eq!(charge(other, 30).await, None);
    assert_eq!(charge(other, 30).await, Some(0));
    let used = async || stage.store.used(vec![name.clone()]).await.unwrap();
    assert_eq!(used().await, [90]);
    stage.store.release(one).await.unwrap();
    stage.store.release(one).await.unwrap();
    assert_eq!(used().await, [30]);
}
