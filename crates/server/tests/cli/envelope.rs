//! `envelope check`: messages in files, on lines, and from a pipe.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::support::countersign;
use super::{Ran, run};

const GOOD: &str = r#"{"hxp":{"version":"1.0.0","intent":"explain","delivery":{"verbosity":"low"},"transparency":{"confidence":0.5},"actions":[]},"content":"Yes."}"#;

fn bad() -> String {
    GOOD.replace("low", "loud")
}

fn check(args: &[&str]) -> Ran {
    run(countersign().args(["envelope", "check"]).args(args))
}

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// HXPE-066, HXPE-068: every file counts, and what is wrong is said with its place.
#[test]
fn every_file_counts() {
    let folder = tempfile::tempdir().unwrap();
    let good = file(&folder, "good.json", GOOD);
    let pretty: Value = serde_json::from_str(GOOD).unwrap();
    let pretty = file(&folder, "pretty.json", &format!("{pretty:#}\n\n"));
    let bad = file(&folder, "bad.json", &bad());
    assert_eq!(check(&[&good]).ok(), format!("{good}: valid, core\n"));
    assert_eq!(check(&[&good, &pretty]).ok().lines().count(), 2);
    let ran = check(&[&good, &bad]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let place = "/hxp/delivery/verbosity: verbosity must be one of low, medium, high [HXPE-012]";
    assert_eq!(ran.out, format!("{good}: valid, core\n{bad}: error: {place}\n{bad}: NOT valid\n"));
}

/// HXPE-069: a pattern no shell has replaced finds the files of its folder.
#[test]
fn a_pattern_stands_for_files() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b-1.json", "a-1.json", "a-2.jsonl", ".a-1.json", "a-1"] {
        file(&folder, name, GOOD);
    }
    std::fs::create_dir(folder.path().join("z-1.json")).unwrap();
    for (pattern, found) in [
        ("*.json", &["a-1.json", "b-1.json"][..]),
        ("a*", &["a-1", "a-1.json", "a-2.jsonl"]),
        ("*-*.json*", &["a-1.json", "a-2.jsonl", "b-1.json"]),
        (".*", &[".a-1.json"]),
        ("*a-1.json*", &["a-1.json"]),
    ] {
        let named = folder.path().join(pattern);
        let said = check(&[named.to_str().unwrap()]).ok();
        let path = |name: &&str| format!("{}: valid, core\n", folder.path().join(name).display());
        assert_eq!(said, found.iter().map(path).collect::<String>(), "{pattern}");
        let mut here = countersign();
        let said = run(here.current_dir(&folder).args(["envelope", "check", pattern])).ok();
        let name = |name: &&str| format!("{name}: valid, core\n");
        assert_eq!(said, found.iter().map(name).collect::<String>(), "{pattern}");
    }
    for pattern in ["a*a", "*.txt", "*-1-1*"] {
        let said = check(&[folder.path().join(pattern).to_str().unwrap()]).failed(4);
        assert!(said.contains("no file is named like it"), "{said}");
    }
    // A file that is really called so.
    file(&folder, "*.json", &bad());
    assert_eq!(check(&[folder.path().join("*.json").to_str().unwrap()]).code, 1);
}

/// HXPE-064: which program this is, which protocol it checks, and where it comes from.
#[test]
fn it_says_which_version_it_checks() {
    for words in [&["--version"][..], &["-V"], &["check", "--version"]] {
        let said = run(countersign().arg("envelope").args(words)).ok();
        assert!(said.starts_with("countersign"), "{said}");
        assert!(said.contains(env!("CARGO_PKG_VERSION")), "{said}");
        assert!(said.contains("HXP eXperience 1.0.0\nhttps://"), "{said}");
    }
}

/// HXPE-067: no file, no JSON: one line each, and no trace.
#[test]
fn what_cannot_be_read_is_said_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.json");
    let said = check(&[missing.to_str().unwrap()]).failed(4);
    assert_eq!(said.lines().count(), 1, "{said}");
    for text in ["", "{", "{\"a\":\n 1 2}", "\u{feff}{}"] {
        let broken = file(&folder, "broken.json", text);
        let ran = check(&[&broken]);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
        assert!(
            ran.out.starts_with(&format!("{broken}: error: it is not valid JSON: line")),
            "{}",
            ran.out
        );
    }
}

