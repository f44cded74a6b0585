//! One message on its way to one address: to somebody, by a means of theirs, or where the agent wanted
//! its question put. What became of it is noted beside the outbox before the delivery is settled, so a
//! crash in between sends nothing twice that the platform has taken.

use std::sync::Arc;

use ::channels::email::template::{self, TemplateContext};
use ::channels::{Channel, DeliveryError, OutboundMessage, PostedMessage, slack};
use dialects::origin::Origin;
use jiff::tz::TimeZone;
use kernel::ask::{Grant, Purpose};
use kernel::audit::Digest;
use kernel::directory::{About, Human, Means};
use kernel::effect::Chain;
use kernel::question::Kind;
use kernel::quota::Exceeded;
use kernel::{Actor, Ask, AskCommand, Assurance, Effect, Time, Via};
use serde_json::Value;
use store::{Message, Sent, Settlement, StoreError};
use url::Url;

use super::begun;
use crate::http::App;
use crate::reach::step::{Came, Onward, Told};
use crate::workers::outbox::{ATTEMPTS, retry_at};
use views::email::notification::NotificationEmail;
use views::email::{AgentPage, Email};
use views::message_card::{AnswerOptions, CardContext, MessageCard};
use views::site::paths;

/// A message to be sent.
pub(crate) struct Sending<'a> {
    pub(crate) told: Told,
    /// To which address, by its mark.
    pub(crate) to: Digest,
    /// Whom, and how it goes on; nobody, if the agent named the place.
    pub(crate) chain: Option<&'a Chain>,
    /// Whether the next means is tried already.
    pub(crate) passed_on: bool,
    pub(crate) medium: &'a str,
    pub(crate) attempt: u32,
    /// When the delivery was written.
    pub(crate) since: Time,
}

impl Sending<'_> {
    /// What the message is known by: the same however often it is tried.
    fn name(&self) -> Digest {
        let Told { ask, why, .. } = self.told;
        let since = self.chain.map_or(self.since, |chain| chain.since);
        Digest::of_json(&(ask, self.to, since, why))
    }

    /// What is noted of it when it is first tried.
    fn begun(&self, now: Time) -> Message {
        Message {
            name: self.name(),
            ask: self.told.ask,
            medium: self.medium.to_owned(),
            to: self.to,
            human: self.chain.map(|chain| chain.human.clone()),
            why: self.told.why,
            since: self.chain.map(|chain| chain.since),
            at: now,
            standing: Sent::Waiting { error: String::new() },
            posted: None,
            thread: None,
            place: Value::Null,
            code: None,
            over: false,
            updated_at: now,
        }
    }
}

/// Whom a message is for.
struct Recipient<'a> {
    means: Means,
    /// As it is written by whoever has it.
    address: String,
    human: Option<&'a Human>,
    thread: Option<String>,
    zone: TimeZone,
}

impl App {
    /// Sends it, unless there is nothing to tell any more.
    pub(crate) async fn send(&self, sending: Sending<'_>) -> Result<Settlement, StoreError> {
        let came = self.try_to_send(&sending).await?;
        self.note_failure(&sending, &came).await?;
        if let Came::Later { at: Some(at), .. } = came
            && let Some(back) = self.put_back(at, sending.since)
        {
            return Ok(back);
        }
        let Sending { told, to, chain, passed_on, medium, attempt, .. } = sending;
        let Told { ask, why, priority } = told;
        let Some(chain) = chain else { return self.placed(told, came, attempt).await };
        let alone = Effect::Send {
            ask,
            why,
            priority,
            medium: medium.to_owned(),
            to,
            chain: Some(chain.clone()),
            passed_on: true,
        };
        let onward = (!passed_on).then_some(Onward { told, chain, alone });
        self.settled(came, attempt, onward).await
    }

    /// Whoever says when they take more has not failed: what they did not take now waits until then, and
    /// is not counted as tried; unless that goes on for long.
    fn put_back(&self, at: Time, since: Time) -> Option<Settlement> {
        let borne = self.gateway.now() < since.plus_seconds(BORNE);
        borne.then_some(Settlement::Back { at })
    }

