//! One message on its way to one address: to somebody, by a means of theirs, or where the agent wanted
//! its question put. What became of it is noted beside the outbox before the delivery is settled, so a
//! crash in between sends nothing twice that the platform has taken.

use std::sync::Arc;

use ::channels::card::Ways;
use ::channels::mail::template::{self, Known, Rendered};
use ::channels::{Card, Channel, Failed, Medium, Parcel, Posted};
use dialects::origin::Origin;
use jiff::tz::TimeZone;
use kernel::ask::{Grant, Purpose};
use kernel::audit::Digest;
use kernel::directory::{About, Human, Means};
use kernel::effect::Chain;
use kernel::question::Kind;
use kernel::quota::Exceeded;
use kernel::{Actor, Ask, Assurance, Command, Effect, Time, Via};
use serde_json::Value;
use store::{Message, Sent, Settlement, StoreError};
use url::Url;

use super::begun;
use super::card::Around;
use super::wired::medium;
use crate::http::App;
use crate::mail::notice::NoticeLetter;
use crate::reach::step::{Came, Onward, Told};
use crate::web::paths;
use crate::workers::outbox::{ATTEMPTS, retry_at};

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
                    self.give_back(&ask).await?;
                }
                return Ok(Settlement::Done);
            }
            Came::Held { until, why } => {
                return Ok(Settlement::Retry { at: until, error: why.to_owned() });
            }
            Came::Later { at, error } if attempt < ATTEMPTS => {
                let again = retry_at(now, attempt);
                return Ok(Settlement::Retry { at: at.map_or(again, |at| at.max(again)), error });
            }
            Came::Later { error, .. } | Came::Never { error } => error,
            Came::Gone => "the place is not there any more".to_owned(),
        };
        tracing::warn!(ask = %told.ask, error, "a request could not be put where the agent wanted");
        let Some(ask) = self.gateway.ask(told.ask).await? else { return Ok(Settlement::Done) };
        self.give_back(&ask).await?;
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
        if let Some(exceeded) = self.gateway.charge_notification(&ask, human).await? {
            return Ok(delayed(&exceeded));
        }
        let posted = self.post_about(&ask, sending, &recipient, name).await?;
        Ok(match posted {
            Err(came) => came,
            Ok((posted, code)) => {
                let message = noted.unwrap_or_else(|| sending.begun(self.gateway.now()));
                let Posted { id, thread, place } = posted;
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
    ) -> Result<Result<(Posted, Option<String>), Came>, StoreError> {
        let link = self.link_for(ask, recipient, name).await?;
        let origin = match recipient.human {
            Some(human) => self.begun_at(ask, human).await?,
            None => None,
        };
        if let Means::Email(_) = recipient.means {
            let letter = self.notice_letter(ask, sending, recipient, link, origin.as_ref()).await?;
            let came = self.post(&letter).await;
            let posted = Posted { id: letter.id, thread: None, place: Value::Null };
            return Ok(if matches!(came, Came::Told) { Ok((posted, None)) } else { Err(came) });
        }
        let Some(channel) = medium(&recipient.means).and_then(|medium| self.platforms.get(medium))
        else {
            return Ok(Err(Came::Gone));
        };
        let mut ways = self.ways(ask, &Self::addressee_of(ask, recipient)).await?;
        let code = self.code_for(ask, sending.to, channel.medium(), &ways).await?;
        ways.code.clone_from(&code);
        let (why, zone) = (Some(sending.told.why), &recipient.zone);
        let card = self.card(ask, Around { why, link, zone, ways });
        let lent = match recipient.human {
            None => self.lent(ask).await?,
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
        let parcel = Parcel {
            to,
            message: &rendered(&**channel, ask, &card),
            key: &name.to_string(),
            thread,
            token: token.as_ref(),
            now: self.gateway.now(),
        };
        Ok(self.parcel(channel, parcel).await.map(|posted| (posted, code)))
    }

    /// Gives a parcel to its platform, and counts what came of it.
    pub(crate) async fn parcel(
        &self,
        channel: &Arc<dyn Channel>,
        parcel: Parcel<'_>,
    ) -> Result<Posted, Came> {
        let sent = channel.deliver(parcel).await;
        tally(channel.medium(), "sent", &sent);
        sent.map_err(|failed| self.came(failed))
    }

    /// What a failure means for the delivery.
    pub(crate) fn came(&self, failed: Failed) -> Came {
        match failed {
            Failed::Never { why } => Came::Never { error: why },
            Failed::Later { why, after } => {
                let at = after.map(|after| self.gateway.now().plus_seconds(after.as_secs().max(1)));
                Came::Later { at, error: why }
            }
        }
    }

    /// The page of the request: whoever we know signs in there; whoever we do not, comes by a link that
    /// is good for this request alone.
    async fn link_for(
        &self,
        ask: &Ask,
        recipient: &Recipient<'_>,
        name: Digest,
    ) -> Result<String, StoreError> {
        if recipient.human.is_some() {
            return Ok(self.link(&paths::request(ask.id)));
        }
        let hash = Digest::of(self.secrets.review(&name).as_bytes());
        if !ask.is_granted(Purpose::Review, &hash) {
            // Only what goes to an address that a person verified proves more than the agent's word.
            let sent_to = ask.place_owner(&self.gateway.directory()).cloned();
            let grant = Grant { purpose: Purpose::Review, hash, sent_to };
            let grant = Command::Grant(ask.id, vec![grant]);
            self.gateway.run(Actor::System, grant).await?;
        }
        Ok(self.guests_link(ask, name))
    }

    /// The page of the request, for whoever got this message where the agent wanted it put.
    fn guests_link(&self, ask: &Ask, name: Digest) -> String {
        let page = self.link(&paths::review(&dialects::hitl::case_id(ask.id)));
        format!("{page}?token={}", self.secrets.review(&name))
    }

    /// Whoever a message is for, as one who answers it.
    fn addressee_of(ask: &Ask, recipient: &Recipient<'_>) -> Actor {
        let via = via(&recipient.means);
        match recipient.human {
            Some(human) => {
                Actor::Human { id: human.id.clone(), via, assurance: Assurance::Channel }
            }
            None => super::hear::guest(ask, via, &recipient.means, somebody(ask), None),
        }
    }

    async fn notice_letter(
        &self,
        ask: &Ask,
        sending: &Sending<'_>,
        recipient: &Recipient<'_>,
        link: String,
        origin: Option<&Origin>,
    ) -> Result<crate::mail::Letter, StoreError> {
        let settings = self.link(paths::NOTICES);
        let (why, zone) = (sending.told.why, &recipient.zone);
        let ways = self.ways(ask, &Self::addressee_of(ask, recipient)).await?;
        let wish = dialects::a2h::letter_wish(ask).unwrap_or_default();
        let wish = begun::below(wish, origin);
        let page =
            wish.template.as_ref().and_then(|template| Self::agents_page(ask, template, &link));
        let card = self.card(ask, Around { why: Some(why), link, zone, ways });
        let letter = NoticeLetter {
            to: &recipient.address,
            ask: ask.id,
            since: sending.chain.map_or(sending.since, |chain| chain.since),
            why,
            card: &card,
            settings: recipient.human.map(|_| settings.as_str()),
            reply_to: self.mail.as_ref().and_then(|mail| mail.reply_to(ask.id, &recipient.means)),
            wish,
            page,
            now: self.gateway.now(),
        };
        Ok(letter.letter())
    }

    /// The page an agent laid out for its letter. One that cannot be made loses nothing: the usual letter
    /// is sent (A2H-090).
    fn agents_page(ask: &Ask, template: &str, link: &str) -> Option<Rendered> {
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
        let known = Known { event: &event, base_url: &base_url, kind };
        let mut page = template::render(template, known)
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
            Came::Later { error, .. } => (error, sending.attempt >= ATTEMPTS),
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
        let channel = self.platforms.named(&message.medium);
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
                let around = Around { why: None, link, zone: &zone, ways: Ways::default() };
                let rendered = rendered(&**channel, &ask, &self.card(&ask, around));
                let posted = Posted { id: id.clone(), thread: None, place: message.place.clone() };
                let token = match message.human {
                    None => self.lent(&ask).await?.unwrap_or(None),
                    Some(_) => None,
                };
                let updated = channel.update(&posted, &rendered, token.as_ref()).await;
                tally(channel.medium(), "updated", &updated);
                updated.err()
            }
            _ => None,
        };
        let now = self.gateway.now();
        if let Some(Failed::Later { why, after }) = failed.as_ref().filter(|_| attempt < ATTEMPTS) {
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
            self.give_back(&ask).await?;
        }
        store.put_message(Message { over: true, updated_at: now, ..message }).await?;
        Ok(Settlement::Done)
    }
}

/// A card as its platform takes it; in Slack as plain text, where the agent wants that (A2H-085).
fn rendered(channel: &dyn Channel, ask: &Ask, card: &Card) -> Value {
    if channel.medium() == Medium::Slack && dialects::a2h::wants_plain_text(ask) {
        return ::channels::slack::plain(card);
    }
    channel.render(card)
}

/// A message that a quota does not allow now is sent when the quota starts again.
pub(crate) fn delayed(exceeded: &Exceeded) -> Came {
    let (per, quota) = (exceeded.per.as_str(), exceeded.metric.as_str());
    metrics::counter!("countersign_quota_delayed_total", "per" => per, "quota" => quota)
        .increment(1);
    Came::Later { at: exceeded.resets_at, error: exceeded.to_string() }
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

fn tally<T>(medium: Medium, what: &'static str, outcome: &Result<T, Failed>) {
    let result = match outcome {
        Ok(_) => "done",
        Err(Failed::Later { .. }) => "later",
        Err(Failed::Never { .. }) => "refused",
    };
    let medium = medium.as_str();
    metrics::counter!("countersign_messages_total", "channel" => medium, "what" => what, "result" => result)
        .increment(1);
}
