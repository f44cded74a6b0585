//! The page that creates a task: the common fields, and the rarer ones under "More".

use askama::Template;
use dialects::duration;
use kernel::directory::{Agent, Directory, Human};
use kernel::task::{
    Capability, ExternalRef, GrantDecision, GrantDuration, NewGrant, NewTask, OnSilence, Quorum,
    ReviewPolicy, Spec, TaskInput, is_scope,
};
use kernel::time::LONGEST_TIMEOUT;
use kernel::{HumanId, ProjectId, Refusal, TaskId};

use crate::answer_form::fields::{Control, FieldView, RequirementMark};
use crate::answer_form::problem::{FormProblems, InputProblem, ProblemLocation};
use crate::components::task_labels::{self as words_of, AUTONOMIES};
use crate::components::wording::{self, VisibleText};
use crate::settings::controls::{FormDraft, SelectOption, expected_text};
use crate::site::assets;
use crate::tasks::actions::{agent_label, parse_local_time};
use crate::tasks::{CHOICES, projects_of};
use crate::{PageContext, SubmittedForm, render};

/// With more reviewers than this, the form has a text field instead of checkboxes.
const MAX_REVIEWER_CHECKBOXES: usize = 30;
/// The maximum number of lines in one field.
const MAX_FIELD_LINES: usize = 100;
/// The default kind of a task.
const DEFAULT_KIND: &str = "task";

/// The fields under "More".
const MORE_FIELDS: [&str; 13] = [
    "reviewers",
    "quorum",
    "parent",
    "inputs",
    "max_duration",
    "allow",
    "deny",
    "until",
    "delegable",
    "on_expiry",
    "capabilities",
    "refs",
    "sort",
];

const QUORUMS: [(&str, Quorum); 3] =
    [("all", Quorum::All), ("majority", Quorum::Majority), ("any", Quorum::Any)];

const UNTILS: [(&str, GrantDuration); 2] =
    [("task", GrantDuration::Task), ("session", GrantDuration::Session)];

const SILENCES: [(&str, OnSilence); 2] =
    [("stay_blocked", OnSilence::StayBlocked), ("cancel", OnSilence::Cancel)];

/// The label of a field.
fn label(name: &str) -> String {
    match name {
        "goal" => t!("task-goal"),
        "criteria" => t!("task-criteria"),
        "project" => t!("common-project"),
        "agent" => t!("task-new-agent"),
        "deadline" => t!("task-new-deadline"),
        "autonomy" => t!("task-new-autonomy"),
        "reviewers" => t!("task-new-reviewers"),
        "quorum" => t!("task-new-quorum"),
        "parent" => t!("task-new-parent"),
        "inputs" => t!("task-facts-inputs"),
        "max_duration" => t!("task-new-max-duration"),
        "allow" => t!("task-new-allow"),
        "deny" => t!("task-new-deny"),
        "until" => t!("task-new-until"),
        "delegable" => t!("task-new-delegable"),
        "on_expiry" => t!("task-new-silence"),
        "capabilities" => t!("task-new-capabilities"),
        "refs" => t!("task-new-refs"),
        "sort" => t!("task-new-kind"),
        other => other.to_owned(),
    }
}

fn quorums() -> [SelectOption; 3] {
    QUORUMS.map(|(sent, quorum)| {
        let shown = match quorum {
            Quorum::All => t!("task-new-quorum-all"),
            Quorum::Majority => t!("task-new-quorum-majority"),
            Quorum::Any => t!("task-new-quorum-any"),
        };
        (sent.to_owned(), shown)
    })
}

fn untils() -> [SelectOption; 2] {
    [
        ("task".to_owned(), t!("task-grant-until-task")),
        ("session".to_owned(), t!("task-new-until-run")),
    ]
}

fn silences() -> [SelectOption; 2] {
    SILENCES.map(|(sent, silence)| {
        let shown = match silence {
            OnSilence::StayBlocked => t!("task-new-silence-wait"),
            OnSilence::Cancel => t!("task-new-silence-cancel"),
        };
        (sent.to_owned(), shown)
    })
}

