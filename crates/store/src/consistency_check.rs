//! Compares data derived from states (lists, deadlines, the search index) with the states.
//!
//! The rows of a list and the asks they stand for are stored in different orders. So each row is
//! reduced to a hash, and the hashes of an ask are added up twice: as its state requires and as
//! found in the tables. That takes a few bytes per ask, one pass over each table, and no sort.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};

use kernel::{Ask, AskId, Task, TaskId};
use ulid::Ulid;

use crate::columns::similarity_column;
use crate::health::{Damage, MOST_DAMAGES};
use crate::listing::{Deadline, ListEntry, ListScope};
use crate::search::tokens;
use crate::tasks;

/// One row of the ordered set of lists, without the ask it stands for.
#[derive(Hash)]
pub(crate) struct ListRow<'a> {
    pub(crate) scope: &'a str,
    pub(crate) phase: &'a str,
    pub(crate) rank: i64,
    pub(crate) kind: &'a str,
    pub(crate) priority: i64,
    pub(crate) agent_label: Option<&'a str>,
    pub(crate) project_label: Option<&'a str>,
}

/// Sums of rows by the id they belong to.
#[derive(Default)]
struct Sums(HashMap<u128, Sum>);

#[derive(Default)]
struct Sum {
    expected: u64,
    found: u64,
}

fn number(row: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

/// The ids that differ, a function that names them, and the problem.
type Differing<'n> = (Vec<u128>, &'n dyn Fn(u128) -> String, &'static str);

impl Sums {
    fn expect(&mut self, id: u128, row: impl Hash) {
        let sum = self.0.entry(id).or_default();
        sum.expected = sum.expected.wrapping_add(number(row));
    }

    fn find(&mut self, id: u128, row: impl Hash) {
        let sum = self.0.entry(id).or_default();
        sum.found = sum.found.wrapping_add(number(row));
    }

    /// The ids whose sums differ, in order.
    fn differing(self, differs: impl Fn(&Sum) -> bool) -> Vec<u128> {
        let mut ids: Vec<u128> =
            self.0.into_iter().filter(|(_, sum)| differs(sum)).map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }
}

fn unequal(sum: &Sum) -> bool {
    sum.expected != sum.found
}

/// All data derived from states, as expected and as found.
#[derive(Default)]
pub(crate) struct Derived {
    lists: Sums,
    folds: Sums,
    deadlines: Sums,
    task_lists: Sums,
    reviews: Sums,
    words: Sums,
    /// Asks whose indexed words are not compared because they changed after the last update of the
    /// index.
    changed: HashSet<u128>,
    damages: Vec<Damage>,
}

impl Derived {
    /// Adds the rows that the state of an ask requires.
    pub(crate) fn ask(&mut self, ask: &Ask) {
        let id = ask.id.ulid().0;
        let lists = ListScope::of(ask);
        let key = if ask.is_open() { ask.similarity_key().map(similarity_column) } else { None };
        for ListEntry { scope, phase, rank } in ListEntry::of(ask, &lists) {
            let row = ListRow {
                scope: &scope,
                phase: phase.as_str(),
                rank: rank.into(),
                kind: ask.kind.as_str(),
                priority: ask.priority.rank().into(),
                agent_label: ask.labels.agent.as_deref(),
                project_label: ask.labels.project.as_deref(),
            };
            self.lists.expect(id, row);
            if let Some(key) = key {
                self.folds.expect(id, key);
            }
        }
        for Deadline { scope, at } in Deadline::of(ask, &lists) {
            self.deadlines.expect(id, (scope.as_str(), at.millis()));
        }
        for word in tokens(ask) {
            self.words.expect(id, word.as_str());
        }
    }

    /// Adds the rows that the state of a task requires.
    pub(crate) fn task(&mut self, task: &Task) {
        let id = task.id.ulid().0;
        for range in tasks::standing(task) {
            self.task_lists.expect(id, range.as_str());
        }
        for review in &task.reviews {
            self.reviews.expect(id, review.id.ulid().0);
        }
    }

    /// Adds a list row found in the table.
    pub(crate) fn listed(&mut self, id: Ulid, row: &ListRow<'_>, key: Option<i64>) {
        self.lists.find(id.0, row);
        if let Some(key) = key {
            self.folds.find(id.0, key);
        }
    }

    /// Adds a deadline found in the table.
    pub(crate) fn expires(&mut self, id: Ulid, scope: &str, at: i64) {
        self.deadlines.find(id.0, (scope, at));
    }

    /// Adds a row of a task list found in the table.
    pub(crate) fn task_listed(&mut self, id: Ulid, scope: &str) {
        self.task_lists.find(id.0, scope);
    }

    /// Adds a review found in the table, with the task it belongs to.
    pub(crate) fn review(&mut self, task: Ulid, review: Ulid) {
        self.reviews.find(task.0, review.0);
    }

    /// Adds a word of the search index found for an ask.
    pub(crate) fn word(&mut self, id: Ulid, word: &str) {
        self.words.find(id.0, word);
    }

    /// Excludes an ask that changed after the last update of the search index.
    pub(crate) fn changed(&mut self, id: Ulid) {
        self.changed.insert(id.0);
    }

    /// Skips the comparison of words: there is no search index.
    pub(crate) fn without_words(&mut self) {
        self.words = Sums::default();
    }

    /// Reports a wrong column of one subject.
    pub(crate) fn wrong(&mut self, subject: &impl ToString, why: &str) {
        if self.damages.len() < MOST_DAMAGES {
            let subject = Some(subject.to_string());
            self.damages.push(Damage { subject, why: why.to_owned() });
        }
    }

    /// Returns all differences found.
    pub(crate) fn finish(self) -> Vec<Damage> {
        let ask = |id: u128| AskId::new(Ulid(id)).to_string();
        let task = |id: u128| TaskId::new(Ulid(id)).to_string();
        let Self { changed, mut damages, .. } = self;
        // Asks created before similarity keys existed have none in any of their rows.
        let half = |sum: &Sum| sum.found != 0 && unequal(sum);
        let words: Vec<u128> = (self.words.differing(unequal).into_iter())
            .filter(|id| !changed.contains(id))
            .collect();
        let kinds: [Differing<'_>; 6] = [
            (self.lists.differing(unequal), &ask, "its rows in the lists do not match its state"),
            (
                self.folds.differing(half),
                &ask,
                "its similarity key in the lists does not match its state",
            ),
            (self.deadlines.differing(unequal), &ask, "its deadlines do not match its state"),
            (
                self.task_lists.differing(unequal),
                &task,
                "its rows in the lists of tasks do not match its state",
            ),
            (self.reviews.differing(unequal), &task, "its reviews do not match its state"),
            (words, &ask, "its words in the search index do not match its state"),
        ];
        for (ids, name, why) in kinds {
            damages.extend(
                ids.into_iter()
                    .take(MOST_DAMAGES)
                    .map(|id| Damage { subject: Some(name(id)), why: why.to_owned() }),
            );
        }
        // One ask may differ in several ways; report each once.
        damages.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
    }
}
