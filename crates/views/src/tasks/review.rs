//! The reviews of a task's deliveries, and the review form.

use kernel::directory::{Directory, Human};
use kernel::task::{
    AnchoredComment, Autonomy, NewReview, ReviewKind, ReviewText as Said, Severity, TaskState,
    Verdict, VersionRef,
};
use kernel::{ReviewId, Task, Time};

use crate::answer_form::submitted::SubmittedForm;
use crate::components::facts::TextBlock;
use crate::components::relative_time::RelativeTime;
use crate::components::task_labels::{self as words_of, SEVERITIES};
use crate::components::wording::{self, VisibleText};

/// How many empty comments the form offers.
const EMPTY_COMMENTS: usize = 2;
/// The maximum number of comments in a form.
const MOST: usize = 40;

/// One review, as a page shows it.
#[derive(Debug, Clone)]
pub struct ReviewView {
    pub id: ReviewId,
    /// The reviewed version.
    pub of: VersionRef,
    /// The name of the version.
    pub version: VisibleText,
    pub who: String,
    /// The style class.
    pub tone: &'static str,
    pub verdict: String,
    pub at: RelativeTime,
    /// The requested changes.
    pub changes: Vec<VisibleText>,
    /// The comments, including those added later.
    pub notes: Vec<ReviewNote>,
    /// Whether its text was erased.
    pub erased: bool,
}

/// One comment on a delivery.
#[derive(Debug, Clone)]
pub struct ReviewNote {
    pub who: String,
    /// When it was added, if that was after the review.
    pub at: Option<RelativeTime>,
    pub severity: String,
    /// The style class: `no` for a required change.
    pub tone: &'static str,
    /// The place in the delivery, in the author's words.
    pub place: Option<VisibleText>,
    pub body: TextBlock,
    anchor: Option<String>,
}

impl ReviewNote {
    /// The line that the comment refers to: `L12`, `12`, or, unless the version is
    /// a patch, `file:12`.
    pub fn line(&self, plain: bool) -> Option<usize> {
        let anchor = self.anchor.as_deref()?.trim();
        let bare = anchor.strip_prefix(['L', 'l']).unwrap_or(anchor);
        let last = anchor.rsplit(':').next().filter(|_| plain && anchor.contains(':'));
        let n = bare.parse::<usize>().ok().or_else(|| last?.parse().ok())?;
        Some(n).filter(|n| *n > 0)
    }

    fn new(
        comment: Option<&AnchoredComment>,
        who: String,
        at: Option<RelativeTime>,
        id: String,
    ) -> Option<Self> {
        let AnchoredComment { anchor, severity, body } = comment?;
        Some(Self {
            who,
            at,
            severity: words_of::severity(*severity),
            tone: if *severity == Severity::Blocker { "no" } else { "" },
            place: anchor.as_deref().map(VisibleText::of),
            body: TextBlock::new(id, body),
            anchor: anchor.clone(),
        })
    }
}

