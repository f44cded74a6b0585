//! Sends one message to one address: to a person by one of their contact methods, or to the place
//! that the agent chose. The result is stored before the delivery is settled, so a crash in between
//! does not repeat a message that the platform accepted.

use std::sync::Arc;

use channels::email::template::{self, TemplateContext};
use channels::{Channel, ChannelRegistry, DeliveryError, OutboundMessage, PostedMessage, slack};
use dialects::conversation_origin::ConversationOrigin;
use gateway::Gateway;
use gateway::secrets::ServerSecrets;
use kernel::ask::{AskToken, TokenPurpose};
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, Human};
use kernel::question::QuestionKind;
use kernel::{Actor, AnswerInterface, Ask, AskCommand, Assurance, Time};
use serde_json::Value;
use store::NotificationPlan;
use store::Work;
use store::{Message, MessageState, Settlement, Store, StoreError};
use url::Url;

use super::contact_methods::{ContactMethods, address};
use super::conversation_origin;
use super::notification_steps::{Continuation, Notification, NotificationSteps};
use super::reply_codes::reply_code;
use crate::answer_offers::AnswerOffers;
use crate::attempts::{ATTEMPTS, AttemptResult, retry_at};
use crate::channel_actor::{guest, via};
use crate::links::LinkBuilder;
use crate::outgoing::{Outgoing, count_message};
use views::email::notification::NotificationEmail;
use views::email::{AgentEmailBody, Email};
use views::locale::{self, ReaderLocale};
use views::message_card::{AnswerOptions, CardContext, MessageCard};
use views::site::paths;

/// A message to be sent.
pub(crate) struct MessageDelivery<'a> {
    pub(crate) about: Notification,
    /// The digest of the address.
    pub(crate) to: Digest,
    /// The person and their notification plan; absent if the agent chose the place.
    pub(crate) chain: Option<&'a NotificationPlan>,
    /// Whether the next contact method is tried already.
    pub(crate) passed_on: bool,
    pub(crate) medium: &'a str,
    pub(crate) attempt: u32,
    /// When the delivery was written.
    pub(crate) since: Time,
}

impl MessageDelivery<'_> {
    /// The name of the message: the same in every attempt.
    fn name(&self) -> Digest {
        let Notification { ask, why, .. } = self.about;
        let since = self.chain.map_or(self.since, |chain| chain.since);
        Digest::of_json(&(ask, self.to, since, why))
    }

    /// The record of the message at the first attempt.
    fn first(&self, now: Time) -> Message {
        Message {
            name: self.name(),
            ask: self.about.ask,
            medium: self.medium.to_owned(),
            to: self.to,
            human: self.chain.map(|chain| chain.human.clone()),
            why: self.about.why,
            since: self.chain.map(|chain| chain.since),
            at: now,
            standing: MessageState::Waiting { error: String::new() },
            posted: None,
            thread: None,
            place: Value::Null,
            code: None,
            over: false,
            updated_at: now,
        }
    }
}

/// The person or the place that a message is for.
struct Recipient<'a> {
    means: ContactMethod,
    /// The address as its owner writes it.
    address: String,
    human: Option<&'a Human>,
    thread: Option<String>,
    /// Their language and time zone.
    reader: ReaderLocale,
}

/// Sends and updates messages.
pub(super) struct MessageSender {
    pub(super) gateway: Gateway,
    pub(super) secrets: Arc<ServerSecrets>,
    pub(super) channels: Arc<ChannelRegistry>,
    pub(super) links: LinkBuilder,
    pub(super) offers: AnswerOffers,
    pub(super) outgoing: Outgoing,
    pub(super) contacts: ContactMethods,
    pub(super) steps: NotificationSteps,
}

