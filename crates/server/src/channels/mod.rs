//! How people learn that something waits for them. The inbox page always shows it; channels notify them
//! without looking. The channels themselves are in the crate `channels`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`people`] | the people of a seat |
//! | [`open`] | the channels that are set up, with what the server gives them |
//! | `offers` | what can be answered in a message |
//! | `send`, `codes` | one message on its way, and what becomes of it; what a written answer begins with |
//! | `hear` | inbound messages: who sent them, what they answer, and what people write first |
//! | `begun` | where a conversation began, and what goes below it |
//! | `terminal` | lines on the terminal the server runs in |

mod begun;
mod codes;
mod hear;
mod offers;
pub mod open;
pub mod people;
pub(crate) mod send;
mod terminal;
