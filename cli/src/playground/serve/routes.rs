//! Routes: the page, a session as an event stream, and the commands of a page to its session.

use std::{collections::BTreeMap, convert::Infallible};

use axum::{
    Router,
    extract::{Path, Query, State},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::{get, post},
};
use futures_util::{
    StreamExt,
    stream::{self, Stream},
};
use http::StatusCode;
use serde::Serialize;

use super::{assets, sessions::Sessions};
use crate::playground::session::{FieldErrors, Settings};

pub(crate) fn router(sessions: Sessions) -> Router {
    Router::new()
        .route("/", get(assets::index))
        .route("/{file}", get(assets::file))
        .route("/scene", get(session))
        .route("/scenes/{id}/{command}", post(command))
        .with_state(sessions)
}

/// Runs the session of a URL for as long as the event stream is read.
async fn session(State(sessions): State<Sessions>, Query(query): Query<BTreeMap<String, String>>) -> Response {
    let settings = match Settings::parse(&query) {
        Ok(settings) => settings,
        Err(errors) => return event_stream(stream::iter([invalid(&errors)])),
    };
    match sessions.start(settings) {
        Ok((info, frames)) => {
            let frames = stream::unfold(frames, async |mut frames| Some((frames.recv().await?, frames)));
            let frames = frames.map(|frame| event("frame", &frame));
            event_stream(stream::iter([event("session", &info)]).chain(frames))
        }
        Err(message) => event_stream(stream::iter([invalid(&FieldErrors::from([("session", message)]))])),
    }
}

async fn command(State(sessions): State<Sessions>, Path((id, command)): Path<(String, String)>) -> Response {
    let Ok(command) = command.parse() else {
        return (StatusCode::NOT_FOUND, format!("there is no command {command:?}")).into_response();
    };
    match sessions.send(&id, command).await {
        true => StatusCode::NO_CONTENT.into_response(),
        false => (StatusCode::NOT_FOUND, "this session has ended").into_response(),
    }
}

/// Sent as an event, because `EventSource` does not expose the body of an error response.
fn invalid(errors: &FieldErrors) -> Event {
    event("invalid", errors)
}

fn event(name: &str, data: &impl Serialize) -> Event {
    let data = serde_json::to_string(data).expect("events can be serialized");
    Event::default().event(name).data(data)
}

fn event_stream(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, Infallible>);
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