impl MessageSender {
    /// Sends a message, if it is still needed.
    pub(super) async fn send(
        &self,
        sending: MessageDelivery<'_>,
    ) -> Result<Settlement, StoreError> {
        let result = self.attempt(&sending).await?;
        self.store_failure(&sending, &result).await?;
        if let AttemptResult::Later { at: Some(at), .. } = result
            && let Some(back) = self.postpone(at, sending.since)
        {
            return Ok(back);
        }
        let MessageDelivery { about, to, chain, passed_on, medium, attempt, .. } = sending;
        let Notification { ask, why, priority } = about;
        let Some(chain) = chain else {
            return self.settle_chosen_place(about, result, attempt).await;
        };
        let alone = Work::Send {
            ask,
            why,
            priority,
            medium: medium.to_owned(),
            to,
            plan: Some(chain.clone()),
            passed_on: true,
        };
        let continuation = (!passed_on).then_some(Continuation { about, chain, alone });
        self.steps.settle(result, attempt, continuation).await
    }

    /// A platform that says when it accepts more has not failed: the message waits until then, and
    /// the attempt is not counted, unless this lasts too long.
    fn postpone(&self, at: Time, since: Time) -> Option<Settlement> {
        let tolerated = self.gateway.now() < since.plus_seconds(LONGEST_POSTPONED);
        tolerated.then_some(Settlement::Back { at })
    }

    /// Settles a message to the place that the agent chose. If it cannot be sent there, the
    /// assignees are notified instead.
    async fn settle_chosen_place(
        &self,
        about: Notification,
        result: AttemptResult,
        attempt: u32,
    ) -> Result<Settlement, StoreError> {
        let now = self.gateway.now();
        let error = match result {
            AttemptResult::Sent => return Ok(Settlement::Done),
            AttemptResult::NotNeeded => {
                if let Some(ask) = self.gateway.ask(about.ask).await? {
                    self.gateway.return_bot_token(&ask).await?;
                }
                return Ok(Settlement::Done);
            }
            AttemptResult::Held { until, why } => {
                return Ok(Settlement::Retry { at: until, error: why.to_owned() });
            }
            AttemptResult::Later { at, error } | AttemptResult::OverQuota { until: at, error }
                if attempt < ATTEMPTS =>
            {
                let again = retry_at(now, attempt);
                return Ok(Settlement::Retry { at: at.map_or(again, |at| at.max(again)), error });
            }
            AttemptResult::Later { error, .. }
            | AttemptResult::OverQuota { error, .. }
            | AttemptResult::Refused { error } => error,
            AttemptResult::Gone => "the address of the request no longer exists".to_owned(),
        };
        tracing::warn!(ask = %about.ask, error, "could not post a request to the address that the \
                                                 agent chose");
        let Some(ask) = self.gateway.ask(about.ask).await? else { return Ok(Settlement::Done) };
        self.gateway.return_bot_token(&ask).await?;
        if !ask.is_open() {
            return Ok(Settlement::Done);
        }
        let Notification { why, priority, .. } = about;
        let notify = |seat| (now, Work::Notify { ask: ask.id, assignee: seat, why, priority });
        Ok(Settlement::Split { into: ask.assignees.iter().cloned().map(notify).collect() })
    }