/// The initial state of the page.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewTaskInput<'a> {
    /// An idempotency token for one task.
    pub once: &'a str,
    /// The id of the parent task, from the URL.
    pub parent: &'a str,
    /// The values of a refused form, to show them again.
    pub sent: Option<&'a SubmittedForm>,
}

pub fn page(
    frame: &PageContext,
    me: &Human,
    directory: &Directory,
    begun: NewTaskInput<'_>,
    problems: &FormProblems,
) -> String {
    let NewTaskInput { once, parent, sent } = begun;
    let filled = FormDraft { form: sent, problems };
    let more = more_fields(filled, me, directory, parent);
    let wrong = more.iter().any(|field| field.error.is_some());
    let said = |name: &str| sent.is_some_and(|sent| sent.values(name).any(|text| !text.is_empty()));
    // A list always submits a value, so it does not show that the person changed it.
    let lists = ["quorum", "until", "on_expiry"];
    let open = wrong
        || !parent.is_empty()
        || MORE_FIELDS.iter().any(|name| !lists.contains(name) && said(name));
    let first = common_fields(filled, me, directory);
    render(&NewTaskPage { frame, first, more, open, once, problems: &problems.problems })
}

fn common_fields(filled: FormDraft<'_>, me: &Human, directory: &Directory) -> Vec<FieldView> {
    let twice = |id: ProjectId| (id.to_string(), id.to_string());
    let projects: Vec<SelectOption> = projects_of(me, directory).into_iter().map(twice).collect();
    let known = directory.agents().filter(|agent| agent.accepts_messages_from(me)).take(CHOICES);
    let name = |agent: &Agent| (agent.id.to_string(), agent_label(agent));
    let mut agents = vec![(String::new(), t!("task-new-nobody"))];
    agents.extend(known.map(name));
    let autonomy: Vec<SelectOption> = AUTONOMIES
        .iter()
        .map(|(autonomy, name)| ((*name).to_owned(), words_of::autonomy(*autonomy)))
        .collect();
    let home = me.projects.first().map(ToString::to_string).unwrap_or_default();
    let zone = crate::tasks::room::zone(me);
    vec![
        filled.area("goal", &label("goal"), "").hint(t!("task-new-goal-hint")).mark_required(),
        filled.area("criteria", &label("criteria"), "").hint(t!("task-new-criteria-hint")),
        filled.one_of("project", &label("project"), &projects, &home),
        filled.one_of("agent", &label("agent"), &agents, "").hint(t!("task-new-agent-hint")),
        filled
            .input("datetime-local", "deadline", &label("deadline"), "")
            .hint(t!("task-new-deadline-hint", zone = zone)),
        filled.one_of("autonomy", &label("autonomy"), &autonomy, "autonomous"),
    ]
}

fn more_fields(
    filled: FormDraft<'_>,
    me: &Human,
    directory: &Directory,
    parent: &str,
) -> Vec<FieldView> {
    let area = |name: &str, hint: String| filled.area(name, &label(name), "").hint(hint);
    let one_of = |name: &str, choices: &[SelectOption], current: &str| {
        filled.one_of(name, &label(name), choices, current)
    };
    vec![
        reviewers(filled, me, directory),
        one_of("quorum", &quorums(), "all"),
        filled.text("parent", &label("parent"), parent).hint(t!("task-new-parent-hint")),
        area("inputs", t!("task-new-inputs-hint")),
        filled
            .text("max_duration", &label("max_duration"), "")
            .hint(t!("task-new-max-duration-hint")),
        area("allow", t!("task-new-allow-hint")),
        area("deny", t!("task-new-deny-hint")),
        one_of("until", &untils(), "task"),
        filled.flag("delegable", &label("delegable"), &t!("task-new-delegable-yes"), false),
        one_of("on_expiry", &silences(), "stay_blocked").hint(t!("task-new-silence-hint")),
        area("capabilities", t!("task-new-capabilities-hint")),
        area("refs", t!("task-new-refs-hint")),
        filled.text("sort", &label("sort"), DEFAULT_KIND).hint(t!("task-new-kind-hint")),
    ]
}

