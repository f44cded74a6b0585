//! `countersign config`: the settings that apply, whether they are valid, and what can be set.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::doctor::print_settings;
use super::output::{Style, say, styled};
use super::{Exit, LocalArgs, logins};
use crate::config::{Settings, unknown_variables};

/// How wide the text of the reference is.
const WIDTH: usize = 88;

#[derive(Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Show the settings that were given and those that apply, without secrets
    Show(ConfigLocalArgs),
    /// Check that the settings are valid, without starting or calling anything
    #[command(
        after_help = "Exits with 0 if the settings are valid, 1 if not. `countersign doctor` also \
                      tries them out: ports, files, database, channels."
    )]
    Check(ConfigLocalArgs),
    /// Show which files are used
    Path(ConfigLocalArgs),
    /// List all settings: flag, environment variable, key in the settings file
    Reference {
        /// Only settings whose name or description contains this text
        #[arg(value_name = "TEXT")]
        search: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct ConfigLocalArgs {
    #[command(flatten)]
    local: LocalArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ConfigArgs {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            ConfigCommand::Show(ConfigLocalArgs { local, json }) => show(local, json),
            ConfigCommand::Check(ConfigLocalArgs { local, json }) => Ok(check(local, json)),
            ConfigCommand::Path(ConfigLocalArgs { local, json }) => path(local, json),
            ConfigCommand::Reference { search, json } => reference(search.as_deref(), json),
        }
    }
}

fn show(local: LocalArgs, json: bool) -> anyhow::Result<Exit> {
    let given = local.settings.complete(local.config.as_deref())?;
    if json {
        say!("{}", serde_json::to_string(&given)?);
    } else {
        print_settings(Some(&given), Some(&given.clone().check()?))?;
    }
    Ok(Exit::Done)
}

fn check(local: LocalArgs, json: bool) -> Exit {
    let given = local.settings.complete(local.config.as_deref());
    let checked = given.and_then(Settings::check);
    let wrong = checked.err().map(|error| format!("{error:#}"));
    let unknown = unknown_variables();
    let wrong: Vec<String> =
        wrong.into_iter().chain(unknown.iter().map(ToString::to_string)).collect();
    if json {
        say!("{}", json!({ "valid": wrong.is_empty(), "problems": wrong }));
    } else if wrong.is_empty() {
        styled(Style::Good, "ok", "     the settings are valid");
    } else {
        for wrong in &wrong {
            styled(Style::Bad, "WRONG", &format!("  {wrong}"));
        }
    }
    if wrong.is_empty() { Exit::Done } else { Exit::Denied }
}

fn path(local: LocalArgs, json: bool) -> anyhow::Result<Exit> {
    let file = local.config.clone();
    let location = local.settings.complete(file.as_deref())?.check()?.location;
    let file = file.map(|file| file.display().to_string());
    let data = location.data.display().to_string();
    let database = location.database.to_string();
    let logins = logins::path().map(|path| path.display().to_string());
    if json {
        say!(
            "{}",
            json!({
                "settings": file, "data": data, "database": database, "logins": logins,
            })
        );
        return Ok(Exit::Done);
    }
    let none = "none; name one with --config or COUNTERSIGN_CONFIG".to_owned();
    let no_folder = "none; HOME and XDG_CONFIG_HOME are not set".to_owned();
    say!("settings file   {}", file.unwrap_or(none));
    say!("data folder     {data}");
    say!("database        {database}");
    say!("saved sign-ins  {}", logins.unwrap_or(no_folder));
    Ok(Exit::Done)
}

/// One setting, for people and programs.
struct SettingRow {
    heading: String,
    key: String,
    flag: String,
    variable: String,
    value: String,
    help: String,
}

/// All settings, in the order in which they are declared.
fn settings() -> Vec<SettingRow> {
    let command = Settings::augment_args(clap::Command::new("settings"));
    let row = |setting: &clap::Arg| SettingRow {
        heading: setting.get_help_heading().unwrap_or("Server").to_owned(),
        key: setting.get_id().to_string(),
        flag: setting.get_long().map(|long| format!("--{long}")).unwrap_or_default(),
        variable: setting
            .get_env()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        value: setting
            .get_value_names()
            .and_then(<[_]>::first)
            .map(ToString::to_string)
            .unwrap_or_default(),
        help: setting.get_help().map(ToString::to_string).unwrap_or_default(),
    };
    command.get_arguments().map(row).collect()
}

fn reference(search: Option<&str>, json: bool) -> anyhow::Result<Exit> {
    let search = search.unwrap_or_default().to_lowercase();
    let found = settings().into_iter().filter(|row| {
        let text = format!("{} {} {} {}", row.key, row.flag, row.variable, row.help);
        text.to_lowercase().contains(&search)
    });
    let found: Vec<SettingRow> = found.collect();
    if json {
        let shown: Vec<Value> = found
            .iter()
            .map(|row| {
                json!({
                    "key": row.key, "flag": row.flag, "variable": row.variable,
                    "value": row.value, "description": row.help, "group": row.heading,
                })
            })
            .collect();
        say!("{}", serde_json::to_string(&shown)?);
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        say!("No setting contains “{search}”.");
        return Ok(Exit::Done);
    }
    say!(
        "Every setting is a flag of `countersign serve`, an environment variable and a key of the\n\
         settings file (TOML). A flag wins over the variable, and the variable over the file."
    );
    let mut heading = "";
    for row in &found {
        if row.heading != heading {
            heading = &row.heading;
            say!("");
            styled(Style::Heading, heading, "");
        }
        say!("\n  {}  {} <{}>", row.key, row.flag, row.value);
        say!("    {}", row.variable);
        for line in wrapped(&row.help, WIDTH - 4) {
            say!("    {line}");
        }
    }
    Ok(Exit::Done)
}

/// A text in lines of at most so many characters, if its words allow it.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_flag_a_variable_and_a_description() {
        let all = settings();
        assert!(all.len() > 50, "{}", all.len());
        for row in all {
            assert!(row.flag.starts_with("--") && row.variable.starts_with("COUNTERSIGN_"));
            assert!(!row.help.is_empty(), "{}", row.key);
        }
    }

    #[test]
    fn texts_are_wrapped_at_words() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible is it", 5), ["incomprehensible", "is it"]);
        assert!(wrapped("", 5).is_empty());
    }
}
