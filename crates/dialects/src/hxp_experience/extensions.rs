//! Extensions of vendors and domains: each has its own namespace and declares its sensitive fields.
//! Section 7.10 and section 9.

use super::check::Check;
use super::finding::{Path, Severity};
use super::registry::{Namespace, VENDOR, redefines};
use super::tape::{Kind, Node};

/// Checks every namespace.
pub(super) fn look(check: &mut Check<'_>, node: Node<'_>, path: &Path<'_>) {
    for value in node.inner() {
        let name = value.name();
        let path = Path::Member(path, &name);
        if redefines(&name) {
            let says = format_args!(
                "`{name}` is a name of the envelope itself; extensions cannot redefine it"
            );
            check.beyond("HXPE-032", &path, says);
            continue;
        }
        match check.registry.find(&name) {
            Some(known) => sensitive_fields(check, value, &path, known),
            None if name.is_empty() => {
                let says = format_args!("a namespace needs a name");
                check.say(Severity::Warning, "HXPE-033", &path, says);
            }
            None if name.len() > VENDOR.len() && name.starts_with(VENDOR) => {
                let says = format_args!(
                    "nobody registered this namespace: which of its fields are sensitive, and how \
                     to do without them, is not known"
                );
                check.say(Severity::Note, "HXPE-034", &path, says);
            }
            None => {
                let says = format_args!(
                    "`{name}` is no known domain; a vendor's namespace begins with `{VENDOR}`"
                );
                check.say(Severity::Warning, "HXPE-033", &path, says);
            }
        }
    }
}

fn sensitive_fields(check: &mut Check<'_>, value: Node<'_>, path: &Path<'_>, known: &Namespace) {
    let Namespace { sensitive_fields: sensitive, opt_out, .. } = known;
    if value.kind() != Kind::Object || sensitive.is_empty() {
        return;
    }
    for node in value.inner() {
        let name = node.name();
        if sensitive.iter().any(|known| *known == name) {
            let says = format_args!("`{name}` is sensitive. To do without it: {opt_out}");
            check.say(Severity::Note, "HXPE-034", &Path::Member(path, &name), says);
        }
    }
}
