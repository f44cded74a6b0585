//! What a task is: written once, and never changed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::grants::Grant;
use crate::audit::Erasable;
use crate::ids::{HumanId, ProjectId, TaskId};
use crate::time::Time;

/// A task as it was written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Created {
    /// The project it belongs to.
    pub project: ProjectId,
    /// The person who answers for it. Never changes.
    pub principal: HumanId,
    /// What sort of task it is, in the words of whoever wrote it.
    pub sort: String,
    /// What is wanted.
    pub spec: Erasable<Spec>,
    /// The task it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// Until when it is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// How many seconds may be worked on it, from its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_duration: Option<u64>,
    /// Whether its agent may hand it down.
    pub delegable: bool,
    /// How much its agent may do by itself.
    pub autonomy: Autonomy,
    /// What its agent may do, as far as that was said at first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// Who has to judge what is delivered; nothing where the principal does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_policy: Option<ReviewPolicy>,
    /// What happens when a checkpoint of it runs out.
    #[serde(default)]
    pub on_silence: OnSilence,
}

/// The words of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// What is to be reached.
    pub goal: String,
    /// By what one sees that it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// What there is to work with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// What it has to be done with, in HACP 0.1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_use_capabilities: Vec<Capability>,
    /// The same in 0.2: names that mean something elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_refs: Vec<ExternalRef>,
    /// How long it may take, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_duration: Option<String>,
    /// The envelope it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
}

/// Something to work with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Input {
    /// One version of an artifact.
    Artifact {
        /// Which.
        id: String,
        /// Its version: a reference locks both.
        version: String,
    },
    /// Something elsewhere.
    Resource {
        /// What it is called, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Where it is.
        uri: String,
    },
}

/// Something an agent can do, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// Which.
    pub capability_id: String,
    /// In which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A name that means something elsewhere. It never says how to get there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalRef {
    /// What it names.
    pub kind: String,
    /// Where the name is known.
    pub namespace: String,
    /// The name.
    pub id: String,
    /// In which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// How much an agent may do by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Whatever the task needs.
    #[default]
    Autonomous,
    /// Nothing before its plan is approved.
    PlanThenImplement,
    /// Nothing that was not approved.
    ConfirmEachAction,
    /// Only look.
    ReadOnly,
}

/// Who has to judge what is delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    /// Whose verdicts count; never empty.
    pub required_reviewers: Vec<HumanId>,
    /// How many of them have to approve.
    #[serde(default)]
    pub quorum: Quorum,
}

/// How many reviewers have to approve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    /// Every one.
    #[default]
    All,
    /// More than half.
    Majority,
    /// One.
    Any,
}

/// What happens when nobody resolves a checkpoint in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSilence {
    /// The task stays blocked, and its principal decides what becomes of it.
    #[default]
    StayBlocked,
    /// It is called off. Never because of an interrupt.
    Cancel,
}
