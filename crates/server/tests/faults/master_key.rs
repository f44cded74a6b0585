//! A node that does not have the nodes' master key does not start, and leaves no trace.

use super::support::{Server, countersign};
use super::test_storage::{MASTER_KEY, Place, query};

fn refused(place: &Place, key: Option<&str>) -> String {
    let mut serve = countersign();
    serve.args(["serve", "--dev", "--listen", "127.0.0.1:0", "--database", place.url()]);
    if let Some(key) = key {
        serve.env("COUNTERSIGN_MASTER_KEY", key);
    }
    let out = serve.output().unwrap();
    assert_eq!(out.status.code(), Some(4), "{out:?}");
    String::from_utf8(out.stderr).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_needs_the_master_key_of_the_others() {
    let Some(place) = Place::postgres().await else { return };
    let said = refused(&place, None);
    assert!(
        said.contains("master_key: nodes that share a database need the same master_key"),
        "{said}"
    );
    let tables = "SELECT FROM pg_tables WHERE schemaname = 'public'";
    assert!(query(place.url(), tables).await.is_empty(), "nothing was made");

    place.nodes().into_iter().for_each(Server::stop);
    let said = refused(&place, Some(&"ab".repeat(32)));
    assert!(said.contains("cannot be decrypted with this master_key"), "{said}");
    place.sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_read_the_master_key_from_its_file() {
    let Some(place) = Place::postgres().await else { return };
    place.nodes().into_iter().for_each(Server::stop);
    let file = place.data().join("master-key");
    std::fs::write(&file, MASTER_KEY).unwrap();
    let mut list = countersign();
    list.args(["keys", "list", "--database", place.url()]);
    let out = list.env("COUNTERSIGN_MASTER_KEY_FILE", &file).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    place.sound().await;
}
