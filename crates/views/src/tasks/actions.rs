//! What can be done to a task by whoever answers for it: give it out, stop it, say something, allow
//! something, hand it over, call it off.

use kernel::directory::{Agent, Directory, Human};
use kernel::task::{NewGrant, Party, State, Until};
use kernel::{Task, Time};

use crate::answer_form::submitted::Submitted;
use crate::components::task_words::{self as words_of, INTENTS};
use crate::components::words;
use crate::settings::controls::Choice;

/// More than this is not chosen from a list.
const CHOICES: usize = 200;

/// What somebody may do now.
#[derive(Debug, Clone, Default)]
pub struct Acts {
    /// By the names of their forms.
    pub offered: Vec<&'static str>,
    /// The agents it can be given to; empty where it is given already.
    pub assign: Vec<Choice>,
    /// To whom it can be handed: people and agents.
    pub transfer: Vec<Choice>,
    /// Who would take it over, where that can be.
    pub take: Option<String>,
    /// To what end something can be said: what is sent, and what is read.
    pub intents: Vec<(&'static str, &'static str)>,
    /// What was entered in a form that was refused: which, and what.
    pub draft: Option<(String, Submitted)>,
}

impl Acts {
    /// What this person may do to this task.
    pub fn new(
        task: &Task,
        me: &Human,
        directory: &Directory,
        draft: Option<(String, Submitted)>,
    ) -> Self {
        let principal = task.principal == me.id;
        if task.state.is_over() || !(principal || me.admin) {
            return Self { draft, ..Self::default() };
        }
        let acts = Self {
            offered: vec!["transfer"],
            transfer: receivers(task, directory),
            take: (task.assignee.human() != Some(&me.id)).then(|| me.id.to_string()),
            draft,
            ..Self::default()
        };
        if !principal {
            return acts;
        }
        let working = task.state == State::InProgress && task.assignee.agent().is_some();
        let amends = matches!(task.state, State::InProgress | State::Blocked);
        let cancels = amends || matches!(task.state, State::Created | State::Assigned);
        let offers = [
            ("amend", amends),
            ("interrupt", working),
            ("decide", task.is_stranded() && task.worker.agent().is_some()),
            ("grant", true),
            ("transfer", true),
            ("cancel", cancels),
        ];
        let offered = offers.into_iter().filter(|(_, can)| *can).map(|(name, _)| name);
        Self {
            offered: offered.collect(),
            assign: if task.state == State::Created { agents(task, directory) } else { Vec::new() },
            intents: INTENTS
                .iter()
                .map(|intent| (intent.as_str(), words_of::intent(*intent)))
                .collect(),
            ..acts
        }
    }

    /// Whether something can be done.
    pub fn offers(&self, act: &str) -> bool {
        self.offered.contains(&act)
    }

    /// Whether a form was refused, and is to be corrected.
    pub fn is_open(&self, act: &str) -> bool {
        self.draft.as_ref().is_some_and(|(name, _)| name == act)
    }

    /// What was entered.
    pub fn kept(&self, act: &str, name: &str) -> String {
        let of = self.draft.as_ref().filter(|(of, _)| of == act);
        of.and_then(|(_, sent)| sent.text(name)).unwrap_or_default()
    }
}

/// The agents a task can be given to.
pub fn agents(task: &Task, directory: &Directory) -> Vec<Choice> {
    let principal = directory.human(&task.principal);
    let theirs = |agent: &&Agent| {
        agent.project == task.project
            || principal.is_some_and(|principal| agent.is_known_to(principal))
    };
    let choice =
        |agent: &Agent| (agent.id.to_string(), format!("{} in {}", agent.id, agent.project));
    directory.agents().filter(theirs).take(CHOICES).map(choice).collect()
}

/// Everybody else a task can be handed to.
fn receivers(task: &Task, directory: &Directory) -> Vec<Choice> {
    let able =
        |human: &&Human| human.active && (human.admin || human.projects.contains(&task.project));
    let people = directory.humans().filter(able).map(|human| {
        let party = Party::Human(human.id.clone());
        (party, words::person(directory, &human.id))
    });
    let agents = agents(task, directory).into_iter();
    let people = people
        .filter(|(party, _)| *party != task.assignee)
        .take(CHOICES)
        .map(|(party, name)| (format!("human/{party}"), name));
    let with = task.assignee.agent().map(ToString::to_string);
    let agents = agents
        .filter(|(id, _)| Some(id) != with.as_ref())
        .map(|(id, name)| (format!("agent/{id}"), format!("the agent {name}")));
    people.chain(agents).collect()
}

/// Whom a form names.
pub fn party(sent: &str) -> Option<Party> {
    match sent.split_once('/')? {
        ("human", id) => id.parse().ok().map(Party::Human),
        ("agent", id) => id.parse().ok().map(Party::Agent),
        _ => None,
    }
}

/// The permission a form means; `zone` is where its times of day are.
pub fn grant(sent: &Submitted, zone: &jiff::tz::TimeZone) -> Option<NewGrant> {
    use kernel::task::Leave;
    let decision = match sent.value("decision")? {
        "allow" => Leave::Allow,
        "deny" => Leave::Deny,
        _ => return None,
    };
    let until = match sent.value("until")? {
        "session" => Until::Session,
        "task" => Until::Task,
        "moment" => Until::At(moment(sent.value("moment")?, zone)?),
        _ => return None,
    };
    Some(NewGrant { scope: sent.text("scope")?, decision, until })
}

/// A moment as a browser sends it, read in somebody's time zone.
pub fn moment(sent: &str, zone: &jiff::tz::TimeZone) -> Option<Time> {
    let local: jiff::civil::DateTime = sent.trim().parse().ok()?;
    zone.to_ambiguous_timestamp(local).compatible().ok().map(Time::new)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use kernel::task::Leave;

    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> Submitted {
        Submitted::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn a_permission_is_read_whole_or_not_at_all() {
        let zone = kernel::directory::about::zone("Europe/Berlin").unwrap();
        let base = [("scope", "fs:/repo:*"), ("decision", "deny"), ("until", "moment")];
        let with = |moment: &'static str| sent(&[base.as_slice(), &[("moment", moment)]].concat());
        let read = grant(&with("2026-07-01T12:00"), &zone).unwrap();
        assert_eq!((read.scope.as_str(), read.decision), ("fs:/repo:*", Leave::Deny));
        assert_eq!(read.until, Until::At("2026-07-01T10:00:00Z".parse().unwrap()));
        assert!(grant(&with("tomorrow"), &zone).is_none() && grant(&with(""), &zone).is_none());
        let odd = sent(&[("scope", "*"), ("decision", "maybe"), ("until", "task")]);
        assert!(grant(&odd, &TimeZone::UTC).is_none());
    }

    #[test]
    fn whoever_is_named_is_a_person_or_an_agent() {
        assert_eq!(party("human/olga").unwrap().to_string(), "olga");
        assert!(matches!(party("agent/bot"), Some(Party::Agent(_))));
        for wrong in ["", "olga", "group/x", "human/", "agent/a b"] {
            assert!(party(wrong).is_none(), "{wrong}");
        }
    }
}
