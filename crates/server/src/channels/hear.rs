//! What platforms say: somebody pressed, filled a sheet, or wrote. It is found out who that is and what
//! they answer, and then it is the same command as from everywhere else. Whoever may not answer is told
//! so politely, and nothing has changed.
//!
//! | file | what |
//! |---|---|
//! | `begin.rs` | what somebody writes first: a conversation with an agent |
//! | `who.rs` | who somebody is, seen from an ask |
//! | `words.rs` | what somebody wrote or filled in, as an answer |
//! | `reports.rs` | what became of a message, and who wants to hear no more |

mod begin;
mod reports;
mod who;
mod words;

use std::borrow::Cow;
use std::sync::Arc;

use ::channels::inbound::{InReplyTo, InboundContent};
use ::channels::{Channel, InboundMessage};
use gateway::Terms;
use kernel::ask::Shown;
use kernel::audit::Digest;
use kernel::directory::Means;
use kernel::question::{Body, Question, Reply};
use kernel::text::reveal;
use kernel::{Ask, AskCommand, Refusal};
use serde_json::{Map, Value};
use store::{Idempotency, Message, StoreError};

use who::Answerer;
pub(crate) use who::guest;
use words::{filled, read};

use super::offers::{self, Offer, Told, button_token, open_button_token};
use crate::http::App;
use views::answer::outcome::Outcome;
use views::message_card::{DialogError, DialogFields, FormDialog, WORDS};
use views::site::paths;

/// So many of the last messages to somebody are looked through for what they answer.
const LATELY: usize = 100;

/// What came of hearing something.
enum Came {
    /// It is an answer, and was taken; this is what it says.
    Taken(String),
    /// It is not, and this is why.
    Not(String),
    /// It is a sheet that was filled in wrongly.
    Wrong(Vec<DialogError>),
    /// A letter was written to an agent; whose address it was sent to is told this, there.
    Written(String, Means),
    /// Nobody need be told anything.
    Silent,
}

/// Something that was heard, and where.
struct Hearing<'a> {
    app: &'a App,
    channel: &'a Arc<dyn Channel>,
    heard: &'a InboundMessage,
}

impl App {
    /// Takes what was heard. Whatever it says, it is taken once: an error means that it could not be
    /// looked at now. Returns what the platform is answered, if it waits for that.
    pub(crate) async fn hear(
        &self,
        channel: &Arc<dyn Channel>,
        heard: &InboundMessage,
    ) -> Result<Option<Value>, StoreError> {
        let came = (Hearing { app: self, channel, heard }).take().await?;
        let (whom, words) = match came {
            // Whoever pressed waits for a sign, be it without words.
            Came::Silent if matches!(heard.what, InboundContent::Pressed { .. }) => {
                (Cow::Borrowed(heard), String::new())
            }
            Came::Silent => return Ok(None),
            Came::Wrong(wrong) => {
                let shown = channel.correct_form(&wrong);
                if shown.is_some() {
                    return Ok(shown);
                }
                let words: Vec<String> = wrong.into_iter().map(|one| one.words).collect();
                (Cow::Borrowed(heard), format!("This was not taken. {}", words.join(" ")))
            }
            Came::Taken(words) | Came::Not(words) => (Cow::Borrowed(heard), words),
            Came::Written(words, to) => {
                (Cow::Owned(InboundMessage { from: to, ..heard.clone() }), words)
            }
        };
        say(channel, &whom, &words).await;
        Ok(None)
    }
}

