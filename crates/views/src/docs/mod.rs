//! The API reference page, generated from the OpenAPI document.

pub mod errors;

use std::collections::BTreeMap;

use askama::Template;
use serde_json::{Map, Value};

use crate::site::assets;
use crate::{PageContext, render};

/// The common prefix of all paths.
const COMMON: &str = "/api/v1";

/// The parsed OpenAPI document.
#[derive(Debug, Default)]
pub struct Document {
    version: String,
    about: Vec<TextOrCode>,
    groups: Vec<OperationGroup>,
    /// The problem responses that many operations share, described once.
    problems: Vec<ApiResponse>,
    types: Vec<ApiType>,
}

/// Text or code.
#[derive(Debug)]
pub enum TextOrCode {
    Words(String),
    /// A name, a value or a path.
    Code(String),
}

/// Operations with the same tag.
#[derive(Debug)]
struct OperationGroup {
    name: String,
    about: Vec<TextOrCode>,
    operations: Vec<ApiOperation>,
}

#[derive(Debug)]
struct ApiOperation {
    id: String,
    method: String,
    path: String,
    /// The path without the common prefix, for the table of contents.
    short: String,
    summary: Vec<TextOrCode>,
    about: Vec<TextOrCode>,
    who: Vec<&'static str>,
    parameters: Vec<ApiField>,
    body: Option<TypeLabel>,
    example: Option<String>,
    answers: Vec<ApiResponse>,
    /// The statuses of the shared problem responses that it may return.
    shared: Vec<String>,
}

/// One parameter, or one field.
#[derive(Debug)]
struct ApiField {
    name: String,
    /// `query`, `header`, `path`; empty for a field.
    place: String,
    shape: TypeLabel,
    required: bool,
    about: Vec<TextOrCode>,
}

#[derive(Debug)]
struct ApiResponse {
    status: String,
    about: Vec<TextOrCode>,
    /// One per media type.
    shapes: Vec<TypeLabel>,
}

/// A type in words, with a link if it has a name.
#[derive(Debug)]
struct TypeLabel {
    text: String,
    link: Option<String>,
}

/// A named type.
#[derive(Debug)]
struct ApiType {
    name: String,
    about: Vec<TextOrCode>,
    /// The variants of the type, one or several.
    forms: Vec<TypeVariant>,
}

#[derive(Debug)]
struct TypeVariant {
    /// The value that distinguishes it from the other variants.
    title: Option<String>,
    about: Vec<TextOrCode>,
    members: Vec<ApiField>,
}

#[derive(Template)]
#[template(path = "docs/docs.html")]
struct DocsPage<'a> {
    frame: &'a PageContext,
    document: &'a Document,
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, document: &Document) -> String {
    render(&DocsPage { frame, document })
}

impl Document {
    /// Parses an OpenAPI 3.1 document.
    pub fn read(document: &Value) -> Self {
        let tags = list(document.get("tags"));
        let groups = tags.iter().map(|tag| OperationGroup {
            name: text(tag, "name").to_owned(),
            about: pieces(text(tag, "description")),
            operations: operations(document, text(tag, "name")),
        });
        let shared: BTreeMap<&String, &Value> = each_operation(document)
            .flat_map(|(_, _, operation)| responses(operation))
            .filter_map(|(status, response)| Some((status, shared_response(document, response)?)))
            .collect();
        let schemas = document.pointer("/components/schemas").and_then(Value::as_object);
        let mut types: Vec<ApiType> =
            schemas.into_iter().flatten().map(|(name, schema)| api_type(name, schema)).collect();
        types.sort_by(|one, other| one.name.cmp(&other.name));
        Self {
            version: document.pointer("/info/version").map(plain).unwrap_or_default(),
            about: document
                .pointer("/info/description")
                .map(|about| pieces(&plain(about)))
                .unwrap_or_default(),
            groups: groups.collect(),
            problems: shared.into_iter().map(|(status, one)| api_response(status, one)).collect(),
            types,
        }
    }
}

/// Every operation with its path and method.
fn each_operation(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document.get("paths").and_then(Value::as_object);
    paths.into_iter().flatten().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| (path, method, operation))
    })
}

fn operations(document: &Value, tag: &str) -> Vec<ApiOperation> {
    each_operation(document)
        .filter(|(_, _, operation)| list(operation.get("tags")).iter().any(|one| one == tag))
        .map(|(path, method, operation)| one_operation(document, path, method, operation))
        .collect()
}

fn responses(operation: &Value) -> impl Iterator<Item = (&String, &Value)> {
    operation.get("responses").and_then(Value::as_object).into_iter().flatten()
}

/// The shared response, if this is a reference to one.
fn shared_response<'d>(document: &'d Value, response: &Value) -> Option<&'d Value> {
    document.pointer(text(response, "$ref").strip_prefix('#')?)
}

fn api_response(status: &str, response: &Value) -> ApiResponse {
    let content = response.get("content").and_then(Value::as_object);
    ApiResponse {
        status: status.to_owned(),
        about: pieces(text(response, "description")),
        shapes: content
            .into_iter()
            .flat_map(Map::values)
            .filter_map(|content| content.get("schema").map(type_label))
            .collect(),
    }
}

