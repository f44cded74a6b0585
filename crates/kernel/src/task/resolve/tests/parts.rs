//! Proposed actions are approved one by one.

use serde_json::json;

use super::*;

fn owned(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn proposing() -> NewCheckpoint {
    raising(CheckpointKind::Approval).proposing(&["x", "y", "z"])
}

/// An approval of some of the proposed actions.
fn only(approved: &[&str], denied: &[&str]) -> NewResolution {
    let mut new = approve();
    (new.details.approved_actions, new.details.denied_actions) = (owned(approved), owned(denied));
    new
}

/// HACP-054: naming none approves all; naming some denies the rest; actions that were not proposed,
/// or that are both approved and denied, are refused.
#[test]
fn proposed_actions_are_approved_one_by_one() {
    for (approved, denied, kept) in [
        (&[][..], &[][..], Ok(&["x", "y", "z"][..])),
        (&["y"], &[], Ok(&["y"])),
        (&["x", "z"], &["y"], Ok(&["x", "z"])),
        (&[], &["y"], Ok(&[])),
        (&["banana"], &[], Err("approved_actions")),
        (&[], &["banana"], Err("denied_actions")),
        (&["x"], &["x"], Err("denied_actions")),
    ] {
        let (mut cast, id, ask) = with(proposing());
        match (cast.resolve("olga", ask, only(approved, denied)), kept) {
            (Ok(()), Ok(kept)) => {
                assert_eq!(said(&cast, id).approved_actions, owned(kept));
                assert_eq!(said(&cast, id).denied_actions, owned(denied));
            }
            (Err(Refusal::Invalid { field, .. }), Err(wanted)) => assert_eq!(field, wanted),
            (done, _) => panic!("{approved:?} {denied:?}: {done:?}"),
        }
    }
}

/// HACP-054: parts can be approved with another action too.
#[test]
fn a_choice_may_approve_some_of_what_is_proposed() {
    let (mut cast, id, ask) = with(raising(CheckpointKind::Choice).proposing(&["x", "y"]));
    let mut new = resolution(ResolutionAction::Choose);
    new.details.approved_actions = vec!["y".to_owned()];
    cast.resolve("olga", ask, new).unwrap();
    assert_eq!(said(&cast, id).approved_actions, ["y"]);
}

/// HACP-054: an approval of the whole through another interface approves every part; leaving some
/// out allows the rest; the receipt is the same either way.
#[test]
fn some_of_it_is_allowed_through_any_door() {
    let allow = |ids: &[&str]| Some(Map::from_iter([("allow".to_owned(), json!(ids))]));
    for (edits, approved, denied) in [
        (None, &["x", "y", "z"][..], &[][..]),
        (allow(&["y"]), &["y"], &["x", "z"]),
        (allow(&[]), &[], &["x", "y", "z"]),
    ] {
        let (mut elsewhere, id, ask) = with(proposing());
        let reply = Box::new(Reply::truncated(Answer::Approved { edits }, None));
        elsewhere.run(elsewhere.human("olga"), AskCommand::Answer(ask, reply));
        let decided = said(&elsewhere, id);
        assert_eq!(
            (&decided.approved_actions[..], decided.state_patch),
            (&owned(approved)[..], None)
        );
        assert_eq!(decided.denied_actions, owned(denied));
        let (mut here, id, same) = with(proposing());
        here.resolve("olga", same, only(approved, denied)).unwrap();
        assert_eq!(said(&here, id).approved_actions, owned(approved));
        let given =
            |cast: &Cast, ask| cast.seen(ask).deciding_answer().unwrap().reply.value().cloned();
        assert_eq!(given(&here, same).unwrap().answer, given(&elsewhere, ask).unwrap().answer);
    }
    let (mut cast, _, ask) = with(proposing());
    let unknown = Answer::Approved { edits: allow(&["nothing proposed"]) };
    let unknown = AskCommand::Answer(ask, Box::new(Reply::truncated(unknown, None)));
    assert!(cast.attempt(cast.human("olga"), unknown).is_err());
}
