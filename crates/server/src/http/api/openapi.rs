//! The OpenAPI document of the native API. Paths, parameters and bodies come from the handlers and
//! their types. This module adds the parts that many operations share: credentials, the objects
//! that paths name, headers of pages and asks, and common problems. It does not change the parts
//! that a handler declares itself.

use std::collections::BTreeMap;

use kernel::audit::Digest;
use kernel::ids::GroupId;
use kernel::{AgentId, ArtifactId, AskId, HumanId, KeyId, ProjectId, RuleId, TaskId, WebhookId};
use utoipa::openapi::header::Header;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, InfoBuilder, LicenseBuilder, OpenApi, Ref, RefOr, Required,
    Response, ResponseBuilder, ServerBuilder, Type,
};
use utoipa::{IntoParams, IntoResponses, PartialSchema, ToSchema};

use crate::http::api::history::ExportFormat;
use crate::http::api::lists::{ListedState, PersonList};
use crate::http::api::search::SearchedState;
use crate::http::problem::ProblemBody;

/// The groups of operations, in reading order.
const TAGS: [(&str, &str); 12] = [
    ("asks", "Agents ask, people answer, and both can comment."),
    ("streams", "Events of asks as they happen, as server-sent events."),
    ("files", "Files in answers."),
    ("callbacks", "Calls to the agent when its ask is closed."),
    ("webhooks", "Webhook endpoints and their deliveries."),
    (
        "people",
        "People, agents, projects and groups. For administrators, except for the caller's own \
         data.",
    ),
    ("tasks", "Erasure of tasks and artifacts. HACP covers everything else about them."),
    ("keys", "Agent keys and human tokens, and a person's delegation rules."),
    ("receipts", "Signed receipts of how asks were closed, which anyone can verify."),
    ("audit", "The audit log, sealed in signed blocks."),
    ("insights", "Figures about the claims of agents and the decisions of people."),
    ("testing", "A clock and scripted people for tests; requires a server started with `--dev`."),
];

const ABOUT: &str = "The human gateway for AI agents. Bodies are JSON; errors are \
                     `application/problem+json` (RFC 9457), and the `type` of each is the URL of \
                     a page that explains it. An ask has a version, which is its `ETag`. 400 \
                     means that the body is not JSON, or that a parameter or a header does not \
                     match this document. 422 means that a field of the body is missing, unknown, \
                     of the wrong type or out of bounds, or that the server cannot accept the \
                     value of a field or parameter.";

/// Adds the parts that the handlers do not declare themselves.
pub(super) fn complete(mut document: OpenApi) -> OpenApi {
    document.info = InfoBuilder::new()
        .title("Countersign")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").build()))
        .build();
    document.servers = Some(vec![ServerBuilder::new().url("/").build()]);
    let tag = |(name, about): &(&str, &str)| {
        TagBuilder::new().name(*name).description(Some(*about)).build()
    };
    document.tags = Some(TAGS.iter().map(tag).collect());
    let components = document.components.get_or_insert_default();
    for (name, about) in [
        ("agent_key", "An agent key: `cs_agent_…`"),
        ("human_token", "A person's token: `cs_human_…`, or a JWT of the configured issuer"),
    ] {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(about));
        components.add_security_scheme(name, SecurityScheme::Http(bearer.build()));
    }
    let mut schemas = vec![
        (ProblemBody::name().into_owned(), ProblemBody::schema()),
        (ListedState::name().into_owned(), ListedState::schema()),
        (PersonList::name().into_owned(), PersonList::schema()),
        (ExportFormat::name().into_owned(), ExportFormat::schema()),
        (SearchedState::name().into_owned(), SearchedState::schema()),
        (TaskId::name().into_owned(), TaskId::schema()),
        (ArtifactId::name().into_owned(), ArtifactId::schema()),
    ];
    ProblemBody::schemas(&mut schemas);
    components.schemas.extend(schemas);
    for name in STRICT {
        components.schemas.get_mut(name).into_iter().for_each(close);
    }
    for (status, name, about) in
        ALWAYS.iter().chain(&CLOSED).chain(&ONE_KIND).chain(&NAMED).chain(&WITH_BODY)
    {
        let mut response = described(about);
        problem(status, &mut response);
        components.responses.insert((*name).to_owned(), response.into());
    }
    for (path, item) in &mut document.paths.paths {
        for operation in operations(item) {
            complete_operation(operation, path);
        }
    }
    document
}