    async fn attempt(&self, sending: &MessageDelivery<'_>) -> Result<AttemptResult, StoreError> {
        let MessageDelivery { about, to, chain, passed_on, attempt, .. } = sending;
        let directory = self.gateway.directory();
        let Some(ask) = self.gateway.ask(about.ask).await?.filter(|ask| ask.is_open()) else {
            return Ok(AttemptResult::NotNeeded);
        };
        let recipient = if let Some(chain) = chain {
            let Some(human) = directory.human(&chain.human) else {
                return Ok(AttemptResult::NotNeeded);
            };
            let before = *passed_on || *attempt > 1 || chain.tried.len() > 1;
            if !self.steps.still_concerns(about.ask, human, before).await? {
                return Ok(AttemptResult::NotNeeded);
            }
            let quiet = self.contacts.quiet_until(&human.id, about.ask, about.priority).await?;
            if let Some((until, why)) = quiet {
                return Ok(AttemptResult::Held { until, why });
            }
            let Some((means, address)) = address(human, to) else { return Ok(AttemptResult::Gone) };
            let reader = ReaderLocale::of(human);
            Recipient { means, address, human: Some(human), thread: None, reader }
        } else {
            let place = ask.posting_address.as_ref().and_then(|place| place.value());
            let Some(place) = place.filter(|place| place.contact_method.digest() == *to) else {
                return Ok(AttemptResult::NotNeeded);
            };
            let address = place.contact_method.address().unwrap_or_default().to_owned();
            let (means, thread) = (place.contact_method.clone(), place.thread.clone());
            Recipient { means, address, human: None, thread, reader: ReaderLocale::default() }
        };
        let name = sending.name();
        let noted = self.gateway.store().message(name).await?;
        // The platform accepted the message before the delivery was settled.
        if noted.as_ref().is_some_and(|noted| noted.posted.is_some()) {
            return Ok(AttemptResult::Sent);
        }
        let human = recipient.human.map(|human| &human.id);
        let copies = match recipient.means {
            ContactMethod::Email(_) => dialects::a2h::copy_count(&ask),
            ContactMethod::Devices
            | ContactMethod::Slack(_)
            | ContactMethod::Sms(_)
            | ContactMethod::Whatsapp(_)
            | ContactMethod::Telegram(_)
            | ContactMethod::Ntfy(_)
            | ContactMethod::Webhook(_) => 0,
        };
        if let Some(exceeded) =
            self.gateway.quotas().charge_notification(&ask, human, copies).await?
        {
            return Ok(AttemptResult::over_quota(&exceeded));
        }
        let posting = self.post_about(&ask, sending, &recipient, name);
        let posted = locale::scope(recipient.reader.clone(), posting).await?;
        Ok(match posted {
            Err(failed) => failed,
            Ok((posted, code)) => {
                let message = noted.unwrap_or_else(|| sending.first(self.gateway.now()));
                let PostedMessage { id, thread, place } = posted;
                let message = Message { posted: Some(id), thread, place, code, ..message };
                let message = message.with_status(MessageState::Sent, self.gateway.now());
                self.gateway.store().put_message(message).await?;
                AttemptResult::Sent
            }
        })
    }

    /// Renders a message and gives it to its channel.
    async fn post_about(
        &self,
        ask: &Ask,
        sending: &MessageDelivery<'_>,
        recipient: &Recipient<'_>,
        name: Digest,
    ) -> Result<Result<(PostedMessage, Option<String>), AttemptResult>, StoreError> {
        let granted = self.grant_link(ask, recipient, name).await?;
        let ask = granted.as_ref().unwrap_or(ask);
        let link = self.link_for(ask, recipient, name);
        let origin = match recipient.human {
            Some(human) => conversation_origin::origin_of(&self.gateway, ask, human).await?,
            None => None,
        };
        if let ContactMethod::Email(_) = recipient.means {
            let email =
                self.notification_email(ask, sending, recipient, link, origin.as_ref()).await?;
            let posted = PostedMessage::new(email.id.clone());
            return Ok(match self.outgoing.notify_by_email(&email).await {
                AttemptResult::Sent => Ok((posted, None)),
                failed => Err(failed),
            });
        }
        let Some(channel) = self.channels.named(recipient.means.kind()) else {
            return Ok(Err(AttemptResult::Gone));
        };
        let mut options = self.offers.options(ask, &self.addressee_of(ask, recipient)).await?;
        let code = reply_code(&self.gateway, ask, sending.to, channel.name(), &options).await?;
        options.code.clone_from(&code);
        let why = Some(sending.about.why);
        let card = self.card(ask, CardContext { why, link, options });
        let borrowed = match recipient.human {
            None => self.gateway.borrowed_bot_token(ask).await?,
            Some(_) => Ok(None),
        };
        let Ok(token) = borrowed else {
            let error = "the bot_token of the agent for this request no longer exists".to_owned();
            return Ok(Err(AttemptResult::Refused { error }));
        };
        let (to, thread) = match conversation_origin::thread(&recipient.means, origin.as_ref()) {
            Some((channel, thread)) => (channel, Some(thread)),
            None => (recipient.address.as_str(), recipient.thread.as_deref()),
        };
        let outbound = OutboundMessage {
            to,
            message: &rendered(&*channel, ask, &card),
            key: &name.to_string(),
            thread,
            token: token.as_ref(),
            now: self.gateway.now(),
        };
        Ok(self.outgoing.deliver(&channel, outbound).await.map(|posted| (posted, code)))
    }

