//! `countersign doctor`: the settings that apply, redacted, and what is wrong with them.

use std::net::TcpListener;

use clap::Args;

use super::{Exit, Local};
use crate::config::{Config, Database};

#[derive(Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    local: Local,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One thing that was looked at.
#[derive(serde::Serialize)]
struct Finding {
    what: &'static str,
    ok: bool,
    says: String,
}

impl Doctor {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let settings = self.local.settings.complete(self.local.config.as_deref())?;
        let shown = toml::to_string(&settings)?;
        let (findings, applied) = match settings.clone().check() {
            Err(error) => {
                let says = format!("{error:#}");
                (vec![Finding { what: "settings", ok: false, says }], None)
            }
            Ok(config) => (look(&config), Some(config)),
        };
        let healthy = findings.iter().all(|finding| finding.ok);
        if self.json {
            let report = serde_json::json!({
                "healthy": healthy,
                "given": settings,
                "findings": findings,
            });
            println!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            println!("Settings given:\n{}", indent(&shown));
            if let Some(config) = applied {
                println!("Settings that apply:\n{}", indent(&applied_text(&config)));
            }
            for finding in &findings {
                let mark = if finding.ok { "ok   " } else { "WRONG" };
                println!("{mark}  {}: {}", finding.what, finding.says);
            }
        }
        Ok(if healthy { Exit::Done } else { Exit::Denied })
    }
}

fn indent(text: &str) -> String {
    if text.trim().is_empty() {
        return "  (none)\n".to_owned();
    }
    text.lines().fold(String::new(), |shown, line| shown + "  " + line + "\n")
}

fn applied_text(config: &Config) -> String {
    let listen: Vec<String> = config.listen.iter().map(ToString::to_string).collect();
    let database = match &config.database {
        Database::Sqlite(path) => format!("sqlite:{}", path.display()),
        Database::Memory => "memory:".to_owned(),
    };
    [
        format!("listen      {}", listen.join(", ")),
        format!("public_url  {}", config.public_url),
        format!("database    {database}"),
        format!("data        {}", config.data.display()),
        format!("tls         {}", if config.tls.is_some() { "built in" } else { "off" }),
        format!("rate_limit  {} a second per key", config.rate_limit),
        format!("body_limit  {} bytes", config.body_limit),
        format!("jwt         {}", config.jwt.as_ref().map_or("off", |jwt| &jwt.issuer)),
        format!("dev         {}", config.dev),
    ]
    .join("\n")
}

fn look(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for address in &config.listen {
        let (ok, says) = match TcpListener::bind(address) {
            Ok(_) => (true, format!("{address} is free")),
            Err(error) => (false, format!("{address}: {error}")),
        };
        findings.push(Finding { what: "listen", ok, says });
    }
    if let Some((cert, key)) = &config.tls {
        for path in [cert, key] {
            let (ok, says) = match std::fs::read(path) {
                Ok(_) => (true, format!("{} can be read", path.display())),
                Err(error) => (false, format!("{}: {error}", path.display())),
            };
            findings.push(Finding { what: "tls", ok, says });
        }
    }
    if let Database::Sqlite(path) = &config.database {
        findings.push(if path.exists() {
            match store::sqlite::Sqlite::open_read_only(path) {
                Ok(_) => Finding {
                    what: "database",
                    ok: true,
                    says: format!("{} can be read", path.display()),
                },
                Err(error) => Finding {
                    what: "database",
                    ok: false,
                    says: format!("{}: {:#}", path.display(), anyhow::Error::from(error)),
                },
            }
        } else {
            let says = format!("{} will be made on first start", path.display());
            Finding { what: "database", ok: true, says }
        });
    }
    let public = config.public_url.scheme() == "https"
        || config.public_url.host_str().is_some_and(|host| host == "localhost");
    let says = if public {
        format!("links lead to {}", config.public_url)
    } else {
        "links lead to plain HTTP: set public_url to the https address".to_owned()
    };
    findings.push(Finding { what: "public_url", ok: public, says });
    findings
}
