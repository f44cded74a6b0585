//! Parts that several pages share.

pub mod amounts;
pub mod browser;
pub mod charts;
pub mod claims;
pub mod diff;
pub mod facts;
pub mod markdown;
pub mod query;
pub mod relative_time;
pub mod task_labels;
pub mod wording;