    /// What a message says about a request.
    fn card(&self, ask: &Ask, context: CardContext) -> MessageCard {
        MessageCard::of(ask, &self.gateway.directory(), self.gateway.now(), context)
    }

    /// Makes the review link in a message work. Returns the changed ask, unless it worked before or
    /// the person is known and signs in.
    async fn grant_link(
        &self,
        ask: &Ask,
        recipient: &Recipient<'_>,
        name: Digest,
    ) -> Result<Option<Ask>, StoreError> {
        let hash = review_hash(&self.secrets, name);
        if recipient.human.is_some() || ask.has_token(TokenPurpose::Review, &hash) {
            return Ok(None);
        }
        // Only a message to a verified address, and to nowhere else, proves more than the agent's
        // claim. The agent can read its own copy, and the messages that its own app sends.
        let shared = dialects::a2h::is_copied(ask) || dialects::a2h::is_sent_by_own_app(ask);
        let owner =
            ask.posting_address_owner(&self.gateway.directory()).filter(|_| !shared).cloned();
        let grant = AskCommand::Grant(ask.id, vec![AskToken::sent_link(hash, owner)]);
        Ok(self.gateway.run(Actor::System, grant).await?.ask)
    }

    /// The page of the request. A known person signs in there; any other gets a link for this
    /// request alone.
    fn link_for(&self, ask: &Ask, recipient: &Recipient<'_>, name: Digest) -> String {
        match recipient.human {
            Some(_) => self.links.page(&paths::request(ask.id)),
            None => self.guest_link(ask, name),
        }
    }

    /// The page of the request, for a person who got the message at the place that the agent chose.
    fn guest_link(&self, ask: &Ask, name: Digest) -> String {
        let page = self.links.page(&paths::review(&dialects::hitl::case_id(ask.id)));
        format!("{page}?token={}", self.secrets.review_token(&name))
    }

    /// The recipient of a message, as the actor who answers it.
    fn addressee_of(&self, ask: &Ask, recipient: &Recipient<'_>) -> Actor {
        let via = via(&recipient.means);
        match recipient.human {
            Some(human) => {
                // Whether the sender of a reply by email is verified is known when the reply comes.
                let verifies =
                    self.channels.email.as_ref().is_some_and(|email| email.verifies_senders());
                let assurance = match via {
                    AnswerInterface::Email if !verifies => Assurance::Link,
                    _ => Assurance::Channel,
                };
                Actor::Human { id: human.id.clone(), via, assurance }
            }
            None => guest(ask, via, &recipient.means, answering_person(ask), None),
        }
    }

