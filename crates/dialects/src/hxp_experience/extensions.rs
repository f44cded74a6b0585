//! Extensions of vendors and domains: each has its own namespace and declares its sensitive fields.
//! Section 7.10 and section 9.

use super::check::Check;
use super::finding::{EnvelopePath, FindingSeverity};
use super::registry::{Namespace, VENDOR, redefines};
use super::token_stream::{JsonKind, Node};

/// Checks every namespace.
pub(super) fn check_extensions(check: &mut Check<'_>, node: Node<'_>, path: &EnvelopePath<'_>) {
    for value in node.children() {
        let name = value.name();
        let path = EnvelopePath::Member(path, &name);
        if redefines(&name) {
            let says = format_args!(
                "`{name}` is a field of the envelope; an extension cannot redefine it"
            );
            check.report_spec_violation("HXPE-032", &path, says);
            continue;
        }
        match check.registry.find(&name) {
            Some(known) => sensitive_fields(check, value, &path, known),
            None if name.is_empty() => {
                let says = format_args!("a namespace needs a name");
                check.report_finding(FindingSeverity::Warning, "HXPE-033", &path, says);
            }
            None if name.len() > VENDOR.len() && name.starts_with(VENDOR) => {
                let says = format_args!(
                    "this namespace is not registered; the server does not know which of its \
                     fields are sensitive or how to opt out of them"
                );
                check.report_finding(FindingSeverity::Note, "HXPE-034", &path, says);
            }
            None => {
                let says = format_args!(
                    "`{name}` is not a known domain; a vendor's namespace starts with `{VENDOR}`"
                );
                check.report_finding(FindingSeverity::Warning, "HXPE-033", &path, says);
            }
        }
    }
}

fn sensitive_fields(
    check: &mut Check<'_>,
    value: Node<'_>,
    path: &EnvelopePath<'_>,
    known: &Namespace,
) {
    let Namespace { sensitive_fields: sensitive, opt_out, .. } = known;
    if value.kind() != JsonKind::Object || sensitive.is_empty() {
        return;
    }
    for node in value.children() {
        let name = node.name();
        if sensitive.iter().any(|known| *known == name) {
            let says = format_args!("`{name}` is sensitive. To opt out: {opt_out}");
            check.report_finding(
                FindingSeverity::Note,
                "HXPE-034",
                &EnvelopePath::Member(path, &name),
                says,
            );
        }
    }
}