/// The people who may review in one of the projects: checkboxes if they are few, else a text field.
fn reviewers(filled: FormDraft<'_>, me: &Human, directory: &Directory) -> FieldView {
    let mut people: Vec<&Human> = projects_of(me, directory)
        .iter()
        .flat_map(|project| {
            directory.members_after(project, None).take(MAX_REVIEWER_CHECKBOXES + 1)
        })
        .filter(|human| human.active)
        .collect();
    people.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    people.dedup_by(|a, b| a.id == b.id);
    let name = label("reviewers");
    if people.is_empty() || people.len() > MAX_REVIEWER_CHECKBOXES {
        return filled.area("reviewers", &name, "").hint(t!("task-new-reviewers-lines"));
    }
    let choice =
        |human: &&Human| (human.id.to_string(), wording::person_name(directory, &human.id));
    let choices: Vec<SelectOption> = people.iter().map(choice).collect();
    filled.some_of("reviewers", &name, &choices, |_| false).hint(t!("task-new-reviewers-hint"))
}

#[derive(Template)]
#[template(path = "tasks/new.html")]
struct NewTaskPage<'a> {
    frame: &'a PageContext,
    first: Vec<FieldView>,
    more: Vec<FieldView>,
    open: bool,
    once: &'a str,
    problems: &'a [InputProblem],
}

/// Parses a new task, or returns all problems of the form.
pub fn parse_new_task(sent: &SubmittedForm, me: &Human) -> Result<NewTask, FormProblems> {
    let mut form = NewTaskForm { sent, problem: FormProblems::default() };
    let goal = sent.text("goal").unwrap_or_default().trim().to_owned();
    if goal.is_empty() {
        form.add_problem("goal", t!("task-new-goal-missing"));
    }
    let zone = me.profile_settings().map_or(
        jiff::tz::TimeZone::UTC,
        kernel::directory::profile_settings::ProfileSettings::zone,
    );
    let deadline = form.parse_field("deadline", t!("task-new-deadline-expected"), |text| {
        parse_local_time(text, &zone)
    });
    let project = sent.value("project").map(str::parse::<ProjectId>).transpose();
    if project.is_err() {
        form.add_problem("project", t!("task-new-project-expected"));
    }
    let autonomy = sent.value("autonomy");
    let autonomy = AUTONOMIES.iter().find(|(_, name)| Some(*name) == autonomy);
    let spec = Spec {
        goal,
        acceptance_criteria: form
            .lines("criteria", LineKind::Criterion, |line| Some(line.to_owned())),
        inputs: form.lines("inputs", LineKind::Input, input),
        must_use_capabilities: form.lines("capabilities", LineKind::Capability, capability),
        external_refs: form.lines("refs", LineKind::Reference, parse_external_ref),
        max_duration: text(sent, "max_duration"),
        hxp: None,
    };
    let sort = text(sent, "sort").unwrap_or_else(|| DEFAULT_KIND.to_owned());
    let new = NewTask {
        project: project.ok().flatten(),
        sort,
        spec,
        parent: form.parse_field("parent", t!("task-new-parent-expected"), parent),
        deadline,
        max_duration: form.parse_field(
            "max_duration",
            t!("task-new-max-duration-expected"),
            |text| duration::seconds(text).filter(|seconds| *seconds <= LONGEST_TIMEOUT),
        ),
        delegable: sent.value("delegable").is_some(),
        autonomy: autonomy.map(|(autonomy, _)| *autonomy).unwrap_or_default(),
        grants: form.grants(),
        review_policy: form.review_policy(),
        on_silence: selected_option(sent, "on_expiry", &SILENCES).unwrap_or_default(),
    };
    if form.problem.problems.is_empty() { Ok(new) } else { Err(form.problem) }
}

/// The submitted form, and its problems so far.
struct NewTaskForm<'a> {
    sent: &'a SubmittedForm,
    problem: FormProblems,
}