    async fn notification_email(
        &self,
        ask: &Ask,
        sending: &MessageDelivery<'_>,
        recipient: &Recipient<'_>,
        link: String,
        origin: Option<&ConversationOrigin>,
    ) -> Result<Email, StoreError> {
        let settings = self.links.page(paths::NOTIFICATION_SETTINGS);
        let why = sending.about.why;
        let options = self.offers.options(ask, &self.addressee_of(ask, recipient)).await?;
        let wish = dialects::a2h::email_options(ask).unwrap_or_default();
        let wish = conversation_origin::in_origin_thread(wish, origin);
        let page =
            wish.template.as_ref().and_then(|template| Self::agent_template(ask, template, &link));
        let card = self.card(ask, CardContext { why: Some(why), link, options });
        let email = NotificationEmail {
            to: &recipient.address,
            ask: ask.id,
            since: sending.chain.map_or(sending.since, |chain| chain.since),
            why,
            card: &card,
            settings: recipient.human.map(|_| settings.as_str()),
            reply_to: self.reply_address(ask, recipient),
            wish,
            page,
            now: self.gateway.now(),
        };
        Ok(email.email())
    }

    /// The address for answers by email. An email to a person we know has none if the agent has it
    /// copied to others: each of them could answer in the name of that person.
    fn reply_address(&self, ask: &Ask, recipient: &Recipient<'_>) -> Option<String> {
        if recipient.human.is_some() && dialects::a2h::is_copied(ask) {
            return None;
        }
        self.channels.email.as_ref()?.reply_to(ask.id, &recipient.means)
    }

    /// The HTML of an email by the agent's template. If the template fails, the default email is
    /// sent (A2H-090).
    fn agent_template(ask: &Ask, template: &str, link: &str) -> Option<AgentEmailBody> {
        let event = dialects::a2h::call(ask, dialects::a2h::CallContext::default())?;
        let mut base_url: Url = link.parse().ok()?;
        let token = base_url.query().map(ToOwned::to_owned);
        base_url.set_query(None);
        let kind = match ask.kind {
            QuestionKind::Approve | QuestionKind::Confirm => "v1beta2.function_call",
            QuestionKind::Choose
            | QuestionKind::Provide
            | QuestionKind::Escalate
            | QuestionKind::Converse => "v1beta2.human_contact",
        };
        let context = TemplateContext { event: &event, base_url: &base_url, kind };
        let mut page = template::render(template, context)
            .inspect_err(|broken| {
                tracing::warn!(ask = %ask.id, error = %broken, "cannot render an email template");
            })
            .ok()?;
        // An unknown person has a link of their own: its token goes into every link.
        if let Some(token) = token {
            let base = base_url.as_str();
            page.html = page
                .html
                .replace(&format!("href=\"{base}?"), &format!("href=\"{base}?{token}&amp;"))
                .replace(&format!("href=\"{base}\""), &format!("href=\"{base}?{token}\""));
        }
        Some(page)
    }

    /// Stores why an attempt failed, so that the request shows it.
    async fn store_failure(
        &self,
        sending: &MessageDelivery<'_>,
        result: &AttemptResult,
    ) -> Result<(), StoreError> {
        let (error, last) = match result {
            AttemptResult::Sent
            | AttemptResult::NotNeeded
            | AttemptResult::Held { .. }
            | AttemptResult::Gone => return Ok(()),
            AttemptResult::Later { error, .. } | AttemptResult::OverQuota { error, .. } => {
                (error, sending.attempt >= ATTEMPTS)
            }
            AttemptResult::Refused { error } => (error, true),
        };
        let store = self.gateway.store();
        let (name, now) = (sending.name(), self.gateway.now());
        let error = error.clone();
        let standing =
            if last { MessageState::Failed { error } } else { MessageState::Waiting { error } };
        let noted = store.message(name).await?.unwrap_or_else(|| sending.first(now));
        store.put_message(Message { standing, updated_at: now, ..noted }).await
    }

