//! The history of a task as text: who did what, when, and with which words.
//!
//! It is generated from the events alone, so an old history reads like a recent one.

use std::collections::BTreeMap;

use clap::Args;
use client::tasks::Operation;
use jiff::Timestamp;
use kernel::text::reveal;
use serde_json::{Value, json};

use super::{TaskCallerArgs, given_params, read_operation, text};
use crate::cli::Exit;
use crate::cli::output::say;
use crate::cli::remote::RemoteServer;

/// The questions of checkpoints, by their ids.
pub(super) type Prompts = BTreeMap<String, String>;

/// The whole history, line by line.
pub(super) fn history_lines(events: &[Value], prompts: &Prompts) -> Vec<String> {
    let Some((first, last)) = events.first().zip(events.last()) else {
        return vec!["Nothing had happened yet.".to_owned()];
    };
    let goal = first.pointer("/after/spec/goal").and_then(Value::as_str).unwrap_or("(erased)");
    let mut lines = vec![reveal(goal), format!("{}\n", text(first, "/task_id"))];
    let mut day = "";
    for event in events {
        let (today, _) = moment(event);
        if today != day {
            lines.push(format!("{today} UTC"));
            day = today;
        }
        lines.extend(event_lines(event, prompts));
    }
    lines.push(String::new());
    lines.push(state_line(events, last));
    lines
}

