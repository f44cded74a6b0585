//! Webhook endpoints: `/settings/webhooks`. People see those of agents they own, administrators see
//! all.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use dialects::native::WebhookSecret;
use gateway::Gateway;
use kernel::directory::{Directory, Hears, Webhook};
use kernel::{DirectoryCommand, Time, WebhookId};
use notify::callbacks::Callbacks;
use notify::webhooks::Webhooks;
use serde::Deserialize;
use store::StoreError;
use store::work_queue::{LogQuery, Logged, Standing};
use views::answer_form::problem::FormProblem;
use views::answer_form::submitted::Submitted;
use views::settings::controls::{Filled, refused};
use views::settings::{self, PAGE, SettingsPage, webhooks as view};
use views::site::paths;

use super::{framed, nothing_here, untouched};
use crate::http::api::deliveries::send_again;
use crate::http::api::webhooks::{add_webhook, callable, remove_webhook, revealed_webhook};
use crate::http::pages::settings::attempt;
use crate::http::pages::visitors::Visitors;
use crate::http::pages::{Instead, Page, Visitor, html, parts};

/// How long the previous secret signs as well, unless it leaked.
const GRACE: u64 = 24 * 60 * 60;

/// The query of a webhook page.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// The last action.
    done: Option<String>,
    /// The position of the next page of a list.
    after: Option<String>,
}

impl Asked {
    fn words(&self) -> Option<String> {
        let words = match self.done.as_deref()? {
            "test" => "A test is on its way; what came of it shows below",
            "again" => "It is sent again; what came of it shows below",
            "removed" => "Removed",
            _ => "Saved",
        };
        Some(words.to_owned())
    }
}

fn done(path: &str, what: &str) -> Response {
    Redirect::to(&format!("{path}?done={what}")).into_response()
}

pub(super) async fn list(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let after = asked.after.as_ref().and_then(|id| id.parse().ok());
    let shown = webhooks_page(&gateway, &visitor, after, untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.words(), ..shown }))
}

pub(super) async fn add(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(webhooks): State<Webhooks>,
    State(callbacks): State<Callbacks>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.visitor(&headers).await?;
    let form = visitors.submitted(&visitor, &headers, body, paths::WEBHOOKS).await?;
    let id = WebhookId::new(gateway.ids().ulid());
    let problems = match view::read(&form, id, None) {
        Ok(new) => {
            match add_webhook(&gateway, &webhooks, &callbacks, visitor.actor.clone(), new).await {
                Ok(made) => return Ok(revealed(&visitor, StatusCode::CREATED, &made)),
                Err(StoreError::Refused(refusal)) => refused(&refusal, view::LABELS),
                Err(error) => return Err(error.into()),
            }
        }
        Err(problems) => problems,
    };
    let shown =
        webhooks_page(&gateway, &visitor, None, Filled { form: Some(&form), problems: &problems });
    Ok(framed(&visitor, &SettingsPage { problems, ..shown }))
}

pub(super) async fn show(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let directory = gateway.directory();
    let webhook = kept(&visitor, &directory, &id)?;
    let after = asked.after.as_deref().and_then(place);
    let shown = webhook_page(&gateway, webhook, after, untouched()).await?;
    Ok(framed(&visitor, &SettingsPage { done: asked.words(), ..shown }))
}

pub(super) async fn save(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(callbacks): State<Callbacks>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, directory, form) = about_webhook(&visitors, &gateway, &id, from).await?;
    let webhook = kept(&visitor, &directory, &id)?;
    let problems = match view::read(&form, webhook.id, Some(webhook)) {
        Ok(new) => match callable(&callbacks, "url", &new.url) {
            Err(refusal) => refused(&refusal, view::LABELS),
            Ok(()) => {
                match attempt(&gateway, &visitor, DirectoryCommand::SaveWebhook(new), view::LABELS)
                    .await?
                {
                    Ok(()) => return Ok(done(&paths::webhook(webhook.id), "saved")),
                    Err(problems) => problems,
                }
            }
        },
        Err(problems) => problems,
    };
    webhook_again(&gateway, &visitor, webhook, &form, problems).await
}

/// The new secret, shown once.
pub(super) async fn rotate(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(webhooks): State<Webhooks>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, directory, form) = about_webhook(&visitors, &gateway, &id, from).await?;
    let webhook = kept(&visitor, &directory, &id)?;
    let grace = form.value("grace_seconds").and_then(|text| text.parse().ok()).unwrap_or(GRACE);
    let rotate = DirectoryCommand::RotateWebhook(webhook.id, grace);
    match attempt(&gateway, &visitor, rotate, view::LABELS).await? {
        Ok(()) => {
            let made =
                revealed_webhook(&gateway, &webhooks, webhook.id).map_err(StoreError::from)?;
            Ok(revealed(&visitor, StatusCode::OK, &made))
        }
        Err(problems) => webhook_again(&gateway, &visitor, webhook, &form, problems).await,
    }
}

pub(super) async fn test(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, directory, form) = about_webhook(&visitors, &gateway, &id, from).await?;
    let webhook = kept(&visitor, &directory, &id)?;
    match attempt(&gateway, &visitor, DirectoryCommand::TestWebhook(webhook.id), view::LABELS)
        .await?
    {
        Ok(()) => Ok(done(&paths::webhook(webhook.id), "test")),
        Err(problems) => webhook_again(&gateway, &visitor, webhook, &form, problems).await,
    }
}

