//! A bucket on loopback: a real S3 server over a folder, which checks every signature. It can be
//! taken away, brought back and held up.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::error_handling::HandleError;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use axum_server::Handle;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Who may use it.
pub(crate) const KEY: &str = "AKIDCOUNTERSIGN";
/// How they prove it.
pub(crate) const SECRET: &str = "wJalrXUtnFEMI-not-a-real-key";

/// What is said of a bucket that is not there.
const MISSING: (StatusCode, &str) =
    (StatusCode::NOT_FOUND, "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code></Error>");

pub(crate) struct Bucket {
    folder: TempDir,
    port: u16,
    stuck: Arc<watch::Sender<bool>>,
    handle: Handle<SocketAddr>,
    serving: JoinSet<()>,
}

impl Bucket {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("files")).unwrap();
        let stuck = Arc::new(watch::Sender::new(false));
        let handle = Handle::new();
        let mut bucket = Self { folder, port: 0, stuck, handle, serving: JoinSet::new() };
        bucket.come_back().await;
        bucket
    }

    /// Nobody listens any more, and every connection is closed.
    pub(crate) async fn go_away(&mut self) {
        self.handle.shutdown();
        while self.serving.join_next().await.is_some() {}
    }

    /// It is there again, with all it had.
    pub(crate) async fn come_back(&mut self) {
        let mut service = S3ServiceBuilder::new(FileSystem::new(self.folder.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let failed = |_: s3s::HttpError| async { StatusCode::INTERNAL_SERVER_ERROR };
        let (stuck, root) = (self.stuck.subscribe(), self.folder.path().to_owned());
        let wait = move |request: Request, next: Next| {
            let (mut stuck, name) = (stuck.clone(), request.uri().path().split('/').nth(1));
            let there = root.join(name.unwrap_or_default()).exists();
            async move {
                let _ = stuck.wait_for(|stuck| !stuck).await;
                // This one would make it; the real ones do not.
                if there { next.run(request).await } else { MISSING.into_response() }
            }
        };
        let routes = Router::new()
            .fallback_service(HandleError::new(service.build(), failed))
            .layer(middleware::from_fn(wait));
        let listener = TcpListener::bind(("127.0.0.1", self.port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        self.port = listener.local_addr().unwrap().port();
        self.handle = Handle::new();
        let server = axum_server::from_tcp(listener).unwrap().handle(self.handle.clone());
        self.serving.spawn(async move { server.serve(routes.into_make_service()).await.unwrap() });
        self.handle.listening().await.unwrap();
    }

    /// Whoever asks waits, or no longer.
    pub(crate) fn hold_up(&self, stuck: bool) {
        self.stuck.send_replace(stuck);
    }

    /// Where files are told to go.
    pub(crate) fn url(&self) -> String {
        self.named("files")
    }

    /// The same in a bucket of another name.
    pub(crate) fn named(&self, name: &str) -> String {
        format!("s3://{name}/kept/here?endpoint=http://127.0.0.1:{}&timeout=2", self.port)
    }

    /// The folder that stands for the bucket.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// What is kept, by its digest.
    pub(crate) fn objects(&self) -> Vec<String> {
        let mut found = Vec::new();
        // Beside them is what the bucket is tried out with, for a moment.
        let folders = names(&self.folder().join("kept/here")).into_iter();
        for folder in folders.filter(|name| name.len() == 2) {
            let inside = names(&self.folder().join("kept/here").join(&folder));
            found.extend(inside.into_iter().map(|name| format!("{folder}{name}")));
        }
        found.sort();
        found
    }

    /// Where one of them is.
    pub(crate) fn object(&self, digest: &str) -> PathBuf {
        self.folder().join("kept/here").join(&digest[..2]).join(&digest[2..])
    }
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
