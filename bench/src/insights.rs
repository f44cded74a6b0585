//! Fills the counts of a store as if it had processed this many messages in a year,
//! without the messages.
//!
//! It runs some hundred sample messages through the kernel: asks of every protocol, with all kinds
//! of envelopes or none, opened or not, answered soon, late or never. The kernel computes the
//! counts of each sample from its events. Every message is a copy of one of the samples, and their
//! counts are added up for each agent and day.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context, ensure};
use dialects::hxp_execution::parse_create;
use gateway::Gateway;
use gateway::auth::Authenticator;
use gateway::bootstrap;
use gateway::clock::OsClock;
use gateway::installation::Installation;
use gateway::login_rate_limit::LoginRateLimit;
use kernel::actor::{AnswerInterface, Assurance};
use kernel::ask::{DefaultAction, Dialect};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::directory::{NewAgent, NewProject};
use kernel::insight::{ACTIONS, CountScope, Day, INTENTS, Measure, REFUSALS, SEVERITIES, Tally};
use kernel::question::{Answer, Reply};
use kernel::{Actor, AgentId, AskCommand, AskId, DirectoryCommand, ProjectId, Subject, Time};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use store::Clock;
use store::memory::Memory;

use crate::gateway::{AGENT, settings};

/// The number of days, of which the last is today.
pub(crate) const DAYS: i64 = 365;
/// The number of projects.
const PROJECTS: u64 = 20;
/// The number of agents.
const AGENTS: u64 = 50;
/// The number of different sample messages.
const SAMPLE_MESSAGES: u64 = 512;
/// The database in the directory of a gateway.
const DATABASE: &str = "countersign.db";

/// The project and the agent that are measured separately.
pub(crate) const PROJECT: &str = "project_00";
pub(crate) const ONE_AGENT: &str = "agent_00";

/// Fills the counts of a gateway that is not running. Returns the growth of its database in bytes.
pub(crate) fn fill(folder: &Path, messages: u64) -> anyhow::Result<u64> {
    std::fs::create_dir_all(folder)?;
    let filled = Process::new(std::env::current_exe()?)
        .arg("fill-insights")
        .arg(folder)
        .arg(messages.to_string())
        .output()?;
    let said = String::from_utf8_lossy(&filled.stderr).into_owned();
    ensure!(filled.status.success(), "the counts could not be filled: {said}");
    Ok(String::from_utf8(filled.stdout)?.trim().parse()?)
}

/// The work of the filling process.
pub(crate) async fn run(folder: &Path, messages: u64) -> anyhow::Result<()> {
    let home =
        Installation::open(&settings(folder).check()?.location, Arc::new(OsClock), true).await?;
    let gateway = Gateway::new(home.store, home.clock);
    bootstrap::create_dev_directory(&gateway).await?;
    for n in 0..PROJECTS {
        let project = NewProject::plain(project(n)?);
        gateway.run(Actor::System, DirectoryCommand::SaveProject(project)).await?;
    }
    for n in 0..AGENTS {
        let (id, project, owner) = (agent(n)?, project(n % PROJECTS)?, "user_dev".parse()?);
        let agent = NewAgent { id, project, owner, conversations: None };
        gateway.run(Actor::System, DirectoryCommand::SaveAgent(agent)).await?;
    }
    let today = Day::of(gateway.now()).number();
    drop(gateway);
    let stories = sample_counts().await?;
    let mut conn = Connection::open(folder.join(DATABASE))?;
    let before = size(&conn)?;
    write(&mut conn, &daily_counts(&stories, messages, today)?)?;
    println!("{}", size(&conn)?.saturating_sub(before));
    Ok(())
}

fn project(n: u64) -> anyhow::Result<ProjectId> {
    Ok(format!("project_{n:02}").parse()?)
}

fn agent(n: u64) -> anyhow::Result<AgentId> {
    Ok(format!("agent_{n:02}").parse()?)
}

