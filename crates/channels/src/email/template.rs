//! Emails with an agent's own layout: the `template` of A2H, a Jinja page (A2H-090).
//!
//! An agent wrote the template, so it is rendered in a sandbox: no other templates, no functions, a
//! bounded number of steps, and no operations that make values grow (`guard.rs`). The output is
//! sanitised (`clean.rs`). A broken template is an error with a reason, and the request continues
//! with the default email.

mod clean;
mod guard;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernel::text::{reveal, reveal_json};
use minijinja::value::{Kwargs, Serde, Value};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, context, filters, tests as is,
};
use url::Url;
use views::email::AgentEmailBody;

use super::html;

/// The longest template.
const LONGEST_TEMPLATE: usize = 64 * 1024;
/// The largest JSON of the call that a template shows.
const LARGEST_EVENT: usize = 128 * 1024;
/// The longest email. Email clients truncate longer ones.
const MAX_EMAIL_LENGTH: usize = 256 * 1024;
/// The longest text that one filter may produce.
const LONGEST_TEXT: usize = 1024 * 1024;
/// The limit for the texts of all filters together. A step is cheap, but a filter within it
/// may not be.
const ALL_TEXTS: usize = 8 * 1024 * 1024;
/// The longest error message.
const LONGEST_WHY: usize = 300;
/// The most steps of a rendering.
const STEPS: u64 = 20_000;
/// The deepest nesting.
const DEPTH: usize = 40;
/// The widest indentation of JSON.
const WIDEST_INDENT: usize = 4;

/// Why a template cannot be rendered, for its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct BrokenTemplate {
    /// The reason, in words.
    pub why: String,
}

impl BrokenTemplate {
    /// Escapes the reason, because it may quote the agent's text.
    fn new(why: impl AsRef<str>) -> Self {
        Self { why: reveal(why.as_ref()).chars().take(LONGEST_WHY).collect() }
    }
}

/// The variables of a template.
#[derive(Debug, Clone, Copy)]
pub struct TemplateContext<'a> {
    /// `event`: the whole call, as A2H shows it.
    pub event: &'a serde_json::Value,
    /// `urls.base_url`: the page where the request can be answered. It has no query, because links
    /// add their own.
    pub base_url: &'a Url,
    /// `type`: `v1beta2.function_call` or `v1beta2.human_contact`.
    pub kind: &'a str,
}

/// Renders a template to an email.
pub fn render(
    template: &str,
    known: TemplateContext<'_>,
) -> Result<AgentEmailBody, BrokenTemplate> {
    if template.len() > LONGEST_TEMPLATE {
        return Err(BrokenTemplate::new("the template exceeds 64 KiB"));
    }
    if known.event.to_string().len() > LARGEST_EVENT {
        return Err(BrokenTemplate::new("the call exceeds 128 KiB, the limit for templates"));
    }
    guard::check(template)?;
    let environment = environment();
    let parsed = environment.template_from_str(template).map_err(|error| broken(&error))?;
    let (event, base) = (reveal_json(known.event.clone()), known.base_url.as_str());
    let knows = context! {
        event => Value::from(Serde(event)),
        urls => context! { base_url => base },
        type => known.kind,
    };
    let mut page = BoundedPage(Vec::new());
    parsed.render_captured_to(knows, &mut page).map_err(|error| broken(&error))?;
    let page = String::from_utf8(page.0)
        .map_err(|_| BrokenTemplate::new("the rendered email is not text"))?;
    let html = clean::clean(&page, known.base_url)
        .ok_or_else(|| BrokenTemplate::new("the rendered email is nested too deeply"))?;
    let text = html::to_text(&html);
    if text.trim().is_empty() {
        return Err(BrokenTemplate::new("the rendered email is empty"));
    }
    Ok(AgentEmailBody { html, text })
}

