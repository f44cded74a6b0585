//! `countersign callbacks ID`

use clap::Args;
use reqwest::Method;
use serde_json::Value;

use super::Exit;
use super::output::say;
use super::remote::Remote;
use super::show::plain;

#[derive(Args)]
pub(super) struct Callbacks {
    /// The request, under any prefix: `ask_…`, `review_…`
    id: String,
    /// Tell the agent once more that it is over
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Callbacks {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.either()?;
        let path = format!("/api/v1/asks/{}/callbacks", plain(&self.id));
        let method = if self.again { Method::POST } else { Method::GET };
        let call = server.client.call(method, &path, None::<&Value>);
        let found: Value = call.await.map_err(server.because())?;
        if self.remote.json {
            say!("{found}");
            return Ok(Exit::Done);
        }
        let attempts = found["attempts"].as_array().map(Vec::as_slice).unwrap_or_default();
        for attempt in attempts {
            let at = attempt["at"].as_str().unwrap_or_default();
            say!("{at}  {}", told(attempt));
        }
        match (found["to"].as_str(), self.again) {
            (None, _) => say!("This request names no address to call back."),
            (Some(to), true) => say!("{to} is called again."),
            (Some(to), false) if attempts.is_empty() => say!("{to} was not called yet."),
            (Some(_), false) => {}
        }
        Ok(Exit::Done)
    }
}

fn told(attempt: &Value) -> String {
    match attempt["result"].as_str() {
        Some("taken") => format!("taken, with status {}", attempt["status"]),
        Some("refused") => format!("refused, with status {}", attempt["status"]),
        _ => attempt["error"].as_str().unwrap_or("nobody was reached").to_owned(),
    }
}
