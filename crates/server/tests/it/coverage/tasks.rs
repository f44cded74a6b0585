//! The routes of the pages about tasks and ledgers.

use crate::routes::Door::{self, Closed, Public};

pub(super) const TASKS: &[(&str, &str, Door)] = &[
    ("get", "/tasks", Closed),
    ("post", "/tasks", Closed),
    ("get", "/tasks/live", Closed),
    ("get", "/tasks/new", Closed),
    ("get", "/tasks/{id}", Closed),
    ("get", "/tasks/{id}/live", Closed),
    ("get", "/tasks/{id}/version", Closed),
    ("post", "/tasks/{id}/assign", Closed),
    ("post", "/tasks/{id}/cancel", Closed),
    ("post", "/tasks/{id}/interrupt", Closed),
    ("post", "/tasks/{id}/amend", Closed),
    ("post", "/tasks/{id}/grant", Closed),
    ("post", "/tasks/{id}/transfer", Closed),
    ("post", "/tasks/{id}/review", Closed),
    ("post", "/tasks/{id}/remark", Closed),
    // These lead back to the room, whoever asks.
    ("get", "/tasks/{id}/assign", Public),
    ("get", "/tasks/{id}/cancel", Public),
    ("get", "/tasks/{id}/interrupt", Public),
    ("get", "/tasks/{id}/amend", Public),
    ("get", "/tasks/{id}/grant", Public),
    ("get", "/tasks/{id}/transfer", Public),
    ("get", "/tasks/{id}/review", Public),
    ("get", "/tasks/{id}/remark", Public),
    ("get", "/ledger", Closed),
    ("get", "/ledger/{scope}", Closed),
];
