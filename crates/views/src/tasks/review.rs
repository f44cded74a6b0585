//! The reviews of a task's deliveries, and the review form.

use kernel::directory::{Directory, Human};
use kernel::task::{
    Autonomy, Comment, NewReview, ReviewKind, Severity, State, Verdict, VersionRef, Words as Said,
};
use kernel::{ReviewId, Task, Time};

use crate::answer_form::submitted::Submitted;
use crate::components::facts::Block;
use crate::components::task::{self as words_of, SEVERITIES};
use crate::components::when::When;
use crate::components::words::{self, Words};

/// How many empty comments the form offers.
const ROOM: usize = 2;
/// The maximum number of comments in a form.
const MOST: usize = 40;

/// One review, as a page shows it.
#[derive(Debug, Clone)]
pub struct Judged {
    pub id: ReviewId,
    /// The reviewed version.
    pub of: VersionRef,
    /// The name of the version.
    pub version: Words,
    pub who: String,
    /// The style class.
    pub tone: &'static str,
    pub verdict: &'static str,
    pub at: When,
    /// The requested changes.
    pub changes: Vec<Words>,
    /// The comments, including those added later.
    pub notes: Vec<Note>,
    /// Whether its text was erased.
    pub erased: bool,
}

/// One comment on a delivery.
#[derive(Debug, Clone)]
pub struct Note {
    pub who: String,
    /// When it was added, if that was after the review.
    pub at: Option<When>,
    pub severity: &'static str,
    /// The style class: `no` for a required change.
    pub tone: &'static str,
    /// The place in the delivery, in the author's words.
    pub place: Option<Words>,
    pub body: Block,
    anchor: Option<String>,
}

impl Note {
    /// The line that the comment refers to: `L12`, `12`, or, unless the version is
    /// a patch, `file:12`.
    pub fn line(&self, plain: bool) -> Option<usize> {
        let anchor = self.anchor.as_deref()?.trim();
        let bare = anchor.strip_prefix(['L', 'l']).unwrap_or(anchor);
        let last = anchor.rsplit(':').next().filter(|_| plain && anchor.contains(':'));
        let n = bare.parse::<usize>().ok().or_else(|| last?.parse().ok())?;
        Some(n).filter(|n| *n > 0)
    }

    fn new(comment: Option<&Comment>, who: String, at: Option<When>, id: String) -> Option<Self> {
        let Comment { anchor, severity, body } = comment?;
        Some(Self {
            who,
            at,
            severity: words_of::severity(*severity),
            tone: if *severity == Severity::Blocker { "no" } else { "" },
            place: anchor.as_deref().map(Words::of),
            body: Block::new(id, body),
            anchor: anchor.clone(),
        })
    }
}

/// All reviews, oldest first.
pub fn judged(task: &Task, directory: &Directory, now: Time) -> Vec<Judged> {
    let review = |(n, review): (usize, &kernel::task::Review)| {
        let who = words::person(directory, &review.reviewer);
        let (tone, verdict) = words_of::verdict(review.verdict, review.kind);
        let said = review.words.value();
        let own = said.iter().flat_map(|said| &said.comments).enumerate();
        let own = own.filter_map(|(m, comment)| {
            Note::new(Some(comment), who.clone(), None, format!("note-{n}-{m}"))
        });
        let later = review.remarks.iter().enumerate().filter_map(|(m, remark)| {
            let (who, at) = (words::person(directory, &remark.by), When::new(remark.at, now));
            Note::new(remark.comment.value(), who, Some(at), format!("later-{n}-{m}"))
        });
        Judged {
            id: review.id,
            of: review.artifact.clone(),
            version: Words::of(&review.artifact.version),
            tone,
            verdict,
            at: When::new(review.at, now),
            changes: said
                .iter()
                .flat_map(|said| &said.requested_changes)
                .map(|change| Words::of(change))
                .collect(),
            notes: own.chain(later).collect(),
            erased: said.is_none(),
            who,
        }
    };
    task.reviews.iter().enumerate().map(review).collect()
}

