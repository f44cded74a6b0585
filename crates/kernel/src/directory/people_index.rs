//! Search for people: an index over names and descriptions, by project.
//!
//! It contains only people who can be asked. A search examines a bounded number of words and
//! people, no matter how many exist: it begins with the rarest words, and common words only rank
//! the people found that way.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use imbl::{HashMap, OrdMap, OrdSet, Vector};

use super::{Directory, Human};
use crate::ids::{HumanId, ProjectId};

/// Further words of a query are ignored.
const MAX_QUERY_WORDS: usize = 16;
/// Longer words are truncated.
const MAX_WORD_LENGTH: usize = 64;
/// The maximum number of indexed words that match one query word by prefix.
const MAX_PREFIX_MATCHES: usize = 64;
/// The maximum number of people who are ranked.
const MAX_RANKED: usize = 200;
/// The maximum number of index entries that are examined.
const MAX_EXAMINED: usize = 4_000;

/// Stop words, which occur in questions and identify no person.
const STOP_WORDS: [&str; 34] = [
    "a", "about", "all", "an", "and", "any", "anybody", "anyone", "are", "can", "do", "does",
    "for", "has", "have", "help", "helps", "how", "i", "in", "is", "know", "knows", "me", "of",
    "on", "or", "our", "somebody", "the", "to", "we", "who", "with",
];

/// The index. People are stored as numbers, so that a common word needs little space per person.
/// Unchanged parts are shared with the previous snapshot.
#[derive(Debug, Clone, Default)]
pub(super) struct PeopleIndex {
    numbers: HashMap<HumanId, u32>,
    ids: Vector<HumanId>,
    projects: OrdMap<ProjectId, ProjectIndex>,
}

/// The index of one project.
#[derive(Debug, Clone, Default)]
struct ProjectIndex {
    members: OrdSet<HumanId>,
    words: OrdMap<Arc<str>, OrdSet<u32>>,
}

impl PeopleIndex {
    /// Updates the index for a changed person.
    pub(super) fn put(&mut self, before: Option<&Human>, after: &Human) {
        let number = self.number(&after.id);
        let (none, words) = (BTreeSet::new(), searchable_words(after));
        let was: BTreeSet<String> = before.map(searchable_words).unwrap_or_default();
        let there = |human: &Human, project| human.active && human.projects.contains(project);
        let projects = before.into_iter().flat_map(|human| &human.projects).chain(&after.projects);
        for project in projects.collect::<BTreeSet<_>>() {
            let old = before.filter(|human| there(human, project)).map_or(&none, |_| &was);
            let new = if there(after, project) { &words } else { &none };
            let shelf = self.projects.entry(project.clone()).or_default();
            for word in old.difference(new) {
                shelf.remove_word(word, number);
            }
            for word in new.difference(old) {
                shelf.words.entry(word.as_str().into()).or_default().insert(number);
            }
            if there(after, project) == shelf.members.contains(&after.id) {
                continue;
            }
            if shelf.members.remove(&after.id).is_none() {
                shelf.members.insert(after.id.clone());
            }
        }
    }

    fn number(&mut self, id: &HumanId) -> u32 {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let number = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.push_back(id.clone());
        self.numbers.insert(id.clone(), number);
        number
    }

