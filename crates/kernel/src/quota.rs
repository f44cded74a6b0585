//! Quotas: how much of the installation one agent, one project or one person may use.
//!
//! The kernel defines the quotas, their defaults and when one is exceeded. The store keeps the
//! counts, so that they apply across all nodes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::directory::Project;
use crate::ids::{AgentId, HumanId, ProjectId};
use crate::time::Time;

/// The maximum number of devices of one person that receive notifications.
pub const MOST_DEVICES: usize = 10;

/// A quantity that a quota limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Requests that are open now.
    OpenAsks,
    /// Bytes of requests and files that are stored now.
    StoredBytes,
    /// Uploads begun within an hour.
    Uploads,
    /// Messages sent to people within an hour.
    Notifications,
    /// Different people and addresses that agents named within a day.
    Recipients,
    /// Streams that are open now, on one node.
    Streams,
}

impl Metric {
    /// All metrics, in the order of declaration.
    pub const ALL: [Self; 6] = [
        Self::OpenAsks,
        Self::StoredBytes,
        Self::Uploads,
        Self::Notifications,
        Self::Recipients,
        Self::Streams,
    ];

    /// The name in settings, metrics and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAsks => "open_asks",
            Self::StoredBytes => "stored_bytes",
            Self::Uploads => "uploads",
            Self::Notifications => "notifications",
            Self::Recipients => "recipients",
            Self::Streams => "streams",
        }
    }

    /// The length of the window in seconds; `None` if the metric counts what exists now.
    pub fn window(self) -> Option<u64> {
        match self {
            Self::OpenAsks | Self::StoredBytes | Self::Streams => None,
            Self::Uploads | Self::Notifications => Some(3_600),
            Self::Recipients => Some(86_400),
        }
    }

    /// The metric as a phrase for messages.
    pub fn described(self) -> &'static str {
        match self {
            Self::OpenAsks => "open requests",
            Self::StoredBytes => "stored bytes",
            Self::Uploads => "uploads an hour",
            Self::Notifications => "notifications an hour",
            Self::Recipients => "different recipients a day",
            Self::Streams => "open streams",
        }
    }
}

/// The kind of account whose use is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountKind {
    /// The use of one agent.
    Agent,
    /// The use of one project with all its agents.
    Project,
    /// The use of one person.
    Person,
}

impl AccountKind {
    /// All kinds of accounts, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Project, Self::Person];

    /// The name in settings, metrics and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Project => "project",
            Self::Person => "person",
        }
    }
}

/// An account whose use is counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// The use of this agent.
    Agent(AgentId),
    /// The use of this project.
    Project(ProjectId),
    /// The use of this person.
    Person(HumanId),
}

impl Account {
    /// The kind of the account.
    pub fn per(&self) -> AccountKind {
        match self {
            Self::Agent(_) => AccountKind::Agent,
            Self::Project(_) => AccountKind::Project,
            Self::Person(_) => AccountKind::Person,
        }
    }

    /// The name of the counter of a metric at a moment. Each window has its own counter, numbered
    /// from 1970-01-01.
    pub fn counter(&self, metric: Metric, now: Time) -> String {
        let (kind, name) = match self {
            Self::Agent(id) => ("agent", id.as_str()),
            Self::Project(id) => ("project", id.as_str()),
            // Lists of requests use this name for people.
            Self::Person(id) => ("human", id.as_str()),
        };
        let metric_name = metric.as_str();
        match metric.window() {
            None => format!("{metric_name}/{kind}/{name}"),
            Some(seconds) => {
                let window = now.millis().div_euclid(1_000).div_euclid(int(seconds));
                format!("{metric_name}/{kind}/{name}/{window}")
            }
        }
    }
}

/// When the current window of a metric ends; `None` if it has no window.
pub fn resets_at(metric: Metric, now: Time) -> Option<Time> {
    let seconds = int(metric.window()?);
    let window = now.millis().div_euclid(1_000).div_euclid(seconds);
    Some(Time::from_millis((window + 1).saturating_mul(seconds).saturating_mul(1_000)))
}

