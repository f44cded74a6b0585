//! For agents: follows the cases of any service that requires a person's decision, by HITL 0.7 and
//! 0.8.
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
//!     // No one answered: the agent itself executes the default that the service named.
//!     Outcome::Expired(over) => println!("do: {}", over.default_action),
//!     Outcome::Cancelled(over) => println!("withdrawn: {:?}", over.reason),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`case`] | a 202 response that requires a person |
//! | [`follow`] | waiting: the event stream where there is one, polls always |
//! | [`outcome`] | how a case ended |
//! | [`rounds`] | sends a revised request again until the person wants no further edit |
//! | [`submit`] | submits an action that a person took in a messenger |
//! | [`callback`] | the signed callback with the outcome of a case |
//! | [`clock`] | a clock that tests can replace |
//!
//! Nothing here decides for a person. The client reports a default, and the agent executes it.

pub mod callback;
pub mod case;
pub mod clock;
mod error;
mod event_stream;
pub mod follow;
mod http_client;
pub mod outcome;
mod reminders;
pub mod rounds;
#[cfg(feature = "service")]
pub mod service;
pub mod submit;

pub use callback::{Callback, verify_callback};
pub use case::{Case, ReviewType};
pub use clock::{Clock, SystemClock};
pub use error::HitlError;
pub use follow::{Follower, Notice};
pub use outcome::{Cancelled, Completed, Expired, JudgedBy, Outcome, RespondedBy};
pub use rounds::Round;
pub use submit::{Submitted, SubmittedBy};

/// A result with [`HitlError`] as the default error.
pub type Result<T, E = HitlError> = std::result::Result<T, E>;
