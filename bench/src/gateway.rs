//! The gateway as it is, with the credentials of `--dev`.

use std::path::Path;
use std::sync::Arc;

use server::clock::SystemClock;
use server::config::Settings;
use server::serve::Server;

/// Serves until the process is ended; says where first.
pub(crate) async fn serve(folder: &Path) -> anyhow::Result<()> {
    let settings = Settings {
        listen: Some("127.0.0.1:0".to_owned()),
        data: Some(folder.to_owned()),
        dev: Some(true),
        ..Settings::default()
    };
    let server = Box::pin(Server::start(settings.check()?, Arc::new(SystemClock))).await?;
    if let Some(address) = server.listening().first() {
        println!("{address}");
    }
    std::future::pending().await
}