/// The review form.
#[derive(Debug, Clone)]
pub struct Card {
    /// The submitted id of the artifact.
    pub artifact: String,
    /// The submitted version.
    pub version: String,
    /// The version as it is shown.
    pub name: Words,
    /// The requested changes, as entered.
    pub changes: String,
    /// The problem with the requested changes.
    pub error: Option<String>,
    /// The entered comments, and empty ones.
    pub comments: Vec<Entered>,
    /// Whether the review is of a plan.
    pub plan: bool,
    /// Who else has to review it, in words.
    pub others: Option<String>,
}

/// A comment as it was entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entered {
    pub place: String,
    /// The name of the severity.
    pub severity: String,
    pub body: String,
}

impl Card {
    /// The form for a reviewer, if there is a delivery to review.
    pub fn new(
        task: &Task,
        me: &Human,
        directory: &Directory,
        sent: Option<&Submitted>,
        error: Option<&str>,
    ) -> Option<Self> {
        let open = matches!(task.state, State::ReviewReady | State::UnderReview);
        let of = task.delivered.last().filter(|_| open && task.reviewers().contains(&me.id))?;
        let mut comments = sent.map(entered).unwrap_or_default();
        let wants = comments.len() + if comments.is_empty() { ROOM } else { 1 };
        comments.resize_with(wants.min(MOST), Entered::default);
        let plan = match sent {
            Some(sent) => sent.value("plan").is_some(),
            None => is_plan(task),
        };
        Some(Self {
            artifact: of.id.to_string(),
            version: of.version.clone(),
            name: Words::of(&of.version),
            changes: sent.and_then(|sent| sent.text("changes")).unwrap_or_default(),
            error: error.map(str::to_owned),
            comments,
            plan,
            others: others(task, me, directory),
        })
    }
}

impl Entered {
    /// The possible severities: value, label, and whether it is selected.
    pub fn severities(&self) -> Vec<(&'static str, &'static str, bool)> {
        let choice = |(severity, name): &(Severity, &'static str)| {
            (*name, words_of::severity(*severity), *name == self.severity)
        };
        SEVERITIES.iter().map(choice).collect()
    }
}

/// Whether the last delivery is a plan. Its agent may not proceed before the plan is approved.
fn is_plan(task: &Task) -> bool {
    let approved = |review: &kernel::task::Review| {
        review.kind == ReviewKind::Plan && review.verdict == Verdict::Approved
    };
    task.autonomy == Autonomy::PlanThenImplement && !task.reviews.iter().any(approved)
}

fn others(task: &Task, me: &Human, directory: &Directory) -> Option<String> {
    let policy = task.review_policy.as_ref()?;
    let others = policy.required_reviewers.iter().filter(|id| **id != me.id);
    let names: Vec<String> = others.map(|id| words::person(directory, id)).collect();
    if names.is_empty() {
        return None;
    }
    let names = names.join(", ");
    Some(match policy.quorum {
        kernel::task::Quorum::All => format!("It is accepted once {names} accept it too."),
        kernel::task::Quorum::Majority => {
            format!("It is accepted once more than half of you do; {names} judge it too.")
        }
        kernel::task::Quorum::Any => format!("Your word is enough; {names} could judge it too."),
    })
}

/// The comments of a form without the empty ones. Their names are numbered, so that a browser that
/// restores a form can assign the values.
fn entered(sent: &Submitted) -> Vec<Entered> {
    let comment = |n: usize| {
        let text = |name: &str| sent.text(&format!("{name}.{n}")).unwrap_or_default();
        Entered { place: text("place"), severity: text("severity"), body: text("body") }
    };
    let said = |entered: &Entered| !entered.body.trim().is_empty();
    (1..=MOST).map(comment).filter(said).collect()
}

