//! Following any service that answers "a person decides this first": HITL 0.7 and 0.8, for agents.
//!
//! ```no_run
//! # async fn example(body: serde_json::Value) -> Result<(), client::hitl::HitlError> {
//! use client::hitl::{Case, Follower, Outcome};
//!
//! // `body` is what some service answered with 202.
//! let Some(case) = Case::recognise(202, &body)? else { return Ok(()) };
//! let outcome = Follower::new()?
//!     .authorization("https://jobs.example", "Bearer key-of-that-service")?
//!     .follow(&case, async |notice| println!("{}\n{}", notice.text, notice.review_url))
//!     .await?;
//! match outcome {
//!     Outcome::Completed(done) => println!("{}: {:?}", done.action, done.data),
//!     // Nobody answered: the agent itself does what the service named.
//!     Outcome::Expired(over) => println!("do: {}", over.default_action),
//!     Outcome::Cancelled(over) => println!("withdrawn: {:?}", over.reason),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`case`] | a 202 that asks for a person |
//! | [`follow`] | waiting: events where they are offered, polls everywhere |
//! | [`outcome`] | how a case ended |
//! | [`rounds`] | sending a revised request again until nobody wants another edit |
//! | [`submit`] | passing on what a person pressed in a messenger |
//! | [`callback`] | the signed call that tells how a case ended |
//! | [`clock`] | time, so that tests need none |
//!
//! Nothing here decides for a person. A default is told, and it is the agent that carries it out.

pub mod callback;
pub mod case;
pub mod clock;
mod error;
pub mod follow;
pub mod outcome;
mod reminders;
pub mod rounds;
#[cfg(feature = "service")]
pub mod service;
pub mod submit;
mod watch;
mod wire;

pub use callback::{Callback, verify_callback};
pub use case::{Case, ReviewType};
pub use clock::{Clock, SystemClock};
pub use error::HitlError;
pub use follow::{Follower, Notice};
pub use outcome::{Cancelled, Completed, Expired, JudgedBy, Outcome, RespondedBy};
pub use rounds::Round;
pub use submit::{Submitted, SubmittedBy};

/// A shorthand.
pub type Result<T, E = HitlError> = std::result::Result<T, E>;
