//! The task that a request belongs to.

use kernel::{Ask, Task};

use crate::components::task_words;
use crate::components::words::Words;
use crate::site::paths;

/// The task a request belongs to, as the page of the request shows it.
#[derive(Debug, Clone)]
pub struct Belongs {
    /// Where its room is.
    pub href: String,
    /// What is to be reached.
    pub goal: Words,
    /// Where it stands.
    pub state: &'static str,
    /// What this request is to it.
    pub role: &'static str,
}

impl Belongs {
    /// A request of a task.
    pub fn new(task: &Task, ask: &Ask) -> Self {
        let role = if ask.review.is_some() {
            "Your answer judges what was delivered for this task"
        } else {
            "The agent waits with this task until somebody answers"
        };
        Self {
            href: paths::task(task.id),
            goal: task_words::goal(task),
            state: task_words::state(task),
            role,
        }
    }
}