    /// The people who match the most and the rarest of these words, best first. People who match no
    /// word are left out.
    fn find(&self, project: &ProjectId, wanted: &str, limit: usize) -> Vec<&HumanId> {
        let Some(shelf) = self.projects.get(project) else { return Vec::new() };
        let mut sets: Vec<Vec<&OrdSet<u32>>> =
            terms(wanted).iter().map(|term| shelf.with_prefix(term)).collect();
        let spread = |sets: &Vec<&OrdSet<u32>>| sets.iter().map(|set| set.len()).sum::<usize>();
        sets.retain(|sets| !sets.is_empty());
        sets.sort_by_key(spread);
        let mut found = BTreeSet::new();
        let rarest_first = sets.iter().flatten().flat_map(|set| set.iter().take(MAX_RANKED));
        for number in rarest_first.take(MAX_EXAMINED) {
            if found.len() >= MAX_RANKED {
                break;
            }
            found.insert(*number);
        }
        // A word counts more than all more common ones together.
        let weight = |number: u32| {
            let has = |sets: &Vec<&OrdSet<u32>>| sets.iter().any(|set| set.contains(&number));
            sets.iter().fold(0_u32, |sum, sets| (sum << 1) | u32::from(has(sets)))
        };
        let mut weighed: Vec<(u32, &HumanId)> = found
            .into_iter()
            .filter_map(|number| {
                let id = self.ids.get(usize::try_from(number).ok()?)?;
                Some((weight(number), id))
            })
            .collect();
        weighed.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        weighed.into_iter().take(limit).map(|(_, id)| id).collect()
    }
}

impl ProjectIndex {
    fn remove_word(&mut self, word: &str, number: u32) {
        let Some(people) = self.words.get_mut(word) else { return };
        people.remove(&number);
        if people.is_empty() {
            self.words.remove(word);
        }
    }

    /// The people who have a word with this prefix.
    fn with_prefix(&self, term: &str) -> Vec<&OrdSet<u32>> {
        let from = (Bound::Included(term), Bound::Unbounded);
        let words = self.words.range::<_, str>(from).take(MAX_PREFIX_MATCHES);
        words.take_while(|(word, _)| word.starts_with(term)).map(|(_, people)| people).collect()
    }
}

impl Directory {
    /// The people of a project who can be asked, after this id, in order.
    pub fn members_after<'a>(
        &'a self,
        project: &ProjectId,
        id: Option<&HumanId>,
    ) -> impl Iterator<Item = &'a Human> + use<'a> {
        let from = id.cloned().map_or(Bound::Unbounded, Bound::Excluded);
        let shelf = self.words.projects.get(project);
        let members = shelf.map(|shelf| shelf.members.range((from, Bound::Unbounded)));
        members.into_iter().flatten().filter_map(|id| self.human(id))
    }

    /// The people of a project who can be asked and whose names or descriptions have words with
    /// these prefixes, the best match first.
    pub fn people_by_words(&self, project: &ProjectId, words: &str, limit: usize) -> Vec<&Human> {
        let found = self.words.find(project, words, limit);
        found.into_iter().filter_map(|id| self.human(id)).collect()
    }
}