/// One event: a line for the event, and one for each text that belongs to it.
pub(super) fn event_lines(event: &Value, prompts: &Prompts) -> Vec<String> {
    let (_, time) = moment(event);
    let (actor, after) = (text(event, "/actor"), &event["after"]);
    let mut said = Vec::new();
    let what = event_text(event, after, prompts, &mut said);
    let mut lines = vec![format!("  {time}  {actor} {what}")];
    let words = said.iter().flat_map(|words| {
        let revealed = reveal(words);
        revealed.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    lines.extend(words.map(|line| format!("            {line}")));
    lines
}

/// The event as text. The texts that belong to it are added to `said`.
fn event_text(event: &Value, after: &Value, prompts: &Prompts, said: &mut Vec<String>) -> String {
    let subject = text(event, "/subject/id");
    match text(event, "/action") {
        "task.created" => {
            let each = after.pointer("/spec/acceptance_criteria").and_then(Value::as_array);
            let criteria = each.into_iter().flatten().filter_map(Value::as_str);
            said.extend(criteria.map(|criterion| format!("- {criterion}")));
            "created it, and answers for it".to_owned()
        }
        "task.assigned" => {
            push_input(after, said);
            format!("gave it to {}", text(after, "/agent_id"))
        }
        "task.started" => "began".to_owned(),
        "task.cancelled" => {
            quote(text(after, "/reason"), said);
            "called it off".to_owned()
        }
        "task.interrupted" => "stopped the agent".to_owned(),
        "task.amended" => {
            quote(text(after, "/amendment/text"), said);
            let intent = match text(after, "/amendment/intent") {
                "redirect" => "to go another way",
                "constrain" => "to keep it within bounds",
                "abort_hint" => "to hint that it may better stop",
                _ => "to make it clear",
            };
            format!("said something on the way, {intent}")
        }
        "task.granted" => {
            let verb = if text(after, "/grant/decision") == "deny" { "forbade" } else { "allowed" };
            format!("{verb} {} until {}", text(after, "/grant/scope"), until(after))
        }
        "task.checkpoint.raised" => {
            quote(prompts.get(subject).map_or("", String::as_str), said);
            let kind = match text(after, "/checkpoint/kind") {
                "choice" => "asked which way to go",
                "input" => "asked for something it needs",
                "escalation" => "asked for help",
                "interrupt" => "let the agent wait",
                _ => "asked for leave",
            };
            format!("{kind} ({subject})")
        }
        "task.checkpoint.resolved" => resolved(&after["checkpoint"]["resolution"], said),
        "task.checkpoint.expired" => format!("no one decided: {subject} expired"),
        "ownership.transferred" => format!("gave it to {}", text(after, "/assignee")),
        "ownership.delegated" => {
            push_input(after, said);
            format!("handed it down to {}", text(after, "/agent_id"))
        }
        "artifact.committed" => format!("delivered {subject} {}", text(after, "/artifact/version")),
        "artifact.referenced" => {
            let role = if text(after, "/reference/as") == "output" { "made" } else { "uses" };
            format!("{role} {subject} {}", text(after, "/reference/version"))
        }
        "artifact.shared" => format!("shared {subject} with {}", text(after, "/shared_with")),
        "review.submitted" => reviewed(&after["review"], said),
        "review.commented" => {
            remark(&after["comment"]["comment"], said);
            format!("added to {subject}")
        }
        "task.completed" => "completed it".to_owned(),
        "ledger.written" => {
            let (scope, key) = (text(after, "/entry/scope"), text(after, "/entry/key"));
            format!("wrote {key} into {scope}")
        }
        "task.erased" => "erased its text".to_owned(),
        "task.checkpoint.erased" => "erased the text of one request".to_owned(),
        "task.comments.erased" => "erased what an erased person wrote".to_owned(),
        other => other.to_owned(),
    }
}

fn resolved(resolution: &Value, said: &mut Vec<String>) -> String {
    let mut what = match text(resolution, "/action") {
        "reject" => "said no, and that was the end of it".to_owned(),
        "choose" => format!("chose {}", text(resolution, "/choice")),
        "provide" => {
            quote(text(resolution, "/input"), said);
            "gave what was needed".to_owned()
        }
        "reassign" => format!("gave it to {} instead", text(resolution, "/reassign_to")),
        _ => "said yes".to_owned(),
    };
    for (name, how) in [("/approved_actions", "allowing"), ("/denied_actions", "refusing")] {
        let actions = resolution.pointer(name).and_then(Value::as_array).into_iter().flatten();
        let actions: Vec<_> = actions.filter_map(Value::as_str).map(reveal).collect();
        if !actions.is_empty() {
            what = format!("{what}, {how} {}", actions.join(", "));
        }
    }
    if !resolution["state_patch"].is_null() {
        what += ", from a changed state";
    }
    quote(text(resolution, "/comment"), said);
    what
}

fn reviewed(review: &Value, said: &mut Vec<String>) -> String {
    let changes = review.pointer("/requested_changes").and_then(Value::as_array);
    let changes = changes.into_iter().flatten().filter_map(Value::as_str);
    said.extend(changes.map(|change| format!("- {change}")));
    for comment in review.pointer("/comments").and_then(Value::as_array).into_iter().flatten() {
        remark(comment, said);
    }
    let what = if text(review, "/kind") == "plan" { "the plan" } else { "it" };
    let version = text(review, "/artifact_version");
    match text(review, "/verdict") {
        "approved" => format!("approved {what} ({version})"),
        "rejected" => format!("rejected {what} ({version})"),
        _ => format!("wants changes ({version})"),
    }
}

fn remark(comment: &Value, said: &mut Vec<String>) {
    let (severity, body) = (text(comment, "/severity"), text(comment, "/body"));
    if !body.is_empty() {
        let at = text(comment, "/anchor");
        let at = if at.is_empty() { String::new() } else { format!("{at}, ") };
        said.push(format!("{at}{severity}: {body}"));
    }
}

/// A text in quotes; an absent or erased one is left out.
fn quote(words: &str, said: &mut Vec<String>) {
    if !words.is_empty() {
        said.push(format!("“{words}”"));
    }
}

/// The input that an agent was assigned with.
fn push_input(after: &Value, said: &mut Vec<String>) {
    match &after["input"] {
        Value::Null => {}
        Value::String(words) => quote(words, said),
        other => said.push(other.to_string()),
    }
}

fn until(after: &Value) -> &str {
    match text(after, "/grant/until") {
        "task" => "the task is closed",
        "session" => "the run is closed",
        moment => moment,
    }
}

/// The day and the time of an event.
fn moment(event: &Value) -> (&str, &str) {
    let at = text(event, "/at");
    (at.get(..10).unwrap_or(at), at.get(11..19).unwrap_or(""))
}

/// The current state, and the duration.
fn state_line(events: &[Value], last: &Value) -> String {
    let state = text(last, "/after/state").replace('_', " ");
    let (who, many) = (text(last, "/after/assignee"), events.len());
    let times = events.first().map(|first| (text(first, "/at"), text(last, "/at")));
    let took = times.and_then(|(from, to)| {
        let (from, to): (Timestamp, Timestamp) = (from.parse().ok()?, to.parse().ok()?);
        Some(length(to.duration_since(from).as_secs()))
    });
    let took = took.unwrap_or_default();
    let steps = if many == 1 { "1 step".to_owned() } else { format!("{many} steps") };
    match state.as_str() {
        "completed" | "rejected" => format!("It is {state}: {steps} in {took}."),
        _ => format!("It is {state}, with {who}: {steps} in {took} so far."),
    }
}

fn length(seconds: i64) -> String {
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (1, hours, ..) => format!("1 day {hours} h"),
        (days, hours, ..) => format!("{days} days {hours} h"),
    }
}

// `countersign tasks watch`: the events of a task, live.

#[derive(Args)]
#[command(
    after_help = "Exits with 0 if it was completed, 1 if it was rejected, 3 if it was cancelled, \
    4 if the command failed."
)]
pub(super) struct TaskWatchArgs {
    /// The task
    task: String,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl TaskWatchArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(None).await?;
        let mut events = server.client.tasks().events(None);
        // Connect before reading the past, so that no event is missed in between.
        events.ready().await.map_err(server.with_advice())?;
        let params = json!({ "task_id": self.task });
        let past = read_operation(&server, Operation::AuditReplay, params).await?;
        let past = past.as_array().map_or(&[][..], Vec::as_slice);
        let mut seen = 0;
        let mut over = None;
        for event in past {
            seen = event["seq"].as_u64().unwrap_or(seen);
            let ended = self.print_event(&server, event).await;
            // Events after the end do not change the outcome.
            over = over.or(ended);
        }
        loop {
            if let Some(exit) = over {
                return Ok(exit);
            }
            let event = events.next().await.map_err(server.with_advice())?.event;
            if event.task_id.is_some_and(|id| id.to_string() == self.task) && event.seq > seen {
                seen = event.seq;
                over = self.print_event(&server, &serde_json::to_value(&event)?).await;
            }
        }
    }

    /// Prints one event. Returns the outcome if the task ended.
    async fn print_event(&self, server: &RemoteServer, event: &Value) -> Option<Exit> {
        if self.caller.remote.json {
            say!("{event}");
        } else {
            let prompts = prompts(server, std::slice::from_ref(event)).await;
            for line in event_lines(event, &prompts) {
                say!("{line}");
            }
        }
        match (text(event, "/action"), text(event, "/after/state")) {
            ("task.cancelled", _) => Some(Exit::Cancelled),
            (_, "completed") if text(event, "/action") == "task.checkpoint.resolved" => {
                Some(Exit::Denied)
            }
            (_, "completed") => Some(Exit::Done),
            (_, "rejected") => Some(Exit::Denied),
            _ => None,
        }
    }
}

