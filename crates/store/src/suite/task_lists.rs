//! Reads of tasks: pages, counts, ledgers, the events of a project, and contracts.

use std::collections::BTreeSet;
use std::sync::Arc;

use kernel::directory::{NewHuman, Profile};
use kernel::task::{
    AgentInput, Contract, Duty, Handover, NewEntry, NewTask, Party, TaskCommand, TaskState,
};
use kernel::testing::human;
use kernel::{Actor, AgentId, Command, DirectoryCommand, EntryId, ProjectId, Subject, TaskId};
use serde_json::json;
use tokio::task::JoinSet;

use super::stage::{Stage, bot, person, refusal};
use super::tasks::{
    amend, assign, begun, create, created, ledger, new_task, of, raise, seen, story, write,
};
use crate::{CONTRACT_DAYS, Count, Job, TaskListQuery};

fn project(name: &str) -> ProjectId {
    name.parse().unwrap()
}

fn agent() -> AgentId {
    "bot".parse().unwrap()
}

fn list(projects: &[&str]) -> TaskListQuery {
    let projects = projects.iter().map(|name| project(name)).collect();
    TaskListQuery { projects, limit: 100, ..TaskListQuery::default() }
}

async fn ids(stage: &Stage, list: TaskListQuery) -> Vec<TaskId> {
    let page = stage.store.tasks(list).await.unwrap();
    page.tasks.iter().map(|task| task.id).collect()
}

/// Tasks of many kinds: of two projects and three people, with and without a parent,
/// in many states.
async fn many(stage: &Stage) -> Vec<TaskId> {
    let mut all = Vec::new();
    let parent = created(stage, new_task()).await;
    all.push(parent);
    for n in 0..3 {
        for parent in [None, Some(parent)] {
            for who in ["olga", "mark"] {
                let made = create(NewTask { parent, ..new_task() });
                let id = stage.run(person(who), made).await.task.unwrap().id;
                if n > 0 {
                    stage.run(person(who), assign(id)).await;
                }
                if n > 1 {
                    stage.run(bot(), of(TaskCommand::Start(id))).await;
                    stage.run(bot(), raise(id)).await;
                }
                all.push(id);
            }
        }
    }
    let theirs = NewTask { project: Some(project("rival")), ..new_task() };
    all.push(stage.run(person("zoe"), create(theirs)).await.task.unwrap().id);
    let over = created(stage, new_task()).await;
    stage.run(person("olga"), of(TaskCommand::Cancel(over, None))).await;
    all.push(over);
    all
}

/// Every combination of filters gives the same result as a scan of all tasks.
pub async fn lists_of_tasks_are_narrowed_every_way(stage: &Stage) {
    let all = many(stage).await;
    let mut tasks = Vec::new();
    for id in all.iter().rev() {
        tasks.push(seen(stage, *id).await);
    }
    let people = [None, Some(Party::Human(human("olga"))), Some(Party::Agent(agent()))];
    let mut found = BTreeSet::new();
    for projects in [&["acme"][..], &["rival"], &["rival", "acme", "acme"], &["nowhere"], &[]] {
        for states in [&[][..], &[TaskState::Blocked], &[TaskState::Created, TaskState::Completed]]
        {
            for assignee in &people {
                for principal in [None, Some(human("olga")), Some(human("mark"))] {
                    for parent in [None, Some(all[0])] {
                        let (states, assignee) = (states.to_vec(), assignee.clone());
                        let principal = principal.clone();
                        let wanted =
                            TaskListQuery { states, assignee, principal, parent, ..list(projects) };
                        let admitted = tasks.iter().filter(|task| {
                            wanted.projects.contains(&task.project)
                                && (wanted.states.is_empty() || wanted.states.contains(&task.state))
                                && wanted.assignee.as_ref().is_none_or(|who| *who == task.assignee)
                                && wanted
                                    .principal
                                    .as_ref()
                                    .is_none_or(|who| *who == task.principal)
                                && wanted.parent.is_none_or(|id| task.parent == Some(id))
                        });
                        let expected: Vec<TaskId> = admitted.map(|task| task.id).collect();
                        found.insert(expected.len());
                        assert_eq!(ids(stage, wanted.clone()).await, expected, "{wanted:?}");
                    }
                }
            }
        }
    }
    assert!(found.len() > 5, "lists of many lengths: {found:?}");
}