/// The search terms: the words of a query without stop words, or all of them if there are only stop
/// words.
fn terms(wanted: &str) -> Vec<String> {
    let all: Vec<String> = words(wanted).take(MAX_QUERY_WORDS).collect();
    let telling: Vec<String> =
        all.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).cloned().collect();
    let mut terms = if telling.is_empty() { all } else { telling };
    // A plural also finds the singular.
    for term in &mut terms {
        if term.chars().count() > 3 && term.ends_with('s') && !term.ends_with("ss") {
            term.pop();
        }
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The words by which a person is found.
fn searchable_words(human: &Human) -> BTreeSet<String> {
    let Some(profile) = human.profile.value() else { return BTreeSet::new() };
    let description = profile.about.as_ref().and_then(|about| about.description.as_deref());
    words(&profile.name).chain(words(description.unwrap_or_default())).collect()
}

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().chars().take(MAX_WORD_LENGTH).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Actor;
    use crate::command::DirectoryCommand;
    use crate::directory::{NewHuman, Profile, ProfileSettings};
    use crate::testing::{Cast, human};

    fn person(id: &str, name: &str, description: &str, projects: &[&str]) -> NewHuman {
        let about = ProfileSettings {
            description: Some(description.to_owned()),
            ..ProfileSettings::default()
        };
        let (groups, skills) = Default::default();
        NewHuman {
            id: human(id),
            profile: Profile { name: name.to_owned(), about: Some(about), ..Profile::default() },
            admin: false,
            active: true,
            projects: projects.iter().map(|id| id.parse().unwrap()).collect(),
            groups,
            skills,
        }
    }

    fn staffed() -> Cast {
        let mut cast = Cast::new();
        for new in [
            person("jane", "Jane Doe", "Knows about technology and entrepreneurship", &["acme"]),
            person("john", "John Doe", "Refunds, returns; knows sales", &["acme"]),
            person("rita", "Rita Äpfel", "Refund specialist for sales", &["acme"]),
            person("other", "Olaf Refund", "Refunds elsewhere", &["rival"]),
        ] {
            cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
        }
        cast
    }

    fn found(cast: &Cast, words: &str) -> Vec<String> {
        let people = cast.directory().people_by_words(&"acme".parse().unwrap(), words, 10);
        people.into_iter().map(|human| human.id.to_string()).collect()
    }

    /// A2H-122.
    #[test]
    fn people_are_found_by_words_and_their_beginnings() {
        let cast = staffed();
        for (words, who) in [
            ("who knows about refunds", &["john", "rita"][..]),
            ("refund", &["john", "rita"]),
            ("Refunds sales knows", &["john", "rita"]),
            ("technology", &["jane"]),
            ("techno", &["jane"]),
            ("DOE", &["jane", "john"]),
            ("äpf", &["rita"]),
            ("john doe", &["john", "jane"]),
            ("returns refunds", &["john", "rita"]),
            ("nobody", &[]),
            ("?!", &[]),
            ("", &[]),
        ] {
            assert_eq!(found(&cast, words), who, "{words}");
        }
    }

    #[test]
    fn the_index_follows_its_people() {
        let mut cast = staffed();
        let moved = person("rita", "Rita", "Law", &["acme"]);
        cast.run(Actor::System, DirectoryCommand::SaveHuman(moved.clone()));
        assert_eq!(found(&cast, "refund"), ["john"]);
        assert_eq!(found(&cast, "law"), ["rita"]);
        cast.run(
            Actor::System,
            DirectoryCommand::SaveHuman(NewHuman { active: false, ..moved.clone() }),
        );
        assert_eq!(found(&cast, "law"), [""; 0]);
        let back = NewHuman { active: true, projects: ["rival".parse().unwrap()].into(), ..moved };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(back));
        assert_eq!(found(&cast, "law"), [""; 0]);
        let acme = "acme".parse().unwrap();
        let members: Vec<_> = cast.directory().members_after(&acme, None).collect();
        assert!(members.iter().any(|m| m.id == human("john")));
        assert!(members.iter().all(|m| m.id != human("rita")));
        let later = cast.directory().members_after(&acme, Some(&human("jane")));
        assert!(later.map(|human| human.id.to_string()).all(|id| *"jane" < *id));
    }

    /// A common word is examined for a bounded number of people.
    #[test]
    fn a_search_weighs_a_bounded_number_of_people() {
        let mut words = PeopleIndex::default();
        let human = |n: u32, description: &str| {
            let new = person(&format!("p{n:06}"), "Pat", description, &["acme"]);
            let NewHuman { id, profile, admin, active, projects, groups, skills } = new;
            let mut salts = crate::audit::Salts::new([7; 32]);
            let profile = crate::audit::Erasable::new(profile, &mut salts);
            let access_ended_at = None;
            Human { id, profile, admin, active, projects, groups, skills, access_ended_at }
        };
        for n in 0..2_000 {
            words.put(None, &human(n, "Sells things"));
        }
        words.put(None, &human(9_999, "Sells rare things"));
        let acme = "acme".parse().unwrap();
        assert_eq!(words.find(&acme, "sells", 1_000).len(), MAX_RANKED);
        let rare: Vec<_> = words.find(&acme, "sells rare things", 1).into_iter().collect();
        assert_eq!(rare[0].as_str(), "p009999");
    }
}
