//! The task that a request belongs to.

use kernel::{Ask, Task};

use crate::components::task;
use crate::components::words::Words;
use crate::site::paths;

/// The task of a request, as the page of the request shows it.
#[derive(Debug, Clone)]
pub struct Belongs {
    /// The path of its room.
    pub href: String,
    pub goal: Words,
    pub state: &'static str,
    /// The role of this request in the task.
    pub role: &'static str,
}

impl Belongs {
    /// The task as the page of this request shows it.
    pub fn new(task: &Task, ask: &Ask) -> Self {
        let role = if ask.review.is_some() {
            "Your answer judges what was delivered for this task"
        } else {
            "The agent waits with this task until somebody answers"
        };
        Self { href: paths::task(task.id), goal: task::goal(task), state: task::state(task), role }
    }
}
