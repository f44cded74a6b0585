//! The actions of the person responsible for a task: assign it, interrupt it, send a message, grant
//! a permission, transfer it, cancel it.

use kernel::directory::{Agent, Directory, Human};
use kernel::task::{GrantDuration, NewGrant, Party, TaskState};
use kernel::{Task, Time};

use crate::answer_form::submitted::SubmittedForm;
use crate::components::task_labels::{self as words_of, INTENTS};
use crate::components::wording;
use crate::settings::controls::SelectOption;

/// The maximum number of options in a list.
const CHOICES: usize = 200;

/// The actions that a person can perform now.
#[derive(Debug, Clone, Default)]
pub struct TaskActions {
    /// The actions, by the names of their forms.
    pub offered: Vec<&'static str>,
    /// The agents it can be assigned to; empty if it is already assigned.
    pub assign: Vec<SelectOption>,
    /// The people and agents it can be transferred to.
    pub transfer: Vec<SelectOption>,
    /// The id of the reader, if they can take it over.
    pub take: Option<String>,
    /// The possible purposes of a message: value and label.
    pub intents: Vec<(&'static str, String)>,
    /// The values of a refused form: its name and its content.
    pub draft: Option<(String, SubmittedForm)>,
}

impl TaskActions {
    /// The actions of this person on this task.
    pub fn new(
        task: &Task,
        me: &Human,
        directory: &Directory,
        draft: Option<(String, SubmittedForm)>,
    ) -> Self {
        let principal = task.principal == me.id;
        if task.state.is_closed() || !(principal || me.admin) {
            return Self { draft, ..Self::default() };
        }
        let acts = Self {
            offered: vec!["transfer"],
            transfer: transfer_targets(task, directory),
            take: (task.assignee.human() != Some(&me.id)).then(|| me.id.to_string()),
            draft,
            ..Self::default()
        };
        if !principal {
            return acts;
        }
        let working = task.state == TaskState::InProgress && task.assignee.agent().is_some();
        let amends = matches!(task.state, TaskState::InProgress | TaskState::Blocked);
        let cancels = amends || matches!(task.state, TaskState::Created | TaskState::Assigned);
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
            assign: if task.state == TaskState::Created {
                agents(task, directory)
            } else {
                Vec::new()
            },
            intents: INTENTS
                .iter()
                .map(|intent| (intent.as_str(), words_of::intent(*intent)))
                .collect(),
            ..acts
        }
    }

    /// Whether an action is available.
    pub fn offers(&self, act: &str) -> bool {
        self.offered.contains(&act)
    }

    /// Whether a form was refused and must be corrected.
    pub fn is_open(&self, act: &str) -> bool {
        self.draft.as_ref().is_some_and(|(name, _)| name == act)
    }

    /// The entered value of a field.
    pub fn kept(&self, act: &str, name: &str) -> String {
        let of = self.draft.as_ref().filter(|(of, _)| of == act);
        of.and_then(|(_, sent)| sent.text(name)).unwrap_or_default()
    }
}

/// The agents that a task can be assigned to.
pub fn agents(task: &Task, directory: &Directory) -> Vec<SelectOption> {
    let principal = directory.human(&task.principal);
    let theirs = |agent: &&Agent| {
        agent.project == task.project
            || principal.is_some_and(|principal| agent.accepts_messages_from(principal))
    };
    let choice = |agent: &Agent| (agent.id.to_string(), agent_label(agent));
    directory.agents().filter(theirs).take(CHOICES).map(choice).collect()
}

/// The name of an agent with its project.
pub fn agent_label(agent: &Agent) -> String {
    t!("task-agent-in-project", agent = agent.id.as_str(), project = agent.project.as_str())
}

/// The people and agents that a task can be transferred to.
fn transfer_targets(task: &Task, directory: &Directory) -> Vec<SelectOption> {
    let able =
        |human: &&Human| human.active && (human.admin || human.projects.contains(&task.project));
    let people = directory.humans().filter(able).map(|human| {
        let party = Party::Human(human.id.clone());
        (party, wording::person_name(directory, &human.id))
    });
    let agents = agents(task, directory).into_iter();
    let people = people
        .filter(|(party, _)| *party != task.assignee)
        .take(CHOICES)
        .map(|(party, name)| (format!("human/{party}"), name));
    let with = task.assignee.agent().map(ToString::to_string);
    let agents = agents
        .filter(|(id, _)| Some(id) != with.as_ref())
        .map(|(id, name)| (format!("agent/{id}"), t!("actor-agent", id = name)));
    people.chain(agents).collect()
}

/// Parses a person or an agent.
pub fn parse_party(sent: &str) -> Option<Party> {
    match sent.split_once('/')? {
        ("human", id) => id.parse().ok().map(Party::Human),
        ("agent", id) => id.parse().ok().map(Party::Agent),
        _ => None,
    }
}

/// Parses a permission; `zone` is the time zone of its times.
pub fn parse_grant(sent: &SubmittedForm, zone: &jiff::tz::TimeZone) -> Option<NewGrant> {
    use kernel::task::GrantDecision;
    let decision = match sent.value("decision")? {
        "allow" => GrantDecision::Allow,
        "deny" => GrantDecision::Deny,
        _ => return None,
    };
    let until = match sent.value("until")? {
        "session" => GrantDuration::Session,
        "task" => GrantDuration::Task,
        "moment" => GrantDuration::At(parse_local_time(sent.value("moment")?, zone)?),
        _ => return None,
    };
    Some(NewGrant { scope: sent.text("scope")?, decision, until })
}

/// Parses a local time of a browser in a person's time zone.
pub fn parse_local_time(sent: &str, zone: &jiff::tz::TimeZone) -> Option<Time> {
    let local: jiff::civil::DateTime = sent.trim().parse().ok()?;
    zone.to_ambiguous_timestamp(local).compatible().ok().map(Time::new)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use kernel::task::GrantDecision;

    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> SubmittedForm {
        SubmittedForm::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn a_permission_is_read_whole_or_not_at_all() {
        let zone = kernel::directory::profile_settings::zone("Europe/Berlin").unwrap();
        let base = [("scope", "fs:/repo:*"), ("decision", "deny"), ("until", "moment")];
        let with = |moment: &'static str| sent(&[base.as_slice(), &[("moment", moment)]].concat());
        let read = parse_grant(&with("2026-07-01T12:00"), &zone).unwrap();
        assert_eq!((read.scope.as_str(), read.decision), ("fs:/repo:*", GrantDecision::Deny));
        assert_eq!(read.until, GrantDuration::At("2026-07-01T10:00:00Z".parse().unwrap()));
        assert!(
            parse_grant(&with("tomorrow"), &zone).is_none()
                && parse_grant(&with(""), &zone).is_none()
        );
        let odd = sent(&[("scope", "*"), ("decision", "maybe"), ("until", "task")]);
        assert!(parse_grant(&odd, &TimeZone::UTC).is_none());
    }

    #[test]
    fn whoever_is_named_is_a_person_or_an_agent() {
        assert_eq!(parse_party("human/olga").unwrap().to_string(), "olga");
        assert!(matches!(parse_party("agent/bot"), Some(Party::Agent(_))));
        for wrong in ["", "olga", "group/x", "human/", "agent/a b"] {
            assert!(parse_party(wrong).is_none(), "{wrong}");
        }
    }
}
