//! A2H: the shape of all errors. `{"detail", "error"}`.

use dialects::a2h::A2hWireError;
use kernel::Refusal;
use serde::Serialize;

use crate::http::dialect_error::{CommonErrors, DialectError};

pub type A2hError = DialectError<A2hWireError>;

impl CommonErrors for A2hWireError {
    const CHALLENGE: &'static str = "Bearer";

    fn status(&self) -> u16 {
        self.status
    }

    fn body(&self) -> impl Serialize {
        Self::body(self)
    }

    fn refused(refusal: &Refusal) -> Self {
        Self::refused(refusal)
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
        Self::field("", "a complete body within 30 seconds")
    }

    fn header(name: &'static str, expected: &'static str) -> Self {
        Self::field(name, expected)
    }
}
