//! `task.create` and the operations on an existing task; `ownership.transfer`,
//! `ownership.delegate`. HACP-001, HACP-020, HACP-070; K-10, K-17.

use kernel::TaskId;
use kernel::task::{
    AgentInput, Autonomy, Capability, ExternalRef, GrantDecision, GrantDuration, Handover, Intent,
    NewGrant, NewTask, OnSilence, Quorum, ReviewPolicy, Spec, TaskCommand, TaskInput,
};

use super::super::errors::HacpError;
use super::super::names::{check_caller, find_party};
use super::super::parse::Members;
use super::{HacpCaller, OperationParams, task_id};

/// The members of `spec`, which may also be direct parameters.
const SPEC: [&str; 4] = ["goal", "acceptance_criteria", "inputs", "constraints"];
const REVIEW_POLICY: &str = "review_policy";

pub(super) fn create(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    let first = ["type", "spec", "parent_task", "deadline", "delegable", "project"];
    let later = [REVIEW_POLICY, "on_expiry", "hxp"];
    caller.only(params, &[&first[..], &SPEC].concat(), &later)?;
    let path = params.path("spec");
    let spec = spec(params, &path, caller)?;
    let none = serde_json::Map::new();
    let path = spec.path("constraints");
    let constraints = Members::new(spec.object("constraints")?.unwrap_or(&none), &path);
    let later = ["external_refs", "autonomy", "grants"];
    caller.only(constraints, &["max_duration", "must_use_capabilities"], &later)?;
    let new = NewTask {
        project: params.read("project", "the ID of a project")?,
        sort: params.text("type")?.unwrap_or_default().to_owned(),
        parent: params.id::<TaskId>("parent_task", "task")?,
        deadline: params.time("deadline")?,
        max_duration: constraints.duration("max_duration")?,
        delegable: params.flag("delegable")?.unwrap_or_default(),
        autonomy: constraints.word("autonomy", &AUTONOMY)?.unwrap_or_default(),
        grants: constraints.each("grants", |grant| permission(grant, caller))?,
        review_policy: review_policy(spec, caller)?,
        on_silence: params.word("on_expiry", &ON_SILENCE)?.unwrap_or_default(),
        spec: Spec {
            goal: spec.required("goal")?.to_owned(),
            acceptance_criteria: spec.texts("acceptance_criteria")?.unwrap_or_default(),
            inputs: spec.each("inputs", input)?,
            must_use_capabilities: constraints.each("must_use_capabilities", capability)?,
            external_refs: constraints.each("external_refs", external_ref)?,
            max_duration: constraints.text("max_duration")?.map(ToOwned::to_owned),
            hxp: params.object("hxp")?.cloned(),
        },
    };
    Ok(OperationParams::command(TaskCommand::Create(Box::new(new))))
}

/// The object that holds the spec: `spec` or the parameters themselves, but not both.
fn spec<'m>(
    params: Members<'m>,
    path: &'m str,
    caller: HacpCaller<'_>,
) -> Result<Members<'m>, HacpError> {
    let Some(spec) = params.object("spec")? else { return Ok(params) };
    let spec = Members::new(spec, path);
    caller.only(spec, &SPEC, &[REVIEW_POLICY])?;
    let beside = SPEC.into_iter().chain([REVIEW_POLICY]);
    match beside.into_iter().find(|key| params.present(key).is_some()) {
        Some(twice) => {
            Err(params
                .bad(twice, "no value, because `spec` is present; move this field into `spec`"))
        }
        None => Ok(spec),
    }
}

const AUTONOMY: [(&str, Autonomy); 4] = [
    ("autonomous", Autonomy::Autonomous),
    ("plan_then_implement", Autonomy::PlanThenImplement),
    ("confirm_each_action", Autonomy::ConfirmEachAction),
    ("read_only", Autonomy::ReadOnly),
];

const ON_SILENCE: [(&str, OnSilence); 2] =
    [("stay_blocked", OnSilence::StayBlocked), ("cancel", OnSilence::Cancel)];

/// A reference to an artifact fixes both id and version; a resource has a URL.
fn input(input: Members<'_>) -> Result<TaskInput, HacpError> {
    input.only(&["kind", "id", "version", "uri"])?;
    let artifact = input.required_word("kind", &[("artifact", true), ("resource", false)])?;
    let unwanted = if artifact { "uri" } else { "version" };
    if input.present(unwanted).is_some() {
        let expected = if artifact {
            "no value, because the input is an artifact"
        } else {
            "no value, because the input is a resource"
        };
        return Err(input.bad(unwanted, expected));
    }
    if artifact {
        let (id, version) = (input.required("id")?, input.required("version")?);
        return Ok(TaskInput::Artifact { id: id.to_owned(), version: version.to_owned() });
    }
    let id = input.text("id")?.map(ToOwned::to_owned);
    Ok(TaskInput::Resource { id, uri: input.required("uri")?.to_owned() })
}

fn capability(capability: Members<'_>) -> Result<Capability, HacpError> {
    capability.only(&["capability_id", "version"])?;
    let version = capability.text("version")?.map(ToOwned::to_owned);
    Ok(Capability { capability_id: capability.required("capability_id")?.to_owned(), version })
}