/// The tasks ever assigned to an agent are a list of its own, in all projects, including tasks it
/// no longer has.
pub async fn an_agent_has_a_list_of_what_it_was_given(stage: &Stage) {
    let all = many(stage).await;
    let given = |agent: &str, states: &[TaskState]| TaskListQuery {
        agent: agent.parse().ok(),
        states: states.to_vec(),
        limit: 100,
        ..TaskListQuery::default()
    };
    let mut tasks = Vec::new();
    for id in all.iter().rev() {
        tasks.push(seen(stage, *id).await);
    }
    for states in [&[][..], &[TaskState::Blocked], &[TaskState::Assigned, TaskState::Blocked]] {
        let admitted = tasks.iter().filter(|task| {
            task.agents().contains(&agent()) && (states.is_empty() || states.contains(&task.state))
        });
        let expected: Vec<TaskId> = admitted.map(|task| task.id).collect();
        assert_eq!(ids(stage, given("bot", states)).await, expected, "{states:?}");
        assert!(expected.len() > 3, "{states:?}");
    }
    assert_eq!(ids(stage, given("spy", &[])).await, []);

    let id = begun(stage).await;
    let to = |party| of(TaskCommand::Transfer(id, party, Handover::Handoff));
    stage.run(person("olga"), to(Party::Human(human("mark")))).await;
    assert_eq!(ids(stage, given("bot", &[])).await.first(), Some(&id), "it had it once");
    stage.run(person("olga"), of(TaskCommand::Cancel(id, None))).await;
    assert_eq!(ids(stage, given("bot", &[TaskState::Completed])).await, [id]);
    assert!(!ids(stage, given("bot", &[TaskState::InProgress])).await.contains(&id));
}

