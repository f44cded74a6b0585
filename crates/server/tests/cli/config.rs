//! `countersign config`: what applies, whether it is valid, and what can be set.

use std::fs;

use super::run;
use super::support::countersign;

#[test]
fn settings_are_shown_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.toml");
    fs::write(&file, "listen = \"127.0.0.1:4000\"\ntelegram_token = \"very-secret\"\n").unwrap();
    let shown = |args: &[&str]| {
        let mut command = countersign();
        command.args(args).arg("--config").arg(&file).arg("--data").arg(folder.path());
        run(&mut command).ok()
    };
    let text = shown(&["config", "show"]);
    assert!(text.contains("listen      127.0.0.1:4000"), "{text}");
    assert!(!text.contains("very-secret"), "{text}");
    let json = shown(&["config", "show", "--json"]);
    assert!(json.contains("127.0.0.1:4000") && !json.contains("very-secret"), "{json}");
    let paths = shown(&["config", "path"]);
    assert!(paths.contains(file.to_str().unwrap()), "{paths}");
    assert!(
        paths.contains("saved sign-ins  none; HOME and XDG_CONFIG_HOME are not set"),
        "{paths}"
    );
    assert_eq!(shown(&["config", "check"]), "ok     the settings are valid\n");
    assert!(fs::read_dir(folder.path()).unwrap().count() == 1, "nothing was created");
}

#[test]
fn wrong_settings_are_reported_with_exit_code_1() {
    let check = |args: &[&str], variable: Option<&str>| {
        let mut command = countersign();
        command.args(["config", "check"]).args(args);
        if let Some(name) = variable {
            command.env(name, "x");
        }
        let ran = run(&mut command);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        ran.out
    };
    let wrong = check(&["--body-limit", "1"], None);
    assert!(wrong.starts_with("WRONG  body_limit"), "{wrong}");
    let unknown = check(&[], Some("COUNTERSIGN_PUBLICURL"));
    assert!(unknown.contains("did you mean \"COUNTERSIGN_PUBLIC_URL\"?"), "{unknown}");
    let json = check(&["--json", "--body-limit", "1"], Some("COUNTERSIGN_PUBLICURL"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["valid"], false);
    assert_eq!(json["problems"].as_array().unwrap().len(), 2);
}

#[test]
fn the_reference_lists_every_setting_and_finds_one() {
    let all = run(countersign().args(["config", "reference"])).ok();
    for variable in server::config::variables().iter().filter(|name| name.starts_with("COUNTER")) {
        assert!(all.contains(&format!("    {variable}\n")), "{variable}");
    }
    let found = run(countersign().args(["config", "reference", "rate_limit"])).ok();
    assert!(
        found.contains("\n  rate_limit  --rate-limit <N>\n    COUNTERSIGN_RATE_LIMIT\n"),
        "{found}"
    );
    assert!(!found.contains("telegram"), "{found}");
    let json = run(countersign().args(["config", "reference", "rate_limit", "--json"])).json();
    assert_eq!(json[0]["key"], "rate_limit");
    let none = run(countersign().args(["config", "reference", "frobnicate"])).ok();
    assert_eq!(none, "No setting contains “frobnicate”.\n");
}
