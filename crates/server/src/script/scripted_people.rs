//! Runs the people of a script: they see new asks, wait as long as their rule says, and answer
//! with the same commands as real people.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway::Gateway;
use kernel::ask::Assignee;
use kernel::question::Reply;
use kernel::{Actor, AnswerInterface, Ask, AskCommand, AskId, Assurance, HumanId, Subject, Time};
use serde::Serialize;
use store::{AnnouncedChange, StoreError};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use super::{Script, ScriptRule};

/// How long to wait for a change before checking for due answers.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The number of changes read at once.
const BATCH: usize = 500;
/// The number of scripted actions that the report keeps.
const REMEMBERED: usize = 1000;

/// The people of a script.
pub struct ScriptedPeople {
    state: Mutex<ScriptState>,
    /// Serialises runs, so that a caller who moved the clock sees all due answers
    /// when the call returns.
    turn: tokio::sync::Mutex<()>,
}

struct ScriptState {
    rules: Vec<(ScriptRule, u32)>,
    position: u64,
    due: BinaryHeap<Reverse<(Time, AskId, usize)>>,
    played: VecDeque<ScriptedAction>,
}

/// An action of a scripted person.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Played)]
pub struct ScriptedAction {
    /// The ask.
    pub ask: AskId,
    /// Which rule; `null` when none fits.
    pub rule: Option<String>,
    /// `answered`, `commented`, `ignored`, `unmatched` or `refused`.
    pub what: &'static str,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl ScriptedPeople {
    /// Runs a script for asks created after `position`.
    pub fn new(script: Script, position: u64) -> Self {
        let rules = script.rules.into_iter().map(|rule| (rule, 0)).collect();
        let (due, played) = (BinaryHeap::new(), VecDeque::new());
        let state = ScriptState { rules, position, due, played };
        Self { state: Mutex::new(state), turn: tokio::sync::Mutex::default() }
    }

    /// Replaces the script, for asks created after `position`. Pending actions of the
    /// old script are dropped.
    pub fn replace(&self, script: Script, position: u64) {
        let mut state = self.state();
        state.position = position;
        state.rules = script.rules.into_iter().map(|rule| (rule, 0)).collect();
        state.due.clear();
        state.played.clear();
    }

    /// Each rule with its number of uses, and the latest actions, oldest first.
    pub fn report(&self) -> (Vec<(String, u32)>, Vec<ScriptedAction>) {
        let state = self.state();
        let titles = state.rules.iter().enumerate();
        let rules = titles.map(|(place, (rule, used))| (rule.title(place), *used)).collect();
        (rules, state.played.iter().cloned().collect())
    }

    /// Runs until shutdown.
    pub async fn run(
        self: Arc<Self>,
        gateway: Gateway,
        mut feed: Receiver<Arc<[AnnouncedChange]>>,
        stop: CancellationToken,
    ) {
        loop {
            if let Err(error) = self.run_due(&gateway).await {
                tracing::warn!(error = %error, "the script failed, will retry");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                news = feed.recv() => if matches!(news, Err(RecvError::Closed)) { return },
            }
        }
    }

    /// Does everything that is due now: finds the rules of new asks, and gives the
    /// answers that are due.
    pub async fn run_due(&self, gateway: &Gateway) -> Result<(), StoreError> {
        let _turn = self.turn.lock().await;
        // Without a script nothing is read, so a server under load pays nothing for it.
        while !self.state().rules.is_empty() {
            let position = self.state().position;
            let changes = gateway.store().changes(store::FeedQuery::After(position), BATCH).await?;
            let Some(last) = changes.last().map(|change| change.position) else { break };
            for change in changes {
                if let (Subject::Ask(id), "asked") = (change.subject, change.what.as_str()) {
                    self.match_rule(gateway, id).await?;
                }
            }
            self.state().position = last;
        }
        while let Some((id, place)) = self.next_due(gateway.now()) {
            self.act(gateway, id, place).await?;
        }
        Ok(())
    }

