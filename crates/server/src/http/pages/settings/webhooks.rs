//! Webhook endpoints: `/settings/webhooks`. People see those of agents they own, administrators see
//! all.

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use dialects::native::WebhookSecret;
use gateway::Gateway;
use kernel::directory::{Directory, Webhook, WebhookScope};
use kernel::{DirectoryCommand, Time, WebhookId};
use notify::callbacks::Callbacks;
use notify::webhooks::Webhooks;
use serde::Deserialize;
use store::StoreError;
use store::work_queue::{DeliveryLogEntry, DeliveryLogQuery, WebhookDeliveryStatus};
use views::answer_form::problem::FormProblems;
use views::answer_form::submitted::SubmittedForm;
use views::settings::controls::{FormDraft, refused};
use views::settings::{self, PAGE_SIZE, SettingsPage, webhooks as view};
use views::site::paths;
use views::t;

use super::{empty_form, framed, not_found, page_of};
use crate::http::AppState;
use crate::http::api::webhooks::{
    add_webhook, remove_webhook, require_callable_url, revealed_webhook, send_again,
};
use crate::http::pages::settings::run_form_command;
use crate::http::pages::visitor::UnreadForm;
use crate::http::pages::{PageError, PageResult, Visitor, html};
use crate::http::path_param::path_id;

/// How long the previous secret signs as well, unless it leaked.
const PREVIOUS_SECRET_SECONDS: u64 = 24 * 60 * 60;

/// The query of a webhook page.
#[derive(Deserialize)]
pub(super) struct WebhookPageQuery {
    /// The last action.
    done: Option<String>,
    /// The position of the next page of a list.
    after: Option<String>,
}

impl WebhookPageQuery {
    fn words(&self) -> Option<String> {
        let words = match self.done.as_deref()? {
            "test" => t!("settings-webhook-test-sent"),
            "again" => t!("settings-delivery-sent-again"),
            "removed" => t!("settings-removed"),
            _ => t!("settings-saved"),
        };
        Some(words)
    }
}

fn done(path: &str, what: &str) -> Response {
    Redirect::to(&format!("{path}?done={what}")).into_response()
}

pub(super) async fn list(
    State(gateway): State<Gateway>,
    Query(asked): Query<WebhookPageQuery>,
    visitor: Visitor,
) -> PageResult {
    let after = asked.after.as_ref().and_then(|id| id.parse().ok());
    let shown = webhooks_page(&gateway, &visitor, after, empty_form());
    Ok(framed(&visitor, &SettingsPage { done: asked.words(), ..shown }))
}

pub(super) async fn add(
    State(gateway): State<Gateway>,
    State(webhooks): State<Webhooks>,
    State(callbacks): State<Callbacks>,
    visitor: Visitor,
    posted: UnreadForm,
) -> PageResult {
    let form = posted.read(&visitor, paths::WEBHOOKS).await?;
    let id = WebhookId::new(gateway.ids().ulid());
    let problems = match view::read(&form, id, None) {
        Ok(new) => {
            match add_webhook(&gateway, &webhooks, &callbacks, visitor.actor.clone(), new).await {
                Ok(made) => return Ok(revealed(&visitor, StatusCode::CREATED, &made)),
                Err(StoreError::Refused(refusal)) => refused(&refusal, view::label),
                Err(error) => return Err(error.into()),
            }
        }
        Err(problems) => problems,
    };
    let shown = webhooks_page(
        &gateway,
        &visitor,
        None,
        FormDraft { form: Some(&form), problems: &problems },
    );
    Ok(framed(&visitor, &SettingsPage { problems, ..shown }))
}

pub(super) async fn show(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    Query(asked): Query<WebhookPageQuery>,
    visitor: Visitor,
) -> PageResult {
    let directory = gateway.directory();
    let webhook = managed_webhook(&visitor, &directory, &id)?;
    let after = asked.after.as_deref().and_then(parse_cursor);
    let shown = webhook_page(&gateway, webhook, after, empty_form()).await?;
    Ok(framed(&visitor, &SettingsPage { done: asked.words(), ..shown }))
}

