//! `/hacp/ws`: the same operations as JSON-RPC 2.0. The method is the name of the operation. Its
//! params are those of the operation, plus `expected_task_revision` and `idempotency_key`. An error
//! holds the protocol's own error in `data`.

use serde_json::{Map, Value, json};

use super::errors::{HacpError, code};
use super::operation::Operation;
use super::parse::{Members, json as parsed};
use super::read::{HacpCall, HacpCaller, read_flat};
use super::version::HacpVersion;

/// Maximum number of calls in a batch.
const MAX_BATCH: usize = 100;

/// The error codes of JSON-RPC.
const NOT_JSON: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const BAD_PARAMS: i32 = -32_602;
const INTERNAL_ERROR: i32 = -32_603;

/// A message from the client.
#[derive(Debug, Clone)]
pub enum RpcMessage {
    One(RpcItem),
    /// Several calls, answered in one list.
    Batch(Vec<RpcItem>),
}

/// A call, or the error response to an invalid one.
pub type RpcItem = Result<RpcRequest, Value>;

/// A call whose parameters are not yet parsed.
#[derive(Debug, Clone)]
pub struct RpcRequest {
    /// The id for the response; `None` for a notification.
    pub id: Option<Value>,
    pub operation: Operation,
    params: Map<String, Value>,
}

/// Reads a message; an `Err` is the response to the whole message.
pub fn parse(message: &[u8], version: HacpVersion) -> Result<RpcMessage, Value> {
    let value =
        parsed(message).map_err(|error| error_response(&Value::Null, NOT_JSON, &error, version))?;
    let Value::Array(items) = value else { return Ok(RpcMessage::One(request(value, version))) };
    if items.is_empty() || items.len() > MAX_BATCH {
        let error = HacpError::field("batch", "1 to 100 calls");
        return Err(error_response(&Value::Null, INVALID_REQUEST, &error, version));
    }
    Ok(RpcMessage::Batch(items.into_iter().map(|item| request(item, version)).collect()))
}

fn request(item: Value, version: HacpVersion) -> RpcItem {
    let no_request =
        |id: &Value, error: &HacpError| error_response(id, INVALID_REQUEST, error, version);
    let Value::Object(mut item) = item else {
        return Err(no_request(&Value::Null, &HacpError::field("request", "an object")));
    };
    let id = item.get("id").cloned();
    if id.as_ref().is_some_and(|id| id.is_boolean() || id.is_array() || id.is_object()) {
        let error = HacpError::field("id", "a string, a number or null");
        return Err(no_request(&Value::Null, &error));
    }
    let answered = id.clone().unwrap_or_default();
    let members = Members::new(&item, "");
    let method = members
        .only(&["jsonrpc", "method", "params", "id"])
        .and_then(|()| members.required_word("jsonrpc", &[("2.0", ())]))
        .and_then(|()| members.required("method").map(ToOwned::to_owned))
        .map_err(|error| no_request(&answered, &error))?;
    let operation = Operation::named(&method, version)
        .map_err(|error| error_response(&answered, METHOD_NOT_FOUND, &error, version))?;
    let params = match item.shift_remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            let error = HacpError::field("params", "an object");
            return Err(error_response(&answered, BAD_PARAMS, &error, version));
        }
    };
    Ok(RpcRequest { id, operation, params })
}

impl RpcRequest {
    /// Parses the parameters.
    pub fn call(&self, caller: HacpCaller<'_>) -> Result<HacpCall, HacpError> {
        read_flat(self.operation, self.params.clone(), caller)
    }

    /// The response; `None` for a notification.
    pub fn answer(&self, result: Result<Value, HacpError>, version: HacpVersion) -> Option<Value> {
        let id = self.id.clone()?;
        Some(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => error_response(&id, error_code(&error), &error, version),
        })
    }
}

/// A notification about an event.
pub fn event_notification(event: &super::stream::HacpEvent) -> Value {
    let params = json!({ "cursor": event.id, "event": event.data });
    json!({ "jsonrpc": "2.0", "method": event.event, "params": params })
}

fn error_response(id: &Value, number: i32, error: &HacpError, version: HacpVersion) -> Value {
    let error = json!({ "code": number, "message": error.message, "data": error.wire(version) });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// The JSON-RPC code of an error: a standard code if one fits, otherwise -32000 minus the amount by
/// which the status exceeds 400.
fn error_code(error: &HacpError) -> i32 {
    match error.code {
        code::INVALID_SPEC => BAD_PARAMS,
        code::INTERNAL => INTERNAL_ERROR,
        _ => -32_000 - (i32::from(error.status) - 400),
    }
}