    /// What becomes of a message to a place. When nobody can be reached there, whoever holds a seat is
    /// told instead.
    async fn placed(&self, told: Told, came: Came, attempt: u32) -> Result<Settlement, StoreError> {
        let now = self.gateway.now();
        let error = match came {
            Came::Told => return Ok(Settlement::Done),
            Came::Nothing => {
                if let Some(ask) = self.gateway.ask(told.ask).await? {
                    self.gateway.return_bot_token(&ask).await?;
                }
                return Ok(Settlement::Done);
            }
            Came::Held { until, why } => {
                return Ok(Settlement::Retry { at: until, error: why.to_owned() });
            }
            Came::Later { at, error } | Came::OverQuota { until: at, error }
                if attempt < ATTEMPTS =>
            {
                let again = retry_at(now, attempt);
                return Ok(Settlement::Retry { at: at.map_or(again, |at| at.max(again)), error });
            }
            Came::Later { error, .. } | Came::OverQuota { error, .. } | Came::Never { error } => {
                error
            }
            Came::Gone => "the place is not there any more".to_owned(),
        };
        tracing::warn!(ask = %told.ask, error, "a request could not be put where the agent wanted");
        let Some(ask) = self.gateway.ask(told.ask).await? else { return Ok(Settlement::Done) };
        self.gateway.return_bot_token(&ask).await?;
        if !ask.is_open() {
            return Ok(Settlement::Done);
        }
        let Told { why, priority, .. } = told;
        let notify = |seat| (now, Effect::Notify { ask: ask.id, seat, why, priority });
        Ok(Settlement::Split { into: ask.seats.iter().cloned().map(notify).collect() })
    }

    async fn try_to_send(&self, sending: &Sending<'_>) -> Result<Came, StoreError> {
        let Sending { told, to, chain, passed_on, attempt, .. } = sending;
        let directory = self.gateway.directory();
        let Some(ask) = self.gateway.ask(told.ask).await?.filter(|ask| ask.is_open()) else {
            return Ok(Came::Nothing);
        };
        let recipient = if let Some(chain) = chain {
            let Some(human) = directory.human(&chain.human) else { return Ok(Came::Nothing) };
            let before = *passed_on || *attempt > 1 || chain.tried.len() > 1;
            if !self.still_concerns(told.ask, human, before).await? {
                return Ok(Came::Nothing);
            }
            let left_alone = self.left_alone(&human.id, told.ask, told.priority).await?;
            if let Some((until, why)) = left_alone {
                return Ok(Came::Held { until, why });
            }
            let Some((means, address)) = address(human, to) else { return Ok(Came::Gone) };
            let zone = human.about().map_or(TimeZone::UTC, About::zone);
            Recipient { means, address, human: Some(human), thread: None, zone }
        } else {
            let place = ask.place.as_ref().and_then(|place| place.value());
            let Some(place) = place.filter(|place| place.means.mark() == *to) else {
                return Ok(Came::Nothing);
            };
            let address = place.means.address().unwrap_or_default().to_owned();
            let (means, thread) = (place.means.clone(), place.thread.clone());
            Recipient { means, address, human: None, thread, zone: TimeZone::UTC }
        };
        let name = sending.name();
        let noted = self.gateway.store().message(name).await?;
        // The platform took it before we could settle the delivery.
        if noted.as_ref().is_some_and(|noted| noted.posted.is_some()) {
            return Ok(Came::Told);
        }
        let human = recipient.human.map(|human| &human.id);
        let copies = match recipient.means {
            Means::Email(_) => dialects::a2h::copies(&ask),
            Means::Devices
            | Means::Slack(_)
            | Means::Sms(_)
            | Means::Whatsapp(_)
            | Means::Telegram(_)
            | Means::Ntfy(_)
            | Means::Webhook(_) => 0,
        };
        if let Some(exceeded) =
            self.gateway.quotas().charge_notification(&ask, human, copies).await?
        {
            return Ok(delayed(&exceeded));
        }
        let posted = self.post_about(&ask, sending, &recipient, name).await?;
        Ok(match posted {
            Err(came) => came,
            Ok((posted, code)) => {
                let message = noted.unwrap_or_else(|| sending.begun(self.gateway.now()));
                let PostedMessage { id, thread, place } = posted;
                let message = Message { posted: Some(id), thread, place, code, ..message };
                let message = message.learned(Sent::Sent, self.gateway.now());
                self.gateway.store().put_message(message).await?;
                Came::Told
            }
        })
    }

