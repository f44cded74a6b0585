//! The store on PostgreSQL passes every check, and a few that only several nodes can fail.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::sync::Arc;

use store::Store;
use store::postgres::{Postgres, Watch};
use store::suite::Guard;

store::suite!(postgres, |clock| async {
    let database = support::Database::new().await;
    let store = Postgres::open(&database.url, Watch::Given(clock)).await.unwrap();
    (Arc::new(store) as Arc<dyn Store>, Box::new(database) as Guard)
});

mod support {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A database of its own, on the server the environment names.
    pub struct Database {
        pub url: String,
    }

    impl Database {
        pub async fn new() -> Self {
            static MADE: AtomicU64 = AtomicU64::new(0);
            let server = std::env::var("DATABASE_URL").unwrap();
            let name =
                format!("cs_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
            let (client, connection) =
                tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
            let (before, _) = server.rsplit_once('/').unwrap();
            Self { url: format!("{before}/{name}") }
        }
    }
}
