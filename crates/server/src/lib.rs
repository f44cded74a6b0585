//! server

pub mod web;
