//! Parameters and columns of statements, the same for both databases.

use kernel::audit::Digest;
use kernel::ids::GroupId;
use kernel::{
    AgentId, ArtifactId, AskId, HumanId, KeyId, ProjectId, ReviewId, TaskId, Time, UploadId,
    WebhookId,
};
use ulid::Ulid;

use crate::columns::{digest, int, uint};
use crate::{Result, StoreError};

/// A parameter or a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SqlValue {
    Null,
    /// A number, a time in milliseconds, or a truth value.
    Int(i64),
    Text(String),
    /// Bytes, and invalid text in a tampered column.
    Bytes(Vec<u8>),
    Id(Ulid),
    /// Several values of one type, as a parameter of `= ANY ($1)`.
    List(Vec<SqlValue>),
}

/// The parameters of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::sql::SqlValue::from($value)),*] };
}
pub(crate) use values;

macro_rules! from {
    ($($type:ty: $value:ident => $made:expr;)*) => {
        $(impl From<$type> for SqlValue {
            fn from($value: $type) -> Self {
                $made
            }
        })*
    };
}

from! {
    i64: value => Self::Int(value);
    u64: value => Self::Int(int(value));
    usize: value => Self::Int(int(value));
    bool: value => Self::Int(i64::from(value));
    String: value => Self::Text(value);
    &String: value => Self::Text(value.clone());
    &str: value => Self::Text(value.to_owned());
    Vec<u8>: value => Self::Bytes(value);
    &Vec<u8>: value => Self::Bytes(value.clone());
    Digest: value => Self::Bytes(value.0.to_vec());
    Time: value => Self::Int(value.millis());
    Ulid: value => Self::Id(value);
    &AgentId: value => Self::Text(value.to_string());
    &HumanId: value => Self::Text(value.to_string());
    &ProjectId: value => Self::Text(value.to_string());
    &GroupId: value => Self::Text(value.to_string());
}

impl<T: Into<Self>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> FromIterator<T> for SqlValue {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

macro_rules! ids {
    ($($id:ty),*) => {
        $(impl From<$id> for SqlValue {
            fn from(id: $id) -> Self {
                Self::Id(id.ulid())
            }
        }

        impl FromValue for $id {
            fn from_value(value: SqlValue) -> Option<Self> {
                Ulid::from_value(value).map(Self::new)
            }
        })*
    };
}

ids!(ArtifactId, AskId, KeyId, ReviewId, TaskId, UploadId, WebhookId);

/// A type that a column can be read as.
pub(crate) trait FromValue: Sized {
    /// `None` if the column has another type.
    fn from_value(value: SqlValue) -> Option<Self>;
}

impl FromValue for i64 {
    fn from_value(value: SqlValue) -> Option<Self> {
        if let SqlValue::Int(number) = value { Some(number) } else { None }
    }
}

impl FromValue for u64 {
    fn from_value(value: SqlValue) -> Option<Self> {
        i64::from_value(value).map(uint)
    }
}

impl FromValue for bool {
    fn from_value(value: SqlValue) -> Option<Self> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl FromValue for Time {
    fn from_value(value: SqlValue) -> Option<Self> {
        i64::from_value(value).map(Self::from_millis)
    }
}

impl FromValue for String {
    fn from_value(value: SqlValue) -> Option<Self> {
        if let SqlValue::Text(text) = value { Some(text) } else { None }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: SqlValue) -> Option<Self> {
        if let SqlValue::Bytes(bytes) = value { Some(bytes) } else { None }
    }
}

/// Anything that is no digest becomes one that matches nothing, so that a comparison fails and the
/// verification reports it.
impl FromValue for Digest {
    fn from_value(value: SqlValue) -> Option<Self> {
        Some(match value {
            SqlValue::Bytes(bytes) => digest(&bytes),
            SqlValue::Text(text) => digest(text.as_bytes()),
            SqlValue::Null | SqlValue::Int(_) | SqlValue::Id(_) | SqlValue::List(_) => digest(&[]),
        })
    }
}

impl FromValue for Ulid {
    fn from_value(value: SqlValue) -> Option<Self> {
        match value {
            SqlValue::Id(id) => Some(id),
            SqlValue::Bytes(bytes) => bytes.try_into().ok().map(Self::from_bytes),
            SqlValue::Null | SqlValue::Int(_) | SqlValue::Text(_) | SqlValue::List(_) => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: SqlValue) -> Option<Self> {
        match value {
            SqlValue::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// A row of a result.
#[derive(Debug)]
pub(crate) struct SqlRow(Vec<SqlValue>);

impl SqlRow {
    pub(crate) fn new(values: Vec<SqlValue>) -> Self {
        Self(values)
    }

    /// Takes the value of a column, which can be taken once.
    pub(crate) fn get<T: FromValue>(&mut self, column: usize) -> Result<T> {
        T::from_value(self.take(column)).ok_or_else(|| StoreError::Damaged {
            what: "database".to_owned(),
            source: format!("column {column} of a result has another type").into(),
        })
    }

    /// The text of a column, even if it was tampered with: the verification reports the damage.
    pub(crate) fn any_text(&mut self, column: usize) -> Option<String> {
        match self.take(column) {
            SqlValue::Text(text) => Some(text),
            SqlValue::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            SqlValue::Null | SqlValue::Int(_) | SqlValue::Id(_) | SqlValue::List(_) => None,
        }
    }

    /// The id in a column, or the text of a tampered column that holds no id.
    pub(crate) fn id_or_text(&mut self, column: usize) -> Result<Ulid, String> {
        let value = self.take(column);
        let text = match &value {
            SqlValue::Text(text) => text.clone(),
            SqlValue::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            SqlValue::Null | SqlValue::Int(_) | SqlValue::Id(_) | SqlValue::List(_) => {
                String::new()
            }
        };
        Ulid::from_value(value).ok_or(text)
    }

    fn take(&mut self, column: usize) -> SqlValue {
        let value = self.0.get_mut(column);
        value.map_or(SqlValue::Null, |value| std::mem::replace(value, SqlValue::Null))
    }
}
