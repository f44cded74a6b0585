//! Paged lists: their parameters, and the cursors that lead to the next page.
//!
//! A cursor is opaque: a position in one list, with a checksum against mistakes. It grants no
//! access, so it is not secret.

use axum::Json;
use axum::extract::Query;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use kernel::Refusal;
use kernel::audit::Digest;
use kernel::spelling::{listed, suggestion};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::http::api::lists::enum_value;
use crate::http::problem::ApiProblem;

/// The default size of a page.
const DEFAULT_PAGE_SIZE: usize = 20;
/// The maximum size of a page.
const MAX_PAGE_SIZE: usize = 100;
/// Bytes of a cursor's checksum.
const CHECKSUM_BYTES: usize = 6;

/// The query parameters of a list.
pub(super) struct ListParams {
    pairs: Vec<(String, String)>,
}

impl ListParams {
    /// Takes the decoded pairs of a query. A parameter the list does not know is an error.
    pub(super) fn new(pairs: Vec<(String, String)>, known: &[&str]) -> Result<Self, ApiProblem> {
        let stranger = pairs.iter().find(|(name, _)| !known.contains(&name.as_str()));
        match stranger {
            None => Ok(Self { pairs }),
            Some((name, _)) => {
                let allowed = known.join(", ");
                let meant = suggestion(name, known.iter().copied());
                let detail =
                    format!("{name}: unknown parameter; allowed parameters: {allowed}{meant}");
                let expected = format!("one of {allowed}");
                Err(ApiProblem::new(400, "invalid-field").detail(detail).field(name, &expected))
            }
        }
    }

    /// All values of a parameter.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter that takes names.
    pub(super) fn names<T: DeserializeOwned>(
        &self,
        name: &str,
        names: &[&str],
    ) -> Result<Vec<T>, ApiProblem> {
        self.all(name).map(|given| enum_name(name, given, names)).collect()
    }

    /// The value of a parameter that may occur once.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, ApiProblem> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(bad_parameter(name, "the parameter only once")),
        }
    }

    pub(super) fn limit(&self) -> Result<usize, ApiProblem> {
        let Some(text) = self.one("limit")? else { return Ok(DEFAULT_PAGE_SIZE) };
        let limit = whole_number(text).and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.filter(|limit| (1..=MAX_PAGE_SIZE).contains(limit));
        limit.ok_or_else(|| bad_parameter("limit", "a whole number from 1 to 100"))
    }

    /// The number after which a list in numeric order continues; 0 by default.
    pub(super) fn after(&self) -> Result<u64, ApiProblem> {
        let Some(text) = self.one("after")? else { return Ok(0) };
        whole_number(text).ok_or_else(|| bad_parameter("after", "a whole number"))
    }

    /// The position after which the page begins. The list decodes it with `read`.
    pub(super) fn cursor<T>(
        &self,
        list: &str,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, ApiProblem> {
        let Some(text) = self.one("cursor")? else { return Ok(None) };
        let place = unseal(list, text).and_then(|place| read(&place));
        let expected = "the `next` of the previous page of the same list";
        place.map(Some).ok_or_else(|| invalid_parameter("cursor", expected))
    }

    /// The response for a page, with a `Link` to the next page.
    pub(super) fn page(&self, path: &str, page: &impl Serialize, next: Option<&str>) -> Response {
        let mut answer = Json(page).into_response();
        if let Some(link) = next.and_then(|next| self.link(path, next)) {
            answer.headers_mut().insert(header::LINK, link);
        }
        answer
    }

    /// The `Link` header for the same list from `next` on.
    fn link(&self, path: &str, next: &str) -> Option<HeaderValue> {
        let same = self.pairs.iter().filter(|(name, _)| name != "cursor");
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(same).append_pair("cursor", next);
        HeaderValue::from_str(&format!("<{path}?{}>; rel=\"next\"", query.finish())).ok()
    }
}

/// A whole number that consists of digits only.
pub(super) fn whole_number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// One of these names. The error suggests the one that was probably meant.
pub(super) fn enum_name<T: DeserializeOwned>(
    parameter: &str,
    given: &str,
    names: &[&str],
) -> Result<T, ApiProblem> {
    enum_value(given).ok_or_else(|| bad_parameter(parameter, &listed(names, given)))
}

/// 400: a parameter or header has a form that the OpenAPI document rules out.
pub(super) fn bad_parameter(name: &str, expected: &str) -> ApiProblem {
    wrong(400, name, expected)
}

/// 422: a parameter has the documented form, but its value cannot be used.
pub(super) fn invalid_parameter(name: &str, expected: &str) -> ApiProblem {
    wrong(422, name, expected)
}

