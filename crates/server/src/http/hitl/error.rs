//! HITL: the shape of all errors. `{error, message, …}`.

use dialects::hitl::HitlWireError;
use kernel::Refusal;
use serde::Serialize;

use crate::http::dialect_error::{CommonErrors, DialectError};

pub type HitlError = DialectError<HitlWireError>;

impl HitlError {
    /// The same error with the case id. Callers with a token of the case already know the id.
    pub(super) fn about(mut self, case_id: &str) -> Self {
        if self.error.status != 401 && self.error.status != 404 {
            *self.error = self.error.with("case_id", case_id.into());
        }
        self
    }
}

impl CommonErrors for HitlWireError {
    const CHALLENGE: &'static str = "Bearer error=\"invalid_token\"";

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
        Self::invalid_token()
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
        Self::field("body", "a complete body within 30 seconds")
    }

    fn header(name: &'static str, expected: &'static str) -> Self {
        Self::field(name, expected)
    }
}
