//! What goes wrong in the driver, in the words of the store.

use rusqlite::ErrorCode;

use crate::StoreError;

/// What a driver's error means to a caller.
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
