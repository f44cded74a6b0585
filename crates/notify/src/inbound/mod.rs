//! Inbound messages: a person pressed a button, filled in a form or wrote. The server finds out who
//! that is and which ask they answer, and runs the same command as every other surface. A person
//! who may not answer gets a reply that says so, and nothing changes.
//!
//! | module | contents |
//! |---|---|
//! | [`channel_listener`] | listens on the channels that have to be asked for messages |
//! | `identity` | who sent a message, as seen from an ask |
//! | `answer_text` | text or a form, as an answer |
//! | `new_conversation` | messages that answer nothing and begin a conversation with an agent |
//! | `reports` | delivery reports, and people who want no more messages |

mod answer_text;
pub mod channel_listener;
mod identity;
mod new_conversation;
mod reports;

use std::borrow::Cow;
use std::sync::Arc;

use channels::inbound::{InReplyTo, InboundContent};
use channels::{Channel, ChannelRegistry, InboundMessage};
use gateway::secrets::ServerSecrets;
use gateway::{CommandConditions, Gateway};
use kernel::ask::DisplayedContent;
use kernel::audit::Digest;
use kernel::directory::ContactMethod;
use kernel::question::{Question, QuestionBody, Reply};
use kernel::text::reveal;
use kernel::{AgentId, Ask, AskCommand, HumanId, Refusal};
use serde_json::{Map, Value};
use store::{Idempotency, Message, StoreError};

use answer_text::{form_reply, read};
use identity::Answerer;

use crate::answer_offers::{
    self, AnswerOffers, ButtonAction, ButtonAnswer, button_token, open_button_token,
};
use crate::links::LinkBuilder;
use views::answer::outcome::OutcomeView;
use views::locale::{self, ReaderLocale};
use views::message_card::{DialogError, DialogFields, FormDialog, TEXT_KEY};
use views::site::paths;
use views::t;

/// How many of the last messages to an address are searched for the one that an inbound message
/// answers.
const RECENT_MESSAGES: usize = 100;

/// What an inbound message leads to.
enum InboundResult {
    /// It is an answer and was recorded; the text is the reply to the person.
    Accepted(String),
    /// It was not accepted; the text says why.
    Refused(String),
    /// It is a form with invalid fields.
    InvalidForm(Vec<DialogError>),
    /// It is an email to an agent. The reply goes to the owner of the address that it was sent to.
    Written(String, ContactMethod),
    /// The sender gets no reply.
    Silent,
}

/// Handles inbound messages. Clones share everything.
#[derive(Clone)]
pub struct InboundProcessor {
    pub(crate) gateway: Gateway,
    pub(crate) secrets: Arc<ServerSecrets>,
    pub(crate) channels: Arc<ChannelRegistry>,
    pub(crate) offers: AnswerOffers,
    pub(crate) links: LinkBuilder,
}

/// One inbound message, and the channel that it came from.
struct IncomingMessage<'a> {
    inbound: &'a InboundProcessor,
    channel: &'a Arc<dyn Channel>,
    message: &'a InboundMessage,
}

impl InboundProcessor {
    /// Handles a message. Its content takes effect once, however often it is delivered. An error
    /// means that it could not be handled now. Returns the response for the platform, if it waits
    /// for one.
    pub async fn handle(
        &self,
        channel: &Arc<dyn Channel>,
        message: &InboundMessage,
    ) -> Result<Option<Value>, StoreError> {
        // The reply is in the language of the sender, if they are known.
        let directory = self.gateway.directory();
        let sender = directory.human_by_contact_method(&message.from);
        let reader = sender.map(ReaderLocale::of).unwrap_or_default();
        locale::scope(reader, self.handle_and_reply(channel, message)).await
    }