// `countersign tasks replay`: the history of a task, or its state at a given time.

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    countersign tasks replay task_…\n  \
    countersign tasks replay task_… --at 2026-11-16T12:00:00Z   (as it was at noon)")]
pub(super) struct TaskReplayArgs {
    /// The task
    task: String,
    /// Only the history up to this time, and the state of the task then
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    #[command(flatten)]
    caller: TaskCallerArgs,
}

impl TaskReplayArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.caller.connect(None).await?;
        let params = given_params([("task_id", json!(self.task)), ("at", json!(self.at))]);
        let told = read_operation(&server, Operation::AuditReplay, params).await?;
        if self.caller.remote.json {
            say!("{told}");
            return Ok(Exit::Done);
        }
        let events = told.get("events").unwrap_or(&told).as_array().map_or(&[][..], Vec::as_slice);
        let prompts = prompts(&server, events).await;
        for line in history_lines(events, &prompts) {
            say!("{line}");
        }
        Ok(Exit::Done)
    }
}

/// The questions of the checkpoints, as far as the caller may see them: the history contains
/// only their ids.
pub(super) async fn prompts(server: &RemoteServer, events: &[Value]) -> BTreeMap<String, String> {
    let mut prompts = BTreeMap::new();
    for event in events.iter().filter(|event| text(event, "/action") == "task.checkpoint.raised") {
        let checkpoint = text(event, "/subject/id");
        let ask = checkpoint.replacen("ckpt_", "ask_", 1);
        if let Ok(ask) = server.client.show(&ask).await
            && let Some(prompt) = ask.question.as_ref().map(|question| text(question, "/prompt"))
        {
            prompts.insert(checkpoint.to_owned(), prompt.to_owned());
        }
    }
    prompts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(at: &str, actor: &str, action: &str, subject: &str, mut after: Value) -> Value {
        for (name, value) in [("state", "in_progress"), ("assignee", "agent_dev")] {
            if after[name].is_null() {
                after[name] = json!(value);
            }
        }
        json!({
            "task_id": "task_1", "at": at, "actor": actor, "action": action,
            "subject": { "kind": "task", "id": subject }, "after": after,
        })
    }

    /// HACP-045: a person reads the complete history in order.
    #[test]
    fn a_task_is_told_as_a_story() {
        let (ada, dev) = ("user_ada", "agent_dev");
        let spec = json!({ "goal": "Write the notes", "acceptance_criteria": ["one page"] });
        let asked = json!({ "checkpoint": { "kind": "choice" } });
        let chosen = json!({ "action": "choose", "choice": "warm", "comment": "as always" });
        let comment = json!({ "anchor": "L3", "severity": "major", "body": "who?" });
        let changes = json!({
            "verdict": "changes_requested", "artifact_version": "v1", "kind": "deliverable",
            "requested_changes": ["Name the contributors"], "comments": [comment],
        });
        let yes = json!({ "verdict": "approved", "artifact_version": "v2", "kind": "deliverable" });
        let events = [
            event(
                "2026-11-16T09:00:00.000Z",
                ada,
                "task.created",
                "task_1",
                json!({ "spec": spec }),
            ),
            event(
                "2026-11-16T09:00:05.000Z",
                ada,
                "task.assigned",
                "task_1",
                json!({ "agent_id": dev, "input": { "tag": "v2.1" } }),
            ),
            event("2026-11-16T09:00:06.000Z", dev, "task.started", "task_1", json!({})),
            event("2026-11-16T09:10:00.000Z", dev, "task.checkpoint.raised", "ckpt_1", asked),
            event(
                "2026-11-16T10:00:00.000Z",
                ada,
                "task.checkpoint.resolved",
                "ckpt_1",
                json!({ "checkpoint": { "resolution": chosen } }),
            ),
            event(
                "2026-11-16T10:30:00.000Z",
                dev,
                "artifact.committed",
                "art_1",
                json!({ "artifact": { "version": "v1" } }),
            ),
            event(
                "2026-11-17T08:00:00.000Z",
                ada,
                "review.submitted",
                "rev_1",
                json!({ "review": changes }),
            ),
            event(
                "2026-11-17T08:05:00.000Z",
                ada,
                "task.amended",
                "task_1",
                json!({ "amendment": { "text": "Only ours\nplease", "intent": "constrain" } }),
            ),
            event(
                "2026-11-17T09:00:00.000Z",
                dev,
                "artifact.committed",
                "art_1",
                json!({ "artifact": { "version": "v2" } }),
            ),
            event(
                "2026-11-17T09:30:00.000Z",
                ada,
                "review.submitted",
                "rev_2",
                json!({ "review": yes }),
            ),
            event(
                "2026-11-17T09:30:00.000Z",
                "system",
                "task.completed",
                "task_1",
                json!({ "state": "completed" }),
            ),
        ];
        let prompts = Prompts::from([("ckpt_1".to_owned(), "Which tone?".to_owned())]);
        insta::assert_snapshot!("story", history_lines(&events, &prompts).join("\n"));
    }

    /// Text from agents is made safe to show, and erased text leaves no gap.
    #[test]
    fn hostile_words_are_revealed_and_erased_ones_are_left_out() {
        let raised = event(
            "2026-11-16T09:00:00Z",
            "agent_dev",
            "task.checkpoint.raised",
            "ckpt_1",
            json!({ "checkpoint": { "kind": "approval" } }),
        );
        let prompts = Prompts::from([("ckpt_1".to_owned(), "yes\u{202e}on\u{1b}[2J".to_owned())]);
        let told = event_lines(&raised, &prompts).join("\n");
        assert!(!told.contains(['\u{202e}', '\u{1b}']), "{told}");
        assert_eq!(event_lines(&raised, &Prompts::new()).len(), 1);
    }

    #[test]
    fn nothing_is_a_story_too() {
        assert_eq!(history_lines(&[], &Prompts::new()), ["Nothing had happened yet."]);
    }
}
