//! Passkeys: `/settings/passkeys`, signing in with one, and confirming an answer with one.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use gateway::Gateway;
use gateway::auth::Authenticator;
use gateway::ids::random;
use gateway::passkeys::{PasskeyAssertion, PasskeyOptions, Passkeys};
use kernel::ask::answer::PasskeyAnswer;
use kernel::audit::Digest;
use kernel::directory::{
    CredentialKind, Directory, Key, NewPasskey, PasskeyAuthority, PasskeyUse, SignInProof,
};
use kernel::passkey_evidence::{AnswerStatement, PasskeyEvidence};
use kernel::question::Reply;
use kernel::{Ask, AskCommand, Assurance, DirectoryCommand, HumanId, KeyId, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::StoreError;
use views::banner::ActionOutcome;
use views::sign_in::passkeys::{self, AddPasskey, PasskeyChallenge, PasskeyEntry};
use views::site::paths;
use views::{PageContext, message_page, t};

use crate::config::Config;
use crate::http::pages::cookies::{Cookie, Cookies};
use crate::http::pages::request::{RequestPages, answer_unless_claimed, refused};
use crate::http::pages::sealed_values::SealedValues;
use crate::http::pages::sign_in::SignInPages;
use crate::http::pages::visitor::{AskForm, Visitors};
use crate::http::pages::{PageError, PageResult, Visitor, html, page};
use crate::http::posted_form;

/// An answer that waits for its passkey.
#[derive(Serialize, Deserialize)]
struct UnconfirmedAnswer {
    reply: Reply,
    nonce: Digest,
    /// The person whose claim the owner knowingly overrides.
    over: Option<HumanId>,
}

/// A checked assertion that vouches for a new passkey until that is created.
#[derive(Serialize, Deserialize)]
struct VouchingAssertion {
    challenge: [u8; 32],
    response: String,
}

/// The purpose of the sealed challenge when a passkey vouches for a new one.
const VOUCH: &str = "vouch for passkey";
/// The purpose of the sealed assertion until the new passkey is created.
const VOUCHED: &str = "vouched for passkey";

pub(super) async fn show(
    State(passkey_pages): State<Arc<PasskeyPages>>,
    visitor: Visitor,
) -> PageResult {
    passkey_pages.page(&visitor, StatusCode::OK, None, None).await
}

/// `POST /settings/passkeys`: vouches for a new passkey with an existing one, adds the one that the
/// browser created, or removes one.
pub(super) async fn change(
    State(visitors): State<Arc<Visitors>>,
    State(passkey_pages): State<Arc<PasskeyPages>>,
    State(sealed_values): State<Arc<SealedValues>>,
    State(config): State<Arc<Config>>,
    from: Request,
) -> PageResult {
    let (visitor, submitted) = visitors.visitor_and_form(from, paths::PASSKEYS).await?;
    let human = &visitor.human.id;
    let value = |name: &str| submitted.value(name).unwrap_or_default();
    let directory = passkey_pages.gateway.directory();
    if !value("vouch").is_empty() {
        let challenge = sealed_values.open(VOUCH, &visitor.session.to_string(), value("sealed"));
        let asserted = challenge.and_then(|c| {
            Some((c, passkey_pages.verify_assertion(human, &directory, c, value("response"))?))
        });
        let Some((challenge, _)) = asserted else {
            return passkey_pages.refused(&visitor, t!("sign-in-passkey-not-verified")).await;
        };
        let vouched = VouchingAssertion { challenge, response: value("response").to_owned() };
        return passkey_pages.page(&visitor, StatusCode::OK, None, Some(vouched)).await;
    }
    let (command, done) = if let Some(id) = submitted.value("remove") {
        let own = id.parse::<KeyId>().ok();
        let own = own.filter(|id| directory.passkeys_of(human).any(|key| key.id == *id));
        let Some(id) = own else {
            return passkey_pages.page(&visitor, StatusCode::OK, None, None).await;
        };
        let purpose = format!("remove passkey {id}");
        let holder = visitor.session.to_string();
        let challenge = sealed_values.open(&purpose, &holder, value("sealed"));
        let authority = match (submitted.value("sealed"), challenge) {
            (None, _) if passkey_pages.is_fresh(&visitor) => {
                PasskeyAuthority::SignIn(visitor.session)
            }
            (None, _) => return Ok(passkey_pages.removal_page(&visitor, id, &purpose)),
            (Some(_), challenge) => {
                let asserted = challenge.and_then(|c| {
                    passkey_pages.verify_assertion(human, &directory, c, value("response"))
                });
                match asserted {
                    Some((used, _)) => PasskeyAuthority::Passkey(used),
                    None => {
                        return passkey_pages
                            .refused(&visitor, t!("sign-in-passkey-not-verified"))
                            .await;
                    }
                }
            }
        };
        (DirectoryCommand::RemovePasskey(id, Box::new(authority)), ActionOutcome::PasskeyRemoved)
    } else {
        let holder = visitor.session.to_string();
        let state: Option<Value> = sealed_values.open("make passkey", &holder, value("sealed"));
        let made = match (&passkey_pages.passkeys, state) {
            (Ok(passkeys), Some(state)) => passkeys.made(state, value("response")).ok(),
            _ => None,
        };
        let Some(made) = made else {
            return passkey_pages.refused(&visitor, t!("sign-in-passkey-not-created")).await;
        };
        let authority = match submitted.value("vouched").filter(|sealed| !sealed.is_empty()) {
            None => PasskeyAuthority::SignIn(visitor.session),
            Some(sealed) => {
                let vouched: Option<VouchingAssertion> =
                    sealed_values.open(VOUCHED, &holder, sealed);
                let asserted = vouched.and_then(|v| {
                    passkey_pages.verify_assertion(human, &directory, v.challenge, &v.response)
                });
                match asserted {
                    Some((used, _)) => PasskeyAuthority::Passkey(used),
                    None => {
                        return passkey_pages
                            .refused(&visitor, t!("sign-in-passkey-not-verified"))
                            .await;
                    }
                }
            }
        };
        let label = submitted.value("label").map(str::trim).filter(|label| !label.is_empty());
        let new = NewPasskey {
            hash: made.hash,
            credential_id: made.credential_id,
            public_key: made.public_key,
            public: made.public,
            label: label.unwrap_or("passkey").to_owned(),
            wait: config.sign_in.passkey_wait,
        };
        (
            DirectoryCommand::EnrolPasskey(Box::new(new), Box::new(authority)),
            ActionOutcome::PasskeyAdded,
        )
    };
    match passkey_pages.gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => passkey_pages.page(&visitor, StatusCode::OK, Some(&done), None).await,
        Err(StoreError::Refused(refusal)) => {
            let refused = ActionOutcome::Passkey(refusal);
            passkey_pages.page(&visitor, StatusCode::CONFLICT, Some(&refused), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /sign-in/passkey`
pub(super) async fn sign_in(
    State(sign_in): State<Arc<SignInPages>>,
    State(passkey_pages): State<Arc<PasskeyPages>>,
    State(cookies): State<Arc<Cookies>>,
    State(sealed_values): State<Arc<SealedValues>>,
    from: Request,
) -> PageResult {
    let (parts, body) = from.into_parts();
    sign_in.check_rate(&parts)?;
    let frame = PageContext::anonymous(passkey_pages.gateway.now());
    let refused = || page(StatusCode::UNAUTHORIZED, message_page::passkey_refused(&frame));
    let submitted = posted_form::small(body).await?;
    let browser = cookies.get(&parts.headers, Cookie::Browser).ok_or_else(refused)?;
    sign_in.check_form_origin(&parts.headers, &submitted).map_err(|_| refused())?;
    let passkeys = passkey_pages.passkeys.as_ref().map_err(|_| refused())?;
    let sealed = submitted.value("sealed").unwrap_or_default();
    let challenge: [u8; 32] = sealed_values.open("sign in", browser, sealed).ok_or_else(refused)?;
    let response = submitted.value("response").unwrap_or_default();
    let directory = passkey_pages.gateway.directory();
    let (key, human, public) = used_passkey(passkeys, &directory, response).ok_or_else(refused)?;
    let asserted = passkeys.check(challenge, response, public).map_err(|error| {
        tracing::warn!(human.id = %human, key.id = %key.id, error = format!("{error:#}"), "a passkey was refused");
        match passkey_pages.authenticator.login_rate_limit().count_person(human) {
            Ok(()) => refused(),
            Err(wait) => sign_in.rate_limit_page(wait),
        }
    })?;
    let proof = SignInProof::Passkey(PasskeyUse {
        key: key.id,
        public: asserted.public,
        challenge: Digest(challenge),
        counter: asserted.counter,
    });
    match sign_in.begin_session(&parts.headers, proof).await {
        Ok(entered) => {
            passkey_pages.authenticator.note_use(key.id, passkey_pages.gateway.now());
            Ok(entered)
        }
        Err(StoreError::Refused(_)) => Err(refused()),
        Err(error) => Err(error.into()),
    }
}

/// `POST /asks/{id}/confirm`: sends the answer that was shown, signed with a passkey.
pub(crate) async fn confirm(
    State(visitors): State<Arc<Visitors>>,
    State(passkey_pages): State<Arc<PasskeyPages>>,
    State(request_pages): State<Arc<RequestPages>>,
    Path(id): Path<String>,
    AskForm { visitor, ask, form: submitted }: AskForm,
) -> PageResult {
    let directory = passkey_pages.gateway.directory();
    let proven =
        passkey_pages.confirmed_answer(&visitor, &ask, &directory, |name| submitted.value(name));
    let Some((given, reply, over)) = proven else {
        let refused =
            Refusal::AssuranceTooLow { have: Assurance::Session, need: Assurance::Passkey };
        let notice = ActionOutcome::Refused(refused);
        return request_pages
            .page(&visitor, &ask, StatusCode::FORBIDDEN, Some(&notice), None)
            .await;
    };
    let key = given.used.key;
    let command = AskCommand::AnswerWithPasskey(ask.id, Box::new(reply), Box::new(given));
    let answered = answer_unless_claimed(
        &passkey_pages.gateway,
        &visitor,
        &visitor.actor,
        &ask,
        over.as_ref(),
        command,
    )
    .await;
    match answered {
        Ok(_) => {
            passkey_pages.authenticator.note_use(key, passkey_pages.gateway.now());
            Ok(Redirect::to(&paths::answered(ask.id)).into_response())
        }
        Err(StoreError::Refused(refusal @ Refusal::NotAllowed { .. })) => {
            let notice = ActionOutcome::Passkey(refusal);
            let status = StatusCode::FORBIDDEN;
            request_pages.page(&visitor, &ask, status, Some(&notice), None).await
        }
        Err(StoreError::Refused(refusal)) => {
            let now = visitors.visible_ask(&visitor, &id).await?;
            let notice = refused(refusal, &now, &visitor.human);
            request_pages.page(&visitor, &now, StatusCode::CONFLICT, Some(&notice), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The passkey that a browser says it used, with its person and its public key.
fn used_passkey<'d>(
    passkeys: &Passkeys,
    directory: &'d Directory,
    response: &str,
) -> Option<(&'d Key, &'d HumanId, &'d str)> {
    let key = directory.key_by_hash(&passkeys.named(response).ok()?)?;
    match &key.kind {
        CredentialKind::Passkey { human, public, .. } if key.revoked_at.is_none() => {
            Some((key, human, public))
        }
        CredentialKind::Passkey { .. }
        | CredentialKind::Agent { .. }
        | CredentialKind::Token { .. }
        | CredentialKind::Link { .. }
        | CredentialKind::Session { .. } => None,
    }
}

/// Registers, checks and removes passkeys in the browser.
pub struct PasskeyPages {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) authenticator: Arc<Authenticator>,
    pub(in crate::http) passkeys: Result<Passkeys, &'static str>,
    pub(in crate::http) sealed_values: Arc<SealedValues>,
}

impl PasskeyPages {
    /// The challenge for signing in with a passkey; `None` if this server has no passkeys.
    pub(super) fn sign_in_challenge(&self, browser: &str) -> Option<PasskeyChallenge> {
        let challenge: [u8; 32] = random();
        let options = self.passkeys.as_ref().ok()?.ask(challenge, &[]).ok()?;
        let sealed = self.sealed_values.seal("sign in", browser, challenge)?;
        Some(PasskeyChallenge { options: options.to_string(), sealed })
    }

    /// The page on which an answer is confirmed with a passkey.
    pub(in crate::http::pages) fn step_up_page(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        reply: Reply,
        over: Option<HumanId>,
    ) -> Response {
        let directory = self.gateway.directory();
        let now = self.gateway.now();
        let live = |key: &&Key| key.is_live(now);
        let all = || directory.passkeys_of(&visitor.human.id).filter(live);
        let own: Vec<&str> =
            all().filter(|key| key.counts_as_passkey(now)).filter_map(public).collect();
        let nonce = Digest(random());
        let statement = AnswerStatement::of(ask, &visitor.human.id, &reply, nonce);
        let options = match (&self.passkeys, statement) {
            (Ok(passkeys), Some(statement)) if !own.is_empty() => {
                passkeys.ask(statement.challenge().0, &own).ok()
            }
            (Ok(_), _) => None,
            (Err(why), _) => {
                let shown = message_page::no_passkeys(&visitor.frame, why);
                return html(StatusCode::FORBIDDEN, shown);
            }
        };
        let shown = passkeys::summarize_answer(ask, &reply);
        let unconfirmed = UnconfirmedAnswer { reply, nonce, over };
        let sealed = self.sealed_values.seal("answer", &holder(visitor, ask), unconfirmed);
        if let Some((options, sealed)) = options.zip(sealed) {
            let question = PasskeyChallenge { options: options.to_string(), sealed };
            return html(
                StatusCode::OK,
                passkeys::confirm(&visitor.frame, ask.id, &shown, &question),
            );
        }
        let waits = all().filter_map(|key| key.counts_from(now)).min();
        html(StatusCode::FORBIDDEN, message_page::passkey_needed(&visitor.frame, waits))
    }

    /// Whether this browser signed in recently.
    fn is_fresh(&self, visitor: &Visitor) -> bool {
        let directory = self.gateway.directory();
        directory.key(visitor.session).is_some_and(|key| key.is_fresh(self.gateway.now()))
    }

    /// An assertion over a challenge by a passkey of this person, if its signature is valid.
    fn verify_assertion(
        &self,
        human: &HumanId,
        directory: &Directory,
        challenge: [u8; 32],
        response: &str,
    ) -> Option<(PasskeyUse, PasskeyAssertion)> {
        let passkeys = self.passkeys.as_ref().ok()?;
        let (key, whose, public) = used_passkey(passkeys, directory, response)?;
        if whose != human {
            return None;
        }
        match passkeys.check(challenge, response, public) {
            Ok(asserted) => {
                let used = PasskeyUse {
                    key: key.id,
                    public: asserted.public.clone(),
                    challenge: Digest(challenge),
                    counter: asserted.counter,
                };
                Some((used, asserted))
            }
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(human.id = %human, key.id = %key.id, error, "a passkey was refused");
                None
            }
        }
    }

    /// The answer that was shown, if a passkey of this person confirmed it.
    fn confirmed_answer<'v>(
        &self,
        visitor: &Visitor,
        ask: &Ask,
        directory: &Directory,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> Option<(PasskeyAnswer, Reply, Option<HumanId>)> {
        let UnconfirmedAnswer { reply, nonce, over } =
            self.sealed_values.open("answer", &holder(visitor, ask), value("sealed")?)?;
        let human = &visitor.human.id;
        let statement = AnswerStatement::of(ask, human, &reply, nonce)?;
        let challenge = statement.challenge().0;
        let (used, asserted) =
            self.verify_assertion(human, directory, challenge, value("response")?)?;
        let evidence = PasskeyEvidence {
            key: used.key,
            credential_id: asserted.credential_id,
            public_key: asserted.public_key,
            authenticator_data: asserted.authenticator_data,
            client_data_json: asserted.client_data_json,
            signature: asserted.signature,
            rp_id: asserted.rp_id,
            origin: asserted.origin,
            statement,
        };
        Some((PasskeyAnswer { used, evidence }, reply, over))
    }

    /// The page after a passkey was refused.
    async fn refused(&self, visitor: &Visitor, why: String) -> PageResult {
        let notice = ActionOutcome::PasskeyUnusable(why);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        self.page(visitor, status, Some(&notice), None).await
    }

    /// The challenge that one of these passkeys has to sign.
    fn assertion_challenge(
        &self,
        visitor: &Visitor,
        purpose: &str,
        have: &[&str],
    ) -> Option<PasskeyChallenge> {
        let challenge: [u8; 32] = random();
        let options = self.passkeys.as_ref().ok()?.ask(challenge, have).ok()?;
        let sealed = self.sealed_values.seal(purpose, &visitor.session.to_string(), challenge)?;
        Some(PasskeyChallenge { options: options.to_string(), sealed })
    }

    /// The page on which a person confirms the removal of a passkey if their sign-in is not recent.
    fn removal_page(&self, visitor: &Visitor, id: KeyId, purpose: &str) -> Response {
        let directory = self.gateway.directory();
        let have: Vec<&str> = directory.passkeys_of(&visitor.human.id).filter_map(public).collect();
        let name = directory.key(id).map(|key| key.label.as_str()).unwrap_or_default();
        let question = self.assertion_challenge(visitor, purpose, &have);
        let shown = passkeys::removal(&visitor.frame, id, name, question.as_ref());
        html(StatusCode::OK, shown)
    }

    async fn page(
        &self,
        visitor: &Visitor,
        status: StatusCode,
        notice: Option<&ActionOutcome>,
        vouched: Option<VouchingAssertion>,
    ) -> PageResult {
        let directory = self.gateway.directory();
        let human = &visitor.human.id;
        let passkeys = match &self.passkeys {
            Ok(passkeys) => passkeys,
            Err(why) => {
                let shown = message_page::no_passkeys(&visitor.frame, why);
                return Err(page(StatusCode::NOT_FOUND, shown));
            }
        };
        let mut listed = Vec::new();
        let mut have = Vec::new();
        for key in directory.passkeys_of(human) {
            have.extend(public(key));
            let used = self
                .gateway
                .store()
                .key_used(key.id)
                .await?
                .max(self.authenticator.just_used(key.id));
            listed.push(PasskeyEntry { key, used });
        }
        let adding = if !have.is_empty() && vouched.is_none() {
            self.assertion_challenge(visitor, VOUCH, &have)
                .map_or(AddPasskey::SignInAgain, AddPasskey::Vouch)
        } else if vouched.is_none() && !self.is_fresh(visitor) {
            AddPasskey::SignInAgain
        } else {
            let name = views::components::wording::person_name(&directory, human);
            let asked = passkeys.make(human.as_str(), &name, &have).map_err(|error| {
                tracing::error!(error = format!("{error:#}"), "cannot ask for a passkey");
                PageError(Box::new(html(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    message_page::server_error(&visitor.frame, "passkeys"),
                )))
            })?;
            let PasskeyOptions { options, state } = asked;
            let session = visitor.session.to_string();
            let sealed =
                self.sealed_values.seal("make passkey", &session, state).unwrap_or_default();
            let vouched =
                vouched.and_then(|vouched| self.sealed_values.seal(VOUCHED, &session, vouched));
            let question = PasskeyChallenge { options: options.to_string(), sealed };
            AddPasskey::Make { question, vouched: vouched.unwrap_or_default() }
        };
        let shown = passkeys::page(&visitor.frame, &directory, &listed, &adding, notice);
        Ok(html(status, shown))
    }
}

/// Binds a sealed answer to its person and request, so that it cannot be used for another.
fn holder(visitor: &Visitor, ask: &Ask) -> String {
    format!("{} {}", visitor.session, ask.id)
}

fn public(key: &Key) -> Option<&str> {
    match &key.kind {
        CredentialKind::Passkey { public, .. } => Some(public),
        CredentialKind::Agent { .. }
        | CredentialKind::Token { .. }
        | CredentialKind::Link { .. }
        | CredentialKind::Session { .. } => None,
    }
}
