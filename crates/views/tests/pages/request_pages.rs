//! What particular pages show.

use kernel::ask::Route;
use kernel::command::NewAsk;
use kernel::text::reveal;
use scraper::Html;
use serde_json::json;

use crate::every_page::{all, text};
use crate::fixture::{PageFixture, new_ask, question};
use crate::samples::{Gallery, HOSTILE, approve, pages};

fn page(name: &str) -> Html {
    let pages = pages();
    Html::parse_document(&pages.iter().find(|(n, _)| n == name).expect(name).1)
}

fn main_of(name: &str) -> String {
    text(all(&page(name), "main")[0])
}

/// UX 2–4: markup is text, hidden characters show themselves, and nothing is cut.
#[test]
fn hostile_words_are_inert_and_whole() {
    let shown = page("hostile");
    assert!(all(&shown, "main script, main img").is_empty());
    let whole = reveal(HOSTILE);
    assert_eq!(all(&shown, ".prompt")[0].text().collect::<String>(), whole);
    for block in ["#context", "#detail-1", "#detail-3", "#extra-0"] {
        assert_eq!(all(&shown, block)[0].text().collect::<String>().trim(), whole, "{block}");
    }
    assert!(all(&shown, "#detail-2")[0].text().collect::<String>().contains("⟨U+202E⟩"));
    let html = &pages().iter().find(|(name, _)| name == "hostile").unwrap().1;
    assert!(!html.contains('\u{202e}') && !html.contains('\u{200b}'));
}

#[test]
fn long_content_is_whole_and_says_how_long_it_is() {
    let shown = page("long");
    assert_eq!(all(&shown, "pre#prompt")[0].text().collect::<String>().trim(), "x".repeat(10_000));
    let script = all(&shown, "pre#detail-2")[0].text().collect::<String>();
    assert!(script.contains("  1  rm -rf") && script.contains("412  rm -rf"));
    let main = main_of("long");
    assert!(main.contains("All 412 lines are here") && main.contains("All 10,000 characters"));
    assert!(all(&shown, "pre#detail-2[tabindex='0']").len() == 1, "reachable by keyboard");
    assert!(all(&shown, "input#detail-2-open").len() == 1, "opens without a script");
}

/// UX 3: what the agent wrote and what we know are apart.
#[test]
fn the_agents_words_are_marked_as_its_own() {
    let shown = page("approve-open");
    assert!(text(all(&shown, ".agent")[0]).starts_with("❝ The agent says Should I refund"));
    assert!(text(all(&shown, ".headline")[0]).starts_with("Amount 1250.5 EUR Recipient ann@"));
    let known = text(all(&shown, ".known")[0]);
    assert!(known.contains("Agent release-bot Project shop"));
    assert!(known.contains("The request fails, and the agent is notified"));
    let hostile = page("hostile");
    assert!(text(all(&hostile, ".claim")[0]).starts_with("calls itself “Pay </script>"));
}

#[test]
fn buttons_say_the_consequence_in_the_agents_terms() {
    let says = |name: &str| -> Vec<String> {
        all(&page(name), ".answer .say").iter().map(|e| text(*e)).collect()
    };
    assert_eq!(
        says("approve-open"),
        ["Approve: refund order A-1007", "Reject this request", "Request changes"]
    );
    assert_eq!(says("choose-open")[..2], ["Choose Roll back to v2.0.9", "Choose Ship a hotfix"]);
    assert!(says("confirm-open").contains(&"Clean up now".to_owned()));
    assert!(says("confirm-open").contains(&"Leave everything".to_owned()));
    let escalate = page("escalate-open");
    assert!(text(all(&escalate, ".apart")[0]).contains("This can't be undone"));
}

/// UX 5: every end says who, when, what, and what happens now.
#[test]
fn ends_are_told() {
    for (name, expected) in [
        ("approve-answered", "Approved Answered by Olga Petrova on the web page (signed in)."),
        ("edit-answered", "Rejected Answered by Olga Petrova"),
        ("edit-answered", "Not before Monday"),
        ("choose-answered", "Chose “Roll back to v2.0.9”"),
        ("choose-many-answered", "Design Legal"),
        ("confirm-answered", "“Leave everything”"),
        ("converse-answered", "Shorter intro."),
        (
            "approve-expired",
            "Expired No one answered in time. What happens now. The agent continues without",
        ),
        (
            "approve-lapsed",
            "Expired No one answered in time. What happens now. The agent continues without",
        ),
        ("approve-failed", "The agent is notified that the request failed."),
        ("approve-cancelled", "Withdrawn by Countersign."),
        ("approve-cancelled", "Not needed any more"),
        ("approve-erased", "The text of this request was erased."),
        ("approve-claimed-by-other", "Claimed by Olga Petrova"),
        ("default-promised", "Falls back to: Rejected"),
        ("default-taken", "No one answered in time, so the agent's default was applied."),
        ("lost-race", "Already answered by Mark Osei, 1 min ago Your answer was not sent."),
        ("unavailable", "Nothing is lost"),
    ] {
        assert!(main_of(name).contains(expected), "{name}: {}", main_of(name));
    }
    let lost = page("lost-race");
    assert_eq!(text(all(&lost, "textarea#written")[0]), "I would rather not, because…");
    for name in [
        "approve-answered",
        "approve-expired",
        "approve-lapsed",
        "approve-cancelled",
        "approve-erased",
        "approve-claimed-by-other",
    ] {
        assert!(all(&page(name), "form.answer").is_empty(), "{name} can still be answered");
    }
}

