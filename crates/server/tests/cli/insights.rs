//! `countersign insights`: the numbers of the page, in a terminal.

use serde_json::Value;

use crate::support::{Server, eventually};
use crate::{asked, cli};

#[test]
fn numbers_are_told_as_a_table_and_as_json() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let id = asked(&server, &["Refund order 7?"]);
    cli(&server, &["answer", &id, "reject", "--comment", "Not today"]).ok();
    let told = || -> Value {
        let text = cli(&server, &["insights", "--project", "dev", "--json"]).ok();
        serde_json::from_str(&text).unwrap()
    };
    eventually("the answer to be counted", || (told()["verdicts"]["overruled"] == 1).then_some(()));
    assert_eq!(told()["project"], "dev");
    let shown = cli(&server, &["insights"]).ok();
    for words in ["WHAT", "requests", "overruled", "1 (100%)", "agent_dev", "after 20 decisions"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let refused = cli(&server, &["insights", "--from", "tomorrow"]).failed(4);
    assert!(refused.contains("a date such as"), "{refused}");
    cli(&server, &["insights", "--agent", "nobody"]).failed(4);
}
