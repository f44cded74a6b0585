//! An installation that moves from the embedded store to nodes, and a database that comes back from
//! a dump: everything acknowledged is there, and what was signed before is still valid.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::agent::Caller;
use super::support::{Server, clean, countersign};
use super::test_storage::{Place, with_key};

/// An approval, with its receipt as it was told; and one that is still open.
async fn played(server: &Server) -> (String, Value, String) {
    let caller = Caller::of(server);
    let answered = caller.ask("Move?").await.unwrap().1;
    let (status, said) = caller.resolve(&answered, "approved").await.unwrap();
    assert_eq!(status, 200, "{said}");
    let open = caller.ask("And now?").await.unwrap().1;
    (answered, caller.poll(&open).await, open)
}

fn migrate(from: &Place, to: &Place) -> (Option<i32>, String) {
    let mut migrate = countersign();
    let file = format!("sqlite:{}", from.data().join("countersign.db").display());
    migrate.args(["migrate", "--from", &file, "--to", to.url()]);
    let out = with_key(migrate).output().unwrap();
    (out.status.code(), String::from_utf8([out.stdout, out.stderr].concat()).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installation_moves_to_nodes() {
    let Some(to) = Place::postgres().await else { return };
    let from = Place::sqlite();
    let server = from.dev();
    let (answered, before, open) = played(&server).await;
    let receipt = Caller::of(&server).poll(&answered).await;
    let (code, said) = migrate(&from, &to);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("stop it first"), "{said}");
    server.stop();
    for _ in 0..2 {
        let (code, said) = migrate(&from, &to);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("The audit log is valid"), "{said}");
    }

    let nodes = to.nodes();
    for node in &nodes {
        assert_eq!(Caller::of(node).poll(&answered).await, receipt);
        assert_eq!(Caller::of(node).poll(&open).await, before);
    }
    let (status, said) = Caller::of(&nodes[1]).resolve(&open, "approved").await.unwrap();
    assert_eq!(status, 200, "{said}");
    let (code, said) = migrate(&from, &to);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("the target database is not empty"), "{said}");
    nodes.into_iter().for_each(Server::stop);
    assert_eq!(to.sound().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_is_a_backup() {
    let Some(place) = Place::postgres().await else { return };
    let Some(copy) = Place::postgres().await else { return };
    let server = place.dev();
    let (answered, _, open) = played(&server).await;
    let receipt = Caller::of(&server).poll(&answered).await;
    // Beside a running node.
    let mut dump = clean(Command::new("pg_dump"));
    let mut dump = dump.arg(place.url()).stdout(Stdio::piped()).spawn().unwrap();
    let mut restore = clean(Command::new("psql"));
    restore.args(["-q", "-v", "ON_ERROR_STOP=1", copy.url()]).stdout(Stdio::null());
    assert!(restore.stdin(dump.stdout.take().unwrap()).status().unwrap().success());
    assert!(dump.wait().unwrap().success());
    server.stop();

    assert_eq!(copy.verify().0, Some(0), "{}", copy.verify().1);
    let server = copy.dev();
    assert_eq!(Caller::of(&server).poll(&answered).await, receipt);
    let (status, said) = Caller::of(&server).resolve(&open, "approved").await.unwrap();
    assert_eq!(status, 200, "{said}");
    server.stop();
    assert_eq!(copy.sound().await.len(), 2);
}
