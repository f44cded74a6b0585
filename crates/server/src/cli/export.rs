//! `countersign export`

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use gateway::csv_export;
use serde_json::{Map, Value};

use super::Exit;
use super::output::say;
use super::remote::RemoteArgs;

#[derive(Args)]
pub(super) struct HistoryExportArgs {
    /// The format: csv for spreadsheets, or jsonl with one JSON object on each line
    #[arg(long, value_enum, default_value = "jsonl")]
    format: ExportFormatArg,
    /// Write to this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only requests that this person answered or cancelled
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Only requests of this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only requests of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only requests of this kind; repeat it for several
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Only requests with this outcome: completed, expired, cancelled or failed; repeat it for
    /// several
    #[arg(long, value_name = "OUTCOME")]
    outcome: Vec<String>,
    /// As an administrator: all requests, not only your own
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormatArg {
    Csv,
    Jsonl,
}

impl HistoryExportArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human().await?;
        let mut to = match &self.out {
            Some(path) => {
                let file = File::create(path);
                let file = file.with_context(|| format!("cannot write {}", path.display()))?;
                Some(BufWriter::new(file))
            }
            None => None,
        };
        let mut write = |line: &str| {
            if let Some(file) = &mut to {
                return file.write_all(line.as_bytes());
            }
            say!("{}", line.trim_end_matches('\n'));
            Ok(())
        };
        if self.format == ExportFormatArg::Csv {
            write(&csv_export::header())?;
        }
        let mut cursor = None;
        loop {
            let path = self.path(cursor.as_deref());
            let page: Map<String, Value> = server.get(&path).await?;
            for ask in page.get("asks").and_then(Value::as_array).into_iter().flatten() {
                let line = match self.format {
                    ExportFormatArg::Csv => csv_export::row(ask),
                    ExportFormatArg::Jsonl => format!("{ask}\n"),
                };
                write(&line)?;
            }
            cursor = page.get("next").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        if let Some(mut file) = to {
            file.flush()?;
        }
        Ok(Exit::Done)
    }

    fn path(&self, cursor: Option<&str>) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("limit", "100");
        let one = [("by", &self.by), ("project", &self.project), ("agent", &self.agent)];
        for (name, value) in one {
            query.extend_pairs(value.iter().map(|value| (name, value)));
        }
        query.extend_pairs(self.kind.iter().map(|kind| ("kind", kind)));
        query.extend_pairs(self.outcome.iter().map(|outcome| ("outcome", outcome)));
        query.extend_pairs(self.all.then_some(("view", "all")));
        query.extend_pairs(cursor.map(|cursor| ("cursor", cursor)));
        format!("/api/v1/history?{}", query.finish())
    }
}
