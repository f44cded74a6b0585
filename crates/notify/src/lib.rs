//! What happens after a commit: the server notifies people, webhook endpoints and agents, and
//! followers of the event feed seal records, count and index. This crate knows no HTTP server type,
//! renders no HTML page and reads no settings.
//!
//! | module | contents |
//! |---|---|
//! | [`notifier`] | the services of this crate, put together |
//! | [`delivery_follower`] | follows the event feed and writes deliveries |
//! | [`deliveries`] | executes deliveries: claims, lanes, retries |
//! | [`people`] | notifies people: contact methods, notification steps, messages, digests |
//! | [`inbound`] | replies and messages of people on channels |
//! | [`devices`] | people's devices |
//! | [`webhooks`], [`callbacks`] | calls to webhook endpoints and to agents |
//! | [`channel_setup`] | opens the channels that are configured |
//! | `answer_offers`, `channel_actor` | how a message can be answered, and by whom |
//! | `outgoing`, `attempts` | sending through channels; results of attempts and their retries |
//! | [`sealer`], [`anchor`] | seals records into blocks; passes blocks to the anchor command |
//! | [`search_index`], [`insights`], `projection_loop` | projections of the event feed |
//! | [`links`], `guarded_http`, [`operator_command`] | own URLs; calls to URLs of others; commands of the operator |

pub mod anchor;
mod answer_offers;
mod attempts;
pub mod callbacks;
mod channel_actor;
pub mod channel_setup;
pub mod deliveries;
pub mod delivery_follower;
pub mod devices;
mod guarded_http;
pub mod inbound;
pub mod insights;
pub mod links;
pub mod notifier;
pub mod operator_command;
mod outgoing;
pub mod people;
mod projection_loop;
pub mod sealer;
pub mod search_index;
pub mod webhooks;

pub use notifier::{Notifier, NotifierDependencies};