/// All reviews, oldest first.
pub fn review_views(task: &Task, directory: &Directory, now: Time) -> Vec<ReviewView> {
    let review = |(n, review): (usize, &kernel::task::Review)| {
        let who = wording::person_name(directory, &review.reviewer);
        let (tone, verdict) = words_of::verdict(review.verdict, review.kind);
        let said = review.text.value();
        let own = said.iter().flat_map(|said| &said.comments).enumerate();
        let own = own.filter_map(|(m, comment)| {
            ReviewNote::new(Some(comment), who.clone(), None, format!("note-{n}-{m}"))
        });
        let later = review.remarks.iter().enumerate().filter_map(|(m, remark)| {
            let (who, at) =
                (wording::person_name(directory, &remark.by), RelativeTime::new(remark.at, now));
            ReviewNote::new(remark.comment.value(), who, Some(at), format!("later-{n}-{m}"))
        });
        ReviewView {
            id: review.id,
            of: review.artifact.clone(),
            version: VisibleText::of(&review.artifact.version),
            tone,
            verdict,
            at: RelativeTime::new(review.at, now),
            changes: said
                .iter()
                .flat_map(|said| &said.requested_changes)
                .map(|change| VisibleText::of(change))
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
pub struct ReviewForm {
    /// The submitted id of the artifact.
    pub artifact: String,
    /// The submitted version.
    pub version: String,
    /// The version as it is shown.
    pub name: VisibleText,
    /// The requested changes, as entered.
    pub changes: String,
    /// The problem with the requested changes.
    pub error: Option<String>,
    /// The entered comments, and empty ones.
    pub comments: Vec<CommentInput>,
    /// Whether the review is of a plan.
    pub plan: bool,
    /// Who else has to review it, in words.
    pub others: Option<String>,
}

/// A comment as it was entered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommentInput {
    pub place: String,
    /// The name of the severity.
    pub severity: String,
    pub body: String,
}

impl ReviewForm {
    /// The form for a reviewer, if there is a delivery to review.
    pub fn new(
        task: &Task,
        me: &Human,
        directory: &Directory,
        sent: Option<&SubmittedForm>,
        error: Option<&str>,
    ) -> Option<Self> {
        let open = matches!(task.state, TaskState::ReviewReady | TaskState::UnderReview);
        let of = task.delivered.last().filter(|_| open && task.reviewers().contains(&me.id))?;
        let mut comments = sent.map(entered_comments).unwrap_or_default();
        let wants = comments.len() + if comments.is_empty() { EMPTY_COMMENTS } else { 1 };
        comments.resize_with(wants.min(MOST), CommentInput::default);
        let plan = match sent {
            Some(sent) => sent.value("plan").is_some(),
            None => is_plan(task),
        };
        Some(Self {
            artifact: of.id.to_string(),
            version: of.version.clone(),
            name: VisibleText::of(&of.version),
            changes: sent.and_then(|sent| sent.text("changes")).unwrap_or_default(),
            error: error.map(str::to_owned),
            comments,
            plan,
            others: other_reviewers(task, me, directory),
        })
    }
}

impl CommentInput {
    /// The possible severities: value, label, and whether it is selected.
    pub fn severities(&self) -> Vec<(&'static str, String, bool)> {
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

fn other_reviewers(task: &Task, me: &Human, directory: &Directory) -> Option<String> {
    let policy = task.review_policy.as_ref()?;
    let others = policy.required_reviewers.iter().filter(|id| **id != me.id);
    let names: Vec<String> = others.map(|id| wording::person_name(directory, id)).collect();
    if names.is_empty() {
        return None;
    }
    let names = names.join(", ");
    Some(match policy.quorum {
        kernel::task::Quorum::All => t!("task-review-quorum-all", names = names),
        kernel::task::Quorum::Majority => {
            t!("task-review-quorum-majority", names = names)
        }
        kernel::task::Quorum::Any => t!("task-review-quorum-any", names = names),
    })
}

/// The comments of a form without the empty ones. Their names are numbered, so that a browser that
/// restores a form can assign the values.
fn entered_comments(sent: &SubmittedForm) -> Vec<CommentInput> {
    let comment = |n: usize| {
        let text = |name: &str| sent.text(&format!("{name}.{n}")).unwrap_or_default();
        CommentInput { place: text("place"), severity: text("severity"), body: text("body") }
    };
    let said = |entered: &CommentInput| !entered.body.trim().is_empty();
    (1..=MOST).map(comment).filter(said).collect()
}

/// Parses a review.
pub fn parse_review(sent: &SubmittedForm) -> Result<NewReview, String> {
    let verdict = match sent.value("verdict") {
        Some("approved") => Verdict::Approved,
        Some("changes_requested") => Verdict::ChangesRequested,
        Some("rejected") => Verdict::Rejected,
        Some(_) | None => return Err(t!("task-review-no-verdict")),
    };
    let lines = sent.text("changes").unwrap_or_default();
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let changes: Vec<String> = lines.map(str::to_owned).collect();
    let mut comments: Vec<AnchoredComment> =
        entered_comments(sent).into_iter().map(to_comment).collect();
    let requested_changes = match verdict {
        Verdict::ChangesRequested if changes.is_empty() => {
            return Err(t!("task-review-no-changes"));
        }
        Verdict::ChangesRequested => changes,
        // With another verdict, the requested changes become comments, so that no text is lost.
        Verdict::Approved | Verdict::Rejected => {
            let said = |body| AnchoredComment { anchor: None, severity: Severity::Minor, body };
            comments.extend(changes.into_iter().map(said));
            Vec::new()
        }
    };
    let artifact = sent.value("artifact").and_then(|id| id.parse().ok());
    Ok(NewReview {
        artifact: Some(artifact.ok_or_else(|| t!("task-load-again"))?),
        version: sent.value("version").map(str::to_owned),
        kind: if sent.value("plan").is_some() { ReviewKind::Plan } else { ReviewKind::Deliverable },
        verdict,
        text: Said { comments, requested_changes },
    })
}

/// Converts an entered comment; a bare number becomes a line anchor.
pub fn to_comment(entered: CommentInput) -> AnchoredComment {
    let place = entered.place.trim();
    let anchor = match place.parse::<usize>() {
        Ok(n) => Some(format!("L{n}")),
        Err(_) if place.is_empty() => None,
        Err(_) => Some(place.to_owned()),
    };
    let severity = SEVERITIES.iter().find(|(_, name)| *name == entered.severity);
    let severity = severity.map_or(Severity::Minor, |(severity, _)| *severity);
    AnchoredComment { anchor, severity, body: entered.body }
}

/// The only comment of a form.
pub fn parse_remark(sent: &SubmittedForm) -> AnchoredComment {
    let text = |name: &str| sent.text(name).unwrap_or_default();
    to_comment(CommentInput {
        place: text("place"),
        severity: text("severity"),
        body: text("body"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> SubmittedForm {
        SubmittedForm::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
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
        let review = parse_review(&form).unwrap();
        assert_eq!(review.text.requested_changes, ["Fix the sum", "And the date"]);
        let said: Vec<_> = review
            .text
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
        assert_eq!(parse_review(&empty).unwrap_err(), t!("task-review-no-changes"));
        assert!(parse_review(&sent(&[ART])).is_err() && parse_review(&sent(&[])).is_err());
        let kept = sent(&[ART, ("verdict", "approved"), ("changes", "A nit")]);
        let review = parse_review(&kept).unwrap();
        assert!(review.text.requested_changes.is_empty());
        assert_eq!(review.text.comments[0].body, "A nit");
    }

    #[test]
    fn a_comment_finds_its_line() {
        let note = |anchor: &str| ReviewNote {
            who: String::new(),
            at: None,
            severity: String::new(),
            tone: "",
            place: None,
            body: TextBlock::new(String::new(), ""),
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
