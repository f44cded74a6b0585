//! Notifications on people's devices: which devices there are, and what each is sent. The channel `push` of
//! the crate `channels` encrypts and delivers.
//!
//! | module | what it holds |
//! |---|---|
//! | [`devices`] | which devices there are, and how to reach them |
//! | [`deliver`] | one notification on its way |

pub mod deliver;
pub mod devices;