/// UX 6: a refused form keeps every value, except secrets, and says where what is wrong.
#[test]
fn a_refused_form_keeps_what_was_entered() {
    let shown = page("form-refused");
    let value = |id: &str| all(&shown, id)[0].attr("value").unwrap_or_default().to_owned();
    assert_eq!((value("#field-name"), value("#field-weight")), ("A".to_owned(), "99".to_owned()));
    assert_eq!(text(all(&shown, "#field-notes")[0]), "kept <b>");
    assert_eq!(text(all(&shown, "#comment")[0]), "hello");
    assert_eq!(
        all(&shown, "#field-service [value=exp][checked], #field-extras [value=cold][checked]")
            .len(),
        2
    );
    assert_eq!(all(&shown, "#field-insured [value=true][checked]").len(), 1);
    assert_eq!(value("#field-pin"), "");
    assert_eq!(all(&shown, "#field-pin")[0].attr("type"), Some("password"));
    assert!(!shown.html().contains("hunter2"));

    let summary = all(&shown, "#problems[role=alert] a");
    let links: Vec<&str> = summary.iter().filter_map(|a| a.attr("href")).collect();
    assert_eq!(links, ["#field-name", "#field-weight", "#field-mail", "#field-sum", "#field-mood"]);
    assert_eq!(text(summary[0]), "Recipient: Enter at least 2 characters");
    assert_eq!(
        all(&shown, "#field-name[aria-invalid=true][aria-describedby~=field-name-error]").len(),
        1
    );
    assert!(!main_of("provide-answered").contains("hunter2"));
    for read in ["Service Express", "Extras Cooling Signature", "label.png (1,204 bytes)"] {
        assert!(main_of("provide-answered").contains(read), "{read}");
    }
    assert!(main_of("provide-answered").contains("Depot PIN (secret, not shown again)"));
}

#[test]
fn refused_answers_lead_to_the_box_to_correct() {
    for (name, target) in [("reject-without-reason", "#comment"), ("bad-edits", "#edits-0")] {
        let shown = page(name);
        assert_eq!(all(&shown, "#problems a")[0].attr("href"), Some(target), "{name}");
        assert_eq!(all(&shown, &format!("{target}[aria-invalid=true]")).len(), 1, "{name}");
    }
    let edits = page("bad-edits");
    assert_eq!(all(&edits, "details[open] #edits-0[type=number]")[0].attr("value"), Some("1,250"));
    assert_eq!(text(all(&edits, "#edits-5.mono[aria-invalid=true]")[0]), "[oops");
    assert_eq!(all(&edits, "#edits-2")[0].attr("value"), Some("ann@example.com"));
}

#[test]
fn a_form_shows_every_type_of_field() {
    let shown = page("provide-open");
    for (id, kind) in [
        ("name", "text"),
        ("weight", "number"),
        ("when", "date"),
        ("mail", "email"),
        ("site", "url"),
        ("pin", "password"),
        ("scan", "file"),
        ("colour", "text"),
    ] {
        let control = all(&shown, &format!("#field-{id}"))[0];
        assert_eq!(control.attr("type"), Some(kind), "{id}");
        assert_eq!(control.attr("name"), Some(format!("field.{id}").as_str()));
    }
    assert_eq!(all(&shown, "form.answer[enctype='multipart/form-data']").len(), 1);
    assert_eq!(all(&shown, "#field-mood input[type=radio]").len(), 5);
    assert_eq!(all(&shown, "#field-extras input[type=checkbox]").len(), 2);
    assert_eq!(
        all(&shown, "#field-notes")[0].text().collect::<String>().trim(),
        "Ring twice\nThen wait"
    );
    assert!(text(all(&shown, ".answer")[0]).contains("Only if “Insured?” is Yes."));
    assert!(
        all(&shown, "#field-name[required]").len() == 1
            && all(&shown, "#field-sum[required]").is_empty()
    );
}

#[test]
fn a_pool_request_can_be_taken_on_and_any_can_be_handed_over() {
    let pool = page("pool");
    let form = all(&pool, "form.taking")[0];
    assert!(form.attr("action").unwrap().ends_with("/claim"));
    assert!(all(&page("approve-open"), "form.taking").is_empty());
    let handing = page("approve-open");
    assert_eq!(text(all(&handing, "#to option")[1]), "Mark Osei");
}