/// Puts the operations that have no tag yet under this one.
pub(super) fn tag(document: &mut OpenApi, tag: &str) {
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            if operation.tags.as_ref().is_none_or(Vec::is_empty) {
                operation.tags = Some(vec![tag.to_owned()]);
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete]
        .into_iter()
        .flatten()
}

/// Problems that any operation can return, then those of operations that need a credential, that
/// need one kind of credential, that name an object, and that have a body. Each has a status, a
/// name in the document and a description.
const ALWAYS: [CommonProblem; 4] = [
    (
        "400",
        "BadRequest",
        "`invalid-json`: the body is not JSON; `invalid-field`: a parameter or header does not \
         match this document",
    ),
    (
        "429",
        "TooMany",
        "`rate-limited`: too many requests with this credential; retry after the seconds in \
         Retry-After",
    ),
    ("500", "Internal", "`internal`: an internal error"),
    ("503", "Unavailable", "`unavailable`: the database is temporarily unavailable; try again"),
];
const CLOSED: [CommonProblem; 1] = [(
    "401",
    "Unauthorized",
    "`unauthorized`: the credential is missing, unknown, expired or revoked",
)];
const ONE_KIND: [CommonProblem; 1] = [(
    "403",
    "WrongKind",
    "`not-allowed`: an agent key instead of a person's token, or the reverse",
)];
const NAMED: [CommonProblem; 1] =
    [("404", "NotFound", "`not-found`: it does not exist, or the caller cannot see it")];
const WITH_BODY: [CommonProblem; 3] = [
    ("408", "TooSlow", "`too-slow`: the body took too long to arrive"),
    ("413", "TooLarge", "`too-large`: the body exceeds this server's size limit"),
    (
        "422",
        "Unfit",
        "`invalid-field`: a field is missing, unknown, of the wrong type, out of bounds, or has a \
         value that the server cannot accept",
    ),
];

/// Tagged enums that refuse unknown members, which their derives do not declare. Flattened types
/// refuse them too, but only `unevaluatedProperties` could express that, and few tools support it.
const STRICT: [&str; 3] = ["Answer", "OnSilence", "Route"];