fn int(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// Limits by names such as `agent.open_asks`; 0 means no limit. A project's limits take precedence
/// over those of the installation, and these over the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, u64>", into = "BTreeMap<String, u64>")]
pub struct Limits(BTreeMap<(AccountKind, Metric), u64>);

/// A name that is not a quota, or a limit that is not a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a quota; expected NAME=NUMBER, where NAME is one of \
         {}", Limits::names().join(", "))]
pub struct BadLimit {
    given: String,
}

impl Limits {
    /// The limits that apply unless others are set. They are large enough for a busy team, and
    /// small enough that one broken agent does not exhaust the installation.
    pub fn defaults() -> Self {
        Self(BTreeMap::from([
            ((AccountKind::Agent, Metric::OpenAsks), 10_000),
            ((AccountKind::Project, Metric::OpenAsks), 50_000),
            ((AccountKind::Person, Metric::OpenAsks), 50_000),
            ((AccountKind::Agent, Metric::StoredBytes), 10 << 30),
            ((AccountKind::Project, Metric::StoredBytes), 50 << 30),
            ((AccountKind::Person, Metric::StoredBytes), 10 << 30),
            ((AccountKind::Agent, Metric::Uploads), 2_000),
            ((AccountKind::Project, Metric::Uploads), 10_000),
            ((AccountKind::Person, Metric::Uploads), 2_000),
            ((AccountKind::Agent, Metric::Notifications), 2_000),
            ((AccountKind::Project, Metric::Notifications), 10_000),
            ((AccountKind::Person, Metric::Notifications), 500),
            ((AccountKind::Agent, Metric::Recipients), 500),
            ((AccountKind::Project, Metric::Recipients), 2_000),
            ((AccountKind::Agent, Metric::Streams), 500),
            ((AccountKind::Project, Metric::Streams), 2_000),
            ((AccountKind::Person, Metric::Streams), 200),
        ]))
    }

    /// Limits that allow everything.
    pub fn unlimited() -> Self {
        Self(Self::defaults().0.into_keys().map(|key| (key, 0)).collect())
    }

    /// The names of all quotas.
    pub fn names() -> Vec<String> {
        Self::defaults().0.into_keys().map(name).collect()
    }

    /// Whether no limit is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These limits, completed by `those` where none is set.
    #[must_use]
    pub fn or(mut self, those: &Self) -> Self {
        for (key, limit) in &those.0 {
            self.0.entry(*key).or_insert(*limit);
        }
        self
    }

    /// The limit of one account; `None` for no limit. A project sets limits for itself and its
    /// agents, never for people, who may belong to several projects.
    pub fn limit(
        &self,
        project: Option<&Project>,
        per: AccountKind,
        metric: Metric,
    ) -> Option<u64> {
        let own = project
            .filter(|_| per != AccountKind::Person)
            .and_then(|project| project.quotas.get(per, metric));
        own.or_else(|| self.get(per, metric)).filter(|limit| *limit > 0)
    }

    fn get(&self, per: AccountKind, metric: Metric) -> Option<u64> {
        self.0.get(&(per, metric)).copied()
    }

    /// Whether a project may set all of these limits.
    pub fn all_settable_by_project(&self) -> bool {
        self.0.keys().all(|(per, _)| *per != AccountKind::Person)
    }

    /// The limits that are set, in order.
    pub fn iter(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.0.iter().map(|(key, limit)| (name(*key), *limit))
    }
}

fn name((per, metric): (AccountKind, Metric)) -> String {
    format!("{}.{}", per.as_str(), metric.as_str())
}

fn key(given: &str) -> Option<(AccountKind, Metric)> {
    Limits::defaults().0.into_keys().find(|key| name(*key) == given)
}

impl FromStr for Limits {
    type Err = BadLimit;

    /// Reads `agent.open_asks=1000, project.uploads=0`; separated by commas, spaces or line breaks.
    fn from_str(text: &str) -> Result<Self, BadLimit> {
        let mut limits = BTreeMap::new();
        for given in text.split([',', ' ', '\n', '\r', '\t']).filter(|given| !given.is_empty()) {
            let bad = || BadLimit { given: given.to_owned() };
            let (name, limit) = given.split_once('=').ok_or_else(bad)?;
            let limit = limit.trim().replace('_', "").parse().map_err(|_| bad())?;
            limits.insert(key(name.trim()).ok_or_else(bad)?, limit);
        }
        Ok(Self(limits))
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, limit)) in self.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(f, "{comma}{name}={limit}")?;
        }
        Ok(())
    }
}

impl TryFrom<BTreeMap<String, u64>> for Limits {
    type Error = BadLimit;