    async fn handle_and_reply(
        &self,
        channel: &Arc<dyn Channel>,
        message: &InboundMessage,
    ) -> Result<Option<Value>, StoreError> {
        let result = (IncomingMessage { inbound: self, channel, message }).handle().await?;
        let (to, words) = match result {
            // A person who pressed a button waits for a response, even an empty one.
            InboundResult::Silent if matches!(message.what, InboundContent::Pressed { .. }) => {
                (Cow::Borrowed(message), String::new())
            }
            InboundResult::Silent => return Ok(None),
            InboundResult::InvalidForm(wrong) => {
                let shown = channel.correct_form(&wrong);
                if shown.is_some() {
                    return Ok(shown);
                }
                let words: Vec<String> = wrong.into_iter().map(|one| one.words).collect();
                (Cow::Borrowed(message), t!("reply-invalid", problems = words.join(" ")))
            }
            InboundResult::Accepted(words) | InboundResult::Refused(words) => {
                (Cow::Borrowed(message), words)
            }
            InboundResult::Written(words, to) => {
                (Cow::Owned(InboundMessage { from: to, ..message.clone() }), words)
            }
        };
        reply(channel, &to, &words).await;
        Ok(None)
    }

    /// The address at which a person writes to an agent by email, if the server receives emails.
    pub fn invitation(&self, agent: &AgentId, human: &HumanId) -> Option<String> {
        self.channels.email.as_ref()?.invitation(agent, human)
    }
}

