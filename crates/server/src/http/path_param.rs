//! Path parameters.

use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// A path parameter. If the address is not valid text, the parameter is empty, so that the handler
/// reports it in its dialect after it has checked the credential.
pub struct PathParam<T>(pub T);

impl<T: DeserializeOwned + Default + Send, S: Send + Sync> FromRequestParts<S> for PathParam<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let found = Path::<T>::from_request_parts(parts, state).await;
        Ok(Self(found.map_or_else(|_| T::default(), |Path(name)| name)))
    }
}

/// The `{id}` of the path. It is empty if it is not text, which no id is.
pub async fn path_id<S: Send + Sync>(parts: &mut Parts, state: &S) -> String {
    let Ok(PathParam(mut names)) =
        PathParam::<BTreeMap<String, String>>::from_request_parts(parts, state).await;
    names.remove("id").unwrap_or_default()
}
