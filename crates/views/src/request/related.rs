//! What stands around a request and not in it: how requests like it were answered, the rounds the
//! matter went through, who else was asked, who is looking, what was said about it.

use std::collections::BTreeMap;

use kernel::ask::{Comment, Ending, Resolution, Seat};
use kernel::directory::{Directory, Human};
use kernel::question::Stance;
use kernel::task::Action;
use kernel::{Ask, By, HumanId, KeyId, Time};

use crate::answer::outcome::Outcome;
use crate::components::facts::Block;
use crate::components::when::When;
use crate::components::words::{self, Words};
use crate::conversation::Talk;
use crate::request::notifications::{Notification, Telling};
use crate::request::receipt::Proof;
use crate::request::task::Belongs;
use crate::request::timeline::Trail;
use crate::site::paths;

/// Members of a pool that are named before the rest are counted.
const NAMED: usize = 12;

/// What the handler found around a request.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// How requests like it were answered.
    pub alike: Alike,
    /// What it continues, oldest first.
    pub earlier: Vec<Ask>,
    /// What continues it, oldest first.
    pub later: Vec<Ask>,
    /// What went out to people about it, oldest first.
    pub messages: Vec<Notification>,
    /// Who else looks at it now.
    pub lookers: Vec<HumanId>,
    /// Until when the person has it hidden from their own inbox.
    pub hidden_until: Option<Time>,
    /// What happened to it, as it was recorded.
    pub trail: Trail,
    /// Its receipt, once it is over.
    pub proof: Option<Proof>,
    /// The task it belongs to, if whoever looks may see it.
    pub task: Option<Belongs>,
}

/// How requests like one were answered, as far as whoever looks may see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alike {
    same: Tally,
    kind: Tally,
}

/// Requests counted by how they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Tally {
    asked: usize,
    /// Whether older ones of these days were left uncounted.
    more: bool,
    ends: BTreeMap<&'static str, usize>,
}

impl Alike {
    /// How many days back they are counted.
    pub const DAYS: u64 = 30;
    /// How many are looked at.
    pub const MOST: usize = 100;

    /// Counts other requests of the same agent and kind, newest first. `more` says that there are
    /// older ones of these days.
    pub fn of(ask: &Ask, others: &[Ask], more: bool) -> Self {
        let mut alike = Self::default();
        (alike.same.more, alike.kind.more) = (more, more);
        let fold = ask.fold();
        for other in others.iter().filter(|other| other.id != ask.id && other.kind == ask.kind) {
            alike.kind.count(other);
            if fold.is_some() && other.fold() == fold {
                alike.same.count(other);
            }
        }
        alike
    }

    /// Of requests that differ in numbers and names only.
    pub fn same(&self) -> Option<String> {
        let Tally { asked, more, .. } = self.same;
        let ends = self.same.ends()?;
        let days = Self::DAYS;
        Some(match (asked, more) {
            (n, true) => format!("{n} of the newest {}: {ends}", self.kind.asked),
            (1, false) => format!("Asked once in {days} days: {ends}"),
            (n, false) => format!("Asked {n} times in {days} days: {ends}"),
        })
    }

    /// Of all requests of this kind by this agent.
    pub fn kind(&self) -> Option<String> {
        let Tally { asked, more, .. } = self.kind;
        let ends = self.kind.ends()?;
        let days = Self::DAYS;
        Some(match (asked, more) {
            (n, true) => format!("More than {n} in {days} days. Of the newest {n}: {ends}"),
            (n, false) => format!("{n} in {days} days: {ends}"),
        })
    }
}

impl Tally {
    fn count(&mut self, ask: &Ask) {
        self.asked += 1;
        *self.ends.entry(end(ask)).or_default() += 1;
    }