fn wrong(status: u16, name: &str, expected: &str) -> ApiProblem {
    let detail = format!("{name}: expected {expected}");
    ApiProblem::new(status, "invalid-field").detail(detail).field(name, expected)
}

/// A position in a list as a cursor.
pub(super) fn seal(list: &str, place: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode([&check(list, place)[..], place].concat())
}

fn unseal(list: &str, cursor: &str) -> Option<Vec<u8>> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (found, place) = bytes.split_at_checked(CHECKSUM_BYTES)?;
    (found == check(list, place)).then(|| place.to_vec())
}

fn check(list: &str, place: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let digest = Digest::of(&[list.as_bytes(), b"\0", place].concat());
    let mut check = [0; CHECKSUM_BYTES];
    check.iter_mut().zip(digest.0).for_each(|(to, from)| *to = from);
    check
}

// Helpers of the directory's routes: ids, lists in pages.

/// The query parameters of a request.
pub(super) type Pairs = Query<Vec<(String, String)>>;

/// The id in the path. A body with another id is refused.
pub(super) fn path_id_matching_body<T: std::str::FromStr<Err = kernel::ids::BadId> + PartialEq>(
    id: &str,
    inside: Option<&T>,
) -> Result<T, ApiProblem> {
    let bad = |expected: &str| {
        let detail = format!("id: expected {expected}");
        ApiProblem::new(422, "invalid-field").detail(detail).field("id", expected)
    };
    let id = id.parse().map_err(|error: kernel::ids::BadId| bad(error.expected))?;
    if inside.is_some_and(|inside| *inside != id) {
        return Err(bad("the same ID as in the path"));
    }
    Ok(id)
}

/// The id in the body, for paths that have none.
pub(super) fn given_id<T>(id: Option<T>) -> Result<T, ApiProblem> {
    id.ok_or_else(|| {
        let detail = "id: expected the ID of the new object; it is missing";
        ApiProblem::new(422, "invalid-field").detail(detail).field("id", "an id")
    })
}

/// The item as JSON, or `not-found`.
pub(super) fn one<T: Serialize>(
    found: Option<T>,
    what: &'static str,
) -> Result<Response, ApiProblem> {
    Ok(Json(found.ok_or(Refusal::NotFound { what })?).into_response())
}

/// The saved item: 201 if it is new, 200 otherwise.
pub(super) fn saved<T: Serialize>(
    new: bool,
    kept: Option<T>,
    what: &'static str,
) -> Result<Response, ApiProblem> {
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, one(kept, what)?).into_response())
}

/// A paged list of items in the order of their ids.
pub(super) struct PagedList {
    params: ListParams,
    name: &'static str,
    limit: usize,
}

impl PagedList {
    pub(super) fn read(Query(pairs): Pairs, name: &'static str) -> Result<Self, ApiProblem> {
        let params = ListParams::new(pairs, &["limit", "cursor"])?;
        let limit = params.limit()?;
        Ok(Self { params, name, limit })
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The id after which the page begins.
    pub(super) fn after<T: std::str::FromStr>(&self) -> Result<Option<T>, ApiProblem> {
        self.params.cursor(self.name, |place| std::str::from_utf8(place).ok()?.parse().ok())
    }

    /// One page of the items found.
    pub(super) fn show<T, P: Serialize>(
        &self,
        found: impl Iterator<Item = T>,
        id: fn(&T) -> &str,
        page: fn(Vec<T>, Option<String>) -> P,
    ) -> Response {
        let mut items: Vec<T> = found.take(self.limit + 1).collect();
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        let last = items.last().filter(|_| more).map(|last| id(last).to_owned());
        self.page(items, last, page)
    }

    /// A page whose items are already selected. `last` is the id after which the next page begins.
    pub(super) fn page<T, P: Serialize>(
        &self,
        items: Vec<T>,
        last: Option<String>,
        page: fn(Vec<T>, Option<String>) -> P,
    ) -> Response {
        let next = last.map(|last| seal(self.name, last.as_bytes()));
        let path = format!("/api/v1/{}", self.name);
        self.params.page(&path, &page(items, next.clone()), next.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_on_in_its_own_list_only() {
        let cursor = seal("asks/bot", b"place");
        assert_eq!(unseal("asks/bot", &cursor).unwrap(), b"place");
        assert_eq!(unseal("asks/spy", &cursor), None);
        for n in 0..cursor.len() {
            let mut other = cursor.clone().into_bytes();
            other[n] = if other[n] == b'A' { b'B' } else { b'A' };
            assert_eq!(unseal("asks/bot", std::str::from_utf8(&other).unwrap()), None);
        }
        for text in ["", "A", "%", "AAAAAAAAAAAA"] {
            assert_eq!(unseal("asks/bot", text), None, "{text}");
        }
    }
}