impl Hearing<'_> {
    async fn take(&self) -> Result<Came, StoreError> {
        match &self.heard.what {
            InboundContent::Pressed { token, posted } => {
                self.pressed(token, posted.as_deref()).await
            }
            InboundContent::Submitted { token, values } => self.submitted(token, values).await,
            InboundContent::Wrote { text, about } => self.wrote(text, about).await,
            InboundContent::Became { posted, state } => self.became(posted, state).await,
            InboundContent::Stopped => self.turned(true).await,
            InboundContent::Resumed => self.turned(false).await,
        }
    }

    async fn pressed(&self, token: &str, posted: Option<&str>) -> Result<Came, StoreError> {
        let Some((ask, told)) = self.found(token).await? else { return Ok(unknown()) };
        let message = self.message_at(posted).await?;
        let Some(actor) = self.who(&ask, message.as_ref()).await? else {
            return Ok(stranger());
        };
        let offer = match told {
            Told::Offer(n) => offer(&ask, n).map(|offer| (n, offer)),
            Told::Worded(_) | Told::Form => None,
        };
        match (told, offer) {
            (_, Some((_, offer))) if !offer.wants_words => {
                let reply = Reply { answer: offer.answer, comment: None };
                self.answered(&ask, actor.into(), reply).await
            }
            (_, Some((n, offer))) => {
                let fields = DialogFields::Words {
                    label: "Why?".to_owned(),
                    filled: String::new(),
                    optional: false,
                };
                self.sheet(&ask, Told::Worded(n), offer.label, fields).await
            }
            (Told::Form, None) => match ask.question.value().map(Question::body) {
                Some(Body::Provide { form }) => {
                    let fields = DialogFields::Form(form.clone());
                    self.sheet(&ask, told, "Send".to_owned(), fields).await
                }
                _ => Ok(unknown()),
            },
            _ => Ok(unknown()),
        }
    }

    /// Shows a sheet to whoever pressed; where that cannot be done, they are led to the page.
    async fn sheet(
        &self,
        ask: &Ask,
        told: Told,
        send: String,
        fields: DialogFields,
    ) -> Result<Came, StoreError> {
        if let Err(refusal) = ask.still_open(self.app.gateway.now()) {
            return Ok(Came::Not(self.refused(ask, &refusal)));
        }
        let question = ask.question.value();
        let sheet = FormDialog {
            token: button_token(&self.app.secrets, ask.id, told),
            title: format!("{}", ask.agent),
            words: question.map(|question| reveal(question.prompt())).unwrap_or_default(),
            send,
            fields,
        };
        Ok(match self.channel.open_form(self.heard, &sheet).await {
            Ok(()) => Came::Silent,
            Err(failed) => {
                tracing::info!(channel = self.channel.name(), error = %failed, "no form was opened");
                Came::Not(format!("Please answer on its page: {}", self.page(ask)))
            }
        })
    }

    async fn submitted(
        &self,
        token: &str,
        values: &Map<String, Value>,
    ) -> Result<Came, StoreError> {
        let Some((ask, told)) = self.found(token).await? else { return Ok(unknown()) };
        // A sheet lies on no message; whoever was let open it is judged anew.
        let Some(actor) = self.who(&ask, None).await? else { return Ok(stranger()) };
        let words = values.get(WORDS).and_then(Value::as_str).map(str::trim);
        let reply = match told {
            Told::Worded(n) => {
                let Some(words) = words.filter(|words| !words.is_empty()) else {
                    let words = "Please say why, in a few words.".to_owned();
                    return Ok(self.wrong(&ask, vec![DialogError { key: WORDS.to_owned(), words }]));
                };
                offer(&ask, n)
                    .map(|offer| Reply { answer: offer.answer, comment: Some(words.to_owned()) })
            }
            Told::Form => match filled(&ask, values) {
                Some(Err(wrong)) => return Ok(self.wrong(&ask, wrong)),
                Some(Ok(reply)) => Some(reply),
                None => None,
            },
            Told::Offer(_) => None,
        };
        match reply {
            Some(reply) => self.answered(&ask, actor.into(), reply).await,
            None => Ok(unknown()),
        }
    }

    /// What is wrong in a sheet, unless nobody can send it any more.
    fn wrong(&self, ask: &Ask, wrong: Vec<DialogError>) -> Came {
        match ask.still_open(self.app.gateway.now()) {
            Ok(()) => Came::Wrong(wrong),
            Err(refusal) => Came::Not(self.refused(ask, &refusal)),
        }
    }

    async fn wrote(&self, text: &str, about: &InReplyTo) -> Result<Came, StoreError> {
        let whole = text.trim();
        let (message, text) = match about {
            InReplyTo::Posted(id) => (self.message_at(Some(id)).await?, whole),
            InReplyTo::Token { token, sender } => match self.invited(token) {
                Some(invitation) => return self.by_letter(invitation, whole, sender).await,
                None => (self.answered_letter(token).await?, whole),
            },
            InReplyTo::Mention => return self.first_words(whole, true).await,
            InReplyTo::Nothing => self.coded(whole).await?,
        };
        let Some(message) = message else {
            return match about {
                InReplyTo::Nothing => self.first_words(whole, false).await,
                InReplyTo::Posted(_) | InReplyTo::Token { .. } | InReplyTo::Mention => {
                    Ok(Came::Silent)
                }
            };
        };
        let Some(ask) = self.app.gateway.ask(message.ask).await? else { return Ok(Came::Silent) };
        // The only request that waits is answered, unless this is no answer to it and names an agent.
        let guessed = *about == InReplyTo::Nothing && text.len() == whole.len();
        let answers = ask.question.value().is_some_and(|question| read(question, text).is_some());
        if guessed
            && !answers
            && let Some(human) = self.known().await.filter(|human| human.active)
            && let Some(begun) = self.named(&human, whole).await?
        {
            return Ok(begun);
        }
        // Emails that were sent before copies took the reply address away still have one.
        let by_email = matches!(about, InReplyTo::Token { .. });
        if by_email && message.human.is_some() && dialects::a2h::is_copied(&ask) {
            return Ok(Came::Not(format!(
                "This was not taken: the email went to other people too, so it is answered on its \
                 page: {}",
                self.page(&ask)
            )));
        }
        let answerer = match about {
            // Whoever writes to an address that only the reader of a letter knows has read that letter.
            InReplyTo::Token { sender, .. } => self.reader(&ask, &message, sender).await,
            InReplyTo::Posted(_) | InReplyTo::Nothing | InReplyTo::Mention => {
                self.who(&ask, Some(&message)).await?.map(Answerer::from)
            }
        };
        let Some(answerer) = answerer else { return Ok(stranger()) };
        self.said(&ask, answerer, text).await
    }

    /// What somebody wrote about an ask, as an answer to it.
    async fn said(&self, ask: &Ask, answerer: Answerer, text: &str) -> Result<Came, StoreError> {
        let actor = &answerer.actor;
        if let Err(refusal) = ask.still_open(self.app.gateway.now()) {
            return Ok(Came::Not(self.refused(ask, &refusal)));
        }
        let ways = self.app.ways(ask, actor).await?;
        match ask.question.value().and_then(|question| read(question, text)) {
            Some(reply) if !ways.is_none() => self.answered(ask, answerer, reply).await,
            _ if ways.is_none() => {
                if let Some(why) = answerer.too_weak(ask) {
                    return Ok(Came::Not(format!(
                        "This was not taken: the request needs an email whose sender is verified, and \
                         {why}. Sign in and answer on its page: {}",
                        self.page(ask)
                    )));
                }
                Ok(Came::Not(format!("This can only be answered on its page: {}", self.page(ask))))
            }
            _ => {
                let words: Vec<&str> = ways.buttons.iter().map(|one| one.word.as_str()).collect();
                Ok(Came::Not(format!(
                    "I could not tell what you mean. Answer with {}, or open {}",
                    words.join(", "),
                    self.page(ask)
                )))
            }
        }
    }

    /// The message a code at the beginning of a text names, and the rest of the text; or the only one
    /// that still waits.
    async fn coded<'t>(&self, text: &'t str) -> Result<(Option<Message>, &'t str), StoreError> {
        let lately = self.app.gateway.store().messages_to(self.heard.from.mark(), LATELY).await?;
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let first = first.trim_end_matches([':', ',', '.']).to_uppercase();
        let coded = lately.iter().find(|message| message.code.as_ref() == Some(&first));
        if let Some(message) = coded {
            return Ok((Some(message.clone()), rest.trim()));
        }
        let mut waiting: Vec<Message> = Vec::new();
        for message in lately.into_iter().filter(|message| !message.over) {
            if waiting.iter().any(|other| other.ask == message.ask) {
                continue;
            }
            if self.app.gateway.ask(message.ask).await?.is_some_and(|ask| ask.is_open()) {
                waiting.push(message);
            }
        }
        let only = if waiting.len() == 1 { waiting.pop() } else { None };
        Ok((only, text))
    }

    /// The ask a button belongs to, and what it says.
    async fn found(&self, token: &str) -> Result<Option<(Arc<Ask>, Told)>, StoreError> {
        let Some((ask, told)) = open_button_token(&self.app.secrets, token) else {
            return Ok(None);
        };
        Ok(self.app.gateway.ask(ask).await?.map(|ask| (ask, told)))
    }

    async fn message_at(&self, posted: Option<&str>) -> Result<Option<Message>, StoreError> {
        match posted {
            Some(posted) => self.app.gateway.store().posted(self.channel.name(), posted).await,
            None => Ok(None),
        }
    }

    /// Answers, once however often it is heard.
    async fn answered(
        &self,
        ask: &Ask,
        answerer: Answerer,
        reply: Reply,
    ) -> Result<Came, StoreError> {
        let Answerer { actor, sender } = answerer;
        // No message has such a button; one that was sent before this rule held still may.
        if ask.is_open() && ask.must_confirm(&reply.answer) {
            return Ok(Came::Not(format!(
                "This needs a second confirmation and can only be answered on its page: {}",
                self.page(ask)
            )));
        }
        let idempotency = Idempotency {
            scope: format!("heard:{}", self.heard.from.kind()),
            key: Digest::of(self.heard.id.as_bytes()).to_string(),
            fingerprint: Digest::of_json(&(ask.id, &reply)),
            lasting: false,
        };
        let idempotency = Some(idempotency);
        let sender = sender.and_then(Result::ok);
        let terms = Terms { idempotency, shown: Shown::Summary, sender, ..Terms::default() };
        let command = AskCommand::Answer(ask.id, Box::new(reply));
        match self.app.gateway.run_on(terms, actor, command).await {
            Ok(outcome) => {
                Ok(outcome.ask.map_or(Came::Silent, |ask| Came::Taken(self.thanks(&ask))))
            }
            Err(StoreError::Refused(refusal)) => {
                let now = self.app.gateway.ask(ask.id).await?;
                Ok(Came::Not(self.refused(now.as_deref().unwrap_or(ask), &refusal)))
            }
            Err(error) => Err(error),
        }
    }

    /// What whoever answered is told.
    fn thanks(&self, ask: &Ask) -> String {
        let (directory, now) = (self.app.gateway.directory(), self.app.gateway.now());
        match Outcome::of(ask, &directory, now) {
            Some(outcome) => format!("Recorded: {}.", outcome.headline),
            None => "Recorded. Others have to answer too.".to_owned(),
        }
    }

    /// Why an answer was not taken, for whoever gave it.
    fn refused(&self, ask: &Ask, refusal: &Refusal) -> String {
        let (directory, now) = (self.app.gateway.directory(), self.app.gateway.now());
        match (refusal, Outcome::of(ask, &directory, now)) {
            (
                Refusal::AlreadyAnswered { .. }
                | Refusal::AlreadyCancelled { .. }
                | Refusal::TimedOut { .. },
                Some(outcome),
            ) => format!(
                "{} {}: {}. {} Nothing was changed.",
                outcome.over, outcome.at.words, outcome.headline, outcome.sentence
            ),
            (Refusal::NotFound { .. }, _) => NOT_YOURS.to_owned(),
            _ => format!("This was not taken: {refusal}. Its page: {}", self.page(ask)),
        }
    }

    /// Where it can be answered: whoever we do not know has a link of their own, in what they were sent.
    fn page(&self, ask: &Ask) -> String {
        let known = self.app.gateway.directory().human_by_means(&self.heard.from).is_some();
        if ask.place.is_some() && !known {
            return "the link in its message".to_owned();
        }
        self.app.link(&paths::request(ask.id))
    }
}

/// Tells whoever was heard what came of it.
async fn say(channel: &Arc<dyn Channel>, whom: &InboundMessage, words: &str) {
    if let Err(failed) = channel.reply(whom, words).await {
        tracing::warn!(channel = channel.name(), error = %failed, "nobody could be told what came of it");
    }
}

const UNTOLD: &str =
    "I cannot tell which request this answers. Begin with its code, or open its page.";
const NOT_YOURS: &str = "You were not asked this, so nothing was changed.";

fn stranger() -> Came {
    Came::Not(NOT_YOURS.to_owned())
}

fn unknown() -> Came {
    Came::Not("This button is no longer good, so nothing was changed.".to_owned())
}

fn offer(ask: &Ask, n: usize) -> Option<Offer> {
    offers::offers(ask.question.value()?).into_iter().nth(n)
}
