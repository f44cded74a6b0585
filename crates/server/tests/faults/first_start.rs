//! Several nodes start on an empty database at the same moment: one of them sets it up and prints
//! the credentials, the others say that another node did.

use std::thread;

use super::agent::Caller;
use super::support::Server;
use super::test_storage::Place;

const NODES: usize = 3;
const ROUNDS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_nodes_that_start_together_one_prints_credentials() {
    for round in 0..ROUNDS {
        let Some(place) = Place::postgres().await else { return };
        let nodes: Vec<Server> = thread::scope(|scope| {
            let start = || Server::start(&mut place.serve());
            let started: Vec<_> = (0..NODES).map(|_| scope.spawn(start)).collect();
            started.into_iter().map(|node| node.join().unwrap()).collect()
        });
        let said: Vec<String> = nodes.iter().map(Server::stdout).collect();
        let with = |text: &str| said.iter().filter(|said| said.contains(text)).count();
        assert_eq!(with("Agent key"), 1, "round {round}: {said:#?}");
        assert_eq!(with("sign-in?token="), 1, "round {round}: {said:#?}");
        let elsewhere = "another node printed a sign-in link for owner";
        assert_eq!(with(elsewhere), NODES - 1, "round {round}: {said:#?}");
        // One agent key and one sign-in link exist, however many nodes there are.
        let events = place.events().await;
        let of = |what: &str| events.iter().filter(|(_, happened)| happened == what).count();
        let made = ["key_issued", "human_saved", "agent_saved", "project_saved"].map(of);
        assert_eq!(made, [2, 1, 1, 1], "round {round}: {events:?}");
        // All nodes sign with the same key.
        let mut keys = Vec::new();
        for node in &nodes {
            keys.push(Caller::of(node).get("/.well-known/jwks.json", "").await.unwrap().1);
        }
        assert_eq!(keys[0]["keys"].as_array().unwrap().len(), 1, "{keys:?}");
        assert!(keys.iter().all(|key| key["keys"] == keys[0]["keys"]), "{keys:?}");
        // A node that joins later makes no further link either.
        let late = Server::start(&mut place.serve());
        assert!(late.stdout().contains(elsewhere), "{}", late.stdout());
        for node in nodes.into_iter().chain([late]) {
            node.stop();
        }
        place.sound().await;
    }
}
