//! One data folder, one server: the second is refused, and a dead one leaves no lock behind.

use super::support::{Server, serve, verify};

#[test]
fn a_second_server_is_refused_and_says_why() {
    let data = tempfile::tempdir().unwrap();
    let first = Server::dev(data.path());
    let Err((status, said)) = Server::try_start(serve(data.path()).arg("--dev")) else {
        panic!("two servers on one folder")
    };
    assert_eq!(status.code(), Some(4));
    let folder = data.path().to_str().unwrap();
    assert!(said.contains("another Countersign process is using"), "{said}");
    assert!(said.contains(folder) && said.contains("--url"), "{said}");

    first.kill();
    Server::dev(data.path()).stop();
    assert_eq!(verify(data.path()).0, Some(0));
}

#[test]
fn a_second_server_on_the_same_file_from_another_folder_is_refused() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = Server::dev(data.path());
    let database = format!("sqlite:{}", data.path().join("countersign.db").display());
    let again = Server::try_start(serve(other.path()).args(["--dev", "--database", &database]));
    let Err((status, said)) = again else { panic!("two servers on one file") };
    assert_eq!(status.code(), Some(4));
    assert!(said.contains("another Countersign process is using"), "{said}");
    first.stop();
}

/// What a first start tells only once must not be swallowed by an address in use.
#[test]
fn an_address_in_use_is_said_before_anything_is_made() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = Server::dev(data.path());
    let taken = format!("127.0.0.1:{}", first.port());
    let refused = Server::try_start(serve(other.path()).args(["--listen", &taken]));
    let Err((status, said)) = refused else { panic!("two servers on one port") };
    assert_eq!(status.code(), Some(4));
    assert!(said.contains(&format!("cannot listen on {taken}")), "{said}");

    let second = Server::start(&mut serve(other.path()));
    assert!(second.stdout().contains("  Agent key  cs_agent_"), "{}", second.stdout());
}