/// The counts of one message.
type MessageCounts = Vec<(Measure, &'static str)>;

/// Counts of a bin by day.
type DailyCounts = BTreeMap<(CountScope, Measure, &'static str), BTreeMap<i64, u64>>;

/// Adds up this many messages, spread over days and agents.
fn daily_counts(
    stories: &[MessageCounts],
    messages: u64,
    today: i64,
) -> anyhow::Result<DailyCounts> {
    let mut sums = DailyCounts::new();
    let cells = u64::try_from(DAYS)? * AGENTS;
    for cell in 0..cells {
        // With few messages, not every agent has one every day. They are spread evenly.
        let share = messages * (cell + 1) / cells - messages * cell / cells;
        let (day, n) = (today - i64::try_from(cell / AGENTS)?, cell % AGENTS);
        let mut bins: BTreeMap<(Measure, &'static str), u64> = BTreeMap::new();
        for message in 0..share {
            let story = mixed(cell * 7_919 + message) % SAMPLE_MESSAGES;
            for count in stories.get(usize::try_from(story)?).context("no such story")? {
                *bins.entry(*count).or_default() += 1;
            }
        }
        let (project, agent) = (project(n % PROJECTS)?, agent(n)?);
        for ((measure, bin), n) in bins {
            let own = CountScope::Agent(project.clone(), agent.clone());
            for whose in [CountScope::All, CountScope::Project(project.clone()), own] {
                let days = sums.entry((whose, measure, bin)).or_default();
                *days.entry(day).or_default() += n;
            }
        }
    }
    Ok(sums)
}

/// Writes the counts in the store's format: running totals, in the order of their keys.
fn write(conn: &mut Connection, sums: &DailyCounts) -> anyhow::Result<()> {
    let work = conn.transaction()?;
    let sql = "INSERT INTO running (project, agent, measure, bin, day, total)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut put = work.prepare(sql)?;
    for ((whose, measure, bin), days) in sums {
        let mut total = 0;
        for (day, n) in days {
            total += i64::try_from(*n)?;
            put.execute(params![
                whose.project(),
                whose.agent(),
                measure.as_str(),
                bin,
                day,
                total
            ])?;
        }
    }
    drop(put);
    work.commit()?;
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

fn size(conn: &Connection) -> anyhow::Result<u64> {
    let of = |pragma: &str| conn.query_row(pragma, [], |row| row.get::<_, i64>(0));
    Ok(u64::try_from(of("PRAGMA page_count")? * of("PRAGMA page_size")?)?)
}

/// A pseudo-random number that is the same in every run.
fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// The counts of each sample message, as the kernel computes them.
async fn sample_counts() -> anyhow::Result<Vec<MessageCounts>> {
    let clock = Arc::new(SimulatedClock(AtomicI64::new(1_770_000_000_000)));
    let store = Arc::new(Memory::new(Arc::clone(&clock) as Arc<dyn Clock>));
    let gateway = Gateway::new(store, Arc::clone(&clock) as Arc<dyn Clock>);
    bootstrap::create_dev_directory(&gateway).await?;
    let mut stories = Vec::new();
    for n in 0..SAMPLE_MESSAGES {
        let id = simulate_message(&gateway, &clock, mixed(n)).await?;
        let ask = gateway.ask(id).await?.context("no such ask")?;
        let mut tally = Tally::default();
        for record in gateway.store().chain(Subject::Ask(id), 0, 100).await? {
            tally.add(&record.event()?, &ask);
        }
        let own = tally.cells().filter(|(cell, _)| cell.scope == CountScope::All);
        let times = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let counts = own.flat_map(|(cell, n)| vec![(cell.measure, cell.bin); times(n)]);
        stories.push(counts.collect());
    }
    Ok(stories)
}

/// Runs one sample message through the kernel. The bits of `chance` select its properties.
async fn simulate_message(
    gateway: &Gateway,
    clock: &SimulatedClock,
    chance: u64,
) -> anyhow::Result<AskId> {
    let Ok(asks) = Authenticator::new(0, None, LoginRateLimit::default()).agent(
        &gateway.directory(),
        AGENT,
        gateway.now(),
    ) else {
        anyhow::bail!("the agent of --dev is not there");
    };
    let id = "user_dev".parse()?;
    let person = Actor::Human { id, via: AnswerInterface::Web, assurance: Assurance::Session };
    let of = |shift: u32, many: u64| (chance >> shift) % many;
    let asked = gateway.run(asks.clone(), AskCommand::Create(Box::new(new(chance)?))).await?;
    let id = asked.ask.context("no ask")?.id;
    // From a second to some days, each about twice as long as the previous.
    clock.advance(2_i64.pow(u32::try_from(of(0, 19))?));
    let answers = of(5, 10) < 8;
    if answers && of(9, 8) > 0 {
        gateway.run(person.clone(), AskCommand::Open(id)).await?;
        if of(12, 3) == 0 && of(20, 4) > 0 {
            gateway.run(person.clone(), AskCommand::Pick(id, 0)).await?;
        }
    }
    clock.advance(2_i64.pow(u32::try_from(of(14, 15))?));
    let answer = match of(17, 6) {
        0 => Answer::Rejected { option: None },
        1 => Answer::ChangesRequested { edits: None },
        _ => Answer::Approved { edits: None },
    };
    let reply = Reply { answer, comment: Some("as discussed".to_owned()) };
    let end = match of(5, 10) {
        8 => AskCommand::Cancel(id, None),
        9 => {
            clock.advance(60 * 86_400);
            AskCommand::Expire(id)
        }
        _ => AskCommand::Answer(id, Box::new(reply)),
    };
    let by = match end {
        AskCommand::Cancel(..) => asks,
        AskCommand::Expire(_) => Actor::System,
        _ => person,
    };
    gateway.run(by, end).await?;
    Ok(id)
}

/// An ask of one of the protocols, usually with an envelope.
fn new(chance: u64) -> anyhow::Result<NewAsk> {
    let of = |shift: u32, many: u64| (chance >> shift) % many;
    let pick = |shift: u32, list: &[&'static str]| -> Value {
        let place = usize::try_from(of(shift, list.len() as u64)).unwrap_or(0);
        list.get(place).map_or(Value::Null, |name| json!(name))
    };
    let mut body = json!({
        "action": "APPROVE",
        "payload": { "item": "Refund €120.00 to Ada Lovelace for order 4711?" },
    });
    if of(20, 4) > 0 {
        let confidence = json!(of(23, 101)).as_f64().unwrap_or(0.0) / 100.0;
        let mut hxp = json!({
            "v": "1.0.0-rc1",
            "id": format!("urn:bench:{chance}"),
            "ts": "2026-02-06T10:00:00Z",
            "intent": pick(28, &INTENTS),
            "content": "The parcel was lost; the carrier confirmed it this morning.",
            "transparency": { "confidence": confidence },
            "cognition": { "load": of(33, 10) + 1 },
            "actions": [{ "type": pick(37, &ACTIONS), "label": "Do that" }],
        });
        if hxp["intent"] == "refuse" {
            hxp["refusal"] = json!({
                "type": pick(41, &REFUSALS[..5]),
                "severity": pick(44, &SEVERITIES[..2]),
                "reason": "It is not mine to decide.",
            });
        }
        body["hxp"] = hxp;
    }
    let dialect = match of(48, 5) {
        0 => Dialect::HxpExecution,
        1 => Dialect::Hitl,
        2 => Dialect::A2h,
        3 => Dialect::Hacp,
        _ => Dialect::Native,
    };
    let report = NewOnExpiry::Report(DefaultAction::Skip);
    let on_expiry = if of(52, 2) == 0 { NewOnExpiry::Fail } else { report };
    let new = parse_create(body.to_string().as_bytes())?;
    Ok(NewAsk { dialect, on_expiry, timeout: Some(30 * 86_400), ..new })
}

/// A clock that is moved manually.
struct SimulatedClock(AtomicI64);

impl SimulatedClock {
    fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1000, Ordering::Relaxed);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::Relaxed))
    }
}
