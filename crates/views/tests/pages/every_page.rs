//! Rules that hold on every page, whatever it shows.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html, Selector};

use crate::samples::pages;

pub(crate) fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

pub(crate) fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<Vec<_>>().join("").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn each(check: impl Fn(&str, &Html)) {
    for (name, html) in pages() {
        check(name, &Html::parse_document(html));
    }
}

#[test]
fn every_kind_in_every_state_is_there() {
    let names: BTreeSet<&String> = pages().iter().map(|(name, _)| name).collect();
    for kind in ["approve", "choose", "provide", "confirm", "escalate", "converse"] {
        for state in ["open", "answered", "expired", "failed", "cancelled", "lapsed", "erased"] {
            assert!(names.contains(&format!("{kind}-{state}")), "{kind} {state}");
        }
    }
}

#[test]
fn pages_are_small_and_have_one_heading_and_a_title() {
    for (name, html) in pages() {
        assert!(html.len() < 100 * 1024, "{name} is {} bytes", html.len());
        let page = Html::parse_document(html);
        assert_eq!(all(&page, "h1").len(), 1, "{name}");
        assert!(text(all(&page, "title")[0]).ends_with(" · Countersign"), "{name}");
        assert_eq!(all(&page, "html[lang], main, meta[name=viewport]").len(), 3, "{name}");
    }
}

/// UX 8: no external request of any kind; CSP forbids inline code and styles, so there are none.
#[test]
fn nothing_is_loaded_from_elsewhere_and_nothing_is_inline() {
    each(|name, page| {
        for element in all(page, "*") {
            for (attribute, value) in element.value().attrs() {
                assert!(
                    !attribute.starts_with("on") && attribute != "style",
                    "{name}: {attribute}"
                );
                // A provider's page is gone to by pressing; nothing is fetched from there.
                let away = element.value().name() == "a"
                    && name.starts_with("link-confirm-")
                    && element.attr("rel") == Some("noreferrer")
                    && value.starts_with("https://");
                // So is what an agent's words lead to, which shows where that is.
                let led = element.value().name() == "a"
                    && element.attr("class") == Some("away")
                    && element.attr("rel") == Some("noreferrer noopener nofollow")
                    && text(element).starts_with(value);
                // A letter is written by a program of the reader's own, to the address that is
                // shown.
                let letter = element.value().name() == "a"
                    && value.strip_prefix("mailto:") == Some(text(element).as_str());
                if away || led || letter {
                    continue;
                }
                if matches!(attribute, "src" | "href" | "action" | "formaction" | "srcset") {
                    // What stands in for another page leads to where that one is.
                    let again = value.is_empty() && matches!(name, "offline" | "unsent");
                    let local = again
                        || value.starts_with('#')
                        || (value.starts_with('/') && !value.starts_with("//"));
                    assert!(local, "{name}: {attribute}={value}");
                }
            }
        }
        assert!(all(page, "style, iframe, object, embed, base").is_empty(), "{name}");
        // Pictures are what a task delivered, and come from us.
        for picture in all(page, "img") {
            let delivered = picture.attr("src").is_some_and(|src| src.starts_with("/tasks/"));
            assert!(delivered && picture.attr("alt").is_some_and(|alt| !alt.is_empty()), "{name}");
        }
        assert!(all(page, "script").iter().all(|s| s.inner_html().is_empty()), "{name}");
        let of_list = !all(page, "#rows, .history, [data-later], dialog, .room").is_empty();
        // Where a passkey or a push service is asked for, a script of its own asks for it.
        let asks = "form[data-passkey], form[data-push]";
        let passkeys = usize::from(!all(page, asks).is_empty());
        let scripts: Vec<&str> = all(page, "script").iter().filter_map(|s| s.attr("src")).collect();
        assert!(scripts.iter().all(|src| src.starts_with("/assets/")), "{name}: {scripts:?}");
        let usual = scripts.len() - passkeys;
        // The texts of the scripts are a script of their own.
        assert!(if of_list { usual > 2 } else { usual == 2 }, "{name}");
    });
}

