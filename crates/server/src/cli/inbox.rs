//! `countersign inbox`: a list in which one can answer.

use std::io::{BufRead, IsTerminal, Write};

use clap::Args;
use client::Client;
use kernel::text::reveal;
use serde_json::Value;

use super::Exit;
use super::answer::reply;
use super::remote::{Remote, explain};
use super::show::{plain, print_ask};

#[derive(Args)]
pub(super) struct Inbox {
    /// Only list; do not ask what to answer
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Inbox {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let client = self.remote.human()?;
        if self.remote.json {
            let inbox = client.inbox().await.map_err(explain)?;
            println!("{}", serde_json::to_string(&inbox)?);
            return Ok(Exit::Done);
        }
        let interactive = !self.list && std::io::stdin().is_terminal();
        loop {
            let ids = list(&client).await?;
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
                        Some(id) => answer(&client, id).await?,
                        None => println!("There is no number {number} in the list."),
                    }
                }
            }
        }
    }
}

async fn list(client: &Client) -> anyhow::Result<Vec<String>> {
    let inbox = client.inbox().await.map_err(explain)?;
    if inbox.requests.is_empty() {
        println!("Nothing waits for you.");
        return Ok(Vec::new());
    }
    println!("{} waiting. AI agents ask you:\n", inbox.unresolved);
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
            "critical" => "URGENT ",
            "high" => "high ",
            _ => "",
        };
        println!("{:>3}  {urgent}{}", n + 1, reveal(prompt).replace('\n', " ⏎ "));
        println!("     {} · {} · {}", text("/agent_id"), text("/action"), text("/created_at"));
        ids.push(plain(text("/request_id")));
    }
    Ok(ids)
}

async fn answer(client: &Client, id: &str) -> anyhow::Result<()> {
    let ask = client.show(id).await.map_err(explain)?;
    println!();
    print_ask(&ask, false)?;
    let question = ask.question.as_ref();
    if let Some(details) = question.and_then(|question| question.get("details")) {
        println!("{}", reveal(&serde_json::to_string_pretty(details)?));
    }
    let Some(words) = prompt(&format!("{} (Enter to go back): ", hint(&ask)))? else {
        return Ok(());
    };
    if words.is_empty() {
        return Ok(());
    }
    let words = chosen(&ask, words);
    let comment = prompt("Comment (optional): ")?.filter(|comment| !comment.is_empty());
    match reply(&ask, &words, comment.as_deref()) {
        Err(error) => println!("{error}"),
        Ok(reply) => match client.answer(id, &reply).await {
            Ok(answered) => print_ask(&answered, false)?,
            // A refused answer is no reason to leave: the person can try again.
            Err(client::ClientError::Refused { message, .. }) => println!("Not taken: {message}"),
            Err(error) => return Err(explain(error)),
        },
    }
    Ok(())
}

fn options(ask: &client::Ask) -> Vec<(&str, &str)> {
    let options = ask.question.as_ref().and_then(|question| question.get("options")?.as_array());
    options.into_iter().flatten().filter_map(option).collect()
}

fn option(option: &Value) -> Option<(&str, &str)> {
    Some((option.get("id")?.as_str()?, option.get("label")?.as_str()?))
}

/// Options may be chosen by number.
fn chosen(ask: &client::Ask, words: String) -> Vec<String> {
    let options = options(ask);
    if ask.kind != "choose" {
        let form = ask.kind == "provide" && words.contains('=');
        return if form { words.split(' ').map(str::to_owned).collect() } else { vec![words] };
    }
    words
        .split(',')
        .map(str::trim)
        .map(|word| {
            let by_number = word.parse::<usize>().ok().and_then(|n| options.get(n.checked_sub(1)?));
            let by_label = options.iter().find(|(_, label)| *label == word);
            by_number.or(by_label).map_or(word, |(id, _)| id).to_owned()
        })
        .collect()
}

fn hint(ask: &client::Ask) -> String {
    match ask.kind.as_str() {
        "approve" => "approve, reject or changes".to_owned(),
        "confirm" => "confirm or decline".to_owned(),
        "escalate" => "retry, skip or abort".to_owned(),
        "choose" => {
            for (n, (_, label)) in options(ask).iter().enumerate() {
                println!("  {}) {}", n + 1, reveal(label));
            }
            "number of your choice".to_owned()
        }
        "provide" => "value, or KEY=VALUE for each field".to_owned(),
        _ => "your answer".to_owned(),
    }
}

fn prompt(text: &str) -> anyhow::Result<Option<String>> {
    print!("{text}");
    std::io::stdout().flush()?;
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}
