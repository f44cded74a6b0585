//! Limits the number of open streams per credential.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel::Subject;
use kernel::directory::CredentialKind;
use kernel::quota::{Account, Metric};

use crate::auth_error::Denied;
use crate::gateway::Gateway;
use crate::quotas::QuotaAccount;

/// The open streams.
pub struct Streams {
    /// The most streams of one credential. 0 for no limit.
    most: u32,
    open: Mutex<HashMap<Subject, u32>>,
}

/// The kind of connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionKind {
    Events,
    Socket,
    /// The bytes of an artifact, up or down.
    Bytes,
}

/// One open stream. It counts until it is dropped.
pub struct OpenStream {
    streams: Arc<Streams>,
    counted: Vec<Subject>,
    wire: ConnectionKind,
}

impl Streams {
    /// Allows this many streams per credential. 0 for no limit.
    pub fn new(most: u32) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Opens a stream for a key, or for a person with a token of the issuer. A caller without a
    /// credential, if allowed, is not counted.
    pub fn open(
        self: &Arc<Self>,
        who: Option<Subject>,
        wire: ConnectionKind,
    ) -> Result<OpenStream, Denied> {
        self.open_with_quotas(who, Vec::new(), wire)
    }

    /// The same, with quotas of the agent, the project or the person. They count on
    /// this node alone.
    pub fn open_with_quotas(
        self: &Arc<Self>,
        who: Option<Subject>,
        others: Vec<(Subject, u64)>,
        wire: ConnectionKind,
    ) -> Result<OpenStream, Denied> {
        let own = who.map(|who| (who, u64::from(self.most)));
        let all: Vec<(Subject, u64)> = own.into_iter().chain(others).collect();
        let mut open = self.lock();
        let is_full = |(who, most): &(Subject, u64)| {
            *most > 0 && open.get(who).is_some_and(|count| u64::from(*count) >= *most)
        };
        if all.iter().any(is_full) {
            return Err(Denied::TooManyStreams);
        }
        let counted: Vec<Subject> = all.into_iter().map(|(who, _)| who).collect();
        for who in &counted {
            *open.entry(who.clone()).or_default() += 1;
        }
        drop(open);
        wire.gauge().increment(1);
        Ok(OpenStream { streams: Arc::clone(self), counted, wire })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// Opens a stream for a credential, within the quotas of its agent and project, or its person.
    pub fn open_for(
        self: &Arc<Self>,
        gateway: &Gateway,
        who: Option<Subject>,
        wire: ConnectionKind,
    ) -> Result<OpenStream, Denied> {
        let directory = gateway.directory();
        let holder = match &who {
            Some(Subject::Key(id)) => directory.key(*id).map(|key| &key.kind),
            _ => None,
        };
        let mut accounts = Vec::new();
        match (holder, &who) {
            (Some(CredentialKind::Agent { agent, .. }), _) => {
                let project = directory.agent(agent).map(|agent| agent.project.clone());
                accounts.push((Account::Agent(agent.clone()), Subject::Agent(agent.clone())));
                accounts
                    .extend(project.map(|id| (Account::Project(id.clone()), Subject::Project(id))));
            }
            (Some(CredentialKind::Token { human } | CredentialKind::Session { human, .. }), _) => {
                accounts.push((Account::Person(human.clone()), Subject::Human(human.clone())));
            }
            _ => {}
        }
        let project = accounts.iter().find_map(|(account, _)| match account {
            Account::Project(id) => Some(id.clone()),
            Account::Agent(_) | Account::Person(_) => None,
        });
        let others = accounts.into_iter().filter_map(|(account, subject)| {
            let of = QuotaAccount { account, project: project.as_ref() };
            let limit = gateway.quotas().limit(&directory, &of, Metric::Streams)?;
            Some((subject, limit))
        });
        let others = others.collect();
        self.open_with_quotas(who, others, wire).inspect_err(|_| {
            metrics::counter!("countersign_quota_refused_total", "per" => "credential", "quota" => "streams")
                .increment(1);
        })
    }
}

impl ConnectionKind {
    fn gauge(self) -> metrics::Gauge {
        match self {
            Self::Events => metrics::gauge!("countersign_event_streams"),
            Self::Socket => metrics::gauge!("countersign_websockets"),
            Self::Bytes => metrics::gauge!("countersign_transfers"),
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.wire.gauge().decrement(1);
        let mut open = self.streams.lock();
        for who in &self.counted {
            if let Some(count) = open.get_mut(who) {
                *count -= 1;
                if *count == 0 {
                    open.remove(who);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_credential_has_its_own_count_and_both_wires_share_it() {
        let who = |name: &str| Some(Subject::Human(name.parse().unwrap()));
        let streams = Streams::new(2);
        let one = streams.open(who("ann"), ConnectionKind::Events).ok();
        let two = streams.open(who("ann"), ConnectionKind::Socket).ok();
        assert!(one.is_some() && two.is_some());
        let refused = |name| streams.open(who(name), ConnectionKind::Events).err();
        assert_eq!(refused("ann"), Some(Denied::TooManyStreams));
        assert_eq!(refused("bob"), None);
        drop(one);
        assert_eq!(refused("ann"), None);
        drop(two);
        assert!(streams.lock().is_empty(), "nobody is remembered who is gone");
        let agent = || (Subject::Agent("bot".parse().unwrap()), 2);
        let key = |n: u128| Some(Subject::Key(kernel::KeyId::new(n.into())));
        let open = |n| streams.open_with_quotas(key(n), vec![agent()], ConnectionKind::Events);
        let held: Vec<_> = (1..=2).filter_map(|n| open(n).ok()).collect();
        assert_eq!(held.len(), 2);
        assert_eq!(open(3).err(), Some(Denied::TooManyStreams), "two keys of one agent");
        assert!(!streams.lock().contains_key(&key(3).unwrap()), "who is refused is not counted");
        drop(held);
        assert!(streams.lock().is_empty());
        let free = Streams::new(0);
        let many: Vec<_> =
            (0..500).map(|_| free.open(who("ann"), ConnectionKind::Events)).collect();
        assert!(many.iter().all(Result::is_ok));
        assert!((0..9).all(|_| streams.open(None, ConnectionKind::Socket).is_ok()));
    }
}