    /// "12 approved, 2 rejected"; nothing where nothing was counted.
    fn ends(&self) -> Option<String> {
        let mut ends: Vec<_> = self.ends.iter().collect();
        ends.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let said: Vec<String> = ends.iter().map(|(end, n)| format!("{n} {end}")).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// How a request ended, in a word or two.
fn end(ask: &Ask) -> &'static str {
    match ask.ending() {
        None => "still open",
        Some(Ending::Cancelled { decided, .. }) => match decided {
            None => "withdrawn",
            Some(Action::Reject) => "rejected",
            Some(Action::Approve | Action::Choose | Action::Provide) => "answered in other words",
            Some(Action::Reassign) => "given to another agent",
        },
        Some(Ending::Expired { .. } | Ending::Failed { .. }) => "not answered in time",
        Some(Ending::Completed(Resolution { by: By::System, .. })) => "left to the default",
        Some(Ending::Completed(Resolution { reply, .. })) => {
            match reply.value().map(|reply| reply.answer.stance()) {
                Some(Stance::Approve) => "approved",
                Some(Stance::Reject) => "rejected",
                Some(Stance::Change) => "sent back for changes",
                Some(Stance::Confirm) => "confirmed",
                Some(Stance::Decline) => "declined",
                Some(Stance::Retry) => "retried",
                Some(Stance::Skip) => "skipped",
                Some(Stance::Abort) => "aborted",
                Some(Stance::Choose | Stance::Provide | Stance::Reply) | None => "answered",
            }
        }
    }
}

/// One round of a matter that was asked several times.
#[derive(Debug, Clone)]
pub struct Round {
    /// Its number, from 1 for the oldest that is shown.
    pub n: usize,
    /// Its page; none for the one being looked at.
    pub href: Option<String>,
    /// The beginning of its question.
    pub prompt: Words,
    /// How it ended.
    pub headline: String,
    /// By whom.
    pub who: Option<String>,
    /// When that was, or when it was asked.
    pub at: When,
    /// The words that went with the answer.
    pub comment: Option<Words>,
}

impl Round {
    fn new(n: usize, ask: &Ask, here: bool, directory: &Directory, now: Time) -> Self {
        let question = ask.question.value();
        let prompt =
            question.map_or_else(words::erased, |question| Words::beginning(question.prompt(), 90));
        let outcome = Outcome::of(ask, directory, now);
        let said = ask.resolution().and_then(|resolution| resolution.reply.value());
        let comment = said.and_then(|reply| reply.comment.as_deref());
        Self {
            n,
            href: (!here).then(|| paths::request(ask.id)),
            prompt,
            at: outcome
                .as_ref()
                .map_or_else(|| When::new(ask.created_at, now), |outcome| outcome.at.clone()),
            headline: outcome
                .as_ref()
                .map_or_else(|| "Waits for an answer".to_owned(), |o| o.headline.clone()),
            who: outcome.and_then(|outcome| outcome.who),
            comment: comment.map(Words::of),
        }
    }
}

/// Somebody, or a pool, that was asked or will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seated {
    /// Who.
    pub who: String,
    /// From when on, where that is still to come.
    pub from: Option<When>,
    /// Who is in the pool, for those who may know.
    pub members: Option<String>,
}

impl Seated {
    fn new(seat: &Seat, ask: &Ask, me: &Human, directory: &Directory) -> Self {
        let (who, members) = match seat {
            Seat::Person { human } => (words::person(directory, human), None),
            Seat::Pool { group } => {
                let who = match group {
                    None => "Anyone qualified in the project".to_owned(),
                    Some(group) => format!("Anyone in the group {group}"),
                };
                // Whoever answers for the agent may know whom it reaches; a member of the pool is
                // only told that there is one.
                let may_know = me.admin || me.id == ask.owner;
                let group = group.as_ref();
                (who, may_know.then(|| members(ask, group, directory)))
            }
        };
        Self { who, from: None, members }
    }
}

fn members(ask: &Ask, group: Option<&kernel::ids::GroupId>, directory: &Directory) -> String {
    let mut names: Vec<String> = directory
        .humans()
        .filter(|human| human.active && human.qualifies(&ask.project, group, &ask.tags))
        .map(|human| words::person(directory, &human.id))
        .collect();
    let rest = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    match (names.is_empty(), rest) {
        (true, _) => "nobody at the moment".to_owned(),
        (false, 0) => names.join(", "),
        (false, rest) => format!("{} and {rest} more", names.join(", ")),
    }
}

