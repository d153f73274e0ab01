//! Who answers what: the page, a scene as server-sent events, and the commands that a page sends to its scene.

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

use super::{page, scenes::Scenes};
use crate::playground::scene::{Settings, Wrong};

pub(crate) fn router(scenes: Scenes) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/{file}", get(page::file))
        .route("/scene", get(scene))
        .route("/scenes/{id}/{command}", post(command))
        .with_state(scenes)
}

/// Plays the scene that the address describes, for as long as somebody listens.
async fn scene(State(scenes): State<Scenes>, Query(given): Query<BTreeMap<String, String>>) -> Response {
    let settings = match Settings::read(&given) {
        Ok(settings) => settings,
        Err(wrong) => return sse(stream::iter([refusal(&wrong)])),
    };
    match scenes.play(settings) {
        Ok((opening, frames)) => {
            let frames = stream::unfold(frames, async |mut frames| Some((frames.recv().await?, frames)));
            let frames = frames.map(|frame| event("frame", &frame));
            sse(stream::iter([event("scene", &opening)]).chain(frames))
        }
        Err(why) => sse(stream::iter([refusal(&Wrong::from([("scene", why)]))])),
    }
}

async fn command(State(scenes): State<Scenes>, Path((id, command)): Path<(String, String)>) -> Response {
    let Ok(command) = command.parse() else {
        return (StatusCode::NOT_FOUND, format!("there is no command {command:?}")).into_response();
    };
    match scenes.tell(&id, command).await {
        true => StatusCode::NO_CONTENT.into_response(),
        false => (StatusCode::NOT_FOUND, "this scene is over").into_response(),
    }
}

/// A stream that only fails is still a stream: a browser shows no other answer's words to the page.
fn refusal(wrong: &Wrong) -> Event {
    event("wrong", wrong)
}

fn event(name: &str, data: &impl Serialize) -> Event {
    let data = serde_json::to_string(data).expect("what is told has nothing that JSON has not");
    Event::default().event(name).data(data)
}

fn sse(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, Infallible>);
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