impl NewTaskForm<'_> {
    fn add_problem(&mut self, name: &str, message: String) {
        self.problem.add(
            ProblemLocation::Field(name.to_owned()),
            Some(VisibleText::of(&label(name))),
            message,
        );
    }

    /// The parsed value of a field, if it is not empty.
    fn parse_field<T>(
        &mut self,
        name: &str,
        expected: String,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = text(self.sent, name)?;
        let read = read(&text);
        if read.is_none() {
            self.add_problem(name, expected);
        }
        read
    }

    /// The parsed lines of a field; the problem names the first invalid line.
    fn lines<T>(&mut self, name: &str, kind: LineKind, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let text = self.sent.text(name).unwrap_or_default();
        let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
        let (mut all, mut bad) = (Vec::new(), None);
        for (n, line) in lines {
            match read(line) {
                Some(one) => all.push(one),
                None => bad = bad.or(Some(n + 1)),
            }
        }
        if let Some(n) = bad {
            self.add_problem(name, kind.expected(n));
        } else if all.len() > MAX_FIELD_LINES {
            self.add_problem(name, t!("task-new-too-many-lines", count = MAX_FIELD_LINES));
        }
        all
    }

    fn grants(&mut self) -> Vec<NewGrant> {
        let until = selected_option(self.sent, "until", &UNTILS).unwrap_or(GrantDuration::Task);
        let mut grants = Vec::new();
        for (name, decision) in [("allow", GrantDecision::Allow), ("deny", GrantDecision::Deny)] {
            grants.extend(self.lines(name, LineKind::Scope, |scope| {
                is_scope(scope).then(|| NewGrant { scope: scope.to_owned(), decision, until })
            }));
        }
        if grants.len() > MAX_FIELD_LINES && self.problem.problems.is_empty() {
            self.add_problem("deny", t!("task-new-too-many-permissions", count = MAX_FIELD_LINES));
        }
        grants
    }

    fn review_policy(&mut self) -> Option<ReviewPolicy> {
        let mut required_reviewers: Vec<HumanId> = Vec::new();
        let sent = self.sent;
        for name in sent.values("reviewers").flat_map(str::split_whitespace) {
            match name.parse() {
                Ok(id) if !required_reviewers.contains(&id) => required_reviewers.push(id),
                Ok(_) => {}
                Err(_) => {
                    self.add_problem("reviewers", t!("task-new-reviewers-expected"));
                    return None;
                }
            }
        }
        let quorum = selected_option(sent, "quorum", &QUORUMS).unwrap_or_default();
        let there = !required_reviewers.is_empty();
        there.then_some(ReviewPolicy { required_reviewers, quorum })
    }
}

/// What a line of a field contains.
#[derive(Debug, Clone, Copy)]
enum LineKind {
    Criterion,
    Input,
    Capability,
    Reference,
    Scope,
}

impl LineKind {
    /// The problem with line `n`. Every text is a criterion.
    fn expected(self, n: usize) -> String {
        match self {
            Self::Criterion | Self::Input => t!("task-new-inputs-expected", line = n),
            Self::Capability => t!("task-new-capabilities-expected", line = n),
            Self::Reference => t!("task-new-refs-expected", line = n),
            Self::Scope => t!("task-new-scope-expected", line = n),
        }
    }
}

/// The value of a field, if it is not empty.
fn text(sent: &SubmittedForm, name: &str) -> Option<String> {
    let text = sent.text(name)?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The selected option of a list.
fn selected_option<T: Copy>(sent: &SubmittedForm, name: &str, of: &[(&str, T)]) -> Option<T> {
    let value = sent.value(name)?;
    of.iter().find(|(known, _)| *known == value).map(|(_, meant)| *meant)
}

/// Parses a task id, or the URL of a task.
fn parent(text: &str) -> Option<TaskId> {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').rsplit('/').next()?.parse().ok()
}

/// Parses an artifact with a version, or a URL.
fn input(line: &str) -> Option<TaskInput> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [id, version] if id.starts_with("art_") => {
            Some(TaskInput::Artifact { id: id.to_owned(), version: version.to_owned() })
        }
        [uri] if !uri.starts_with("art_") => {
            Some(TaskInput::Resource { id: None, uri: uri.to_owned() })
        }
        _ => None,
    }
}