/// What somebody remarked.
#[derive(Debug, Clone)]
pub struct Said {
    /// Who.
    pub who: String,
    /// Whether the agent did: its words are drawn as its words.
    pub agent: bool,
    /// When.
    pub at: When,
    /// What.
    pub text: Block,
}

impl Said {
    fn new(n: usize, comment: &Comment, directory: &Directory, now: Time) -> Self {
        let text = comment.text.value().map_or("(These words were erased.)", String::as_str);
        Self {
            who: words::by(directory, &comment.by),
            agent: matches!(comment.by, By::Agent(_)),
            at: When::new(comment.at, now),
            text: Block::new(format!("said-{n}"), text),
        }
    }
}

/// All of it as the page shows it.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// See [`Alike::same`].
    pub same: Option<String>,
    /// See [`Alike::kind`].
    pub kind: Option<String>,
    /// The rounds of the matter; none where it was asked once, or is a conversation.
    pub rounds: Vec<Round>,
    /// The key the agent asked with.
    pub key: Option<Words>,
    /// The conversation it belongs to.
    pub talk: Option<Talk>,
    /// Who was asked, and who will be.
    pub asked: Vec<Seated>,
    /// How they were told, the newest last.
    pub told: Vec<Telling>,
    /// Who looks, in a sentence.
    pub looking: Option<String>,
    /// Until when it is hidden from one's inbox.
    pub hidden: Option<When>,
    /// What was said about it.
    pub said: Vec<Said>,
}

impl Surroundings {
    /// What surrounds an ask, for one who may see it.
    pub fn new(around: &Around, ask: &Ask, me: &Human, directory: &Directory, now: Time) -> Self {
        let earlier = around.earlier.iter().map(|ask| (ask, false));
        let later = around.later.iter().map(|ask| (ask, false));
        let thread: Vec<_> = earlier.chain([(ask, true)]).chain(later).collect();
        let round = |(n, (ask, here)): (usize, &(&Ask, bool))| {
            Round::new(n + 1, ask, *here, directory, now)
        };
        let talk = Talk::of(&thread, directory, now);
        let now_asked = ask.seats.iter().map(|seat| Seated::new(seat, ask, me, directory));
        let to_come = ask.ladder.iter().filter(|_| ask.is_open()).map(|rung| Seated {
            from: Some(When::new(rung.at, now)),
            ..Seated::new(&rung.seat, ask, me, directory)
        });
        let said = ask.comments.iter().enumerate();
        Self {
            told: (around.messages.iter())
                .map(|message| Telling::new(message, directory, now))
                .collect(),
            same: around.alike.same(),
            kind: around.alike.kind(),
            rounds: match thread.len() {
                1 => Vec::new(),
                _ if talk.is_some() => Vec::new(),
                _ => thread.iter().enumerate().map(round).collect(),
            },
            key: ask.key.map(|key| key_name(key, directory)),
            talk,
            asked: now_asked.chain(to_come).collect(),
            looking: looking(&around.lookers, directory),
            hidden: around.hidden_until.map(|until| When::new(until, now)),
            said: said.map(|(n, comment)| Said::new(n, comment, directory, now)).collect(),
        }
    }
}

/// What a key is called, and its id: several may have one name.
fn key_name(id: KeyId, directory: &Directory) -> Words {
    let key = directory.key(id);
    let label = key.map(|key| key.label.as_str()).filter(|label| !label.is_empty());
    let gone = key.is_some_and(|key| key.revoked_at.is_some());
    let name = label.map_or_else(|| id.to_string(), |label| format!("{label} ({id})"));
    Words::of(&if gone { format!("{name}, revoked since") } else { name })
}

/// Who looks at a request beside the reader, in a sentence; nothing where nobody does.
pub fn looking(lookers: &[HumanId], directory: &Directory) -> Option<String> {
    let names: Vec<String> = lookers.iter().map(|id| words::person(directory, id)).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("{one} is looking at this too.")),
        [one, two] => Some(format!("{one} and {two} are looking at this too.")),
        [one, rest @ ..] => {
            Some(format!("{one} and {} others are looking at this too.", rest.len()))
        }
    }
}
