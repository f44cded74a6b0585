//! Endpoints: all of them, one with what it was told, its secret, and removing it.

use kernel::ask::CallbackResult;
use kernel::directory::{Webhook, WebhookDisabledReason, WebhookFormat, WebhookScope};
use kernel::{AskId, Time, Topic, WebhookId};
use scraper::Html;
use views::answer_form::problem::ProblemLocation;
use views::components::wording::VisibleText;
use views::settings::controls::{FormDraft, SelectOption};
use views::settings::webhooks::{
    self as view, DeliveryAttemptView, DeliveryStatusView, WebhookDeliveryView,
};
use views::settings::{self, SettingsPage};
use views::{FormProblems, PageContext};

use crate::every_page::{all, text};
use crate::samples::{Gallery, HOSTILE, pages, pairs};

pub(crate) fn gallery(g: &mut Gallery) {
    let frame = g.frame();
    let nothing = FormProblems::default();
    let filled = FormDraft { form: None, problems: &nothing };
    let (quiet, gone) =
        (endpoint(1, frame.now, None), endpoint(2, frame.now, Some(WebhookDisabledReason::Gone)));
    let by_hand = Webhook {
        url: "https://agent.example/other?key=s3cret".to_owned(),
        ..endpoint(3, frame.now, Some(WebhookDisabledReason::ByHand))
    };
    let all = [&quiet, &gone, &by_hand];
    let whose: Vec<SelectOption> = vec![("agent/bot".to_owned(), "the agent bot".to_owned())];
    let next = Some("/settings/webhooks?after=hook_3".to_owned());
    let log = log(frame.now);
    let older = Some("/settings/webhooks/hook_1?after=1.msg".to_owned());
    let pages = [
        ("webhooks", view::list(&all, next, &whose, filled)),
        ("webhooks-none", view::list(&[], None, &[], filled)),
        ("webhooks-refused", refused(&whose)),
        ("webhook", view::page(&quiet, &log, older, frame.now, filled)),
        ("webhook-untold", view::page(&quiet, &[], None, frame.now, filled)),
        ("webhook-gone", view::page(&gone, &log, None, frame.now, filled)),
        ("webhook-secret", view::secret_page(quiet.id, "whsec_c2VjcmV0")),
        ("webhook-remove", view::remove(&quiet)),
    ];
    g.pages.extend(pages.map(|(name, page)| (name.to_owned(), shown(&frame, &page))));
}

fn shown(frame: &PageContext, page: &SettingsPage) -> String {
    settings::page(frame, true, page)
}

fn endpoint(n: u128, now: Time, disabled: Option<WebhookDisabledReason>) -> Webhook {
    Webhook {
        id: WebhookId::new(n.into()),
        of: WebhookScope::Agent("bot".parse().unwrap()),
        url: format!("https://agent.example/{}", "long/".repeat(30)),
        events: Topic::ENDINGS.into(),
        format: WebhookFormat::Standard,
        description: HOSTILE.to_owned(),
        created_at: now,
        generation: 2,
        previous_until: None,
        disabled,
        removed: false,
    }
}

/// One that was taken, one that waits, one that was given up, and a test.
fn log(now: Time) -> Vec<WebhookDeliveryView> {
    let at = |ago: i64| Time::from_millis(now.millis() - ago * 1000);
    let attempt = |ago, result, response: Option<&str>| DeliveryAttemptView {
        at: at(ago),
        result,
        response: response.map(ToOwned::to_owned),
    };
    let delivery =
        |n: u128, topic: Option<Topic>, status, next_at, attempts, last| WebhookDeliveryView {
            id: format!("msg_{n}_2"),
            topic,
            ask: topic.map(|_| AskId::new(n.into())),
            status,
            next_at,
            attempts,
            last: Some(last),
        };
    let refused = attempt(460, CallbackResult::Refused { status: 500 }, Some(HOSTILE));
    let unreached = CallbackResult::Unreached { error: "nobody answered in time".to_owned() };
    let unreached = attempt(440, unreached, None);
    let taken = || attempt(450, CallbackResult::Taken { status: 204 }, None);
    let soon = Some(now.plus_seconds(300));
    vec![
        delivery(1, Some(Topic::Answered), DeliveryStatusView::Done, None, 2, taken()),
        delivery(2, Some(Topic::Expired), DeliveryStatusView::Waiting, soon, 1, refused),
        delivery(3, Some(Topic::Cancelled), DeliveryStatusView::Dead, None, 1, unreached),
        delivery(4, None, DeliveryStatusView::Done, None, 1, taken()),
    ]
}

/// An address that cannot be called, beside what else was entered.
fn refused(whose: &[SelectOption]) -> SettingsPage {
    let sent =
        pairs(&[("agent", "agent/bot"), ("url", "http://10.0.0.1/"), ("description", HOSTILE)]);
    let mut problems = FormProblems::default();
    let label = view::label("url").map(|label| VisibleText::of(&label));
    problems.add(ProblemLocation::Field("url".to_owned()), label, "Expected https.".to_owned());
    let filled = FormDraft { form: Some(&sent), problems: &problems };
    let page = view::list(&[], None, whose, filled);
    SettingsPage { problems, ..page }
}

fn sample(name: &str) -> Html {
    let found = pages().iter().find(|(known, _)| known == name);
    Html::parse_document(&found.unwrap().1)
}

#[test]
fn what_was_told_is_there_with_what_came_of_it() {
    let page = sample("webhook");
    let main = text(all(&page, "main")[0]);
    for words in [
        "delivered",
        "waiting",
        "given up",
        "2 attempts",
        "accepted with 204",
        "answered 500",
        "nobody answered in time",
        "next attempt in 5 min",
        "webhook.test",
    ] {
        assert!(main.contains(words), "{words}: {main}");
    }
    let again = all(&page, "form[action$='/redeliver']");
    assert_eq!(again.len(), 4);
    assert!(again.iter().all(|form| text(*form).contains("Send again")));
}

#[test]
fn whoever_is_gone_is_sent_nothing_again() {
    let page = sample("webhook-gone");
    assert!(all(&page, "form[action$='/redeliver'], form[action$='/test']").is_empty());
    assert!(text(all(&page, "main")[0]).contains("Enable it to send them again"));
}

/// An address may carry a secret in its query: a list shows only where it leads.
#[test]
fn lists_show_no_secrets_of_addresses() {
    let html = &pages().iter().find(|(name, _)| name == "webhooks").unwrap().1;
    assert!(html.contains("https://agent.example/other") && !html.contains("s3cret"));
}

#[test]
fn what_was_entered_stays_beside_what_was_wrong() {
    let page = sample("webhooks-refused");
    let address = all(&page, "input[name=url]")[0];
    assert_eq!(address.attr("value"), Some("http://10.0.0.1/"));
    assert_eq!(address.attr("aria-invalid"), Some("true"));
    assert_eq!(all(&page, "input[name=description]")[0].attr("value"), Some(HOSTILE));
}
