//! The specification of a task, which never changes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::grants::Grant;
use crate::audit::Erasable;
use crate::ids::{HumanId, ProjectId, TaskId};
use crate::time::Time;

/// A task as created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskCreated {
    /// The project it belongs to.
    pub project: ProjectId,
    /// The person who is responsible for it; this never changes.
    pub principal: HumanId,
    /// The type of task, as its author names it.
    pub sort: String,
    /// The text of the task.
    pub spec: Erasable<Spec>,
    /// The task it is part of, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The deadline of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// The maximum duration of the work in seconds, from its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_duration: Option<u64>,
    /// Whether its agent may delegate it.
    pub delegable: bool,
    /// How much its agent may do alone.
    pub autonomy: Autonomy,
    /// The permissions and prohibitions given at its creation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// Who must review a delivery; `None` for the principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_policy: Option<ReviewPolicy>,
    /// What happens when one of its checkpoints expires.
    #[serde(default)]
    pub on_silence: OnSilence,
}

/// The text of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The goal of the work.
    pub goal: String,
    /// The criteria by which a delivery is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// The material to work with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<TaskInput>,
    /// The capabilities that must be used, in HACP 0.1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_use_capabilities: Vec<Capability>,
    /// The same in HACP 0.2: names that are defined elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_refs: Vec<ExternalRef>,
    /// The maximum duration, as the author wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_duration: Option<String>,
    /// The HXP envelope it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
}

/// Material to work with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TaskInput {
    /// One version of an artifact.
    Artifact {
        /// The id of the artifact.
        id: String,
        /// Its version: a reference pins both.
        version: String,
    },
    /// A resource outside Countersign.
    Resource {
        /// The id of the resource, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The URI of the resource.
        uri: String,
    },
}

/// A capability of an agent, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// The id of the capability.
    pub capability_id: String,
    /// The version; `None` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A name that is defined elsewhere. It never says how to resolve it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalRef {
    /// The kind of object it names.
    pub kind: String,
    /// The namespace in which the name is defined.
    pub namespace: String,
    /// The name within the namespace.
    pub id: String,
    /// The version; `None` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The text that people read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// How much an agent may do alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Everything the task needs.
    #[default]
    Autonomous,
    /// Nothing before its plan is approved.
    PlanThenImplement,
    /// Only actions that were approved.
    ConfirmEachAction,
    /// Only reading is allowed.
    ReadOnly,
}

/// Who must review a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    /// The people whose reviews count; never empty.
    pub required_reviewers: Vec<HumanId>,
    /// The number of approvals that are needed.
    #[serde(default)]
    pub quorum: Quorum,
}

/// The number of reviewers who must approve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    /// All of the reviewers.
    #[default]
    All,
    /// More than half of the reviewers.
    Majority,
    /// One of the reviewers.
    Any,
}

/// What happens when a checkpoint is not resolved in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSilence {
    /// The task stays blocked, and its principal decides how to continue.
    #[default]
    StayBlocked,
    /// The task is cancelled, except by an interrupt.
    Cancel,
}