/// Declares that a type has no members except those it lists.
fn close(schema: &mut RefOr<Schema>) {
    let RefOr::T(schema) = schema else { return };
    match schema {
        Schema::OneOf(variants) => variants.items.iter_mut().for_each(close),
        Schema::Object(object) if !object.properties.is_empty() => {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
        _ => {}
    }
}

type CommonProblem = (&'static str, &'static str, &'static str);

/// Adds what operations like this one share.
fn complete_operation(operation: &mut Operation, path: &str) {
    // Generators use the summary as a title, so it has no line break.
    if let Some(summary) = &mut operation.summary {
        *summary = summary.replace('\n', " ");
    }
    operation
        .security
        .get_or_insert_with(|| vec![SecurityRequirement::new("human_token", [""; 0])]);
    let parameters = operation.parameters.get_or_insert_default();
    let takes = |name: &str| {
        let named = |one: &RefOr<Parameter>| matches!(one, RefOr::T(one) if one.name == name);
        parameters.iter().any(named)
    };
    let (paged, conditional) = (takes("limit") && takes("cursor"), takes("If-Match"));
    if path.contains("{id}") && !takes("id") {
        let object = objects().into_iter().find(|(prefix, _)| path.starts_with(prefix));
        parameters.splice(0..0, object.map(|(_, parameter)| parameter.into()));
    }
    if parameters.is_empty() {
        operation.parameters = None;
    }
    let responses = &mut operation.responses.responses;
    for (status, response) in responses.iter_mut() {
        let RefOr::T(response) = response else { continue };
        if paged && status == "200" {
            let link = described_header("The next page, `rel=\"next\"`");
            response.headers.insert("Link".to_owned(), link);
        }
        if status.starts_with('2') && has_body(response, "Ask") {
            response.headers.insert("ETag".to_owned(), described_header("The version of the ask"));
        }
    }
    let mut declare = |applies: bool, (status, about): (&str, &str)| {
        if applies && !responses.contains_key(status) {
            responses.insert(status.to_owned(), described(about).into());
        }
    };
    declare(paged, OTHER_LIST);
    declare(conditional, CHANGED);
    common_problems(operation, path.contains('{'));
}

/// Whether the JSON body of a response is of the schema of this name.
fn has_body(response: &Response, name: &str) -> bool {
    let Some(RefOr::T(content)) = response.content.get("application/json") else { return false };
    matches!(&content.schema, Some(RefOr::Ref(schema)) if *schema == Ref::from_schema_name(name))
}

/// The object that `{id}` names, by the beginning of the path.
fn objects() -> [(&'static str, Parameter); 12] {
    fn id<T: PartialSchema + ToSchema>(about: &str, example: Option<&str>) -> Parameter {
        ParameterBuilder::new()
            .name("id")
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some(about))
            .schema(Some(Ref::from_schema_name(T::name())))
            .example(example.map(Into::into))
            .build()
    }
    [
        ("/api/v1/asks/", id::<AskId>("The ask", Some("ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"))),
        (
            "/api/v1/webhooks/",
            id::<WebhookId>("The endpoint", Some("hook_01JZ3V5Q8N6M4K2H0G9F7E5D3C")),
        ),
        ("/api/v1/keys/", id::<KeyId>("The credential", Some("key_01JZ3V5Q8N6M4K2H0G9F7E5D3C"))),
        ("/api/v1/people/", id::<HumanId>("Who", Some("user_dev"))),
        ("/api/v1/groups/", id::<GroupId>("The ID", Some("ops"))),
        ("/api/v1/projects/", id::<ProjectId>("The ID", Some("dev"))),
        ("/api/v1/agents/", id::<AgentId>("The ID", Some("agent_dev"))),
        ("/api/v1/tasks/", id::<TaskId>("The task", Some("task_01JZ3V5Q8N6M4K2H0G9F7E5D3C"))),
        (
            "/api/v1/artifacts/",
            id::<ArtifactId>("The artifact", Some("art_01JZ3V5Q8N6M4K2H0G9F7E5D3C")),
        ),
        ("/api/v1/rules/", id::<RuleId>("The rule", Some("rule_01JZ3V5Q8N6M4K2H0G9F7E5D3C"))),
        ("/api/v1/me/contacts/", id::<Digest>("The address", None)),
        ("/api/v1/me/push/", id::<Digest>("The device", None)),
    ]
}

/// The problem of a list in pages, and the one of an action with `If-Match`.
const OTHER_LIST: (&str, &str) = ("422", "`invalid-field`: a cursor of another list");
const CHANGED: (&str, &str) = ("412", "`changed`: the ask no longer has the version in `If-Match`");

/// The problems of actions that need an open ask.
pub(super) enum ClosedAskProblems {}

impl IntoResponses for ClosedAskProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let over = "`already-answered`, `already-cancelled`: the ask is closed; `taken`: another \
                    person has claimed it";
        let problems = [("409", over), ("410", "`timed-out`: the ask has expired")];
        problems.map(|(status, about)| (status.to_owned(), described(about).into())).into()
    }
}

fn described(about: &str) -> Response {
    ResponseBuilder::new().description(about).build()
}

fn described_header(about: &str) -> RefOr<Header> {
    HeaderBuilder::new().schema(Some(String::schema())).description(Some(about)).build().into()
}