pub(super) async fn save(
    State(gateway): State<Gateway>,
    State(callbacks): State<Callbacks>,
    WebhookForm { visitor, webhook, form }: WebhookForm,
) -> PageResult {
    let command = view::read(&form, webhook.id, Some(&webhook)).and_then(|new| {
        require_callable_url(&callbacks, "url", &new.url)
            .map_err(|refusal| refused(&refusal, view::label))?;
        Ok(DirectoryCommand::SaveWebhook(new))
    });
    match run_form_command(&gateway, &visitor, command, view::label).await? {
        Ok(()) => Ok(done(&paths::webhook(webhook.id), "saved")),
        Err(problems) => webhook_again(&gateway, &visitor, &webhook, &form, problems).await,
    }
}

/// The new secret, shown once.
pub(super) async fn rotate(
    State(gateway): State<Gateway>,
    State(webhooks): State<Webhooks>,
    WebhookForm { visitor, webhook, form }: WebhookForm,
) -> PageResult {
    let grace = form
        .value("grace_seconds")
        .and_then(|text| text.parse().ok())
        .unwrap_or(PREVIOUS_SECRET_SECONDS);
    let rotate = DirectoryCommand::RotateWebhook(webhook.id, grace);
    match run_form_command(&gateway, &visitor, Ok(rotate), view::label).await? {
        Ok(()) => {
            let made =
                revealed_webhook(&gateway, &webhooks, webhook.id).map_err(StoreError::from)?;
            Ok(revealed(&visitor, StatusCode::OK, &made))
        }
        Err(problems) => webhook_again(&gateway, &visitor, &webhook, &form, problems).await,
    }
}

pub(super) async fn test(
    State(gateway): State<Gateway>,
    WebhookForm { visitor, webhook, form }: WebhookForm,
) -> PageResult {
    let test = DirectoryCommand::TestWebhook(webhook.id);
    match run_form_command(&gateway, &visitor, Ok(test), view::label).await? {
        Ok(()) => Ok(done(&paths::webhook(webhook.id), "test")),
        Err(problems) => webhook_again(&gateway, &visitor, &webhook, &form, problems).await,
    }
}

pub(super) async fn redeliver(
    State(gateway): State<Gateway>,
    WebhookForm { visitor, webhook, form }: WebhookForm,
) -> PageResult {
    let delivery = form.value("delivery").unwrap_or_default();
    match send_again(&gateway, webhook.id, delivery).await {
        Ok(_) => Ok(done(&paths::webhook(webhook.id), "again")),
        Err(StoreError::Refused(refusal)) => {
            let problems = refused(&refusal, view::label);
            webhook_again(&gateway, &visitor, &webhook, &form, problems).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn show_remove(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> PageResult {
    let directory = gateway.directory();
    let webhook = managed_webhook(&visitor, &directory, &id)?;
    Ok(framed(&visitor, &view::remove(webhook)))
}

pub(super) async fn remove(
    State(gateway): State<Gateway>,
    WebhookForm { visitor, webhook, .. }: WebhookForm,
) -> PageResult {
    remove_webhook(&gateway, visitor.actor.clone(), webhook.id).await?;
    Ok(done(paths::WEBHOOKS, "removed"))
}

/// An endpoint that the visitor may manage. For anyone else it does not exist.
fn managed_webhook<'a>(
    visitor: &Visitor,
    directory: &'a Directory,
    id: &str,
) -> Result<&'a Webhook, PageError> {
    let known = id.parse().ok().and_then(|id| directory.webhook(id));
    let mine = |webhook: &&Webhook| directory.manages_webhooks(&visitor.actor, &webhook.of);
    known.filter(mine).ok_or_else(|| not_found(visitor))
}

fn revealed(visitor: &Visitor, status: StatusCode, made: &WebhookSecret) -> Response {
    let shown = view::secret_page(made.webhook.id, &made.secret);
    html(status, settings::page(&visitor.frame, visitor.human.admin, &shown))
}

/// The position of the next page of the delivery log: a moment and an id.
fn parse_cursor(text: &str) -> Option<(Time, String)> {
    let (at, id) = text.split_once('.')?;
    Some((Time::from_millis(at.parse().ok()?), id.to_owned()))
}

/// A delivery as the page shows it, with its last attempt.
fn delivery(mut logged: DeliveryLogEntry) -> view::WebhookDeliveryView {
    view::WebhookDeliveryView {
        id: logged.message.id,
        topic: logged.message.topic,
        ask: logged.message.ask,
        status: match logged.status {
            WebhookDeliveryStatus::Waiting => view::DeliveryStatusView::Waiting,
            WebhookDeliveryStatus::Done => view::DeliveryStatusView::Done,
            WebhookDeliveryStatus::Dead => view::DeliveryStatusView::Dead,
        },
        next_at: logged.next_at,
        attempts: logged.attempts.len(),
        last: logged.attempts.pop().map(|attempt| view::DeliveryAttemptView {
            at: attempt.at,
            result: attempt.result,
            response: attempt.answer,
        }),
    }
}

/// A form about the endpoint that the path names, if the visitor may manage it.
pub(super) struct WebhookForm {
    visitor: Visitor,
    webhook: Webhook,
    form: SubmittedForm,
}

impl FromRequest<AppState> for WebhookForm {
    type Rejection = PageError;

    async fn from_request(request: Request, shared: &AppState) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, shared).await?;
        let id = path_id(&mut parts, shared).await;
        let webhook = managed_webhook(&visitor, &shared.core.gateway.directory(), &id)?.clone();
        let Ok(posted) = UnreadForm::from_request(Request::from_parts(parts, body), shared).await;
        let form = posted.read(&visitor, &paths::webhook(webhook.id)).await?;
        Ok(Self { visitor, webhook, form })
    }
}

