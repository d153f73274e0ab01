//! Routes: the page, a session as an event stream, and the commands of a page to its session.

use std::{collections::BTreeMap, convert::Infallible};

use axum::{
    Router,
    extract::{Path, Query, Request, State},
    middleware::{Next, from_fn},
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
use http::{
    StatusCode, Uri,
    header::{HOST, ORIGIN, REFERER},
    uri::Authority,
};
use serde::Serialize;
use tokio::sync::mpsc;

use super::{assets, sessions::Sessions};
use crate::{
    common::local_host::has_local_host,
    playground::{
        nodes::{NodeAction, NodesSettings},
        session::{FieldErrors, NamedAction, Settings},
    },
};

pub(crate) fn router(sessions: Sessions, is_loopback: bool) -> Router {
    let require_own_page = move |request: Request, next: Next| require_own_page(request, next, is_loopback);
    Router::new()
        .route("/scene", get(session))
        .route("/scenes/{id}/{command}", post(command))
        .route("/nodes", get(nodes))
        .route("/nodes/{id}/{command}", post(nodes_command))
        .layer(from_fn(require_own_page))
        .route("/", get(assets::index))
        .route("/{file}", get(assets::file))
        .with_state(sessions)
}

/// Only the playground's own page starts sessions: any other site that its user visits could occupy them all.
async fn require_own_page(request: Request, next: Next, is_loopback: bool) -> Response {
    match is_of_own_page(&request) && (!is_loopback || has_local_host(&request)) {
        true => next.run(request).await,
        false => (StatusCode::FORBIDDEN, "only the playground's own page may do this").into_response(),
    }
}

/// Browsers say whether a page of another site sends a request: to HTTPS and loopback addresses by `Sec-Fetch-Site`, to others by the
/// origin or the address of the page.
fn is_of_own_page(request: &Request) -> bool {
    let headers = request.headers();
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let mut pages = [ORIGIN, REFERER].into_iter().filter_map(|name| headers.get(name));
    pages.all(|page| {
        let page = Uri::try_from(page.as_bytes()).ok();
        page.is_some_and(|page| page.authority().map(Authority::as_str) == host)
    })
}

/// Runs the session of a URL for as long as the event stream is read.
async fn session(State(sessions): State<Sessions>, Query(query): Query<BTreeMap<String, String>>) -> Response {
    match Settings::parse(&query) {
        Ok(settings) => event_stream(events(sessions.start(settings))),
        Err(errors) => event_stream(stream::iter([invalid(&errors)])),
    }
}

/// Runs two nodes, likewise. Without a Redis, the page shows how to start the playground with one.
async fn nodes(State(sessions): State<Sessions>, Query(query): Query<BTreeMap<String, String>>) -> Response {
    if !sessions.has_redis() {
        return event_stream(stream::iter([event("no_redis", &())]));
    }
    match NodesSettings::parse(&query) {
        Ok(settings) => event_stream(events(sessions.start_nodes(settings))),
        Err(errors) => event_stream(stream::iter([invalid(&errors)])),
    }
}

async fn command(State(sessions): State<Sessions>, Path((id, command)): Path<(String, String)>) -> Response {
    match command.parse() {
        Ok(command) => sent(sessions.lanes.send(&id, command).await),
        Err(()) => unknown(&command),
    }
}

async fn nodes_command(State(sessions): State<Sessions>, Path((id, command)): Path<(String, String)>) -> Response {
    match NodeAction::parse(&command) {
        Some(action) => sent(sessions.nodes.send(&id, action).await),
        None => unknown(&command),
    }
}

fn sent(is_running: bool) -> Response {
    match is_running {
        true => StatusCode::NO_CONTENT.into_response(),
        false => (StatusCode::NOT_FOUND, "this session has ended").into_response(),
    }
}

fn unknown(command: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("there is no command {command:?}")).into_response()
}

/// The constants of a session that was started, then its frames.
fn events<I: Serialize, F: Serialize + Send + 'static>(
    started: Result<(I, mpsc::Receiver<F>), String>,
) -> impl Stream<Item = Event> + Send + 'static {
    let (first, frames) = match started {
        Ok((info, frames)) => (event("session", &info), Some(frames)),
        Err(message) => (invalid(&FieldErrors::from([("session", message)])), None),
    };
    let frames = stream::unfold(frames, async |frames| {
        let mut frames = frames?;
        Some((event("frame", &frames.recv().await?), Some(frames)))
    });
    stream::iter([first]).chain(frames)
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
