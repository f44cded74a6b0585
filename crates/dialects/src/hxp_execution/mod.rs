//! HXP Human Execution Protocol 0.1: `/hxp`, `/hxp/v1/…`, `/hxp/ws/{request_id}`.
//! Specification: `hxp-execution-0.1`, all sections.
//!
//! | file | route | section |
//! |---|---|---|
//! | [`create`] | `POST /hxp/v1/requests` | 2, 3, 5.1 |
//! | [`resolve`] | `POST /hxp/v1/requests/{id}/resolve` and `…/cancel` | 5.1 |
//! | [`view`] | `GET /hxp/v1/requests`, `GET /hxp/v1/inbox`, `GET /hxp` | 3, 5.1 |
//! | [`mod@receipt`] | the `receipt` of every answer | 4 |
//! | [`evidence`] | `POST /hxp/v1/receipts/verify` | 4.2 |
//! | [`socket`] | `/hxp/ws/{id}` | 5.2 |
//! | [`rules`] | `/hxp/v1/delegation/rules` | 6.2 |
//! | [`query`] | the parameters of lists | 5.1 |
//! | [`wire`], [`errors`] | types and codes | 3, 4, 5.3 |
//!
//! The protocol has three actions, the kernel six kinds of question. `project` holds the only table
//! that shows every kind as an action. Parsing an answer and rendering a result both use it, so the
//! server accepts and returns exactly the options it offers.

pub mod create;
pub mod errors;
pub mod evidence;
mod parse;
mod payload;
mod projection;
pub mod query;
pub mod receipt;
pub mod resolve;
pub mod rules;
pub mod socket;
pub mod view;
pub mod wire;

pub use create::parse_create;
pub use errors::{CODES, HxpWireError};
pub use evidence::{Formula, Seal, parse_verify, verify};
pub use query::{HxpCursor, InboxQuery, ListQuery};
pub use receipt::{ReceiptDetail, is_pseudonym, pseudonym, receipt};
pub use resolve::{parse_cancel, parse_resolve, read_resolve};
pub use rules::{NewRules, parse_rules};
pub use socket::{SocketState, SocketUpdate, advance};
pub use view::{
    ask_id, cancelled, created, inbox, info, list, request, request_id, resolved, status,
};

/// The prefix of every request id.
pub const PREFIX: &str = "hxp_";

/// The version of this dialect. The URL has `v1` nevertheless.
pub const VERSION: &str = "0.1.0";

/// The response header with the status of the request.
pub const STATUS_HEADER: &str = "hxp-status";

/// The response header with the id of the request.
pub const REQUEST_ID_HEADER: &str = "hxp-request-id";