impl IncomingMessage<'_> {
    async fn handle(&self) -> Result<InboundResult, StoreError> {
        match &self.message.what {
            InboundContent::Pressed { token, posted } => {
                self.handle_button(token, posted.as_deref()).await
            }
            InboundContent::Submitted { token, values } => self.handle_form(token, values).await,
            InboundContent::Wrote { text, about } => self.handle_text(text, about).await,
            InboundContent::Became { posted, state } => self.store_report(posted, state).await,
            InboundContent::Stopped => self.set_messages_enabled(true).await,
            InboundContent::Resumed => self.set_messages_enabled(false).await,
        }
    }

    async fn handle_button(
        &self,
        token: &str,
        posted: Option<&str>,
    ) -> Result<InboundResult, StoreError> {
        let Some((ask, action)) = self.button_target(token).await? else {
            return Ok(unknown_request());
        };
        let message = self.message_at(posted).await?;
        let Some(actor) = self.answerer(&ask, message.as_ref()).await? else {
            return Ok(unknown_sender());
        };
        let offer = match action {
            ButtonAction::Offer(n) => offer(&ask, n).map(|offer| (n, offer)),
            ButtonAction::Worded(_) | ButtonAction::Form => None,
        };
        match (action, offer) {
            (_, Some((_, offer))) if !offer.wants_words => {
                let reply = Reply { answer: offer.answer, comment: None };
                self.record_answer(&ask, actor.into(), reply).await
            }
            (_, Some((n, offer))) => {
                let fields = DialogFields::Words {
                    label: t!("reply-why"),
                    filled: String::new(),
                    optional: false,
                };
                self.open_form(&ask, ButtonAction::Worded(n), offer.label, fields).await
            }
            (ButtonAction::Form, None) => match ask.question.value().map(Question::body) {
                Some(QuestionBody::Provide { form }) => {
                    let fields = DialogFields::Form(form.clone());
                    self.open_form(&ask, action, t!("reply-send"), fields).await
                }
                _ => Ok(unknown_request()),
            },
            _ => Ok(unknown_request()),
        }
    }

    /// Opens a form dialog for the person who pressed a button. If the platform cannot, the reply
    /// links to the page.
    async fn open_form(
        &self,
        ask: &Ask,
        action: ButtonAction,
        send: String,
        fields: DialogFields,
    ) -> Result<InboundResult, StoreError> {
        if let Err(refusal) = ask.check_open(self.inbound.gateway.now()) {
            return Ok(InboundResult::Refused(self.refused(ask, &refusal)));
        }
        let question = ask.question.value();
        let dialog = FormDialog {
            token: button_token(&self.inbound.secrets, ask.id, action),
            title: format!("{}", ask.agent),
            words: question.map(|question| reveal(question.prompt())).unwrap_or_default(),
            send,
            fields,
        };
        Ok(match self.channel.open_form(self.message, &dialog).await {
            Ok(()) => InboundResult::Silent,
            Err(failed) => {
                tracing::info!(channel = self.channel.name(), error = %failed, "could not open a form");
                InboundResult::Refused(t!("reply-on-page", page = self.page(ask)))
            }
        })
    }

    async fn handle_form(
        &self,
        token: &str,
        values: &Map<String, Value>,
    ) -> Result<InboundResult, StoreError> {
        let Some((ask, action)) = self.button_target(token).await? else {
            return Ok(unknown_request());
        };
        // A form dialog belongs to no message, so the person is identified again.
        let Some(actor) = self.answerer(&ask, None).await? else { return Ok(unknown_sender()) };
        let words = values.get(TEXT_KEY).and_then(Value::as_str).map(str::trim);
        let reply = match action {
            ButtonAction::Worded(n) => {
                let Some(words) = words.filter(|words| !words.is_empty()) else {
                    let words = t!("reply-say-why");
                    return Ok(self.invalid_form(
                        &ask,
                        vec![DialogError { key: TEXT_KEY.to_owned(), words }],
                    ));
                };
                offer(&ask, n)
                    .map(|offer| Reply { answer: offer.answer, comment: Some(words.to_owned()) })
            }
            ButtonAction::Form => match form_reply(&ask, values) {
                Some(Err(wrong)) => return Ok(self.invalid_form(&ask, wrong)),
                Some(Ok(reply)) => Some(reply),
                None => None,
            },
            ButtonAction::Offer(_) => None,
        };
        match reply {
            Some(reply) => self.record_answer(&ask, actor.into(), reply).await,
            None => Ok(unknown_request()),
        }
    }

    /// The invalid fields of a form, unless the ask was closed meanwhile.
    fn invalid_form(&self, ask: &Ask, wrong: Vec<DialogError>) -> InboundResult {
        match ask.check_open(self.inbound.gateway.now()) {
            Ok(()) => InboundResult::InvalidForm(wrong),
            Err(refusal) => InboundResult::Refused(self.refused(ask, &refusal)),
        }
    }

    async fn handle_text(
        &self,
        text: &str,
        about: &InReplyTo,
    ) -> Result<InboundResult, StoreError> {
        let whole = text.trim();
        let (message, text) = match about {
            InReplyTo::Posted(id) => (self.message_at(Some(id)).await?, whole),
            InReplyTo::Token { token, sender } => match self.invitation_of(token) {
                Some(invitation) => return self.begin_by_email(invitation, whole, sender).await,
                None => (self.answered_email(token).await?, whole),
            },
            InReplyTo::Mention => return self.begin_by_chat(whole, true).await,
            InReplyTo::Nothing => self.split_reply_code(whole).await?,
        };
        let Some(message) = message else {
            return match about {
                InReplyTo::Nothing => self.begin_by_chat(whole, false).await,
                InReplyTo::Posted(_) | InReplyTo::Token { .. } | InReplyTo::Mention => {
                    Ok(InboundResult::Silent)
                }
            };
        };
        let Some(ask) = self.inbound.gateway.ask(message.ask).await? else {
            return Ok(InboundResult::Silent);
        };
        // Text that names no request answers the only one that waits, unless it is no answer to it
        // and names an agent.
        let guessed = *about == InReplyTo::Nothing && text.len() == whole.len();
        let answers = ask.question.value().is_some_and(|question| read(question, text).is_some());
        if guessed
            && !answers
            && let Some(human) = self.known_sender().await.filter(|human| human.active)
            && let Some(begun) = self.begin_with_named_agent(&human, whole).await?
        {
            return Ok(begun);
        }
        // Emails that were sent before copies took the reply address away still have one.
        let by_email = matches!(about, InReplyTo::Token { .. });
        if by_email && message.human.is_some() && dialects::a2h::is_copied(&ask) {
            return Ok(InboundResult::Refused(t!("reply-copied", page = self.page(&ask))));
        }
        let answerer = match about {
            // Only the reader of an email knows its reply address.
            InReplyTo::Token { sender, .. } => self.email_recipient(&ask, &message, sender).await,
            InReplyTo::Posted(_) | InReplyTo::Nothing | InReplyTo::Mention => {
                self.answerer(&ask, Some(&message)).await?.map(Answerer::from)
            }
        };
        let Some(answerer) = answerer else { return Ok(unknown_sender()) };
        self.answer_with_text(&ask, answerer, text).await
    }

    /// Text about an ask, as an answer to it.
    async fn answer_with_text(
        &self,
        ask: &Ask,
        answerer: Answerer,
        text: &str,
    ) -> Result<InboundResult, StoreError> {
        let actor = &answerer.actor;
        if let Err(refusal) = ask.check_open(self.inbound.gateway.now()) {
            return Ok(InboundResult::Refused(self.refused(ask, &refusal)));
        }
        let options = self.inbound.offers.options(ask, actor).await?;
        match ask.question.value().and_then(|question| read(question, text)) {
            Some(reply) if !options.is_none() => self.record_answer(ask, answerer, reply).await,
            _ if options.is_none() => {
                if let Some(why) = answerer.missing_verification(ask) {
                    return Ok(InboundResult::Refused(t!(
                        "reply-sender-unverified",
                        why = why.to_string(),
                        page = self.page(ask),
                    )));
                }
                Ok(InboundResult::Refused(t!("reply-only-on-page", page = self.page(ask))))
            }
            _ => {
                let words: Vec<&str> =
                    options.buttons.iter().map(|one| one.word.as_str()).collect();
                Ok(InboundResult::Refused(t!(
                    "reply-not-understood",
                    words = words.join(", "),
                    page = self.page(ask),
                )))
            }
        }
    }

    /// The message that a code at the beginning of the text names, and the rest of the text; or the
    /// only message whose ask is open.
    async fn split_reply_code<'t>(
        &self,
        text: &'t str,
    ) -> Result<(Option<Message>, &'t str), StoreError> {
        let recent = self
            .inbound
            .gateway
            .store()
            .messages_by(store::MessageQuery::To {
                to: self.message.from.digest(),
                limit: RECENT_MESSAGES,
            })
            .await?;
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let first = first.trim_end_matches([':', ',', '.']).to_uppercase();
        let coded = recent.iter().find(|message| message.code.as_ref() == Some(&first));
        if let Some(message) = coded {
            return Ok((Some(message.clone()), rest.trim()));
        }
        let mut waiting: Vec<Message> = Vec::new();
        for message in recent.into_iter().filter(|message| !message.over) {
            if waiting.iter().any(|other| other.ask == message.ask) {
                continue;
            }
            if self.inbound.gateway.ask(message.ask).await?.is_some_and(|ask| ask.is_open()) {
                waiting.push(message);
            }
        }
        let only = if waiting.len() == 1 { waiting.pop() } else { None };
        Ok((only, text))
    }

    /// The ask and the action of a button.
    async fn button_target(
        &self,
        token: &str,
    ) -> Result<Option<(Arc<Ask>, ButtonAction)>, StoreError> {
        let Some((ask, action)) = open_button_token(&self.inbound.secrets, token) else {
            return Ok(None);
        };
        Ok(self.inbound.gateway.ask(ask).await?.map(|ask| (ask, action)))
    }

    async fn message_at(&self, posted: Option<&str>) -> Result<Option<Message>, StoreError> {
        match posted {
            Some(posted) => self.inbound.gateway.store().posted(self.channel.name(), posted).await,
            None => Ok(None),
        }
    }

    /// Answers the ask, once however often the message is delivered.
    async fn record_answer(
        &self,
        ask: &Ask,
        answerer: Answerer,
        reply: Reply,
    ) -> Result<InboundResult, StoreError> {
        let Answerer { actor, sender } = answerer;
        // New messages have no such button; messages that were sent before this rule may have one.
        if ask.is_open() && ask.must_confirm(&reply.answer) {
            return Ok(InboundResult::Refused(t!("reply-second-step", page = self.page(ask))));
        }
        let idempotency = Idempotency {
            scope: format!("heard:{}", self.message.from.kind()),
            key: Digest::of(self.message.id.as_bytes()).to_string(),
            fingerprint: Digest::of_json(&(ask.id, &reply)),
            lasting: false,
        };
        let idempotency = Some(idempotency);
        let sender = sender.and_then(Result::ok);
        let terms = CommandConditions {
            idempotency,
            shown: DisplayedContent::Summary,
            sender,
            ..CommandConditions::default()
        };
        let command = AskCommand::Answer(ask.id, Box::new(reply));
        match self.inbound.gateway.run_with_conditions(terms, actor, command).await {
            Ok(outcome) => Ok(outcome.ask.map_or(InboundResult::Silent, |ask| {
                InboundResult::Accepted(self.confirmation_text(&ask))
            })),
            Err(StoreError::Refused(refusal)) => {
                let now = self.inbound.gateway.ask(ask.id).await?;
                Ok(InboundResult::Refused(self.refused(now.as_deref().unwrap_or(ask), &refusal)))
            }
            Err(error) => Err(error),
        }
    }

    /// The reply to an answer that was recorded.
    fn confirmation_text(&self, ask: &Ask) -> String {
        let (directory, now) = (self.inbound.gateway.directory(), self.inbound.gateway.now());
        match OutcomeView::of(ask, &directory, now) {
            Some(outcome) => t!("reply-recorded", outcome = outcome.headline),
            None => t!("reply-recorded-others"),
        }
    }

    /// Why an answer was refused, for the person who gave it.
    fn refused(&self, ask: &Ask, refusal: &Refusal) -> String {
        let (directory, now) = (self.inbound.gateway.directory(), self.inbound.gateway.now());
        match (refusal, OutcomeView::of(ask, &directory, now)) {
            (
                Refusal::AlreadyAnswered { .. }
                | Refusal::AlreadyCancelled { .. }
                | Refusal::TimedOut { .. },
                Some(outcome),
            ) => t!(
                "reply-closed",
                over = outcome.over,
                when = outcome.at.words,
                outcome = outcome.headline,
                sentence = outcome.sentence,
            ),
            (Refusal::NotFound { .. }, _) => t!("reply-not-asked"),
            _ => {
                t!("reply-refused", why = refusal.to_string(), page = self.page(ask))
            }
        }
    }

    /// Where the ask can be answered. An unknown person has a link of their own, in the message.
    fn page(&self, ask: &Ask) -> String {
        let known =
            self.inbound.gateway.directory().human_by_contact_method(&self.message.from).is_some();
        if ask.posting_address.is_some() && !known {
            return t!("reply-link-in-message");
        }
        self.inbound.links.page(&paths::request(ask.id))
    }
}

/// Replies to the sender of a message.
async fn reply(channel: &Arc<dyn Channel>, to: &InboundMessage, words: &str) {
    if let Err(failed) = channel.reply(to, words).await {
        tracing::warn!(channel = channel.name(), error = %failed, "could not reply with the \
                     result");
    }
}

fn unknown_sender() -> InboundResult {
    InboundResult::Refused(t!("reply-not-asked"))
}

fn unknown_request() -> InboundResult {
    InboundResult::Refused(t!("reply-old-button"))
}

fn offer(ask: &Ask, n: usize) -> Option<ButtonAnswer> {
    answer_offers::button_answers(ask.question.value()?).into_iter().nth(n)
}
