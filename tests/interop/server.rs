//! A server that allows one request in any second, and remembers whom it told what, and when.

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
use tollgate::{Global, HttpAnswers, ManualClock, MemoryStore, Micros, Quota, RateLimitLayer};

use support::http::{Headers, Server};

/// How the time goes on for a client that has been refused. Until then it goes by the requests, however slow the machine is.
#[derive(Clone, Copy)]
pub(crate) enum Time {
    /// As much as really goes by.
    Elapsed,
    /// By the calendar, for clients that are told a date.
    Calendar,
}

/// What a request was told (its status and `Retry-After`), and when it was decided.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) told: (u16, String),
    pub(crate) decided: Micros,
    answered: Instant,
}

pub(crate) struct Watched {
    server: Server,
    book: Arc<Book>,
}

struct Book {
    clock: ManualClock,
    time: Time,
    visits: Mutex<Vec<Visit>>,
}

impl Watched {
    pub(crate) async fn start(answers: HttpAnswers, time: Time) -> Self {
        let clock = ManualClock::at(calendar());
        let store = MemoryStore::builder().clock(clock.clone()).build();
        let limit = RateLimitLayer::sliding_log("client", Quota::per_second(1), Global, store).respond_with(answers);
        let visits = Mutex::default();
        let book = Arc::new(Book { clock, time, visits });
        let app = Router::new()
            .route("/", get(async || "hello"))
            .layer(limit)
            .layer(middleware::from_fn_with_state(book.clone(), watch));
        let server = Server::start(app).await;
        Self { server, book }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    pub(crate) fn visits(self) -> Vec<Visit> {
        std::mem::take(&mut *self.book.visits.lock().unwrap())
    }
}

async fn watch(State(book): State<Arc<Book>>, request: Request, next: Next) -> Response {
    book.arrive();
    let response = next.run(request).await;
    book.leave(&response);
    response
}

impl Book {
    /// Sets the clock that decides.
    fn arrive(&self) {
        let visits = self.visits.lock().unwrap();
        match (visits.last(), self.time) {
            (None, _) => {}
            // Timers count in whole milliseconds. So a second is named where a little less would do.
            (Some(Visit { told: (200, _), .. }), _) => self.clock.advance(Duration::from_millis(10)),
            (Some(refused), Time::Elapsed) => {
                self.clock.set(refused.decided);
                self.clock.advance(refused.answered.elapsed());
            }
            (Some(_), Time::Calendar) => self.clock.set(calendar()),
        }
    }

    fn leave(&self, response: &Response) {
        let retry_after = Headers(response.headers().clone()).line("retry-after");
        self.visits.lock().unwrap().push(Visit {
            told: (response.status().as_u16(), retry_after),
            decided: self.clock.now(),
            answered: Instant::now(),
        });
    }
}

fn calendar() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_micros().try_into().unwrap()
}