#[test]
fn ids_are_unique_and_references_lead_somewhere() {
    each(|name, page| {
        let ids: Vec<&str> = all(page, "[id]").iter().filter_map(|e| e.attr("id")).collect();
        let set: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), set.len(), "{name} has an id twice");
        for attribute in ["for", "aria-describedby", "aria-labelledby", "list"] {
            for element in all(page, &format!("[{attribute}]")) {
                let references = element.attr(attribute).unwrap();
                assert!(!references.is_empty(), "{name}: empty {attribute}");
                for id in references.split(' ') {
                    assert!(set.contains(id), "{name}: {attribute}={id}");
                }
            }
        }
        for link in all(page, "a[href^='#']") {
            let id = &link.attr("href").unwrap()[1..];
            assert!(set.contains(id), "{name}: #{id}");
        }
    });
}

/// UX 9: real labels.
#[test]
fn every_control_has_a_label() {
    each(|name, page| {
        for control in all(page, "input, textarea, select") {
            if control.attr("type") == Some("hidden") {
                continue;
            }
            let by_id = control.attr("id").is_some_and(|id| {
                all(page, &format!("label[for='{id}']"))
                    .iter()
                    .any(|label| !text(*label).is_empty())
            });
            let around = control.ancestors().filter_map(ElementRef::wrap);
            let within =
                around.into_iter().any(|e| e.value().name() == "label" && !text(e).is_empty());
            assert!(by_id || within, "{name}: {}", control.html());
        }
    });
}

/// UX 1: the button names its action; never "OK" or "Submit".
#[test]
fn every_button_says_what_it_does() {
    each(|name, page| {
        for button in all(page, "button, input[type=submit]") {
            let said = text(button);
            assert!(!said.is_empty(), "{name}: {}", button.html());
            let lower = said.to_lowercase();
            for never in ["ok", "submit", "yes", "no", "continue"] {
                assert_ne!(lower, never, "{name}");
            }
        }
        for submit in all(page, "a.act") {
            assert!(!text(submit).is_empty(), "{name}: {}", submit.html());
        }
    });
}

/// No GET decides anything, and every post carries the CSRF value or the link's token. What only
/// looks is a search, and puts no such value into an address.
#[test]
fn forms_post_and_carry_csrf() {
    each(|name, page| {
        let csrf = Selector::parse("input[type=hidden]:is([name=csrf], [name=token])").unwrap();
        for form in all(page, "form") {
            if form.attr("role") == Some("search") {
                assert_eq!(form.attr("method"), Some("get"), "{name}");
                assert_eq!(form.select(&csrf).count(), 0, "{name}");
                continue;
            }
            assert_eq!(form.attr("method"), Some("post"), "{name}");
            assert!(form.select(&csrf).count() >= 1, "{name}");
        }
        for control in all(page, "[form]") {
            let form = format!("form[id='{}'][method=post]", control.attr("form").unwrap());
            assert_eq!(all(page, &form).len(), 1, "{name}: {form}");
        }
    });
}

/// Request pages say that an agent asks, or that a person wrote; people never read our own jargon.
#[test]
fn an_agent_asks_and_words_are_plain() {
    each(|name, page| {
        let main = text(all(page, "main")[0]);
        if !all(page, ".request").is_empty() {
            assert!(
                main.contains("An AI agent is asking you")
                    || main.contains("A person wrote to an AI agent"),
                "{name}"
            );
        }
        for jargon in ["dialect", "envelope", "assurance", "kernel", "null", "Some("] {
            assert!(!main.contains(jargon), "{name}: {jargon}");
        }
    });
}

/// UX 11: words for people, the exact moment for everyone else.
#[test]
fn times_carry_the_exact_moment() {
    each(|name, page| {
        for time in all(page, "time") {
            assert!(time.attr("datetime").unwrap().ends_with('Z'), "{name}");
            assert!(time.attr("title").unwrap().ends_with("UTC"), "{name}");
        }
    });
}
