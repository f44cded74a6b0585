//! `GET /channels`, `POST /channels/validate`: what can be named in a call.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use dialects::a2h::{self, Medium};

use super::Answer;
use crate::http::{App, Shared};

pub(super) async fn channels(State(app): State<Shared>, headers: HeaderMap) -> Answer {
    app.a2h_agent(&headers)?;
    Ok(Json(a2h::channels(&app.a2h_media())).into_response())
}

pub(super) async fn validate(State(app): State<Shared>, headers: HeaderMap, body: Body) -> Answer {
    app.a2h_agent(&headers)?;
    let bytes = app.a2h_body(&headers, body).await?;
    Ok(Json(a2h::validated(&bytes, &app.a2h_media())?).into_response())
}

impl App {
    /// The media this server delivers to; its own inbox needs no name.
    fn a2h_media(&self) -> Vec<Medium> {
        let there = |medium: &Medium| self.notifier.channels.named(medium.as_str()).is_some();
        Medium::ALL.into_iter().filter(there).collect()
    }
}