/// Parses a review.
pub fn verdict(sent: &Submitted) -> Result<NewReview, &'static str> {
    let verdict = match sent.value("verdict") {
        Some("approved") => Verdict::Approved,
        Some("changes_requested") => Verdict::ChangesRequested,
        Some("rejected") => Verdict::Rejected,
        Some(_) | None => return Err("Press one of the buttons"),
    };
    let lines = sent.text("changes").unwrap_or_default();
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let changes: Vec<String> = lines.map(str::to_owned).collect();
    let mut comments: Vec<Comment> = entered(sent).into_iter().map(comment).collect();
    let requested_changes = match verdict {
        Verdict::ChangesRequested if changes.is_empty() => {
            return Err("Say what has to change: it goes to the agent");
        }
        Verdict::ChangesRequested => changes,
        // With another verdict, the requested changes become comments, so that no text is lost.
        Verdict::Approved | Verdict::Rejected => {
            let said = |body| Comment { anchor: None, severity: Severity::Minor, body };
            comments.extend(changes.into_iter().map(said));
            Vec::new()
        }
    };
    let artifact = sent.value("artifact").and_then(|id| id.parse().ok());
    Ok(NewReview {
        artifact: Some(artifact.ok_or("Load the page again")?),
        version: sent.value("version").map(str::to_owned),
        kind: if sent.value("plan").is_some() { ReviewKind::Plan } else { ReviewKind::Deliverable },
        verdict,
        words: Said { comments, requested_changes },
    })
}

/// Converts an entered comment; a bare number becomes a line anchor.
pub fn comment(entered: Entered) -> Comment {
    let place = entered.place.trim();
    let anchor = match place.parse::<usize>() {
        Ok(n) => Some(format!("L{n}")),
        Err(_) if place.is_empty() => None,
        Err(_) => Some(place.to_owned()),
    };
    let severity = SEVERITIES.iter().find(|(_, name)| *name == entered.severity);
    let severity = severity.map_or(Severity::Minor, |(severity, _)| *severity);
    Comment { anchor, severity, body: entered.body }
}

/// The only comment of a form.
pub fn remark(sent: &Submitted) -> Comment {
    let text = |name: &str| sent.text(name).unwrap_or_default();
    comment(Entered { place: text("place"), severity: text("severity"), body: text("body") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> Submitted {
        Submitted::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    const ART: (&str, &str) = ("artifact", "art_01ARZ3NDEKTSV4RRFFQ69G5FAV");

    #[test]
    fn a_form_is_a_verdict_with_its_comments() {
        let form = sent(&[
            ART,
            ("version", "v2"),
            ("place.1", "12"),
            ("severity.1", "blocker"),
            ("body.1", "Wrong\r\nsum"),
            ("place.2", ""),
            ("severity.2", "minor"),
            ("body.2", "  "),
            ("place.3", "README.md:3"),
            ("severity.3", "nonsense"),
            ("body.3", "Typo"),
            ("changes", "Fix the sum\r\n\r\n  And the date "),
            ("verdict", "changes_requested"),
        ]);
        let review = verdict(&form).unwrap();
        assert_eq!(review.words.requested_changes, ["Fix the sum", "And the date"]);
        let said: Vec<_> = review
            .words
            .comments
            .iter()
            .map(|comment| (comment.anchor.as_deref(), comment.severity, comment.body.as_str()))
            .collect();
        assert_eq!(
            said,
            [
                (Some("L12"), Severity::Blocker, "Wrong\nsum"),
                (Some("README.md:3"), Severity::Minor, "Typo"),
            ]
        );
    }

    #[test]
    fn changes_are_asked_for_in_words_and_no_word_is_lost() {
        let empty = sent(&[ART, ("verdict", "changes_requested"), ("changes", " \n ")]);
        assert_eq!(verdict(&empty).unwrap_err(), "Say what has to change: it goes to the agent");
        assert!(verdict(&sent(&[ART])).is_err() && verdict(&sent(&[])).is_err());
        let kept = sent(&[ART, ("verdict", "approved"), ("changes", "A nit")]);
        let review = verdict(&kept).unwrap();
        assert!(review.words.requested_changes.is_empty());
        assert_eq!(review.words.comments[0].body, "A nit");
    }

    #[test]
    fn a_comment_finds_its_line() {
        let note = |anchor: &str| Note {
            who: String::new(),
            at: None,
            severity: "",
            tone: "",
            place: None,
            body: Block::new(String::new(), ""),
            anchor: Some(anchor.to_owned()),
        };
        for (anchor, plain, line) in [
            ("L12", true, Some(12)),
            (" 7 ", true, Some(7)),
            ("a.md:3", true, Some(3)),
            ("a.md:3", false, None),
            ("L4", false, Some(4)),
            ("0", true, None),
            ("the end", true, None),
            ("99999999999999999999", true, None),
        ] {
            assert_eq!(note(anchor).line(plain), line, "{anchor}");
        }
    }
}
