//! What a runtime may do without asking, by the vectors all clients hold themselves against.

use dialects::hacp::view;
use kernel::task::GrantDecision;
use kernel::testing::Cast;
use kernel::{RunId, Time};
use serde_json::Value;

use crate::fixtures::{V01, V02, in_progress, plain_task, task};

/// HACP-071, HACP-072, HACP-073: what is allowed may be done without asking, what is denied must
/// not be done, and everything else needs a checkpoint.
#[test]
fn a_runtime_asks_before_it_acts() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../clients/vectors/grants.json")).unwrap();
    let mut cast = Cast::staffed();
    let id = in_progress(&mut cast, &plain_task());
    let at: Time = vectors["at"].as_str().unwrap().parse().unwrap();
    let run: RunId = vectors["run_id"].as_str().unwrap().parse().unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let mut seen = view::task(&task(&cast, id), V02);
        let later = seen.later.as_mut().unwrap();
        later.grants = serde_json::from_value(case["grants"].clone()).unwrap();
        let scope = case["scope"].as_str().unwrap();
        let expected = match case["leave"].as_str().unwrap() {
            "allow" => Some(GrantDecision::Allow),
            "deny" => Some(GrantDecision::Deny),
            "ask" => None,
            other => panic!("{other}"),
        };
        assert_eq!(seen.permission(scope, Some(run), at), expected, "{}", case["what"]);
        seen.later.as_mut().unwrap().run_id = Some(run);
        assert_eq!(seen.permission(scope, None, at), expected, "{}", case["what"]);
    }
    let first = view::task(&task(&cast, id), V01);
    assert_eq!(first.permission("bash:ls", None, at), None, "0.1 has no grants");
}
