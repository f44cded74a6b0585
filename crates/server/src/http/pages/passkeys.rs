//! Passkeys: `/settings/passkeys`, signing in with one, and confirming an answer with one.

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use kernel::audit::Digest;
use kernel::directory::{Directory, Holder, Key, NewKey, Proof};
use kernel::question::Reply;
use kernel::{Actor, Ask, Assurance, Command, HumanId, KeyId, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::StoreError;

use super::cookies::Cookie;
use super::request::refused;
use super::{Instead, Page, Visitor, html, page};
use crate::http::{App, Shared, submitted};
use crate::ids::random;
use crate::passkeys::{Asked, Passkeys};
use crate::web::notices::{self, Notice};
use crate::web::passkeys::{self, Listed, Question};
use crate::web::{Frame, paths};

/// An answer that waits for its passkey.
#[derive(Serialize, Deserialize)]
struct Unconfirmed {
    reply: Reply,
    drawn: [u8; 32],
    /// Whose claim the owner answers over, knowingly.
    over: Option<HumanId>,
}

pub(super) async fn show_passkeys(State(app): State<Shared>, headers: HeaderMap) -> Page {
    let visitor = app.visitor(&headers).await?;
    app.passkeys_page(&visitor, StatusCode::OK, None).await
}

/// `POST /settings/passkeys`: adds the one the browser made, or removes one.
pub(super) async fn change_passkeys(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, submitted) = app.acting(from, paths::PASSKEYS).await?;
    let human = &visitor.human.id;
    let (command, done) = if let Some(id) = submitted.value("remove") {
        let own = id.parse::<KeyId>().ok();
        let own =
            own.filter(|id| app.gateway.directory().passkeys_of(human).any(|key| key.id == *id));
        let Some(id) = own else { return app.passkeys_page(&visitor, StatusCode::OK, None).await };
        (Command::RevokeKey(id), Notice::PasskeyRemoved)
    } else {
        let state: Option<Value> = app.entrusted(
            "make passkey",
            &visitor.session.to_string(),
            submitted.value("sealed").unwrap_or_default(),
        );
        let made = match (&app.passkeys, state) {
            (Ok(passkeys), Some(state)) => {
                passkeys.made(state, submitted.value("response").unwrap_or_default()).ok()
            }
            _ => None,
        };
        let Some(made) = made else {
            let refused = Notice::Refused(Refusal::NotAllowed { why: "the passkey was not made" });
            return app
                .passkeys_page(&visitor, StatusCode::UNPROCESSABLE_ENTITY, Some(&refused))
                .await;
        };
        let label = submitted.value("label").map(str::trim).filter(|label| !label.is_empty());
        let new = NewKey {
            hash: made.hash,
            holder: Holder::Passkey { human: human.clone(), public: made.public },
            label: label.unwrap_or("passkey").to_owned(),
            expires_at: None,
        };
        (Command::IssueKey(new), Notice::PasskeyAdded)
    };
    match app.gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => app.passkeys_page(&visitor, StatusCode::OK, Some(&done)).await,
        Err(StoreError::Refused(refusal)) => {
            let refused = Notice::Refused(refusal);
            app.passkeys_page(&visitor, StatusCode::CONFLICT, Some(&refused)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /sign-in/passkey`
pub(super) async fn sign_in(State(app): State<Shared>, from: Request) -> Page {
    let (parts, body) = from.into_parts();
    app.knock(&parts)?;
    let frame = Frame::anonymous(app.gateway.now());
    let refused = || page(StatusCode::UNAUTHORIZED, notices::passkey_refused(&frame));
    let submitted = submitted::small(body).await?;
    let browser = app.cookie(&parts.headers, Cookie::Browser).ok_or_else(refused)?;
    app.own_form(&parts.headers, &submitted).map_err(|_| refused())?;
    let passkeys = app.passkeys.as_ref().map_err(|_| refused())?;
    let sealed = submitted.value("sealed").unwrap_or_default();
    let challenge: [u8; 32] = app.entrusted("sign in", browser, sealed).ok_or_else(refused)?;
    let response = submitted.value("response").unwrap_or_default();
    let directory = app.gateway.directory();
    let (key, human, public) = used(passkeys, &directory, response).ok_or_else(refused)?;
    let checked = passkeys.check(challenge, response, public).map_err(|error| {
        tracing::warn!(human.id = %human, key.id = %key.id, error = format!("{error:#}"), "a passkey was refused");
        match app.door.knocks().person(human) {
            Ok(()) => refused(),
            Err(wait) => app.told_to_wait(wait),
        }
    })?;
    match app.enter(&parts.headers, Proof::Passkey { key: key.id, public: checked }).await {
        Ok(entered) => {
            app.door.note_use(key.id, app.gateway.now());
            Ok(entered)
        }
        Err(StoreError::Refused(_)) => Err(refused()),
        Err(error) => Err(error.into()),
    }
}

/// `POST /asks/{id}/confirm`: the answer that was shown, signed with a passkey.
pub(super) async fn confirm(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, ask, submitted) = app.acting_on(&id, from).await?;
    let directory = app.gateway.directory();
    let proven = app.proven(&visitor, &ask, &directory, |name| submitted.value(name));
    let Some((key, public, reply, over)) = proven else {
        let refused =
            Refusal::AssuranceTooLow { have: Assurance::Session, need: Assurance::Passkey };
        let notice = Notice::Refused(refused);
        return app.request_page(&visitor, &ask, StatusCode::FORBIDDEN, Some(&notice), None).await;
    };
    app.gateway.run(Actor::System, Command::UsePasskey(key, public)).await?;
    app.door.note_use(key, app.gateway.now());
    let sure = match visitor.actor.clone() {
        Actor::Human { id, via, .. } => Actor::Human { id, via, assurance: Assurance::Passkey },
        other => other,
    };
    let command = Command::Answer(ask.id, Box::new(reply));
    match app.answer_unless_claimed(&visitor, &sure, &ask, over.as_ref(), command).await {
        Ok(_) => Ok(Redirect::to(&paths::answered(ask.id)).into_response()),
        Err(StoreError::Refused(refusal)) => {
            let now = app.seen_by(&visitor, &id).await?;
            let notice = refused(refusal, &now, &visitor.human);
            app.request_page(&visitor, &now, StatusCode::CONFLICT, Some(&notice), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The passkey a browser says it used, whose it is, and what it is checked with.
fn used<'d>(
    passkeys: &Passkeys,
    directory: &'d Directory,
    response: &str,
) -> Option<(&'d Key, &'d HumanId, &'d str)> {
    let key = directory.key_by_hash(&passkeys.named(response).ok()?)?;
    match &key.holder {
        Holder::Passkey { human, public } if key.revoked_at.is_none() => Some((key, human, public)),
        Holder::Passkey { .. }
        | Holder::Agent { .. }
        | Holder::Token { .. }
        | Holder::Link { .. }
        | Holder::Session { .. } => None,
    }
}

/// What a passkey signs when an answer is confirmed: this question, this answer, by this person, once.
fn commitment(ask: &Ask, human: &HumanId, reply: &Reply, drawn: &[u8; 32]) -> [u8; 32] {
    let answer = Digest::of_json(reply);
    let drawn = Digest::of(drawn);
    Digest::of_json(&("answer", ask.id, ask.question.commitment(), human, answer, drawn)).0
}

impl App {
    /// What a browser is shown to sign in with a passkey; nothing if this server has none.
    pub(super) fn passkey_question(&self, browser: &str) -> Option<Question> {
        let challenge: [u8; 32] = random();
        let options = self.passkeys.as_ref().ok()?.ask(challenge, &[]).ok()?;
        let sealed = self.entrust("sign in", browser, challenge)?;
        Some(Question { options: options.to_string(), sealed })
    }

    /// The page on which an answer is confirmed with a passkey.
    pub(super) fn step_up_page(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        reply: Reply,
        over: Option<HumanId>,
    ) -> Response {
        let directory = self.gateway.directory();
        let own: Vec<&str> = directory.passkeys_of(&visitor.human.id).filter_map(public).collect();
        let drawn: [u8; 32] = random();
        let challenge = commitment(ask, &visitor.human.id, &reply, &drawn);
        let options = match &self.passkeys {
            Ok(passkeys) if !own.is_empty() => passkeys.ask(challenge, &own).ok(),
            Ok(_) => None,
            Err(why) => {
                let shown = notices::no_passkeys(&visitor.frame, why);
                return html(StatusCode::FORBIDDEN, shown);
            }
        };
        let shown = passkeys::answer_words(ask, &reply);
        let unconfirmed = Unconfirmed { reply, drawn, over };
        let sealed = self.entrust("answer", &holder(visitor, ask), unconfirmed);
        match options.zip(sealed) {
            Some((options, sealed)) => {
                let question = Question { options: options.to_string(), sealed };
                html(StatusCode::OK, passkeys::confirm(&visitor.frame, ask.id, &shown, &question))
            }
            None => html(StatusCode::FORBIDDEN, notices::passkey_needed(&visitor.frame)),
        }
    }

    /// The answer that was shown, if it was confirmed with a passkey of this person's; with the passkey
    /// as it is now.
    fn proven<'v>(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        directory: &Directory,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> Option<(KeyId, String, Reply, Option<HumanId>)> {
        let passkeys = self.passkeys.as_ref().ok()?;
        let Unconfirmed { reply, drawn, over } =
            self.entrusted("answer", &holder(visitor, ask), value("sealed")?)?;
        let response = value("response")?;
        let (key, human, public) = used(passkeys, directory, response)?;
        if *human != visitor.human.id {
            return None;
        }
        let challenge = commitment(ask, human, &reply, &drawn);
        match passkeys.check(challenge, response, public) {
            Ok(public) => Some((key.id, public, reply, over)),
            Err(error) => {
                tracing::warn!(ask.id = %ask.id, key.id = %key.id, error = format!("{error:#}"), "a passkey was refused");
                None
            }
        }
    }

    async fn passkeys_page(
        &self,
        visitor: &Visitor,
        status: StatusCode,
        notice: Option<&Notice>,
    ) -> Page {
        let directory = self.gateway.directory();
        let human = &visitor.human.id;
        let passkeys = match &self.passkeys {
            Ok(passkeys) => passkeys,
            Err(why) => {
                let shown = notices::no_passkeys(&visitor.frame, why);
                return Err(page(StatusCode::NOT_FOUND, shown));
            }
        };
        let mut listed = Vec::new();
        let mut have = Vec::new();
        for key in directory.passkeys_of(human) {
            have.extend(public(key));
            let used =
                self.gateway.store().key_used(key.id).await?.max(self.door.just_used(key.id));
            listed.push(Listed { key, used });
        }
        let name = crate::web::words::person(&directory, human);
        let asked = passkeys.make(human.as_str(), &name, &have).map_err(|error| {
            tracing::error!(error = format!("{error:#}"), "cannot ask for a passkey");
            Instead(Box::new(html(
                StatusCode::INTERNAL_SERVER_ERROR,
                notices::server_error(&visitor.frame, "passkeys"),
            )))
        })?;
        let Asked { options, state } = asked;
        let sealed = self.entrust("make passkey", &visitor.session.to_string(), state);
        let question =
            Question { options: options.to_string(), sealed: sealed.unwrap_or_default() };
        let shown = passkeys::page(&visitor.frame, &directory, &listed, &question, notice);
        Ok(html(status, shown))
    }
}

/// Whose answer to what: so that one is never taken for another.
fn holder(visitor: &Visitor, ask: &Ask) -> String {
    format!("{} {}", visitor.session, ask.id)
}

fn public(key: &Key) -> Option<&str> {
    match &key.holder {
        Holder::Passkey { public, .. } => Some(public),
        Holder::Agent { .. }
        | Holder::Token { .. }
        | Holder::Link { .. }
        | Holder::Session { .. } => None,
    }
}
