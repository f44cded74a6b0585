//! What vendors and domains add: under a name of their own, and saying what of it is sensitive.
//! Section 7.10 and section 9.

use super::check::Check;
use super::finding::{Path, Severity};
use super::registry::{VENDOR, redefines};
use super::tape::{Kind, Node};

/// Looks at every namespace.
pub(super) fn look(check: &mut Check<'_>, node: Node<'_>, path: &Path<'_>) {
    for (name, value) in node.members() {
        let path = Path::Member(path, &name);
        if redefines(&name) {
            let says =
                format!("`{name}` is a name of the envelope itself; extensions cannot redefine it");
            check.beyond("HXPE-032", &path, says);
            continue;
        }
        match check.registry.find(&name) {
            Some(known) => {
                let (sensitive, opt_out) = (known.sensitive_fields.clone(), known.opt_out.clone());
                sensitive_fields(check, value, &path, &sensitive, &opt_out);
            }
            None if name.is_empty() => {
                check.say(Severity::Warning, "HXPE-033", &path, "a namespace needs a name");
            }
            None if name.len() > VENDOR.len() && name.starts_with(VENDOR) => {
                let says = "nobody registered this namespace: which of its fields are sensitive, and how \
                            to do without them, is not known";
                check.say(Severity::Note, "HXPE-034", &path, says);
            }
            None => {
                let says = format!(
                    "`{name}` is no known domain; a vendor's namespace begins with `{VENDOR}`"
                );
                check.say(Severity::Warning, "HXPE-033", &path, says);
            }
        }
    }
}

fn sensitive_fields(
    check: &mut Check<'_>,
    value: Node<'_>,
    path: &Path<'_>,
    sensitive: &[String],
    opt_out: &str,
) {
    if value.kind() != Kind::Object || sensitive.is_empty() {
        return;
    }
    for (name, _) in value.members() {
        if sensitive.iter().any(|known| *known == name) {
            let says = format!("`{name}` is sensitive. To do without it: {opt_out}");
            check.say(Severity::Note, "HXPE-034", &Path::Member(path, &name), says);
        }
    }
}
