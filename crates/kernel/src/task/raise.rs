//! An agent raises a checkpoint: an ask that blocks its task.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::command::NewCheckpoint;
use super::grant::is_scope;
use super::permissions::{check_text, is_storable_object, visible_task};
use super::task_ask::TaskQuestion;
use super::{
    ALLOW, Checkpoint, CheckpointDetails, CheckpointKind, CheckpointOption, Duty, ProposedAction,
    RaisedBy, Task, TaskEvent, TaskState,
};
use crate::actor::Actor;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::directory::Agent;
use crate::event::{AskEvent, Asked};
use crate::form::{self, Field, FieldSpec, Form};
use crate::ids::{AgentId, AskId, Subject, TaskId};
use crate::question::{Choice, Editable, Options, PickMode, Question, QuestionBody, QuestionError};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable_json};
use crate::world::{Decision, Stop, World};

/// The maximum number of options, of proposed actions and of pieces of evidence.
const MOST: usize = 200;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    new: &NewCheckpoint,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    let Actor::Agent { id: agent, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only an agent can raise a checkpoint" }.into());
    };
    if new.kind == CheckpointKind::Interrupt {
        let expected = "approval, choice, input or escalation; to interrupt a task, use \
                        task.interrupt";
        return Err(Refusal::Invalid { field: "kind", expected }.into());
    }
    task.check_state(&[TaskState::InProgress])?;
    task.only_assignee(&envelope.actor)?;
    task.check_deadline(world.now)?;
    raised(world, envelope, task, agent, new, RaisedBy::Agent)
}

/// The events that create the ask and block the task, and the contract that stops the runtime.
pub(super) fn raised(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    agent: &AgentId,
    new: &NewCheckpoint,
    raised_by: RaisedBy,
) -> Result<Decision, Stop> {
    let Some(agent) = world.directory.agent(agent) else {
        return Err(Refusal::NotAllowed { why: "this agent is not registered" }.into());
    };
    let asked = build_ask(world, envelope, task, agent, new, raised_by)?;
    let checkpoint = AskId::new(envelope.fresh);
    let kind = new.kind;
    let happened = vec![
        (Subject::Ask(checkpoint), AskEvent::Asked(Box::new(asked)).into()),
        task.event(TaskEvent::Raised { checkpoint, kind, raised_by }),
    ];
    let contracts =
        task.current_run().map(|run| task.contract(run, Duty::Block)).into_iter().collect();
    Ok(Decision { happened, contracts, ..Decision::default() })
}

fn build_ask(
    world: &World<'_>,
    envelope: &Envelope,
    task: &Task,
    agent: &Agent,
    new: &NewCheckpoint,
    raised_by: RaisedBy,
) -> Result<Asked, Refusal> {
    check(world, new)?;
    let question = question(new)
        .map_err(|QuestionError { field, expected }| Refusal::Invalid { field, expected })?;
    let beside = CheckpointDetails {
        options: new.options.clone(),
        context: new.context.clone(),
        proposed_actions: new.proposed_actions.iter().map(trimmed).collect(),
    };
    let checkpoint = Checkpoint {
        task: task.id,
        kind: new.kind,
        raised_by,
        details: Erasable::new(beside, &mut envelope.salts.split()),
    };
    let (priority, expires_at) = (new.priority, new.expires_at);
    let claims = new.claims.as_deref();
    let on = TaskQuestion { question, deciders: task.deciders(), priority, expires_at, claims };
    let asked = task.new_ask(world, envelope, agent, on)?;
    Ok(Asked { checkpoint: Some(Box::new(checkpoint)), ..asked })
}

/// An action as stored: its scope is trimmed like that of a grant.
fn trimmed(action: &ProposedAction) -> ProposedAction {
    let permission_scope = action.permission_scope.as_ref().map(|scope| scope.trim().to_owned());
    ProposedAction { permission_scope, ..action.clone() }
}