fn external_ref(named: Members<'_>) -> Result<ExternalRef, HacpError> {
    named.only(&["kind", "namespace", "id", "version", "label"])?;
    Ok(ExternalRef {
        kind: named.required("kind")?.to_owned(),
        namespace: named.required("namespace")?.to_owned(),
        id: named.required("id")?.to_owned(),
        version: named.text("version")?.map(ToOwned::to_owned),
        label: named.text("label")?.map(ToOwned::to_owned),
    })
}

fn review_policy(
    spec: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<Option<ReviewPolicy>, HacpError> {
    let Some(policy) = spec.object(REVIEW_POLICY)? else { return Ok(None) };
    let path = spec.path(REVIEW_POLICY);
    let policy = Members::new(policy, &path);
    policy.only(&["required_reviewers", "quorum"])?;
    let quorums = [("all", Quorum::All), ("majority", Quorum::Majority), ("any", Quorum::Any)];
    let required_reviewers = caller.people(policy, "required_reviewers")?;
    if required_reviewers.is_empty() {
        return Err(policy.bad("required_reviewers", "at least one person"));
    }
    let quorum = policy.word("quorum", &quorums)?.unwrap_or_default();
    Ok(Some(ReviewPolicy { required_reviewers, quorum }))
}

/// The server sets the time and the grantor of a permission.
fn permission(grant: Members<'_>, caller: HacpCaller<'_>) -> Result<NewGrant, HacpError> {
    grant.only(&["scope", "decision", "until", "granted_by"])?;
    terms(grant, caller)
}

fn terms(grant: Members<'_>, caller: HacpCaller<'_>) -> Result<NewGrant, HacpError> {
    if let Some(name) = grant.text("granted_by")? {
        check_caller(caller.actor, &grant.path("granted_by"), name)?;
    }
    let until = match grant.text("until")? {
        None | Some("task") => GrantDuration::Task,
        Some("session") => GrantDuration::Session,
        Some(moment) => {
            let expected = "session, task or a time in RFC 3339 format";
            GrantDuration::At(moment.parse().map_err(|_| grant.bad("until", expected))?)
        }
    };
    let decisions = [("allow", GrantDecision::Allow), ("deny", GrantDecision::Deny)];
    let decision = grant.required_word("decision", &decisions)?;
    Ok(NewGrant { scope: grant.required("scope")?.trim().to_owned(), decision, until })
}

/// The agent's initial capability and input.
fn given(params: Members<'_>) -> Result<AgentInput, HacpError> {
    let capability = params.text("capability")?.map(ToOwned::to_owned);
    Ok(AgentInput { capability, input: params.present("input").cloned() })
}

pub(super) fn assign(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "agent_id", "capability", "input"])?;
    let (task, agent) = (task_id(params)?, caller.agent(params, "agent_id")?);
    Ok(OperationParams::command(TaskCommand::Assign(task, agent, given(params)?)))
}

pub(super) fn start(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id"])?;
    Ok(OperationParams::command(TaskCommand::Start(task_id(params)?)))
}

pub(super) fn cancel(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "reason"])?;
    let reason = params.text("reason")?.map(ToOwned::to_owned);
    Ok(OperationParams::command(TaskCommand::Cancel(task_id(params)?, reason)))
}

pub(super) fn interrupt(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "prompt"])?;
    let prompt = params.required("prompt")?.to_owned();
    Ok(OperationParams::command(TaskCommand::Interrupt(task_id(params)?, prompt)))
}

const INTENTS: [(&str, Intent); 4] = [
    ("redirect", Intent::Redirect),
    ("clarify", Intent::Clarify),
    ("constrain", Intent::Constrain),
    ("abort_hint", Intent::AbortHint),
];

pub(super) fn amend(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "text", "intent"])?;
    let intent = params.word("intent", &INTENTS)?.unwrap_or_default();
    let text = params.required("text")?.to_owned();
    Ok(OperationParams::command(TaskCommand::Amend(task_id(params)?, text, intent)))
}

pub(super) fn grant(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "scope", "decision", "until", "granted_by"])?;
    let grant = terms(params, caller)?;
    Ok(OperationParams::command(TaskCommand::Grant(task_id(params)?, grant)))
}

/// The kinds of handover in the protocol. The kernel decides which of them a caller may use.
const HANDOVERS: [(&str, Handover); 5] = [
    ("assign", Handover::Assign),
    ("checkpoint", Handover::Checkpoint),
    ("approve", Handover::Approve),
    ("reject", Handover::Reject),
    ("handoff", Handover::Handoff),
];

pub(super) fn transfer(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "to", "via"])?;
    let task = task_id(params)?;
    let to = find_party(caller.directory, params.required("to")?)
        .ok_or_else(|| HacpError::missing(&params.path("to"), "person or agent"))?;
    let via = params.word("via", &HANDOVERS)?.unwrap_or(Handover::Handoff);
    Ok(OperationParams::command(TaskCommand::Transfer(task, to, via)))
}

pub(super) fn delegate(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "to_agent", "capability", "input"])?;
    let (task, agent) = (task_id(params)?, caller.agent(params, "to_agent")?);
    Ok(OperationParams::command(TaskCommand::Delegate(task, agent, given(params)?)))
}