/// Adds references to the common problems of an operation like this one. Problems that the
/// operation declares itself get the schema of a problem.
fn common_problems(operation: &mut Operation, named: bool) {
    let responses = &mut operation.responses.responses;
    for (status, response) in responses.iter_mut() {
        if let RefOr::T(response) = response
            && status.starts_with(['4', '5'])
        {
            problem(status, response);
        }
    }
    let open = operation.security.as_deref() == Some(&[SecurityRequirement::default()]);
    let closed = CLOSED.iter().filter(|_| !open);
    let one_kind = operation.security.as_ref().is_some_and(|kinds| kinds.len() == 1) && !open;
    let one_kind = ONE_KIND.iter().filter(|_| one_kind);
    let named = NAMED.iter().filter(|_| named);
    let with_body = WITH_BODY.iter().filter(|_| operation.request_body.is_some());
    let usual = ALWAYS.iter().chain(closed).chain(one_kind).chain(named).chain(with_body);
    for (status, name, _) in usual {
        let shared = || RefOr::Ref(Ref::from_response_name(*name));
        responses.entry((*status).to_owned()).or_insert_with(shared);
    }
}

fn problem(status: &str, response: &mut Response) {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    response.content.insert("application/problem+json".to_owned(), body.into());
    match status {
        "401" => {
            response.headers.insert("WWW-Authenticate".to_owned(), described_header("`Bearer`"));
        }
        "429" | "503" => {
            let about = "The number of seconds after which to retry";
            response.headers.insert("Retry-After".to_owned(), described_header(about));
        }
        _ => {}
    }
}

/// The header `If-Match` of operations that change an ask.
pub(super) enum IfMatch {}

/// The header `If-None-Match` of operations that read an ask.
pub(super) enum IfNoneMatch {}

/// The header `Prefer: wait=N`.
pub(super) enum PreferWait {}

/// The header `Idempotency-Key`.
pub(super) enum IdempotencyKey {}

/// The position where a stream resumes: `Last-Event-ID` or `after`.
pub(super) enum ResumePosition {}

/// The number after which a list continues.
pub(super) enum AfterNumber {}

/// The parameters `limit` and `cursor`.
pub(super) enum ListPageParams {}

/// A header parameter. Without a pattern any value is valid, because the server ignores values it
/// cannot read.
fn header(name: &str, about: &str, pattern: Option<&str>, example: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String).pattern(pattern);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(about))
        .schema(Some(schema))
        .example(Some(example.into()))
        .build()
}

fn query(name: &str, about: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(about))
        .schema(Some(schema))
        .build()
}

macro_rules! params {
    ($($name:ident => [$($parameter:expr),+ $(,)?]),+ $(,)?) => {
        $(impl IntoParams for $name {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                vec![$($parameter),+]
            }
        })+
    };
}

params! {
    IfMatch => [header(
        "If-Match",
        "The version that the caller has seen, or `*`. If the ask has another version, the \
         request is refused with 412.",
        Some(r#"^(\*|"[0-9]{1,18}"|[0-9]{1,18})$"#),
        "*",
    )],
    IfNoneMatch => [header(
        "If-None-Match",
        "The version that the caller already has. If it is still current, the response is 304.",
        Some(r#"^(\*|(W/)?"[0-9]{1,18}"|[0-9]{1,18})$"#),
        "\"1\"",
    )],
    PreferWait => [header(
        "Prefer",
        "With `wait=N`, the response waits up to N seconds for a change, at most 60. A value that \
         is not a whole number of seconds is ignored (RFC 7240).",
        None,
        "wait=1",
    )],
    IdempotencyKey => [header(
        "Idempotency-Key",
        "Repeating the same key and body returns the ask that the first request created, in its \
         current state. The server remembers a key while the ask is open, and at least 24 hours \
         after it was created and after it was closed.",
        Some(r"^[!-~]{1,255}$"),
        "refund-1042",
    )],
    ResumePosition => [
        header(
            "Last-Event-ID",
            "The ID of the last received event; the stream resumes after it.",
            Some(r"^[0-9]{1,18}$"),
            "17",
        ),
        query(
            "after",
            "The same, for clients that cannot set headers.",
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)),
        ),
    ],
    AfterNumber => [query(
        "after",
        "The number after which the list continues; 0 by default.",
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .maximum(Some(u64::MAX)),
    )],
    ListPageParams => [
        query(
            "limit",
            "The page size; 20 by default.",
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(100)),
        ),
        query(
            "cursor",
            "The `next` of the previous page of the same list.",
            ObjectBuilder::new().schema_type(Type::String),
        ),
    ],
}
