//! The claims a proof makes. Built here, signed in the shell.

use serde::Serialize;

use crate::actor::{Assurance, By, Via};
use crate::ask::{Ask, AskState, DefaultAction};
use crate::audit::Digest;
use crate::ids::{AgentId, AskId, ProjectId};
use crate::question::Reply;
use crate::time::Time;

/// How an ask ended, with who, how sure, when, and what was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Receipt {
    /// Which ask.
    pub ask: AskId,
    /// Its project.
    pub project: ProjectId,
    /// The agent that asked.
    pub agent: AgentId,
    /// The salted commitment to the exact question.
    pub question: Digest,
    /// How it ended.
    pub outcome: Outcome,
    /// When it was asked.
    pub asked_at: Time,
    /// When somebody took it up, or it was asked.
    pub taken_up_at: Time,
    /// When it ended.
    pub ended_at: Time,
}

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Somebody answered, or a default was taken.
    Completed {
        /// What was said; `None` once erased.
        reply: Option<Reply>,
        /// Who.
        by: By,
        /// Through which door.
        via: Via,
        /// How sure we are.
        assurance: Assurance,
    },
    /// Time ran out and the agent carries on by its default action.
    Expired {
        /// Which.
        report: DefaultAction,
    },
    /// Time ran out as a failure.
    Failed,
    /// It was withdrawn.
    Cancelled {
        /// By whom.
        by: By,
        /// Why.
        reason: Option<String>,
    },
}

impl Receipt {
    /// The receipt of an ask that is over.
    pub fn of(ask: &Ask) -> Option<Self> {
        let (outcome, ended_at) = match &ask.state {
            AskState::Pending | AskState::Opened | AskState::InProgress { .. } => {
                return None;
            }
            AskState::Completed(resolution) => (
                Outcome::Completed {
                    reply: resolution.reply.value().cloned(),
                    by: resolution.by.clone(),
                    via: resolution.via,
                    assurance: resolution.assurance,
                },
                resolution.at,
            ),
            AskState::Expired { at, report } => (Outcome::Expired { report: *report }, *at),
            AskState::Failed { at } => (Outcome::Failed, *at),
            AskState::Cancelled { at, by, reason } => {
                let reason = reason.as_ref().and_then(|reason| reason.value().cloned());
                (Outcome::Cancelled { by: by.clone(), reason }, *at)
            }
        };
        Some(Self {
            ask: ask.id,
            project: ask.project.clone(),
            agent: ask.agent.clone(),
            question: ask.question.commitment(),
            outcome,
            asked_at: ask.created_at,
            taken_up_at: ask.engaged().map_or(ask.created_at, |(_, at)| at),
            ended_at,
        })
    }
}
