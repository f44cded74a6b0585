//! HXP Execution 0.1: the shape of all errors. Specification §5.3.

use dialects::hxp_execution::{HxpWireError, errors};
use kernel::Refusal;
use serde::Serialize;

use crate::http::dialect_error::{CommonErrors, DialectError};

pub type HxpError = DialectError<HxpWireError>;

impl CommonErrors for HxpWireError {
    const CHALLENGE: &'static str = "Bearer";

    fn status(&self) -> u16 {
        self.status
    }

    fn body(&self) -> impl Serialize {
        Self::body(self)
    }

    fn refused(refusal: &Refusal) -> Self {
        Self::refused(refusal, false)
    }

    fn denied() -> Self {
        Self::unauthorized()
    }

    fn rate_limited() -> Self {
        Self::rate_limited()
    }

    fn unavailable() -> Self {
        Self::unavailable()
    }

    fn internal() -> Self {
        Self::internal()
    }

    fn too_large() -> Self {
        Self::too_large()
    }

    fn broken_off() -> Self {
        Self::new(400, errors::code::INVALID_JSON, "the body is incomplete")
    }

    fn header(name: &'static str, expected: &'static str) -> Self {
        Self::field(400, errors::code::INVALID_BODY, name, expected)
    }
}
