//! Why a call failed. Errors contain no password and no query parameters: the details that the
//! database reports are left out.

use std::sync::Arc;

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::error::SqlState;

use crate::migrations::SchemaError;
use crate::{BoxError, StoreError};

#[derive(Debug, thiserror::Error)]
pub(super) enum PostgresFailure {
    /// Another transaction interfered. A retry sees its changes.
    #[error("another transaction changed the same data")]
    Conflict,
    #[error("the database reported an error")]
    Database(#[source] DatabaseError),
    #[error("no connection to the database")]
    Connection(#[source] BoxError),
    #[error("the database did not answer in time")]
    Slow,
    #[error("{0}")]
    NotDurable(String),
    #[error("the database is closed")]
    Closed,
    #[error("the database was opened read-only")]
    ReadOnly,
    #[error(transparent)]
    Store(StoreError),
    #[error(transparent)]
    Shared(Arc<Self>),
}

/// An error of the database or of the connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum DatabaseError {
    /// The database returned an error.
    #[error("{message} ({})", code.code())]
    Said { code: SqlState, message: String },
    /// The connection was lost, or its data is invalid.
    #[error(transparent)]
    Line(tokio_postgres::Error),
}

impl PostgresFailure {
    /// Whether the connection was lost, so that the work may succeed on another one.
    pub(super) fn is_lost(&self) -> bool {
        let ended = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
        match self {
            Self::Database(DatabaseError::Line(_)) => true,
            Self::Database(DatabaseError::Said { code, .. }) => ended.contains(code),
            _ => false,
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) => {
                Self::Said { code: said.code().clone(), message: said.message().to_owned() }
            }
            None => Self::Line(error),
        }
    }
}

impl From<tokio_postgres::Error> for PostgresFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        let met = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
        ];
        match DatabaseError::from(error) {
            DatabaseError::Said { code, .. } if met.contains(&code) => Self::Conflict,
            fault => Self::Database(fault),
        }
    }
}

impl From<PoolError> for PostgresFailure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Connection(DatabaseError::from(error).into()),
            PoolError::Closed => Self::Closed,
            PoolError::PostCreateHook(HookError::Backend(error)) => {
                Self::Connection(DatabaseError::from(error).into())
            }
            PoolError::PostCreateHook(HookError::Message(why)) => Self::NotDurable(why.into()),
            other => Self::Connection(other.into()),
        }
    }
}

impl From<StoreError> for PostgresFailure {
    /// A failure that statements shared with SQLite returned as an error of the store is itself
    /// again, so that a lost connection is recognised.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(source) => match source.downcast::<Self>() {
                Ok(failure) => *failure,
                Err(source) => Self::Store(StoreError::Unavailable(source)),
            },
            error => Self::Store(error),
        }
    }
}

impl From<SchemaError> for PostgresFailure {
    fn from(error: SchemaError) -> Self {
        Self::Store(error.into())
    }
}

impl From<PostgresFailure> for StoreError {
    fn from(failure: PostgresFailure) -> Self {
        match failure {
            PostgresFailure::Store(error) => error,
            other => Self::Unavailable(other.into()),
        }
    }
}

/// The error for invalid stored data.
pub(super) fn damaged(what: &str, source: impl Into<BoxError>) -> PostgresFailure {
    PostgresFailure::Store(StoreError::Damaged { what: what.to_owned(), source: source.into() })
}