pub(super) async fn redeliver(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, directory, form) = about_webhook(&visitors, &gateway, &id, from).await?;
    let webhook = kept(&visitor, &directory, &id)?;
    let delivery = form.value("delivery").unwrap_or_default();
    match send_again(&gateway, webhook.id, delivery).await {
        Ok(_) => Ok(done(&paths::webhook(webhook.id), "again")),
        Err(StoreError::Refused(refusal)) => {
            let problems = refused(&refusal, view::LABELS);
            webhook_again(&gateway, &visitor, webhook, &form, problems).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn show_remove(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let directory = gateway.directory();
    let webhook = kept(&visitor, &directory, &id)?;
    Ok(framed(&visitor, &view::remove(webhook)))
}

pub(super) async fn remove(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, directory, _) = about_webhook(&visitors, &gateway, &id, from).await?;
    let webhook = kept(&visitor, &directory, &id)?;
    remove_webhook(&gateway, visitor.actor.clone(), webhook.id).await?;
    Ok(done(paths::WEBHOOKS, "removed"))
}

/// An endpoint that the visitor may manage. For anyone else it does not exist.
fn kept<'a>(visitor: &Visitor, directory: &'a Directory, id: &str) -> Result<&'a Webhook, Instead> {
    let known = id.parse().ok().and_then(|id| directory.webhook(id));
    let mine = |webhook: &&Webhook| directory.keeps(&visitor.actor, &webhook.of);
    known.filter(mine).ok_or_else(|| nothing_here(visitor))
}

fn revealed(visitor: &Visitor, status: StatusCode, made: &WebhookSecret) -> Response {
    let shown = view::revealed(made.webhook.id, &made.secret);
    html(status, settings::page(&visitor.frame, visitor.human.admin, &shown))
}

/// The position of the next page of the delivery log: a moment and an id.
fn place(text: &str) -> Option<(Time, String)> {
    let (at, id) = text.split_once('.')?;
    Some((Time::from_millis(at.parse().ok()?), id.to_owned()))
}

/// A delivery as the page shows it, with its last attempt.
fn delivery(mut logged: Logged) -> view::Delivery {
    view::Delivery {
        id: logged.message.id,
        topic: logged.message.topic,
        ask: logged.message.ask,
        status: match logged.status {
            Standing::Waiting => view::DeliveryStatus::Waiting,
            Standing::Done => view::DeliveryStatus::Done,
            Standing::Dead => view::DeliveryStatus::Dead,
        },
        next_at: logged.next_at,
        attempts: logged.attempts.len(),
        last: logged.attempts.pop().map(|attempt| view::DeliveryAttempt {
            at: attempt.at,
            result: attempt.result,
            response: attempt.answer,
        }),
    }
}

/// Reads a form about an endpoint: the visitor, the endpoint and the form.
async fn about_webhook(
    visitors: &Visitors,
    gateway: &Gateway,
    id: &str,
    from: Request,
) -> Result<(Visitor, Arc<Directory>, Submitted), Instead> {
    let (headers, body) = parts(from);
    let visitor = visitors.visitor(&headers).await?;
    let directory = gateway.directory();
    let path = paths::webhook(kept(&visitor, &directory, id)?.id);
    let form = visitors.submitted(&visitor, &headers, body, &path).await?;
    Ok((visitor, directory, form))
}

fn webhooks_page(
    gateway: &Gateway,
    visitor: &Visitor,
    after: Option<WebhookId>,
    filled: Filled<'_>,
) -> SettingsPage {
    let (directory, admin) = (gateway.directory(), visitor.human.admin);
    let mut shown: Vec<&Webhook> = if admin {
        directory.webhooks_after(after.as_ref()).take(PAGE + 1).collect()
    } else {
        let mine = directory.agents_of(&visitor.human.id);
        let own = |agent: &kernel::directory::Agent| Hears::Agent(agent.id.clone());
        let mut found: Vec<&Webhook> = mine
            .flat_map(|agent| directory.webhooks_of(&own(agent)).collect::<Vec<_>>())
            .filter(|webhook| after.is_none_or(|after| webhook.id > after))
            .collect();
        found.sort_by_key(|webhook| webhook.id);
        found
    };
    let more = shown.len() > PAGE;
    shown.truncate(PAGE);
    let last = shown.last().filter(|_| more);
    let next = last.map(|webhook| format!("{}?after={}", paths::WEBHOOKS, webhook.id));
    let whose = if admin {
        view::whose(&directory, directory.agents().map(|agent| &agent.id), true)
    } else {
        let mine = directory.agents_of(&visitor.human.id);
        view::whose(&directory, mine.map(|agent| &agent.id), false)
    };
    view::list(&shown, next, &whose, filled)
}

async fn webhook_page(
    gateway: &Gateway,
    webhook: &Webhook,
    after: Option<(Time, String)>,
    filled: Filled<'_>,
) -> Result<SettingsPage, StoreError> {
    let limit = PAGE + 1;
    let wanted = LogQuery { webhook: webhook.id, status: None, after, limit };
    let mut log = gateway.store().logged(wanted).await?;
    let more = log.len() > PAGE;
    log.truncate(PAGE);
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
    form: &Submitted,
    problems: FormProblem,
) -> Page {
    // Only the form of the endpoint itself has input that must not be lost.
    let form = form.value("url").map(|_| form);
    let shown = webhook_page(gateway, webhook, None, Filled { form, problems: &problems }).await?;
    Ok(framed(visitor, &SettingsPage { problems, ..shown }))
}
