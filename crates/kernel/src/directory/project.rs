//! Adding a project and changing its settings.

use super::{ADMIN_ONLY, Project, Step};
use crate::actor::Assurance;
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::{ProjectId, Subject};
use crate::refusal::Refusal;
use crate::time::LONGEST_TIMEOUT;
use crate::world::{Decision, Stop, World};

/// A project as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProject {
    /// Its name.
    pub id: ProjectId,
    /// Whether a default may be taken on silence.
    pub default_on_silence: bool,
    /// The least assurance an answer needs.
    pub floor: Assurance,
    /// Who is asked as well when nobody answers; in order of time.
    pub ladder: Vec<Step>,
}

impl NewProject {
    /// A project with the usual settings.
    pub fn plain(id: ProjectId) -> Self {
        Self { id, default_on_silence: true, floor: Assurance::AgentAttested, ladder: Vec::new() }
    }
}

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewProject,
) -> Result<Decision, Stop> {
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    let ordered = new.ladder.is_sorted_by_key(|step| step.after);
    if !ordered || new.ladder.iter().any(|step| step.after > LONGEST_TIMEOUT) {
        let expected = "steps in the order of their time";
        return Err(Refusal::Invalid { field: "ladder", expected }.into());
    }
    let NewProject { id, default_on_silence, floor, ladder } = new.clone();
    let project = Project { id: id.clone(), default_on_silence, floor, ladder };
    Ok(Decision::of(Subject::Project(id), Happened::ProjectSaved(Box::new(project))))
}
