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
    ("asks", "An agent asks, a person answers, both can talk on the way."),
    ("streams", "What happens, as it happens, as server-sent events."),
    ("files", "Files that answer an ask."),
    ("callbacks", "Whether an agent was told that its ask is over."),
    ("webhooks", "Endpoints that are told what happens, and what they were told."),
    ("people", "Who there is. For administrators; everybody may know who they are themselves."),
    ("tasks", "Erasing tasks and artifacts. Everything else about them is HACP's."),
    ("keys", "Agent keys and human tokens, and a person's delegation rules."),
    ("receipts", "Signed proof of how an ask ended, for anybody to check."),
    ("audit", "The record everything is in, sealed in signed blocks."),
    ("insights", "Numbers about what agents claim and what people do with it."),
    ("testing", "Time and people for tests; only a server started with `--dev` has them."),
];

const ABOUT: &str = "The human gateway for AI agents. Bodies are JSON; errors are \
    `application/problem+json` (RFC 9457), and the `type` of each is the address of a page that \
    explains it. An ask has a version, which is its `ETag`. 400 means that the body is not JSON, or \
    that a parameter of the address or a header is not what this document says; 422 that a field of \
    the body is missing, unknown, of the wrong type, out of bounds or cannot be taken, or that a \
    parameter of the right form cannot.";

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
        "`invalid-json`: the body is not JSON; `invalid-field`: a parameter or header is not what \
         this document says",
    ),
    ("429", "TooMany", "`rate-limited`: too many requests with this credential"),
    ("500", "Internal", "`internal`: something went wrong inside the server"),
    ("503", "Unavailable", "`unavailable`: the store cannot be reached; try again"),
];
const CLOSED: [CommonProblem; 1] = [(
    "401",
    "Unauthorized",
    "`unauthorized`: no credential, or one that is unknown, revoked or run out",
)];
const ONE_KIND: [CommonProblem; 1] = [(
    "403",
    "WrongKind",
    "`not-allowed`: an agent key where a person's token is needed, or the reverse",
)];
const NAMED: [CommonProblem; 1] =
    [("404", "NotFound", "`not-found`: it is not there, or not for you to know")];
const WITH_BODY: [CommonProblem; 3] = [
    ("408", "TooSlow", "`too-slow`: the body took too long to arrive"),
    ("413", "TooLarge", "`too-large`: the body is larger than this server takes"),
    (
        "422",
        "Unfit",
        "`invalid-field`: a field is missing, unknown, of the wrong type, out of bounds, or cannot \
         be taken",
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
            response.headers.insert("ETag".to_owned(), described_header("Its version"));
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
        ("/api/v1/groups/", id::<GroupId>("The name", Some("ops"))),
        ("/api/v1/projects/", id::<ProjectId>("The name", Some("dev"))),
        ("/api/v1/agents/", id::<AgentId>("The name", Some("agent_dev"))),
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
const CHANGED: (&str, &str) = ("412", "`changed`: it is not at the version of `If-Match`");

/// The problems of actions that need an open ask.
pub(super) enum ClosedAskProblems {}

impl IntoResponses for ClosedAskProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let over =
            "`already-answered`, `already-cancelled`: it is over; `taken`: somebody else has it";
        let problems = [("409", over), ("410", "`timed-out`: its time is up")];
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
            let about = "Seconds to wait before trying again";
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
        "The version the caller has seen, or `*`. Another one is refused with 412, and nothing \
         happens.",
        Some(r#"^(\*|"[0-9]{1,18}"|[0-9]{1,18})$"#),
        "*",
    )],
    IfNoneMatch => [header(
        "If-None-Match",
        "The version the caller has already. If it is still that one, the answer is 304.",
        Some(r#"^(\*|(W/)?"[0-9]{1,18}"|[0-9]{1,18})$"#),
        "\"1\"",
    )],
    PreferWait => [header(
        "Prefer",
        "`wait=N` has the answer held back until something changes, N seconds at most and never \
         more than 60. What is no whole number of seconds is ignored (RFC 7240).",
        None,
        "wait=1",
    )],
    IdempotencyKey => [header(
        "Idempotency-Key",
        "The same key and body give the ask that was made the first time, as it is now. A key is \
         remembered as long as the ask is open, and at least 24 hours after the ask was made and \
         after it ended.",
        Some(r"^[!-~]{1,255}$"),
        "refund-1042",
    )],
    ResumePosition => [
        header(
            "Last-Event-ID",
            "The id of the last event that was received; the stream goes on after it.",
            Some(r"^[0-9]{1,18}$"),
            "17",
        ),
        query(
            "after",
            "The same, for who cannot set headers.",
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)),
        ),
    ],
    AfterNumber => [query(
        "after",
        "The number to go on after; 0 when nothing is said.",
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .maximum(Some(u64::MAX)),
    )],
    ListPageParams => [
        query(
            "limit",
            "How many; 20 when nothing is said.",
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(100)),
        ),
        query(
            "cursor",
            "The `next` of the page before, of the same list.",
            ObjectBuilder::new().schema_type(Type::String),
        ),
    ],
}