    /// Updates a message after its ask was closed.
    pub(super) async fn update_message(
        &self,
        name: Digest,
        attempt: u32,
        since: Time,
    ) -> Result<Settlement, StoreError> {
        let store = self.gateway.store();
        let Some(message) = store.message(name).await?.filter(|message| !message.over) else {
            return Ok(Settlement::Done);
        };
        let Some(ask) = self.gateway.ask(message.ask).await?.filter(|ask| !ask.is_open()) else {
            return Ok(Settlement::Done);
        };
        let channel = self.channels.named(&message.medium);
        let failed = match (channel, &message.posted) {
            (Some(channel), Some(id)) => {
                let directory = self.gateway.directory();
                let human = message.human.as_ref().and_then(|id| directory.human(id));
                let reader = human.map(ReaderLocale::of).unwrap_or_default();
                let link = match message.human {
                    Some(_) => self.links.page(&paths::request(ask.id)),
                    None => self.guest_link(&ask, name),
                };
                let options = AnswerOptions::default();
                let context = CardContext { why: None, link, options };
                let rendered =
                    locale::with(reader, || rendered(&*channel, &ask, &self.card(&ask, context)));
                let posted =
                    PostedMessage { id: id.clone(), thread: None, place: message.place.clone() };
                let token = match message.human {
                    None => self.gateway.borrowed_bot_token(&ask).await?.unwrap_or(None),
                    Some(_) => None,
                };
                let updated = channel.update(&posted, &rendered, token.as_ref()).await;
                count_message(channel.name(), "updated", &updated);
                updated.err()
            }
            _ => None,
        };
        let now = self.gateway.now();
        if let Some(DeliveryError::Later { why, after }) =
            failed.as_ref().filter(|_| attempt < ATTEMPTS)
        {
            let again = retry_at(now, attempt);
            let at = after.map(|after| now.plus_seconds(after.as_secs()).max(again));
            let back = at.and_then(|at| self.postpone(at, since));
            let retry = || Settlement::Retry { at: at.unwrap_or(again), error: why.clone() };
            return Ok(back.unwrap_or_else(retry));
        }
        if let Some(failed) = failed {
            tracing::warn!(error = %failed, "could not update the message of a closed request");
        }
        if message.human.is_none() {
            self.gateway.return_bot_token(&ask).await?;
        }
        store.put_message(Message { over: true, updated_at: now, ..message }).await?;
        Ok(Settlement::Done)
    }
}

/// A card in the platform's format; in Slack as plain text if the agent wants that (A2H-085).
fn rendered(channel: &dyn Channel, ask: &Ask, card: &MessageCard) -> Value {
    if channel.name() == slack::NAME && dialects::a2h::wants_plain_text(ask) {
        return slack::plain(card);
    }
    channel.render(card)
}

/// For how many seconds a platform may postpone a message before that counts as a failure.
const LONGEST_POSTPONED: u64 = 1_800;

/// The id of a person who may answer at the place that the agent chose: one it named, or the owner
/// of the address.
fn answering_person(ask: &Ask) -> &str {
    let place = ask.posting_address.as_ref().and_then(|place| place.value());
    let named = place.and_then(|place| place.only.first()).map(String::as_str);
    named.or_else(|| place.and_then(|place| place.contact_method.address())).unwrap_or_default()
}

/// The hash of the review link in a message.
pub(crate) fn review_hash(secrets: &ServerSecrets, message: Digest) -> Digest {
    Digest::of(secrets.review_token(&message).as_bytes())
}

/// The id of the Slack message that asks this, if the agent chose a place in Slack (A2H-081).
pub async fn slack_message_ts(store: &dyn Store, ask: &Ask) -> Result<Option<String>, StoreError> {
    let place = ask.posting_address.as_ref().and_then(|place| place.value());
    if !place.is_some_and(|place| matches!(place.contact_method, ContactMethod::Slack(_))) {
        return Ok(None);
    }
    let messages = store.messages(vec![ask.id]).await?;
    let mut there = messages.iter().filter(|message| message.human.is_none());
    let posted = there.find_map(|message| message.posted.as_deref());
    Ok(posted.and_then(|posted| posted.split_once('/')).map(|(_, ts)| ts.to_owned()))
}