    /// Hands a message to whatever carries it.
    async fn post_about(
        &self,
        ask: &Ask,
        sending: &Sending<'_>,
        recipient: &Recipient<'_>,
        name: Digest,
    ) -> Result<Result<(PostedMessage, Option<String>), Came>, StoreError> {
        let granted = self.grant_link(ask, recipient, name).await?;
        let ask = granted.as_ref().unwrap_or(ask);
        let link = self.link_for(ask, recipient, name);
        let origin = match recipient.human {
            Some(human) => self.begun_at(ask, human).await?,
            None => None,
        };
        if let Means::Email(_) = recipient.means {
            let email =
                self.notification_email(ask, sending, recipient, link, origin.as_ref()).await?;
            let came = self.post(&email).await;
            let posted = PostedMessage::new(email.id);
            return Ok(if matches!(came, Came::Told) { Ok((posted, None)) } else { Err(came) });
        }
        let Some(channel) = self.channels.named(recipient.means.kind()) else {
            return Ok(Err(Came::Gone));
        };
        let mut options = self.ways(ask, &self.addressee_of(ask, recipient)).await?;
        let code = self.code_for(ask, sending.to, channel.name(), &options).await?;
        options.code.clone_from(&code);
        let (why, zone) = (Some(sending.told.why), &recipient.zone);
        let card = self.card(ask, CardContext { why, link, zone, options });
        let lent = match recipient.human {
            None => self.gateway.borrowed_bot_token(ask).await?,
            Some(_) => Ok(None),
        };
        let Ok(token) = lent else {
            let error = "the bot_token the agent gave for this is not there any more".to_owned();
            return Ok(Err(Came::Never { error }));
        };
        let (to, thread) = match begun::thread(&recipient.means, origin.as_ref()) {
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
        Ok(self.deliver(&channel, outbound).await.map(|posted| (posted, code)))
    }

    /// What is said about a request to one person or place.
    fn card(&self, ask: &Ask, context: CardContext<'_>) -> MessageCard {
        MessageCard::of(ask, &self.gateway.directory(), self.gateway.now(), context)
    }

    /// Sends a message on its channel, and counts what came of it.
    pub(crate) async fn deliver(
        &self,
        channel: &Arc<dyn Channel>,
        outbound: OutboundMessage<'_>,
    ) -> Result<PostedMessage, Came> {
        let sent = channel.deliver(outbound).await;
        tally(channel.name(), "sent", &sent);
        sent.map_err(|failed| self.came(failed))
    }

    /// What a failure means for the delivery.
    pub(crate) fn came(&self, failed: DeliveryError) -> Came {
        match failed {
            DeliveryError::Gone { .. } => Came::Gone,
            DeliveryError::Never { why } => Came::Never { error: why },
            DeliveryError::Later { why, after } => {
                let at = after.map(|after| self.gateway.now().plus_seconds(after.as_secs().max(1)));
                Came::Later { at, error: why }
            }
        }
    }

    /// Makes the link work by which somebody we do not know comes to the page. Returns the ask with it if
    /// it did not work before.
    async fn grant_link(
        &self,
        ask: &Ask,
        recipient: &Recipient<'_>,
        name: Digest,
    ) -> Result<Option<Ask>, StoreError> {
        let hash = self.review_hash(name);
        if recipient.human.is_some() || ask.is_granted(Purpose::Review, &hash) {
            return Ok(None);
        }
        // Only what goes to an address that a person verified, and nowhere else, proves more than the
        // agent's word. The agent reads a copy that it is sent, and what an app of its own says.
        let shared = dialects::a2h::is_copied(ask) || dialects::a2h::by_own_app(ask);
        let owner = ask.place_owner(&self.gateway.directory()).filter(|_| !shared).cloned();
        let grant = AskCommand::Grant(ask.id, vec![Grant::delivered(hash, owner)]);
        Ok(self.gateway.run(Actor::System, grant).await?.ask)
    }

    /// The page of the request: whoever we know signs in there; whoever we do not, comes by a link that
    /// is good for this request alone.
    fn link_for(&self, ask: &Ask, recipient: &Recipient<'_>, name: Digest) -> String {
        match recipient.human {
            Some(_) => self.link(&paths::request(ask.id)),
            None => self.guests_link(ask, name),
        }
    }

    /// The hash of the review link in a message.
    pub(crate) fn review_hash(&self, name: Digest) -> Digest {
        Digest::of(self.secrets.review(&name).as_bytes())
    }

    /// The page of the request, for whoever got this message where the agent wanted it put.
    fn guests_link(&self, ask: &Ask, name: Digest) -> String {
        let page = self.link(&paths::review(&dialects::hitl::case_id(ask.id)));
        format!("{page}?token={}", self.secrets.review(&name))
    }

    /// Whoever a message is for, as one who answers it.
    fn addressee_of(&self, ask: &Ask, recipient: &Recipient<'_>) -> Actor {
        let via = via(&recipient.means);
        match recipient.human {
            Some(human) => {
                // Whether a reply by email is verified shows when it comes.
                let verifies =
                    self.channels.email.as_ref().is_some_and(|email| email.verifies_senders());
                let assurance = match via {
                    Via::Email if !verifies => Assurance::Link,
                    _ => Assurance::Channel,
                };
                Actor::Human { id: human.id.clone(), via, assurance }
            }
            None => super::hear::guest(ask, via, &recipient.means, somebody(ask), None),
        }
    }

    async fn notification_email(
        &self,
        ask: &Ask,
        sending: &Sending<'_>,
        recipient: &Recipient<'_>,
        link: String,
        origin: Option<&Origin>,
    ) -> Result<Email, StoreError> {
        let settings = self.link(paths::NOTICES);
        let (why, zone) = (sending.told.why, &recipient.zone);
        let options = self.ways(ask, &self.addressee_of(ask, recipient)).await?;
        let wish = dialects::a2h::email_wish(ask).unwrap_or_default();
        let wish = begun::below(wish, origin);
        let page =
            wish.template.as_ref().and_then(|template| Self::agents_page(ask, template, &link));
        let card = self.card(ask, CardContext { why: Some(why), link, zone, options });
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

    /// The address for answers by email. An email to a person we know has none if the agent has it copied
    /// to others: each of them could answer in the name of that person.
    fn reply_address(&self, ask: &Ask, recipient: &Recipient<'_>) -> Option<String> {
        if recipient.human.is_some() && dialects::a2h::is_copied(ask) {
            return None;
        }
        self.channels.email.as_ref()?.reply_to(ask.id, &recipient.means)
    }

    /// The page an agent laid out for its letter. One that cannot be made loses nothing: the usual letter
    /// is sent (A2H-090).
    fn agents_page(ask: &Ask, template: &str, link: &str) -> Option<AgentPage> {
        let event = dialects::a2h::call(ask, dialects::a2h::Beside::default())?;
        let mut base_url: Url = link.parse().ok()?;
        let token = base_url.query().map(ToOwned::to_owned);
        base_url.set_query(None);
        let kind = match ask.kind {
            Kind::Approve | Kind::Confirm => "v1beta2.function_call",
            Kind::Choose | Kind::Provide | Kind::Escalate | Kind::Converse => {
                "v1beta2.human_contact"
            }
        };
        let context = TemplateContext { event: &event, base_url: &base_url, kind };
        let mut page = template::render(template, context)
            .inspect_err(|broken| tracing::warn!(ask = %ask.id, error = %broken, "a template of an agent makes no letter"))
            .ok()?;
        // Whoever we do not know comes by a link of their own: its token goes into every link.
        if let Some(token) = token {
            let base = base_url.as_str();
            page.html = page
                .html
                .replace(&format!("href=\"{base}?"), &format!("href=\"{base}?{token}&amp;"))
                .replace(&format!("href=\"{base}\""), &format!("href=\"{base}?{token}\""));
        }
        Some(page)
    }

    /// Notes what went wrong, for whoever looks at the request.
    async fn note_failure(&self, sending: &Sending<'_>, came: &Came) -> Result<(), StoreError> {
        let (error, last) = match came {
            Came::Told | Came::Nothing | Came::Held { .. } | Came::Gone => return Ok(()),
            Came::Later { error, .. } | Came::OverQuota { error, .. } => {
                (error, sending.attempt >= ATTEMPTS)
            }
            Came::Never { error } => (error, true),
        };
        let store = self.gateway.store();
        let (name, now) = (sending.name(), self.gateway.now());
        let error = error.clone();
        let standing = if last { Sent::Failed { error } } else { Sent::Waiting { error } };
        let noted = store.message(name).await?.unwrap_or_else(|| sending.begun(now));
        store.put_message(Message { standing, updated_at: now, ..noted }).await
    }

    /// Says on a message that its ask is over.
    pub(crate) async fn amend(
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
                let zone = human.and_then(Human::about).map(About::zone);
                let zone = zone.unwrap_or(TimeZone::UTC);
                let link = match message.human {
                    Some(_) => self.link(&paths::request(ask.id)),
                    None => self.guests_link(&ask, name),
                };
                let options = AnswerOptions::default();
                let context = CardContext { why: None, link, zone: &zone, options };
                let rendered = rendered(&*channel, &ask, &self.card(&ask, context));
                let posted =
                    PostedMessage { id: id.clone(), thread: None, place: message.place.clone() };
                let token = match message.human {
                    None => self.gateway.borrowed_bot_token(&ask).await?.unwrap_or(None),
                    Some(_) => None,
                };
                let updated = channel.update(&posted, &rendered, token.as_ref()).await;
                tally(channel.name(), "updated", &updated);
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
            let back = at.and_then(|at| self.put_back(at, since));
            let retry = || Settlement::Retry { at: at.unwrap_or(again), error: why.clone() };
            return Ok(back.unwrap_or_else(retry));
        }
        if let Some(failed) = failed {
            tracing::warn!(error = %failed, "a message could not be changed although its request is over");
        }
        if message.human.is_none() {
            self.gateway.return_bot_token(&ask).await?;
        }
        store.put_message(Message { over: true, updated_at: now, ..message }).await?;
        Ok(Settlement::Done)
    }
}

/// A card as its platform takes it; in Slack as plain text, where the agent wants that (A2H-085).
fn rendered(channel: &dyn Channel, ask: &Ask, card: &MessageCard) -> Value {
    if channel.name() == slack::NAME && dialects::a2h::wants_plain_text(ask) {
        return slack::plain(card);
    }
    channel.render(card)
}

/// A message that a quota does not allow now is sent when the quota starts again.
pub(crate) fn delayed(exceeded: &Exceeded) -> Came {
    let (per, quota) = (exceeded.per.as_str(), exceeded.metric.as_str());
    metrics::counter!("countersign_quota_delayed_total", "per" => per, "quota" => quota)
        .increment(1);
    Came::OverQuota { until: exceeded.resets_at, error: exceeded.to_string() }
}

/// For so many seconds it is borne that a platform takes no more, before it counts as a failure.
const BORNE: u64 = 1_800;
/// Somebody who may answer where the agent wanted: one it named, or whose address it is.
fn somebody(ask: &Ask) -> &str {
    let place = ask.place.as_ref().and_then(|place| place.value());
    let named = place.and_then(|place| place.only.first()).map(String::as_str);
    named.or_else(|| place.and_then(|place| place.means.address())).unwrap_or_default()
}

/// The door of a means.
pub(crate) fn via(means: &Means) -> Via {
    match means {
        Means::Devices | Means::Ntfy(_) => Via::Push,
        Means::Slack(_) => Via::Slack,
        Means::Email(_) => Via::Email,
        Means::Sms(_) => Via::Sms,
        Means::Whatsapp(_) => Via::Whatsapp,
        Means::Telegram(_) => Via::Telegram,
        Means::Webhook(_) => Via::Webhook,
    }
}

/// The address of this mark, as they write it, if notices may go there.
pub(crate) fn address(human: &Human, mark: &Digest) -> Option<(Means, String)> {
    let profile = human.profile.value()?;
    if let Some((means, address)) = profile.mail_address(mark) {
        return profile.may_tell(&means).then(|| (means, address.to_owned()));
    }
    let means = profile.means().into_iter().find(|means| means.mark() == *mark)?;
    let address = means.address()?.to_owned();
    profile.may_tell(&means).then_some((means, address))
}

fn tally<T>(channel: &'static str, what: &'static str, outcome: &Result<T, DeliveryError>) {
    let result = match outcome {
        Ok(_) => "done",
        Err(DeliveryError::Later { .. }) => "later",
        Err(DeliveryError::Never { .. } | DeliveryError::Gone { .. }) => "refused",
    };
    metrics::counter!("countersign_messages_total", "channel" => channel, "what" => what, "result" => result)
        .increment(1);
}