fn capability(line: &str) -> Option<Capability> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (id, version) = match words[..] {
        [id] => (id, None),
        [id, version] => (id, Some(version.to_owned())),
        _ => return None,
    };
    Some(Capability { capability_id: id.to_owned(), version })
}

fn parse_external_ref(line: &str) -> Option<ExternalRef> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (kind, namespace, id, version) = match words[..] {
        [kind, namespace, id] => (kind, namespace, id, None),
        [kind, namespace, id, version] => (kind, namespace, id, Some(version.to_owned())),
        _ => return None,
    };
    let [kind, namespace, id] = [kind, namespace, id].map(ToOwned::to_owned);
    Some(ExternalRef { kind, namespace, id, version, label: None })
}

/// The refusal as a problem of its field.
pub fn refused(refusal: &Refusal) -> FormProblems {
    let field = |name: &str, message: String| {
        let mut problem = FormProblems::default();
        problem.add(
            ProblemLocation::Field(name.to_owned()),
            Some(VisibleText::of(&label(name))),
            message,
        );
        problem
    };
    let expected = |name: &str, expected: &str| field(name, expected_text(expected));
    match *refusal {
        Refusal::Invalid { field: "deadline", .. } => {
            field("deadline", t!("task-new-deadline-past"))
        }
        Refusal::Invalid { field: "project", .. } => {
            field("project", t!("task-new-project-refused"))
        }
        Refusal::Invalid { field: "spec.review_policy.required_reviewers", .. } => {
            field("reviewers", t!("task-new-reviewers-expected"))
        }
        Refusal::Invalid { field: "type", expected: text } => expected("sort", text),
        Refusal::Invalid { field: "scope", expected: text } => expected("allow", text),
        Refusal::InvalidAt { expected: ref text, .. } => expected("allow", text),
        Refusal::Invalid { field: name, expected: text } => {
            let path = name.strip_prefix("spec.").unwrap_or(name);
            let path = path.strip_prefix("constraints.").unwrap_or(path);
            let place = match path.split('.').next().unwrap_or_default() {
                "goal" => "goal",
                "acceptance_criteria" | "spec" => "criteria",
                "inputs" => "inputs",
                "must_use_capabilities" => "capabilities",
                "external_refs" => "refs",
                "max_duration" => "max_duration",
                _ => return crate::settings::controls::refused(refusal, |_| None),
            };
            expected(place, text)
        }
        Refusal::NotFound { what: "task" } => field("parent", t!("task-new-parent-unknown")),
        Refusal::IdempotencyMismatch => {
            FormProblems::one(ProblemLocation::Page, t!("task-new-sent-before"))
        }
        _ => crate::settings::controls::refused(refusal, |_| None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_named_or_pasted() {
        let id = "task_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let url = format!("https://gate.example/tasks/{id}");
        for good in
            [id.to_owned(), format!("/tasks/{id}"), format!("{url}/"), format!("{url}?at=3#trail")]
        {
            assert_eq!(parent(&good).map(|id| id.to_string()).as_deref(), Some(id), "{good}");
        }
        for bad in
            ["", "/", "tasks", "ask_01ARZ3NDEKTSV4RRFFQ69G5FAV", "https://gate.example/tasks/"]
        {
            assert_eq!(parent(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_line_is_read_whole_or_not_at_all() {
        let artifact = TaskInput::Artifact { id: "art_1".to_owned(), version: "v2".to_owned() };
        assert_eq!(input("art_1  v2"), Some(artifact));
        let uri = "https://x.example/a".to_owned();
        assert_eq!(input(&uri.clone()), Some(TaskInput::Resource { id: None, uri }));
        for bad in ["art_1", "art_1 v2 v3", "two words"] {
            assert_eq!(input(bad), None, "{bad}");
        }
        assert_eq!(capability("sql 2").unwrap().version.as_deref(), Some("2"));
        assert!(capability("sql 2 3").is_none() && parse_external_ref("issue github").is_none());
        assert_eq!(parse_external_ref("issue github 42 v1").unwrap().id, "42");
    }
}