fn webhooks_page(
    gateway: &Gateway,
    visitor: &Visitor,
    after: Option<WebhookId>,
    filled: FormDraft<'_>,
) -> SettingsPage {
    let (directory, admin) = (gateway.directory(), visitor.human.admin);
    let shown: Vec<&Webhook> = if admin {
        directory.webhooks_after(after.as_ref()).take(PAGE_SIZE + 1).collect()
    } else {
        let mine = directory.agents_of(&visitor.human.id);
        let own = |agent: &kernel::directory::Agent| WebhookScope::Agent(agent.id.clone());
        let mut found: Vec<&Webhook> = mine
            .flat_map(|agent| directory.webhooks_of(&own(agent)).collect::<Vec<_>>())
            .filter(|webhook| after.is_none_or(|after| webhook.id > after))
            .collect();
        found.sort_by_key(|webhook| webhook.id);
        found
    };
    let id = |webhook: &&Webhook| webhook.id.to_string();
    let (shown, next) = page_of(shown.into_iter(), paths::WEBHOOKS, id);
    let whose = if admin {
        view::subject_options(&directory, directory.agents().map(|agent| &agent.id), true)
    } else {
        let mine = directory.agents_of(&visitor.human.id);
        view::subject_options(&directory, mine.map(|agent| &agent.id), false)
    };
    view::list(&shown, next, &whose, filled)
}

async fn webhook_page(
    gateway: &Gateway,
    webhook: &Webhook,
    after: Option<(Time, String)>,
    filled: FormDraft<'_>,
) -> Result<SettingsPage, StoreError> {
    let limit = PAGE_SIZE + 1;
    let wanted = DeliveryLogQuery { webhook: webhook.id, status: None, after, limit };
    let mut log = gateway.store().delivery_log(wanted).await?;
    let more = log.len() > PAGE_SIZE;
    log.truncate(PAGE_SIZE);
    let last = log.last().filter(|_| more).map(|last| &last.message);
    let path = paths::webhook(webhook.id);
    let next = last.map(|last| format!("{path}?after={}.{}", last.at.millis(), last.id));
    let deliveries: Vec<_> = log.into_iter().map(delivery).collect();
    Ok(view::page(webhook, &deliveries, next, gateway.now(), filled))
}

/// The page of an endpoint again, with the problems of its form.
async fn webhook_again(
    gateway: &Gateway,
    visitor: &Visitor,
    webhook: &Webhook,
    form: &SubmittedForm,
    problems: FormProblems,
) -> PageResult {
    // Only the form of the endpoint itself has input that must not be lost.
    let form = form.value("url").map(|_| form);
    let shown =
        webhook_page(gateway, webhook, None, FormDraft { form, problems: &problems }).await?;
    Ok(framed(visitor, &SettingsPage { problems, ..shown }))
}