fn check(world: &World<'_>, new: &NewCheckpoint) -> Result<(), Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    check_text("prompt", &new.prompt)?;
    if new.expires_at.is_some_and(|at| at <= world.now) {
        return invalid("expires_at", "a time in the future");
    }
    if new.kind == CheckpointKind::Choice && new.options.len() < 2 {
        return invalid("options", "at least two options for a choice");
    }
    let named = |option: &CheckpointOption| {
        !option.id.trim().is_empty()
            && is_short(&option.id)
            && check_text("", &option.label).is_ok()
    };
    if new.options.len() > MOST || !new.options.iter().all(named) {
        return invalid("options", "at most 200 options, each with an id and a label");
    }
    let plain = |action: &ProposedAction| {
        [&action.id, &action.kind].into_iter().all(|name| !name.trim().is_empty() && is_short(name))
            && check_text("", &action.summary).is_ok()
            && action.detail.as_ref().is_none_or(is_storable_object)
    };
    let ids: BTreeSet<_> = new.proposed_actions.iter().map(|action| &action.id).collect();
    let distinct = ids.len() == new.proposed_actions.len();
    if ids.len() > MOST || !distinct || !new.proposed_actions.iter().all(plain) {
        let expected = "at most 200 actions, each with a distinct id, a kind and a summary";
        return invalid("proposed_actions", expected);
    }
    let scopes = new.proposed_actions.iter().filter_map(|action| action.permission_scope.as_ref());
    if !scopes.into_iter().all(|scope| is_scope(scope.trim())) {
        let expected = "\"*\", or namespace:target with * only at its end";
        return invalid("proposed_actions.permission_scope", expected);
    }
    let shown = new.context.iter().all(|evidence| {
        !evidence.kind.trim().is_empty()
            && is_short(&evidence.kind)
            && evidence.id.as_deref().is_none_or(is_short)
            && evidence.version.as_deref().is_none_or(is_short)
            && evidence.content.as_ref().is_none_or(is_storable_json)
    });
    if new.context.len() > MOST || !shown {
        return invalid("context", "at most 200 pieces of evidence, each with a kind");
    }
    Ok(())
}

/// The question of the checkpoint, the same in every dialect and channel.
fn question(new: &NewCheckpoint) -> Result<Question, QuestionError> {
    let body = match new.kind {
        CheckpointKind::Approval | CheckpointKind::Interrupt => QuestionBody::Approve {
            details: details_with_actions(new),
            editable: editable_actions(new),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        },
        CheckpointKind::Choice => QuestionBody::Choose {
            options: Options::new(new.options.iter().map(choice).collect())?,
            pick: PickMode::One,
            suggested: None,
        },
        CheckpointKind::Input => QuestionBody::Converse,
        CheckpointKind::Escalation => {
            QuestionBody::Escalate { error: details(new), params: Map::new() }
        }
    };
    Question::new(new.prompt.clone(), evidence(new), body)
}

fn choice(option: &CheckpointOption) -> Choice {
    let description = option.risk.map(|risk| risk.words().to_owned());
    Choice { id: option.id.clone(), label: option.label.clone(), description }
}

/// All details of the proposed actions.
fn details(new: &NewCheckpoint) -> Map<String, Value> {
    let mut details = Map::new();
    if !new.proposed_actions.is_empty() {
        details.insert("proposed_actions".to_owned(), json!(new.proposed_actions));
    }
    details
}

/// The details with the list of allowed actions: all, until a person leaves some out.
fn details_with_actions(new: &NewCheckpoint) -> Map<String, Value> {
    let mut details = details(new);
    if !new.proposed_actions.is_empty() {
        let ids: Vec<_> = new.proposed_actions.iter().map(|action| &action.id).collect();
        details.insert(ALLOW.to_owned(), json!(ids));
    }
    details
}

/// A person who approves in any dialect may leave out some of the proposed actions (HACP-054).
fn editable_actions(new: &NewCheckpoint) -> Editable {
    if new.proposed_actions.is_empty() {
        return false.into();
    }
    let option = |action: &ProposedAction| {
        let risk = action.risk.map(|risk| format!(", {}", risk.words())).unwrap_or_default();
        let label = format!("{} ({}{risk})", action.summary, action.kind);
        form::FormChoice { value: action.id.clone(), label }
    };
    let options = new.proposed_actions.iter().map(option).collect();
    let spec =
        FieldSpec { options, ..FieldSpec::new(ALLOW, "What the agent may do", "multiselect") };
    let form = Field::try_from(spec).and_then(Form::single);
    // Actions that cannot be shown as a form are approved or rejected as a whole.
    form.map_or_else(|_| false.into(), Editable::Fields)
}

