//! A database that is slow, then says nothing at all, then is cut off: requests end in time with a
//! reason to come back, `/readyz` says so, and when it is back everything goes on by itself.

use std::time::Duration;

use reqwest::Method;
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller, HUMAN, until};
use super::proxy::{Proxy, ProxyMode};
use super::support::Server;
use super::test_storage::Place;
use super::waiting::{WAYS, watched};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_end_in_time_and_go_on_when_it_is_back() {
    let Some(place) = Place::postgres().await else { return };
    let proxy = Proxy::before(place.url()).await;
    let server = Server::start(place.through(&proxy.url).arg("--dev"));
    let caller = Caller::of(&server);

    let (mut asked, mut waiting) = (Vec::new(), JoinSet::new());
    for way in WAYS {
        let (caller, (_, id)) = (caller.clone(), caller.ask("Deploy?").await.unwrap());
        asked.push(id.clone());
        waiting.spawn(async move { (way, way.wait(&caller, &id).await) });
    }
    let callers = [caller.clone()];
    until("everybody waits", async || watched(&callers).await == WAYS.len() as u64).await;

    // Slow: nothing is lost and nobody is refused. By the end of it everybody has been let in.
    let served = async {
        let (status, late) = caller.ask("Is it slow?").await.unwrap();
        assert_eq!(status, 201);
        assert_eq!(caller.resolve(&late, "approved").await.unwrap().0, 200);
        assert_eq!(caller.ready().await, 200);
    };
    tokio::select! {
        () = served => proxy.set(ProxyMode::Up),
        () = hold_up(&proxy) => {}
    }

    let path = format!("/hxp/v1/requests/{}", asked[0]);
    for line in [ProxyMode::Stuck, ProxyMode::Cut] {
        proxy.set(line);
        // A caller that is not answered within its patience gets no status at all.
        let (write, answer, read, list, ready) = tokio::join!(
            caller.ask("Anybody?"),
            caller.resolve(&asked[0], "approved"),
            caller.get(&path, AGENT),
            caller.get("/hxp/v1/inbox", HUMAN),
            caller.ready(),
        );
        assert_eq!(write.unwrap().0, 503, "{line:?}");
        for told in [answer, read, list] {
            assert_eq!(told.unwrap().0, 503, "{line:?}");
        }
        assert_eq!(ready, 503, "{line:?}");
        // The process lives, and says so.
        let healthy = caller.request(Method::GET, "/healthz", AGENT).send().await.unwrap();
        assert_eq!(healthy.status(), 200);

        proxy.set(ProxyMode::Up);
        until("it is ready again", async || caller.ready().await == 200).await;
        let (status, id) = caller.ask("And now?").await.unwrap();
        assert_eq!(status, 201, "{line:?}");
        assert_eq!(caller.resolve(&id, "approved").await.unwrap().0, 200, "{line:?}");
    }
    for id in &asked {
        assert_eq!(caller.resolve(id, "approved").await.unwrap().0, 200);
    }
    let told = tokio::time::timeout(Duration::from_secs(10), waiting.join_all()).await;
    for (way, told) in told.expect("whoever waited all the time is told") {
        assert!(told.is_ok(), "{way:?}: {told:?}");
    }
    server.stop();
    place.sound().await;
}

/// Lets something through only now and then.
async fn hold_up(proxy: &Proxy) {
    loop {
        for (line, millis) in [(ProxyMode::Stuck, 100), (ProxyMode::Up, 5)] {
            proxy.set(line);
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
    }
}