/// The inbox: urgent first, counts in the title, quick answers only where the question fits whole.
#[test]
fn the_inbox_answers_what_fits_and_links_the_rest() {
    let shown = page("inbox");
    assert!(text(all(&shown, "title")[0]).starts_with("(11) Inbox"));
    let words: Vec<String> = all(&shown, ".row .urgency").iter().map(|e| text(*e)).collect();
    assert_eq!(words[..2], ["◔ Expires in 3 min", "◆ Critical"]);
    assert_eq!(words.last().unwrap(), "▽ Low");
    let quick: Vec<String> = all(&shown, ".quick button").iter().map(|e| text(*e)).collect();
    assert_eq!(
        quick,
        [
            "Approve: Deploy v2.1.0 to production",
            "Reject: Deploy v2.1.0 to production",
            "Choose Keep it",
            "Choose Stop it"
        ]
    );
    assert_eq!(all(&shown, ".row").len(), all(&shown, ".row h2 a[href^='/asks/']").len());
    assert_eq!(all(&shown, ".row .tick input[form=bulk]").len(), all(&shown, ".row").len());
    assert_eq!(all(&shown, ".pages a[href='/?after=2.01J']").len(), 1);
    assert_eq!(all(&shown, ".past li").len(), 9);

    let empty = main_of("inbox-empty");
    assert!(empty.contains("Send yourself the first request"), "{empty}");
}

#[test]
fn hidden_characters_and_long_texts_are_never_answered_from_the_list() {
    for prompt in ["Pay\u{202e}?".to_owned(), "x".repeat(141), "two\nlines".to_owned()] {
        let mut g = Gallery { cast: PageFixture::new(), pages: Vec::new() };
        let ask = g
            .cast
            .ask(NewAsk { route: Route::Owner, ..new_ask(question(&prompt, approve(json!({})))) });
        let waiting = [g.cast.seen(ask).clone()];
        g.inbox("inbox", &waiting, &[], None, None);
        let shown = Html::parse_document(&g.pages[0].1);
        assert!(all(&shown, ".quick button").is_empty(), "{prompt:?}");
        assert_eq!(all(&shown, ".quick a.go").len(), 1, "{prompt:?}");
    }
}

/// GET shows a button, POST signs in; nobody is named and nothing is decided by looking.
#[test]
fn signing_in_takes_a_post() {
    let shown = page("sign-in");
    assert_eq!(
        all(&shown, "form[method=post][action='/sign-in'] input[name=token]")[0].attr("value"),
        Some("link-token")
    );
    assert_eq!(text(all(&shown, "main button")[0]), "Sign in on this device");
    assert!(all(&page("sign-in-bare"), "form").is_empty());
}

/// The one that looks is marked, each can be told no more, and no address is shown.
#[test]
fn devices_are_named_and_their_addresses_are_not() {
    let shown = page("devices");
    assert_eq!(all(&shown, "button[name=remove]").len(), 2);
    let marked = all(&shown, ".row h2").into_iter().filter(|h2| text(*h2).contains("this browser"));
    assert_eq!(marked.map(text).collect::<Vec<_>>(), ["Chrome on Android this browser"]);
    let main = main_of("devices");
    assert!(main.contains("Through push.example") && !main.contains("s3cret"), "{main}");
    assert_eq!(all(&shown, "form[data-push=BKey] button[hidden]").len(), 1);
}

/// Each way can be moved and turned off, what is not verified asks for a code, and what is first or
/// last goes no further.
#[test]
fn ways_are_moved_by_buttons() {
    let shown = page("told");
    let buttons = |name: &str| all(&shown, &format!("button[name={name}]")).len();
    let expected = [("up", 4), ("down", 4), ("off", 2), ("on", 1), ("remove", 4), ("send", 1)];
    for (name, times) in expected {
        assert_eq!(buttons(name), times, "{name}");
    }
    assert_eq!(all(&shown, "input[name=verify]").len(), 1);
    assert_eq!(all(&shown, "option[value=day][selected]").len(), 1);
    let main = main_of("told");
    for part in
        ["not verified", "This channel isn’t set up on this server.", "2 devices.", "Verified."]
    {
        assert!(main.contains(part), "{part}: {main}");
    }
}

/// Without a network: neither page says that anything arrived, and both lead back by a visit.
#[test]
fn nothing_reached_is_said() {
    assert!(main_of("offline").contains("could not be loaded"));
    assert!(main_of("unsent").contains("Assume that it did not"));
    for name in ["offline", "unsent"] {
        assert_eq!(all(&page(name), "main form").len(), 0, "{name}");
        assert_eq!(all(&page(name), "main a[href='']").len(), 1, "{name}");
    }
}