fn one_operation(document: &Value, path: &str, method: &str, operation: &Value) -> ApiOperation {
    let content = operation.pointer("/requestBody/content").and_then(Value::as_object);
    let body = content.and_then(|content| content.values().next());
    let (shared, own): (Vec<_>, Vec<_>) = responses(operation)
        .partition(|(_, response)| shared_response(document, response).is_some());
    let schemes = list(operation.get("security"));
    let names = schemes.iter().filter_map(Value::as_object).flat_map(Map::keys);
    ApiOperation {
        id: text(operation, "operationId").to_owned(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        short: path.strip_prefix(COMMON).unwrap_or(path).to_owned(),
        summary: pieces(text(operation, "summary")),
        about: pieces(text(operation, "description")),
        who: names.map(|name| if name == "agent_key" { "agents" } else { "people" }).collect(),
        parameters: list(operation.get("parameters")).iter().map(parameter).collect(),
        body: body.and_then(|body| body.get("schema")).map(type_label),
        example: body.and_then(|body| body.get("example")).map(pretty),
        answers: own.into_iter().map(|(status, response)| api_response(status, response)).collect(),
        shared: shared.into_iter().map(|(status, _)| status.clone()).collect(),
    }
}

fn parameter(parameter: &Value) -> ApiField {
    ApiField {
        name: text(parameter, "name").to_owned(),
        place: text(parameter, "in").to_owned(),
        shape: parameter.get("schema").map_or_else(any, type_label),
        required: parameter.get("required") == Some(&Value::Bool(true)),
        about: pieces(text(parameter, "description")),
    }
}

fn api_type(name: &str, schema: &Value) -> ApiType {
    let about = pieces(text(schema, "description"));
    let variants = list(schema.get("oneOf"));
    let forms = if variants.is_empty() {
        let members = members(schema);
        // A type without fields is described by its type and its pattern.
        let title = members.is_empty().then(|| match schema.get("pattern") {
            Some(pattern) => format!("{} {}", type_label(schema).text, plain(pattern)),
            None => type_label(schema).text,
        });
        vec![TypeVariant { title, about: Vec::new(), members }]
    } else {
        variants.iter().map(type_variant).collect()
    };
    ApiType { name: name.to_owned(), about, forms }
}

/// One variant, named by the constant value of one of its fields.
fn type_variant(variant: &Value) -> TypeVariant {
    let members = members(variant);
    let told = members.iter().find(|member| member.shape.text.starts_with('"'));
    let title = told.map_or_else(
        || type_label(variant).text,
        |member| format!("{}: {}", member.name, member.shape.text),
    );
    TypeVariant { title: Some(title), about: pieces(text(variant, "description")), members }
}

/// The fields of an object, including those of its parts.
fn members(schema: &Value) -> Vec<ApiField> {
    let required = list(schema.get("required"));
    let own = schema.get("properties").and_then(Value::as_object);
    let own = own.into_iter().flatten().map(|(name, field)| ApiField {
        name: name.clone(),
        place: String::new(),
        shape: type_label(field),
        required: required.iter().any(|one| one == name),
        about: pieces(text(field, "description")),
    });
    let parts = list(schema.get("allOf")).iter();
    let parts = parts.flat_map(|part| match part.get("$ref") {
        Some(_) => vec![ApiField {
            name: "…".to_owned(),
            place: String::new(),
            shape: type_label(part),
            required: true,
            about: pieces("and all of these fields"),
        }],
        None => members(part),
    });
    own.chain(parts).collect()
}

/// A type in a few words.
fn type_label(schema: &Value) -> TypeLabel {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return TypeLabel { text: name.to_owned(), link: Some(format!("type-{name}")) };
    }
    let values = list(schema.get("enum"));
    if !values.is_empty() {
        let words: Vec<String> = values.iter().map(Value::to_string).collect();
        return TypeLabel { text: words.join(" | "), link: None };
    }
    let choices = [list(schema.get("oneOf")), list(schema.get("anyOf"))].concat();
    if !choices.is_empty() {
        let shapes: Vec<TypeLabel> = choices.iter().map(type_label).collect();
        let words: Vec<&str> = shapes.iter().map(|shape| shape.text.as_str()).collect();
        let link = shapes.iter().find_map(|shape| shape.link.clone());
        return TypeLabel { text: words.join(" | "), link };
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(kind)) => vec![kind],
        _ => return any(),
    };
    let mut link = None;
    let mut words = Vec::new();
    for kind in kinds {
        words.push(match (kind, schema.get("items"), schema.get("format")) {
            ("array", Some(items), _) => {
                let items = type_label(items);
                link = items.link;
                format!("[{}]", items.text)
            }
            ("string", _, Some(format)) => plain(format),
            (other, ..) => other.to_owned(),
        });
    }
    TypeLabel { text: words.join(" | "), link }
}

fn any() -> TypeLabel {
    TypeLabel { text: "any".to_owned(), link: None }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Splits text and code at backticks.
fn pieces(text: &str) -> Vec<TextOrCode> {
    let split = text.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    split
        .map(|(n, part)| match n % 2 {
            0 => TextOrCode::Words(part.to_owned()),
            _ => TextOrCode::Code(part.to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_told_in_a_few_words() {
        for (schema, told) in [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": "string", "format": "date-time" }), "date-time"),
            (json!({ "type": ["string", "null"] }), "string | null"),
            (json!({ "type": "array", "items": { "type": "integer" } }), "[integer]"),
            (json!({ "type": "string", "enum": ["a", "b"] }), "\"a\" | \"b\""),
            (json!({ "$ref": "#/components/schemas/Ask" }), "Ask"),
            (json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/x/Ask" }] }), "null | Ask"),
            (json!({}), "any"),
        ] {
            assert_eq!(type_label(&schema).text, told, "{schema}");
        }
    }
}
