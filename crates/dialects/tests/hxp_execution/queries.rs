//! The parameters of lists.

use dialects::hxp_execution::wire::Action;
use dialects::hxp_execution::{HxpCursor, InboxQuery, ListQuery};
use kernel::ask::{Phase, Priority};
use kernel::question::QuestionKind;
use kernel::testing::Cast;

use crate::fixtures::{full, new};

const NONE: [(&str, &str); 0] = [];

/// HXPX-039: defaults, every parameter, and what nobody knows.
#[test]
fn lists() {
    let usual = ListQuery::parse(NONE).unwrap();
    assert_eq!((usual.limit, usual.phase, usual.cursor), (20, None, None));
    let mut cast = Cast::new();
    let id = cast.ask(new(&full("DECIDE")));
    let cursor = HxpCursor::after(cast.seen(id));
    let text = cursor.to_string();
    let query = ListQuery::parse([
        ("agent_id", "a"),
        ("project_id", "p"),
        ("status", "cancelled"),
        ("limit", "100"),
        ("cursor", text.as_str()),
        ("sort", "up"),
    ]);
    let expected = ListQuery {
        agent_id: Some("a".into()),
        project_id: Some("p".into()),
        phase: Some(Phase::Cancelled),
        limit: 100,
        cursor: Some(cursor),
    };
    assert_eq!(query, Ok(expected));
    assert_eq!(ListQuery::parse([("status", ""), ("limit", "")]), Ok(usual));
}

/// HXPX-041: the default is what is open; a filter means only itself. The seed's example parses.
#[test]
fn inboxes() {
    let usual = InboxQuery::parse(NONE).unwrap();
    assert_eq!(usual.phases, [Phase::Waiting, Phase::Engaged]);
    assert_eq!(usual.limit, 100);
    let seed = InboxQuery::parse([("status", "pending"), ("priority", "high")]).unwrap();
    assert_eq!(seed.phases, [Phase::Waiting]);
    assert_eq!(seed.priority, Some(Priority::High));
    let query = InboxQuery::parse([("action", "PROVIDE"), ("limit", "1")]).unwrap();
    assert_eq!((query.action, query.limit), (Some(Action::Provide), 1));
}

/// HXPX-039, HXPX-041: bad values have their codes.
#[test]
fn bad_parameters_are_refused() {
    for (key, value, code) in [
        ("limit", "0", "invalid_limit"),
        ("limit", "101", "invalid_limit"),
        ("limit", "-1", "invalid_limit"),
        ("limit", "+5", "invalid_limit"),
        ("limit", "ten", "invalid_limit"),
        ("limit", "1.5", "invalid_limit"),
        ("limit", "99999999999999999999", "invalid_limit"),
        ("status", "open", "invalid_status"),
        ("status", "PENDING", "invalid_status"),
        ("cursor", "x", "invalid_cursor"),
        ("cursor", "9.00000000000000000000000001", "invalid_cursor"),
        ("cursor", "+1.00000000000000000000000001", "invalid_cursor"),
        ("cursor", "1.0000000000000000000000000a", "invalid_cursor"),
    ] {
        let list = ListQuery::parse([(key, value)]).unwrap_err();
        let inbox = InboxQuery::parse([(key, value)]).unwrap_err();
        for error in [list, inbox] {
            assert_eq!((error.status, error.code), (400, code), "{key}={value}");
        }
    }
    let priority = InboxQuery::parse([("priority", "urgent")]).unwrap_err();
    assert_eq!((priority.status, priority.code), (400, "invalid_priority"));
    let action = InboxQuery::parse([("action", "decide")]).unwrap_err();
    assert_eq!((action.status, action.code), (400, "invalid_action"));
}

/// HXPX-039: a cursor reads back as the place it names.
#[test]
fn cursors_read_back() {
    let mut cast = Cast::new();
    let id = cast.ask(new(&full("DECIDE")));
    let cursor = HxpCursor::after(cast.seen(id));
    assert_eq!((cursor.rank, cursor.ask), (1, id));
    assert_eq!(cursor.to_string().parse(), Ok(cursor));
}

/// HXPX-073: every kind of question belongs to exactly one action.
#[test]
fn actions_share_out_the_kinds() {
    for kind in QuestionKind::ALL {
        let of: Vec<_> = Action::ALL.into_iter().filter(|a| a.kinds().contains(&kind)).collect();
        assert_eq!(of, [Action::of_kind(kind)]);
    }
}
