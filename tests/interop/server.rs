//! A server that admits one request per second, and records its responses.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{self, Next},
    response::Response,
    routing::get,
};
use tollgate::{Global, HttpResponder, ManualClock, MemoryStore, Micros, Quota, RateLimitLayer};

use support::http::{Headers, Server};

/// How the server's clock advances after a denial. Before that, it advances per request, independent of the machine's speed.
#[derive(Clone, Copy)]
pub(crate) enum Time {
    /// By the elapsed real time.
    Elapsed,
    /// To the system's time, for clients that receive a timestamp.
    System,
}

/// A response (its status and `Retry-After`), and the time of the decision.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) response: (u16, String),
    pub(crate) decided: Micros,
    answered: Instant,
}

pub(crate) struct RecordingServer {
    server: Server,
    recorder: Arc<Recorder>,
}

struct Recorder {
    clock: ManualClock,
    time: Time,
    exchanges: Mutex<Vec<Exchange>>,
}

impl RecordingServer {
    pub(crate) async fn start(answers: HttpResponder, time: Time) -> Self {
        let clock = ManualClock::at(system_time());
        let store = MemoryStore::builder().clock(clock.clone()).build();
        let limit = RateLimitLayer::sliding_log("client", Quota::per_second(1), Global, store).respond_with(answers);
        let exchanges = Mutex::default();
        let recorder = Arc::new(Recorder { clock, time, exchanges });
        let app = Router::new()
            .route("/", get(async || "hello"))
            .layer(limit)
            .layer(middleware::from_fn_with_state(recorder.clone(), record_exchange));
        let server = Server::start(app).await;
        Self { server, recorder }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    pub(crate) fn exchanges(self) -> Vec<Exchange> {
        std::mem::take(&mut *self.recorder.exchanges.lock().unwrap())
    }
}

async fn record_exchange(State(recorder): State<Arc<Recorder>>, request: Request, next: Next) -> Response {
    recorder.advance_clock();
    let response = next.run(request).await;
    recorder.record(&response);
    response
}

impl Recorder {
    fn advance_clock(&self) {
        let exchanges = self.exchanges.lock().unwrap();
        match (exchanges.last(), self.time) {
            (None, _) => {}
            // Client timers are not exact: with 10 ms elapsed, `Retry-After: 1` is more than the client has to wait.
            (Some(Exchange { response: (200, _), .. }), _) => self.clock.advance(Duration::from_millis(10)),
            (Some(denied), Time::Elapsed) => {
                self.clock.set(denied.decided);
                self.clock.advance(denied.answered.elapsed());
            }
            (Some(_), Time::System) => self.clock.set(system_time()),
        }
    }

    fn record(&self, response: &Response) {
        let retry_after = Headers(response.headers().clone()).line("retry-after");
        self.exchanges.lock().unwrap().push(Exchange {
            response: (response.status().as_u16(), retry_after),
            decided: self.clock.now(),
            answered: Instant::now(),
        });
    }
}

fn system_time() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_micros().try_into().unwrap()
}