    fn try_from(given: BTreeMap<String, u64>) -> Result<Self, BadLimit> {
        let one = |(name, limit): (String, u64)| match key(&name) {
            Some(key) => Ok((key, limit)),
            None => Err(BadLimit { given: format!("{name}={limit}") }),
        };
        given.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Limits> for BTreeMap<String, u64> {
    fn from(limits: Limits) -> Self {
        limits.iter().collect()
    }
}

/// A quota that is exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("quota exceeded: at most {limit} {} per {}; \
         {}", .metric.described(), .per.as_str(), self.until())]
pub struct QuotaExceeded {
    /// The metric that is exceeded.
    pub metric: Metric,
    /// The kind of account that exceeded it.
    pub per: AccountKind,
    /// The limit that applies.
    pub limit: u64,
    /// When the count starts again; `None` if it falls as objects are closed or deleted.
    pub resets_at: Option<Time>,
    /// The number of seconds until then.
    pub retry_after: Option<u64>,
}

impl QuotaExceeded {
    /// A quota that is exceeded at this moment.
    pub fn new(metric: Metric, per: AccountKind, limit: u64, now: Time) -> Self {
        let resets_at = resets_at(metric, now);
        let millis = resets_at.map(|at| at.millis().saturating_sub(now.millis()).max(0));
        let retry_after = millis.map(|millis| millis.unsigned_abs().div_ceil(1_000).max(1));
        Self { metric, per, limit, resets_at, retry_after }
    }

    /// The name of the quota in settings.
    pub fn name(&self) -> String {
        name((self.per, self.metric))
    }

    fn until(self) -> String {
        match (self.resets_at, self.metric) {
            (Some(at), _) => format!("the count resets at {at}"),
            (None, Metric::OpenAsks) => "close or cancel requests first".to_owned(),
            (None, Metric::StoredBytes) => {
                "erase closed requests, or shorten how long they are kept".to_owned()
            }
            (None, Metric::Streams) => "close other streams first".to_owned(),
            (None, Metric::Uploads | Metric::Notifications | Metric::Recipients) => {
                "try again later".to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_they_are_read() {
        let text = "agent.open_asks=1_000, project.uploads=0\nperson.streams=7";
        let limits: Limits = text.parse().unwrap();
        assert_eq!(limits.to_string(), "agent.open_asks=1000,project.uploads=0,person.streams=7");
        assert_eq!(limits.to_string().parse::<Limits>().unwrap(), limits);
        let json = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<Limits>(&json).unwrap(), limits);
        for bad in ["agent.asks=1", "agent.open_asks", "agent.open_asks=-1", "person.recipients=1"]
        {
            let error = bad.parse::<Limits>().unwrap_err().to_string();
            assert!(error.contains("agent.open_asks"), "{error}");
            assert!(!error.contains("person.recipients,"), "{error}");
        }
        assert!(serde_json::from_str::<Limits>(r#"{"agent.asks": 1}"#).is_err());
    }

    #[test]
    fn a_project_sets_limits_of_its_own_but_not_those_of_people() {
        let installation: Limits = "agent.open_asks=5,person.open_asks=9".parse().unwrap();
        let installation = installation.or(&Limits::defaults());
        let cast = crate::testing::Cast::new();
        let mut project = cast.directory().project(&"acme".parse().unwrap()).unwrap().clone();
        let limit =
            |project: &Project, per| installation.limit(Some(project), per, Metric::OpenAsks);
        assert_eq!(limit(&project, AccountKind::Agent), Some(5));
        project.quotas = "agent.open_asks=7,project.open_asks=0".parse().unwrap();
        assert_eq!(limit(&project, AccountKind::Agent), Some(7));
        assert_eq!(limit(&project, AccountKind::Project), None, "0 means no limit");
        assert_eq!(limit(&project, AccountKind::Person), Some(9));
        let unlimited = Limits::unlimited();
        for (per, metric) in Limits::defaults().0.into_keys() {
            assert_eq!(unlimited.limit(None, per, metric), None);
        }
    }

    #[test]
    fn windows_begin_anew() {
        let agent = Account::Agent("bot".parse().unwrap());
        let (first, last) = (Time::from_millis(3_600_000), Time::from_millis(7_199_999));
        let next = Time::from_millis(7_200_000);
        let name = |at| agent.counter(Metric::Notifications, at);
        assert_eq!(name(first), name(last));
        assert_ne!(name(last), name(next));
        assert_eq!(resets_at(Metric::Notifications, last), Some(next));
        assert_eq!(agent.counter(Metric::OpenAsks, first), "open_asks/agent/bot");
        assert_eq!(agent.counter(Metric::OpenAsks, next), "open_asks/agent/bot");
        let exceeded = QuotaExceeded::new(Metric::Notifications, AccountKind::Agent, 5, last);
        assert_eq!(
            exceeded.to_string(),
            "quota exceeded: at most 5 notifications an hour per agent; the count resets at \
             1970-01-01T02:00:00.000Z"
        );
    }
}
