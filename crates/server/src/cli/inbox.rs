//! `countersign inbox`: lists the requests that wait for you, and lets you answer them.

use std::io::{BufRead, IsTerminal, Write};

use clap::Args;
use client::ClientError;
use kernel::ask::irreversible::marks_irreversible;
use kernel::text::reveal;
use serde_json::Value;

use super::Exit;
use super::answer::{confirmed, needs_confirmation, reply};
use super::output::{escape_controls, say};
use super::remote::{RemoteArgs, RemoteServer};
use super::render::{DetailLevel, fields, hint, options, suggests};
use super::requests::{native_id, print};

#[derive(Args)]
pub(super) struct InboxArgs {
    /// Only list the requests, without answering
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl InboxArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human().await?;
        if self.remote.json {
            let inbox = server.client.inbox().await.map_err(server.with_advice())?;
            say!("{}", serde_json::to_string(&inbox)?);
            return Ok(Exit::Done);
        }
        let interactive = !self.list && std::io::stdin().is_terminal();
        loop {
            let ids = list(&server).await?;
            if ids.is_empty() || !interactive {
                return Ok(Exit::Done);
            }
            let Some(line) = prompt("\nNumber to answer, Enter to refresh, q to quit: ")? else {
                return Ok(Exit::Done);
            };
            match line.as_str() {
                "q" | "quit" => return Ok(Exit::Done),
                "" => {}
                number => {
                    match number.parse::<usize>().ok().and_then(|n| ids.get(n.checked_sub(1)?)) {
                        Some(id) => answer(&server, id).await?,
                        None => say!("There is no number {number} in the list."),
                    }
                }
            }
            say!("");
        }
    }
}

async fn list(server: &RemoteServer) -> anyhow::Result<Vec<String>> {
    let inbox = server.client.inbox().await.map_err(server.with_advice())?;
    if inbox.requests.is_empty() {
        say!("All caught up: no request waits for you.");
        return Ok(Vec::new());
    }
    say!("{} waiting\n", inbox.unresolved);
    let mut ids = Vec::new();
    for (n, item) in inbox.requests.iter().enumerate() {
        let shown = serde_json::to_value(item)?;
        let text = |pointer: &str| shown.pointer(pointer).and_then(Value::as_str).unwrap_or("");
        let prompt = ["/payload/question", "/payload/item", "/payload/prompt"]
            .into_iter()
            .map(text)
            .find(|prompt| !prompt.is_empty())
            .unwrap_or("(erased)");
        let urgent = match text("/priority") {
            "critical" => "URGENT  ",
            "high" => "high  ",
            _ => "",
        };
        let marked = shown.as_object().is_some_and(marks_irreversible);
        let marked = if marked { "CAN'T BE UNDONE  " } else { "" };
        say!("{:>3}  {urgent}{marked}{}", n + 1, reveal(prompt).replace('\n', " ⏎ "));
        let id = native_id(text("/request_id"));
        say!("     {id} · {} · {}", reveal(text("/agent_id")), text("/created_at"));
        ids.push(id);
    }
    if u64::try_from(ids.len()).is_ok_and(|shown| shown < inbox.unresolved) {
        say!("\nOnly the first {} are listed.", ids.len());
    }
    Ok(ids)
}

async fn answer(server: &RemoteServer, id: &str) -> anyhow::Result<()> {
    let ask = server.client.show(id).await.map_err(server.with_advice())?;
    say!("");
    print(&ask, false, DetailLevel::Whole)?;
    say!("");
    let Some(words) = ask_for(&ask)? else { return Ok(()) };
    let comment = prompt("Comment (optional): ")?.filter(|comment| !comment.is_empty());
    match reply(&ask, &words, comment.as_deref()) {
        Err(error) => say!("{error}"),
        Ok(reply) if needs_confirmation(&ask, &reply) && !confirmed(&ask, &reply)? => {
            say!("Nothing was sent.");
        }
        Ok(reply) => match server.client.answer(id, &reply).await {
            Ok(answered) => print(&answered, false, DetailLevel::Brief)?,
            // Continue after a refused answer: the person can try again.
            Err(ClientError::Refused { message, .. }) => say!("Not accepted: {message}"),
            Err(error) => return Err(server.with_advice()(error)),
        },
    }
    Ok(())
}

/// The words of an answer; `None` to go back.
fn ask_for(ask: &client::Ask) -> anyhow::Result<Option<Vec<String>>> {
    let question = ask.question.as_ref().unwrap_or(&Value::Null);
    let fields = fields(question);
    if fields.len() > 1 {
        let mut words = Vec::new();
        for field in &fields {
            let optional = if field.required { "" } else { ", optional" };
            let text = format!("{} ({}{optional}): ", reveal(field.label), field.kind);
            let Some(said) = prompt(&text)? else { return Ok(None) };
            if !said.is_empty() {
                words.push(format!("{}={said}", field.key));
            }
        }
        return Ok(Some(words).filter(|words| !words.is_empty()));
    }
    let options = options(question);
    let text = if options.is_empty() {
        format!("{} (Enter to go back): ", hint(ask))
    } else {
        for (n, (id, label)) in options.iter().enumerate() {
            say!("  {}) {}{}", n + 1, reveal(label), suggests(question, id));
        }
        "Number of your choice (Enter to go back): ".to_owned()
    };
    let Some(said) = prompt(&text)?.filter(|said| !said.is_empty()) else { return Ok(None) };
    if options.is_empty() {
        return Ok(Some(vec![said]));
    }
    let by_number = |word: &str| {
        let option = word.parse::<usize>().ok().and_then(|n| options.get(n.checked_sub(1)?));
        option.map_or(word, |(id, _)| id).to_owned()
    };
    Ok(Some(said.split(',').map(str::trim).map(by_number).collect()))
}

pub(super) fn prompt(text: &str) -> anyhow::Result<Option<String>> {
    print!("{}", escape_controls(text));
    std::io::stdout().flush()?;
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}
