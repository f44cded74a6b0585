//! Stories through the real server: HTTP, WebSocket, SQLite on disk, a clock moved by hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod client;
mod coverage;
mod world;

mod answers;
mod bad_input;
mod credentials;
mod cross;
mod desk;
mod desk_own;
mod evidence;
mod hardening;
mod hitl;
mod hitl_callbacks;
mod hitl_cases;
mod hitl_cross;
mod hitl_events;
mod hitl_respond;
mod hitl_status;
mod hitl_verification;
mod identities;
mod jwt;
mod limits;
mod lists;
mod native;
mod native_errors;
mod native_files;
mod native_lists;
mod native_terms;
mod openapi;
mod origins;
mod pages;
mod races;
mod receipts;
mod request_page;
mod retention;
mod review_forms;
mod review_page;
mod review_proof;
mod review_watch;
mod revoked;
mod rounds;
mod routing;
mod rust_client;
mod scripted;
mod seal;
mod secrecy;
mod secrets;
mod silence;
mod slow;
mod sockets;
mod streams;
mod tamper;
mod upstream;