/// The evidence the agent shows, as text.
fn evidence(new: &NewCheckpoint) -> Option<String> {
    let shown: Vec<String> = new
        .context
        .iter()
        .filter_map(|evidence| match (&evidence.content, &evidence.id) {
            (Some(Value::String(text)), _) => Some(text.clone()),
            (Some(content), _) => Some(content.to_string()),
            (None, Some(id)) => {
                let version = evidence.version.as_deref().unwrap_or_default();
                Some(format!("{} {id} {version}", evidence.kind).trim_end().to_owned())
            }
            (None, None) => None,
        })
        .collect();
    if shown.is_empty() { None } else { Some(shown.join("\n\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::ActorRef;
    use crate::ask::Assignee;
    use crate::ask::{OnExpiry, Phase};
    use crate::command::AskCommand;
    use crate::follow_up::FollowUp;
    use crate::question::QuestionKind;
    use crate::task::{Evidence, Handover, NewTask, Party, Quorum, TaskCommand};
    use crate::testing::{Cast, human, new_task, raising};

    fn refused(new: NewCheckpoint) -> Refusal {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let before = (cast.records().len(), cast.follow_ups().len(), cast.task(id).clone());
        let refused = cast.attempt_task(cast.agent("bot"), TaskCommand::Raise(id, Box::new(new)));
        assert_eq!((cast.records().len(), cast.follow_ups().len(), cast.task(id).clone()), before);
        refused.unwrap_err()
    }

    /// HACP-031, HACP-046, HACP-050, digest §5: the task waits, its principal is the assignee, and
    /// the run stops. There is one checkpoint at a time, because a blocked task cannot raise
    /// another.
    #[test]
    fn the_task_waits_for_a_person() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let before = cast.task(id).revision;
        let ask = cast.raised(id, raising(CheckpointKind::Approval));
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (TaskState::Blocked, before + 1));
        assert_eq!(task.assignee, Party::Human(human("olga")));
        assert_eq!(task.chain.last().map(|step| step.via), Some(Handover::Checkpoint));
        let raised = task.pending().unwrap();
        assert_eq!((raised.ask, raised.raised_by), (ask, RaisedBy::Agent));
        assert_eq!(raised.worker, Party::Agent("bot".parse().unwrap()));
        let wanted = cast.contracts(id).pop().unwrap();
        let here = (Duty::Block, cast.run_of(id), task.head.seq, task.revision);
        assert_eq!((wanted.duty, wanted.run, wanted.seq, wanted.revision), here);
        let again = TaskCommand::Raise(id, Box::new(raising(CheckpointKind::Input)));
        let again = cast.attempt_task(cast.agent("bot"), again);
        assert!(matches!(again, Err(Refusal::Precondition { .. })));
        assert_eq!(cast.task(id).checkpoints.len(), 1);
    }

    /// A checkpoint is an ask like any other: it has its kind, is in the inbox of exactly the
    /// people who decide on the task, and the agent can follow it.
    #[test]
    fn a_checkpoint_is_an_ask() {
        for (kind, question) in [
            (CheckpointKind::Approval, QuestionKind::Approve),
            (CheckpointKind::Choice, QuestionKind::Choose),
            (CheckpointKind::Input, QuestionKind::Converse),
            (CheckpointKind::Escalation, QuestionKind::Escalate),
        ] {
            let mut cast = Cast::new();
            let id = cast.begun(new_task().judged_by(Quorum::All, &["nina", "olga"]));
            let ask = cast.raised(id, raising(kind));
            let asked = cast.seen(ask);
            assert_eq!((asked.phase(), asked.kind), (Phase::Waiting, question));
            assert_eq!(asked.question.value().unwrap().prompt(), "May I?");
            let seated = ["olga", "nina"].map(|name| Assignee::Person { human: human(name) });
            assert_eq!(asked.assignees, seated);
            assert_eq!((asked.agent.as_str(), &asked.owner), ("bot", &human("olga")));
            let checkpoint = asked.checkpoint.as_ref().unwrap();
            assert_eq!((checkpoint.task, checkpoint.kind), (id, kind));
            let told = cast.follow_ups().iter().filter(
                |effect| matches!(effect, FollowUp::Notify { ask: about, .. } if *about == ask),
            );
            assert_eq!(told.count(), 2, "everybody who decides is told");
            assert_eq!(cast.record_of(ask)[0].by, ActorRef::Agent("bot".parse().unwrap()));
        }
    }

    /// HACP-054: the proposed actions are shown completely, and are stored with their scope trimmed
    /// (HACP-070).
    #[test]
    fn proposed_actions_are_shown_and_kept() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let mut new = raising(CheckpointKind::Approval).proposing(&["one", "two"]);
        new.proposed_actions[0].permission_scope = Some(" bash:ls ".to_owned());
        let ask = cast.raised(id, new);
        let asked = cast.seen(ask);
        let beside = asked.checkpoint.as_ref().unwrap().details.value().unwrap();
        let scope = beside.proposed_actions[0].permission_scope.as_deref();
        assert_eq!((beside.proposed_actions.len(), scope), (2, Some("bash:ls")));
        let shown = serde_json::to_string(&asked.question).unwrap();
        assert!(shown.contains("do one") && shown.contains("do two"), "{shown}");
        let QuestionBody::Approve { details, editable: Editable::Fields(form), .. } =
            asked.question.value().unwrap().body()
        else {
            panic!("{shown}");
        };
        assert_eq!(details["allow"], json!(["one", "two"]), "all, until something is left out");
        let labels: Vec<_> = form.field("allow").unwrap().options().iter().collect();
        assert_eq!(labels[1].label, "do two (shell)");
    }

    /// HACP-053: only `task.interrupt` interrupts, whatever the state.
    #[test]
    fn an_agent_cannot_interrupt_itself() {
        let interrupt = raising(CheckpointKind::Interrupt);
        assert!(matches!(refused(interrupt), Refusal::Invalid { field: "kind", .. }));
    }

    #[test]
    fn what_cannot_be_asked() {
        let approval = || raising(CheckpointKind::Approval);
        let choice = || raising(CheckpointKind::Choice);
        let evidence = |kind: &str, id: Option<&str>| Evidence {
            kind: kind.to_owned(),
            id: id.map(str::to_owned),
            version: None,
            content: None,
        };
        let mut twice = choice();
        twice.options[1].id = "a".to_owned();
        let mut unnamed = choice();
        unnamed.options[1].id = " ".to_owned();
        let mut unscoped = approval().proposing(&["one"]);
        unscoped.proposed_actions[0].permission_scope = Some("banana".to_owned());
        let mut nul = approval().proposing(&["one"]);
        let detail = serde_json::from_str(r#"{"a\u0000b": 1}"#).unwrap();
        nul.proposed_actions[0].detail = Some(detail);
        for (new, wanted) in [
            (NewCheckpoint { prompt: " ".to_owned(), ..approval() }, "prompt"),
            (NewCheckpoint { prompt: "a\0b".to_owned(), ..approval() }, "prompt"),
            (NewCheckpoint { expires_at: Some(Cast::new().now()), ..approval() }, "expires_at"),
            (NewCheckpoint { options: Vec::new(), ..choice() }, "options"),
            (twice, "options"),
            (unnamed, "options"),
            (approval().proposing(&["one", "one"]), "proposed_actions"),
            (approval().proposing(&[""]), "proposed_actions"),
            (nul, "proposed_actions"),
            (unscoped, "proposed_actions.permission_scope"),
            (NewCheckpoint { context: vec![evidence(" ", None)], ..approval() }, "context"),
            (
                NewCheckpoint { context: vec![evidence("text", Some("\0"))], ..approval() },
                "context",
            ),
        ] {
            let refusal = refused(new);
            let Refusal::Invalid { field, .. } = refusal else { panic!("{wanted}: {refusal:?}") };
            assert_eq!(field, wanted);
        }
    }

    /// K-17: a checkpoint can expire, and there are no reminders after that.
    #[test]
    fn it_runs_out_when_the_agent_says() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let at = cast.now().plus_seconds(60);
        let new = NewCheckpoint { expires_at: Some(at), ..raising(CheckpointKind::Approval) };
        let ask = cast.raised(id, new);
        let asked = cast.seen(ask);
        assert_eq!(asked.expires_at, Some(at));
        assert!(matches!(asked.on_expiry, OnExpiry::Report { .. }));
        assert!(asked.reminders.iter().all(|reminder| *reminder < at));
    }

    /// K-17: a late task cannot raise a checkpoint: neither after the deadline nor after the
    /// maximum duration, which begins when the work does.
    #[test]
    fn the_time_a_task_has_is_enforced() {
        let start = Cast::new().now();
        let (deadline, max_duration) = (start.plus_seconds(100), 40);
        for (new, seconds) in [
            (NewTask { deadline: Some(deadline), ..new_task() }, 100),
            (NewTask { max_duration: Some(max_duration), ..new_task() }, 50),
            (
                NewTask {
                    deadline: Some(deadline),
                    max_duration: Some(max_duration),
                    ..new_task()
                },
                50,
            ),
        ] {
            let mut cast = Cast::new();
            let id = cast.assigned(new, "bot");
            cast.advance(10);
            cast.run_task(cast.agent("bot"), TaskCommand::Start(id));
            let at = start.plus_seconds(seconds);
            assert_eq!(cast.task(id).due_at(), Some(at));
            cast.advance(seconds - 11);
            let ask = cast.raised(id, raising(CheckpointKind::Input));
            cast.advance(1);
            cast.resolve(
                "olga",
                ask,
                crate::testing::resolution(crate::task::ResolutionAction::Provide),
            )
            .unwrap();
            let again = TaskCommand::Raise(id, Box::new(raising(CheckpointKind::Input)));
            let late = cast.attempt_task(cast.agent("bot"), again);
            assert_eq!(late, Err(Refusal::PastDeadline { at }));
        }
    }

    /// People whom the agent adds by a nudge can see the checkpoint but not decide.
    #[test]
    fn urging_others_gives_them_no_say() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let ask = cast.raised(id, raising(CheckpointKind::Approval));
        let urge = crate::command::Nudge { text: "now".to_owned(), people: vec![human("mark")] };
        cast.run(cast.agent("bot"), AskCommand::Nudge(ask, urge));
        let refused =
            cast.attempt(cast.human("mark"), AskCommand::Answer(ask, crate::testing::yes()));
        assert!(matches!(refused, Err(Refusal::NotAllowed { .. })), "{refused:?}");
        assert_eq!(cast.task(id).state, TaskState::Blocked);
    }
}