    /// Finds the rule for an ask.
    async fn match_rule(&self, gateway: &Gateway, id: AskId) -> Result<(), StoreError> {
        let Some(ask) = gateway.store().ask(id).await? else { return Ok(()) };
        let mut state = self.state();
        let fits = |(rule, used): &(ScriptRule, u32)| {
            rule.times.is_none_or(|times| *used < times) && rule.when.fits(&ask)
        };
        let Some(place) = state.rules.iter().position(fits) else {
            state.record_action(ScriptedAction {
                ask: id,
                rule: None,
                what: "unmatched",
                why: None,
            });
            return Ok(());
        };
        let Some((rule, used)) = state.rules.get_mut(place) else { return Ok(()) };
        *used += 1;
        let millis = i64::try_from(rule.after.as_millis()).unwrap_or(i64::MAX);
        let at = Time::from_millis(ask.created_at.millis().saturating_add(millis));
        state.due.push(Reverse((at, id, place)));
        Ok(())
    }

    fn next_due(&self, now: Time) -> Option<(AskId, usize)> {
        let mut state = self.state();
        let Reverse((at, ..)) = state.due.peek()?;
        if *at > now {
            return None;
        }
        state.due.pop().map(|Reverse((_, id, place))| (id, place))
    }

    async fn act(&self, gateway: &Gateway, id: AskId, place: usize) -> Result<(), StoreError> {
        let Some(rule) = self.state().rules.get(place).map(|(rule, _)| rule.clone()) else {
            return Ok(());
        };
        let Some(ask) = gateway.ask(id).await? else { return Ok(()) };
        let (what, why) = match perform(gateway, &rule, &ask).await {
            Ok(what) => (what, None),
            Err(ScriptFailure::Refused(why)) => {
                tracing::warn!(ask.id = %id, rule = rule.title(place), why, "a scripted answer was refused");
                ("refused", Some(why))
            }
            Err(ScriptFailure::Store(error)) => return Err(error),
        };
        let rule = Some(rule.title(place));
        self.state().record_action(ScriptedAction { ask: id, rule, what, why });
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, ScriptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptState {
    fn record_action(&mut self, played: ScriptedAction) {
        if self.played.len() >= REMEMBERED {
            self.played.pop_front();
        }
        self.played.push_back(played);
    }
}

enum ScriptFailure {
    Refused(String),
    Store(StoreError),
}

async fn perform(
    gateway: &Gateway,
    rule: &ScriptRule,
    ask: &Ask,
) -> Result<&'static str, ScriptFailure> {
    let id = rule.by.clone().unwrap_or_else(|| asked_person(ask));
    let actor = Actor::Human { id, via: AnswerInterface::Script, assurance: Assurance::Session };
    let (command, what) = match (&rule.answer, &rule.comment) {
        (Some(says), comment) => {
            let Some(question) = ask.question.value() else { return Ok("ignored") };
            let (answer, words) = says.answer_to(question).map_err(ScriptFailure::Refused)?;
            let comment = comment.clone().or_else(|| words.map(str::to_owned));
            (AskCommand::Answer(ask.id, Box::new(Reply { answer, comment })), "answered")
        }
        (None, Some(text)) => (AskCommand::Comment(ask.id, text.clone()), "commented"),
        (None, None) => return Ok("ignored"),
    };
    match gateway.run(actor, command).await {
        Ok(_) => Ok(what),
        Err(StoreError::Refused(refusal)) => Err(ScriptFailure::Refused(refusal.to_string())),
        Err(error) => Err(ScriptFailure::Store(error)),
    }
}

/// The person who was asked by name, else the agent's owner.
fn asked_person(ask: &Ask) -> HumanId {
    let named = ask.assignees.iter().find_map(|seat| match seat {
        Assignee::Person { human } => Some(human),
        Assignee::Pool { .. } => None,
    });
    named.unwrap_or(&ask.owner).clone()
}
