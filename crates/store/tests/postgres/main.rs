//! The store on `PostgreSQL` passes every check, and those that only several nodes, a database that
//! goes away or an older program can fail.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod durability;
mod faults;
mod nodes;
mod proxy;
mod schema;
mod shared;
mod sqlite_import;
mod support;

use std::sync::Arc;

use store::Store;
use store::suite::Guard;
use support::{Database, missing};

store::suite!(postgres, |clock| async {
    let database = Database::new().await;
    let store = database.open(clock).await;
    (Arc::new(store) as Arc<dyn Store>, Box::new(database) as Guard)
}, missing: missing());
