//! Maps driver errors to store errors.

use rusqlite::ErrorCode;

use crate::StoreError;

/// The store error for a driver error.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    use rusqlite::Error;
    let damaged = match &error {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => true,
        other => matches!(
            other.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
    };
    if damaged {
        StoreError::Damaged { what: "database".to_owned(), source: error.into() }
    } else {
        StoreError::Unavailable(error.into())
    }
}