/// HXPE-065: words nobody knows are a usage error.
#[test]
fn words_nobody_knows() {
    for args in [&[][..], &["--level", "most", "x"], &["--lax", "x"]] {
        check(args).failed(64);
    }
    run(countersign().args(["envelope", "judge"])).failed(64);
}

/// HXPE-038, HXPE-042: levels and strict mode.
#[test]
fn levels_and_strict_mode() {
    let folder = tempfile::tempdir().unwrap();
    let good = file(&folder, "good.json", GOOD);
    let said = check(&["--level", "standard", &good]).ok();
    assert_eq!(said.matches("warning: ").count(), 10, "{said}");
    check(&["--strict", &good]).ok();
    let ran = check(&["--strict", "--level", "standard", &good]);
    assert_eq!((ran.code, ran.out.matches("error: ").count()), (1, 10), "{}", ran.out);
    let extended = GOOD.replace(
        "\"actions\"",
        r#""extensions":{"vendor.clinic":{"room":4,"diagnosis":"x"}},"actions""#,
    );
    let extended = file(&folder, "extended.json", &extended);
    let known = json!({ "vendor.clinic": { "sensitive_fields": ["diagnosis"], "opt_out": "leave it out" } });
    let known = file(&folder, "known.json", &known.to_string());
    let said = check(&["--namespaces", &known, &extended]).ok();
    assert!(
        said.contains("/diagnosis: `diagnosis` is sensitive. To opt out: leave it out"),
        "{said}"
    );
    let unfit = file(&folder, "unfit.json", r#"{"vendor.clinic":{"sensitive_fields":["a"]}}"#);
    let said = check(&["--namespaces", &unfit, &extended]).failed(4);
    assert!(said.contains("opt_out"), "{said}");
}

/// A message on each line, from a file or a pipe; broken and endless lines spoil no other.
#[test]
fn lines_are_judged_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let endless = format!("\"{}\"", "x".repeat(9 << 20));
    let text = [GOOD, "", &bad(), "{", &endless, GOOD].join("\n");
    let lines = file(&folder, "many.jsonl", &text);
    let ran = check(&[&lines]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains(&format!("{lines}:3: error: /hxp/delivery/verbosity")), "{}", ran.out);
    assert!(ran.out.contains(&format!("{lines}:4: error: it is not valid JSON")), "{}", ran.out);
    assert!(ran.out.contains(&format!("{lines}:5: error: it is larger than 8 MiB")), "{}", ran.out);
    assert!(ran.out.ends_with(&format!("{lines}: 5 messages, 2 valid, 3 not\n")), "{}", ran.out);

    let mut piped = countersign();
    piped.args(["envelope", "check", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in [GOOD, &bad(), "nonsense"] {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let told: Vec<Value> = String::from_utf8(done.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let valid: Vec<_> = told.iter().map(|one| (&one["line"], &one["valid"])).collect();
    let (one, two, three) = (json!(1), json!(2), json!(3));
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(valid, [(&one, &yes), (&two, &no), (&three, &no)]);
    assert_eq!(told[0]["level"], "core");
    assert_eq!(told[1]["errors"][0]["rule"], "HXPE-012");
    assert!(told[2]["unreadable"].as_str().unwrap().contains("line 1, column 1"));
}

/// A first line that is broken does not make one message of many.
#[test]
fn lines_can_be_demanded() {
    let folder = tempfile::tempdir().unwrap();
    let lines = file(&folder, "many.jsonl", &format!("{{\n{GOOD}\n"));
    assert!(check(&[&lines]).out.ends_with("NOT valid\n"));
    let ran = check(&["--lines", &lines]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.ends_with(": 2 messages, 1 valid, 1 not\n"), "{}", ran.out);
}