/// Pages have no gaps while others write, and the last one has no next page.
pub async fn pages_of_tasks_join_without_gaps(stage: &Stage) {
    let all = many(stage).await;
    let whole = ids(stage, list(&["acme", "rival"])).await;
    assert_eq!(whole, all.iter().rev().copied().collect::<Vec<_>>(), "newest first");
    for limit in [1, 2, 5, 14, 15] {
        let (mut joined, mut after) = (Vec::new(), None);
        loop {
            let wanted = TaskListQuery { after, limit, ..list(&["acme", "rival"]) };
            let page = stage.store.tasks(wanted).await.unwrap();
            assert!(page.tasks.len() <= limit);
            assert_eq!(page.next.is_some(), joined.len() + page.tasks.len() < whole.len());
            joined.extend(page.tasks.iter().map(|task| task.id));
            stage.run(person("olga"), amend(all[9], "Go on.")).await;
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(joined, whole, "{limit} at a time");
    }
    let none = stage.store.tasks(TaskListQuery { limit: 0, ..list(&["acme"]) }).await.unwrap();
    assert_eq!((none.tasks.len(), none.next), (0, None));
}

pub async fn tasks_are_counted_by_state(stage: &Stage) {
    many(stage).await;
    let counts = stage.store.task_counts(list(&["acme", "rival"])).await.unwrap();
    let found = counts.iter().filter(|(_, count)| count.n > 0).copied();
    let exact = |n| Count { n, exact: true };
    let expected = [
        (TaskState::Created, exact(6)),
        (TaskState::Assigned, exact(4)),
        (TaskState::Blocked, exact(4)),
        (TaskState::Completed, exact(1)),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(counts.len(), TaskState::ALL.len());
    let marks = TaskListQuery { principal: Some(human("mark")), limit: 1, ..list(&["acme"]) };
    let blocked = TaskListQuery { states: vec![TaskState::Blocked], ..marks };
    let counts = stage.store.task_counts(blocked).await.unwrap();
    assert_eq!(counts, [(TaskState::Blocked, exact(2))]);
}

/// HACP-023: writing a key appends; reads return the last value, and all values are kept.
pub async fn a_key_of_a_ledger_keeps_its_history(stage: &Stage) {
    let id = begun(stage).await;
    for n in 1..=5 {
        stage.clock.advance(1);
        let written = stage.run(bot(), write(id, "total", json!(n), Some(n - 1))).await;
        let entry = written.entry.unwrap();
        assert_eq!((entry.head.seq, entry.value.value()), (n, Some(&json!(n))));
        assert_eq!(stage.store.entry(entry.id).await.unwrap(), Some(*entry));
    }
    let stale = stage.attempt(bot(), write(id, "total", json!(9), Some(3))).await;
    assert_eq!(refusal(stale), kernel::Refusal::Stale { what: "key", revision: 5 });
    let entry = EntryId::of(ledger().as_str(), "total");
    let history = stage.store.entry_history(entry, 0, 100).await.unwrap();
    let values: Vec<_> = history.iter().map(|one| one.value.value().unwrap().clone()).collect();
    assert_eq!(values, [1, 2, 3, 4, 5].map(|n| json!(n)));
    assert_eq!(history.last(), stage.store.entry(entry).await.unwrap().as_ref());
    assert!(history.is_sorted_by(|one, next| one.written_at < next.written_at));
    assert_eq!(stage.store.entry_history(entry, 2, 2).await.unwrap(), history[2..4]);
    assert_eq!(seen(stage, id).await.revision, 2, "the task is none the newer");
}

pub async fn a_ledger_is_browsed_by_its_keys(stage: &Stage) {
    let id = begun(stage).await;
    let mut keys = ["b", "a.b", "Z", "é", "a", "_", "a.c", "日本"].map(str::to_owned).to_vec();
    for key in &keys {
        stage.run(bot(), write(id, key, json!(key), None)).await;
    }
    keys.sort();
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let page = stage.store.entries(ledger(), after, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        read.extend(page.into_iter().map(|entry| entry.key));
    }
    assert_eq!(read, keys);
    let others = stage.store.entries("project:rival".parse().unwrap(), None, 9).await.unwrap();
    assert_eq!(others, []);
}

/// The ledgers of the organisation are listed without knowing their names, each once, and
/// no other ledgers.
pub async fn the_ledgers_of_the_organisation_are_known(stage: &Stage) {
    let known = async |limit| -> Vec<String> {
        let found = stage.store.organisation_ledgers(limit).await.unwrap();
        found.iter().map(ToString::to_string).collect()
    };
    let id = begun(stage).await;
    stage.run(bot(), write(id, "a", json!(1), None)).await;
    assert_eq!(known(9).await, [""; 0], "that of a project is none");
    let head = NewHuman {
        id: human("olga"),
        profile: Profile::default(),
        admin: true,
        active: true,
        projects: [project("acme")].into(),
        groups: [].into(),
        skills: [].into(),
    };
    stage.run(Actor::System, DirectoryCommand::SaveHuman(head)).await;
    for scope in ["org:legal", "org:all", "org:legal"] {
        for key in ["a", "b"] {
            let scope = scope.parse().unwrap();
            let new = NewEntry { scope, key: key.to_owned(), value: json!(1), expected: None };
            stage.run(person("olga"), of(TaskCommand::Write(id, Box::new(new)))).await;
        }
    }
    assert_eq!(known(9).await, ["org:all", "org:legal"]);
    assert_eq!(known(1).await, ["org:all"]);
}

/// If several writers create a key at once, all values are kept, one after the other.
pub async fn of_many_who_write_a_key_all_are_kept(stage: &Stage) {
    let mut tasks = Vec::new();
    for _ in 0..10 {
        tasks.push(begun(stage).await);
    }
    let mut writers = JoinSet::new();
    for id in tasks {
        let job: Job = stage.job(bot(), write(id, "shared", json!(id), None));
        let store = Arc::clone(&stage.store);
        writers.spawn(async move { *store.transact(job).await.unwrap().entry.unwrap() });
    }
    let mut written = writers.join_all().await;
    written.sort_by_key(|entry| entry.head.seq);
    let entry = EntryId::of(ledger().as_str(), "shared");
    assert_eq!(stage.store.entry_history(entry, 0, 100).await.unwrap(), written);
    assert_eq!(written.last().unwrap().head.seq, 10);
}

/// The events of the tasks of some projects, in feed order and nothing else.
pub async fn what_happens_to_tasks_is_followed_by_project(stage: &Stage) {
    story(stage).await;
    let theirs = NewTask { project: Some(project("rival")), ..new_task() };
    stage.run(person("zoe"), create(theirs)).await;
    begun(stage).await;
    let all = stage.store.records(crate::FeedQuery::After(0), 1000).await.unwrap();
    let expected = |of: &[&str]| {
        let mut own = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        for (position, record) in &all {
            let Subject::Task(id) = record.subject else { continue };
            if record.seq == 1 {
                known.insert(id, record.body.contains(r#""project":"acme""#));
            }
            let name = if known[&id] { "acme" } else { "rival" };
            own.extend(of.contains(&name).then(|| (*position, record.clone())));
        }
        own
    };
    for projects in [&["acme"][..], &["rival"], &["rival", "acme", "rival"], &["nowhere"]] {
        for limit in [2, 1000] {
            let wanted: Vec<_> = projects.iter().map(|name| project(name)).collect();
            let (mut read, mut after) = (Vec::new(), 0);
            loop {
                let page = stage
                    .store
                    .records(crate::FeedQuery::Tasks(wanted.clone(), after), limit)
                    .await
                    .unwrap();
                assert!(page.len() <= limit);
                let Some((last, _)) = page.last() else { break };
                after = *last;
                read.extend(page);
            }
            assert_eq!(read, expected(projects), "{projects:?}, {limit} at a time");
        }
    }
    assert!(!expected(&["acme"]).is_empty() && !expected(&["rival"]).is_empty());
}

fn duties(contracts: &[(u64, Contract)]) -> Vec<Duty> {
    contracts.iter().map(|(_, contract)| contract.duty).collect()
}

/// Reading removes nothing. Acknowledging only advances, and concerns one runtime alone.
pub async fn contracts_are_read_in_order_and_acknowledged(stage: &Stage) {
    let (id, _) = story(stage).await;
    let read = async |n, limit| stage.store.contracts(agent(), n, limit).await.unwrap();
    let all = read(0, 100).await;
    assert!(all.iter().all(|(_, contract)| contract.task == id && contract.agent == agent()));
    assert_eq!(duties(&all)[..4], [Duty::Delegate, Duty::Steer, Duty::Block, Duty::Resume]);
    assert!(all.is_sorted_by(|(one, _), (next, _)| one < next));
    assert_eq!(read(0, 100).await, all, "reading takes nothing away");
    assert_eq!(read(all[0].0, 2).await, all[1..3]);
    let (second, last) = (all[1].0, all.last().unwrap().0);
    assert_eq!(read(last, 100).await, []);
    let spy: AgentId = "spy".parse().unwrap();
    assert_eq!(stage.store.contracts(spy.clone(), 0, 9).await.unwrap(), []);
    assert_eq!(stage.store.acked(agent()).await.unwrap(), 0);
    for (n, at) in [(second, second), (1, second), (0, second), (u64::MAX, last), (second, last)] {
        assert_eq!(stage.store.ack_contracts(agent(), n).await.unwrap(), at, "through {n}");
        assert_eq!(stage.store.acked(agent()).await.unwrap(), at);
    }
    assert_eq!(stage.store.ack_contracts(spy.clone(), 9).await.unwrap(), 0, "there is nothing");
    assert_eq!(stage.store.acked(spy).await.unwrap(), 0);
    assert_eq!(read(0, 100).await, all, "nor does acknowledging");
    begun(stage).await;
    let more = read(last, 100).await;
    assert_eq!(duties(&more), [Duty::Delegate], "what comes later is still to be had");
}

/// A runtime that reads along and continues after the last number misses nothing and
/// sees nothing twice.
pub async fn contracts_are_not_passed_over_while_others_write(stage: &Stage) {
    let mut tasks = Vec::new();
    for _ in 0..30 {
        tasks.push(created(stage, new_task()).await);
    }
    let mut writers = JoinSet::new();
    for id in &tasks {
        let job: Job = stage.job(person("olga"), Command::clone(&assign(*id)));
        let store = Arc::clone(&stage.store);
        writers.spawn(async move { store.transact(job).await.unwrap() });
    }
    let (mut read, mut n) = (Vec::new(), 0);
    while read.len() < tasks.len() {
        let more = stage.store.contracts(agent(), n, 7).await.unwrap();
        n = more.last().map_or(n, |(last, _)| *last);
        read.extend(more);
        tokio::task::yield_now().await;
    }
    writers.join_all().await;
    assert_eq!(read, stage.store.contracts(agent(), 0, 100).await.unwrap());
    let given: BTreeSet<_> = read.iter().map(|(_, contract)| contract.task).collect();
    assert_eq!(given, tasks.into_iter().collect());
}

/// Whatever the projects of its tasks, including tasks it no longer has. A name that begins like
/// another one is distinct.
pub async fn the_projects_of_what_an_agent_was_given_are_known(stage: &Stage) {
    let given = async |name: &str| {
        let agent: AgentId = name.parse().unwrap();
        stage.store.projects_with_tasks(agent).await.unwrap()
    };
    assert_eq!(given("bot").await, []);
    for _ in 0..3 {
        begun(stage).await;
    }
    assert_eq!(given("bot").await, [project("acme")]);
    let id = begun(stage).await;
    let own = Party::Human(human("olga"));
    stage.run(person("olga"), of(TaskCommand::Transfer(id, own, Handover::Handoff))).await;
    stage.run(person("olga"), of(TaskCommand::Cancel(id, None))).await;
    assert_eq!(given("bot").await, [project("acme")], "also of what it has no longer");
    for other in ["bo", "bott", "spy", "nobody"] {
        assert_eq!(given(other).await, [], "{other}");
    }
    let theirs = NewTask { project: Some(project("rival")), ..new_task() };
    let id = stage.run(person("zoe"), create(theirs)).await.task.unwrap().id;
    let spy: AgentId = "spy".parse().unwrap();
    stage.run(person("zoe"), of(TaskCommand::Assign(id, spy, AgentInput::default()))).await;
    assert_eq!(given("spy").await, [project("rival")]);
    assert_eq!(given("bot").await, [project("acme")]);
}

/// Acknowledged contracts are deleted after a while, and so are contracts of tasks that ended
/// long ago. A contract of an open task stays until it is acknowledged, however old. Numbers
/// are never reused.
pub async fn contracts_go_when_nobody_waits_for_them(stage: &Stage) {
    let days = |n: i64| stage.clock.advance(n * 24 * 60 * 60);
    let read = async || stage.store.contracts(agent(), 0, 100).await.unwrap();
    let sweep = async || stage.store.sweep_contracts(0, stage.now()).await.unwrap();
    let confirmed = begun(stage).await;
    let last = read().await.last().unwrap().0;
    stage.store.ack_contracts(agent(), last).await.unwrap();
    let (open, over) = (begun(stage).await, begun(stage).await);
    stage.run(person("olga"), of(TaskCommand::Cancel(over, None))).await;
    let tasks = async || -> Vec<TaskId> { read().await.iter().map(|(_, one)| one.task).collect() };
    assert_eq!(tasks().await, [confirmed, open, over, over]);
    days(CONTRACT_DAYS - 1);
    assert_eq!(sweep().await, 0);
    assert_eq!(tasks().await.len(), 4, "nothing goes before its time");
    let newest = begun(stage).await;
    days(2);
    sweep().await;
    assert_eq!(tasks().await, [open, newest]);
    days(1000);
    sweep().await;
    assert_eq!(tasks().await, [open, newest], "what an open task wants is never given up");
    let (all, acked) = (read().await, stage.store.acked(agent()).await.unwrap());
    assert!(all.iter().all(|(n, _)| *n > acked), "none of it was confirmed");
    // Even if all contracts were acknowledged and are deleted, the next number is higher.
    let last = all.last().unwrap().0;
    assert_eq!(stage.store.ack_contracts(agent(), last).await.unwrap(), last);
    sweep().await;
    let next = begun(stage).await;
    let fresh = stage.store.contracts(agent(), last, 9).await.unwrap();
    assert_eq!(fresh.iter().map(|(_, one)| one.task).collect::<Vec<_>>(), [next]);
    assert_eq!(stage.store.acked(agent()).await.unwrap(), last);
}

/// Contracts that stay do not block the sweep of the ones after them.
pub async fn a_sweep_goes_on_where_it_was(stage: &Stage) {
    for _ in 0..3 {
        begun(stage).await;
    }
    let all = stage.store.contracts(agent(), 0, 9).await.unwrap();
    stage.store.ack_contracts(agent(), all[1].0).await.unwrap();
    stage.clock.advance((CONTRACT_DAYS + 1) * 24 * 60 * 60);
    assert_eq!(stage.store.sweep_contracts(all[0].0, stage.now()).await.unwrap(), 0);
    let left = stage.store.contracts(agent(), 0, 9).await.unwrap();
    assert_eq!(left, [all[0].clone(), all[2].clone()]);
}