fn broken(error: &Error) -> BrokenTemplate {
    let what = match error.kind() {
        ErrorKind::OutOfFuel => "the template takes too many steps".to_owned(),
        ErrorKind::WriteFailure => "the rendered email exceeds 256 KiB".to_owned(),
        _ => error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
    };
    match error.line() {
        Some(line) => BrokenTemplate::new(format!("line {line} of the template: {what}")),
        None => BrokenTemplate::new(what),
    }
}

/// The rendered page, up to its size limit.
struct BoundedPage(Vec<u8>);

impl io::Write for BoundedPage {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_EMAIL_LENGTH {
            return Err(io::Error::other("too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The functions that the A2H documents name, and others that templates commonly need.
fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // A missing member is empty, and so are its members, because calls differ.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(STEPS));
    environment.set_recursion_limit(DEPTH);
    environment.set_unknown_method_callback(|_, value, name, arguments| match (name, arguments) {
        // Methods of Python dictionaries, which many templates use.
        ("items", []) => filters::items(value),
        ("get", [key]) => value.get_item(key),
        _ => Err(Error::new(ErrorKind::UnknownMethod, format!("unknown function {name}()"))),
    });
    let budget = FilterBudget::default();
    let spend = budget.clone();
    environment.add_filter(
        "tojson",
        move |value: &Value, indent: Option<usize>, kwargs: Kwargs| {
            spend.spend(tojson(value, indent, kwargs)?.to_string()).map(Value::from_safe_string)
        },
    );
    environment.add_filter("default", filters::default);
    environment.add_filter("d", filters::default);
    environment.add_filter("escape", filters::escape);
    environment.add_filter("e", filters::escape);
    environment.add_filter("safe", filters::safe);
    environment.add_filter("length", filters::length);
    environment.add_filter("count", filters::length);
    environment.add_filter("first", filters::first);
    environment.add_filter("last", filters::last);
    environment.add_filter("items", |value: Value| filters::items(&value));
    let spend = budget.clone();
    environment.add_filter("join", move |value: &Value, between: Option<&str>| {
        join(&spend, value, between)
    });
    let spend = budget.clone();
    environment.add_filter("upper", move |text: &str| spend.spend(text.to_uppercase()));
    let spend = budget.clone();
    environment.add_filter("lower", move |text: &str| spend.spend(text.to_lowercase()));
    environment.add_filter("trim", move |text: &str| budget.spend(text.trim().to_owned()));
    environment.add_test("defined", is::is_defined);
    environment.add_test("undefined", is::is_undefined);
    environment.add_test("none", is::is_none);
    environment.add_test("string", is::is_string);
    environment.add_test("number", is::is_number);
    environment.add_test("mapping", is::is_mapping);
    environment.add_test("iterable", is::is_iterable);
    environment
}

/// The budget for the output of all filters in one email.
#[derive(Clone, Default)]
struct FilterBudget(Arc<AtomicUsize>);

impl FilterBudget {
    fn spend(&self, text: String) -> Result<String, Error> {
        let spent = self.0.fetch_add(text.len(), Ordering::Relaxed).saturating_add(text.len());
        if text.len() <= LONGEST_TEXT && spent <= ALL_TEXTS {
            return Ok(text);
        }
        Err(Error::new(ErrorKind::InvalidOperation, "a string becomes too long"))
    }
}

/// The filter `tojson(indent=2)`.
fn tojson(value: &Value, indent: Option<usize>, kwargs: Kwargs) -> Result<Value, Error> {
    let named: Option<usize> = kwargs.get("indent")?;
    if indent.or(named).is_some_and(|indent| indent > WIDEST_INDENT) {
        return Err(Error::new(ErrorKind::InvalidOperation, "an indent is at most 4"));
    }
    filters::tojson(value, indent.map(Value::from), kwargs)
}

fn join(budget: &FilterBudget, value: &Value, between: Option<&str>) -> Result<String, Error> {
    let mut joined = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        let between = if at > 0 { between.unwrap_or_default() } else { "" };
        joined.push_str(&budget.spend(format!("{between}{item}"))?);
    }
    Ok(joined)
}

#[cfg(test)]
mod tests;
