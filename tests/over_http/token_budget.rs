//! A budget of tokens under a thousand streamed answers, a tenth of which break off.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, Request},
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::{StreamExt, future, stream};
use tokio::task::yield_now;
use tollgate::{
    BodyMeter, FixedWindow, Global, JsonUsage, Key, Limit, Quota, RateLimitLayer, SentBody, Tier, UsageMeter,
};

use support::random::Random;

use crate::over_http::fixture::{Server, TestStore, on_both_stores, yield_until};

on_both_stores![a_budget_is_never_exceeded_and_ends_at_what_was_used];

const ANSWERS: usize = 1000;
const CLIENTS: usize = 40;

/// An answer, and what is known about it in advance.
#[derive(Clone, Copy)]
struct Answer {
    /// An upper bound of the tokens of the prompt.
    prompt_estimate: u64,
    prompt: u64,
    max_tokens: u64,
    tokens: u64,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Complete,
    /// The stream fails after some events.
    Fails(u64),
    /// The client disconnects after some events.
    Disconnects(u64),
}

impl Answer {
    fn reserved(&self) -> u64 {
        self.prompt_estimate + self.max_tokens
    }

    /// What it costs at the end: its usage, or by estimate one token for each event.
    fn cost(&self) -> u64 {
        match self.end {
            End::Complete => self.prompt + self.tokens,
            End::Fails(events) | End::Disconnects(events) => self.prompt_estimate + events,
        }
    }
}

fn answers() -> Vec<Answer> {
    let mut random = Random::seeded(7);
    let answer = |index| {
        let (prompt, tokens) = (1 + random.below(50), 1 + random.below(100));
        let events = random.below(tokens);
        Answer {
            prompt_estimate: prompt + random.below(20),
            prompt,
            max_tokens: tokens + random.below(100),
            tokens,
            end: match index % 20 {
                3 => End::Fails(events),
                13 => End::Disconnects(events),
                _ => End::Complete,
            },
        }
    };
    (0..ANSWERS).map(answer).collect()
}

/// What is reserved by answers in progress plus what was used by those that have ended, and the most of it at any time.
#[derive(Default)]
struct Tally(Mutex<(u64, u64)>);

impl Tally {
    fn change(&self, from: u64, to: u64) {
        let (sum, most) = &mut *self.0.lock().unwrap();
        *sum = *sum + to - from;
        *most = (*most).max(*sum);
    }
}

/// Settles to the usage, or to the estimate for an answer that breaks off.
struct Meter {
    usage: UsageMeter,
    answer: Answer,
    tally: Arc<Tally>,
}

impl BodyMeter for Meter {
    fn read(&mut self, data: &[u8]) {
        self.usage.read(data);
    }

    fn cost(&self, sent: &SentBody) -> Option<u64> {
        let estimate = self.answer.prompt_estimate + self.usage.events();
        let cost = self.usage.cost(sent).unwrap_or(estimate.min(sent.charged()));
        // Before the store refunds the difference, and another answer begins.
        self.tally.change(self.answer.reserved(), cost);
        Some(cost)
    }
}

/// One event per token, and a last one with the usage.
fn stream_of(answer: Answer) -> Response {
    let usage = answer.prompt + answer.tokens;
    let usage = format!("data: {{\"usage\":{{\"total_tokens\":{usage}}}}}\n\ndata: [DONE]\n\n");
    let (events, last) = match answer.end {
        End::Complete => (answer.tokens, Some(Ok(usage))),
        End::Fails(events) => (events, Some(Err("it broke"))),
        End::Disconnects(events) => (events, None),
    };
    let tokens = (0..events).map(|n| Some(Ok(format!("data: {{\"token\":{n}}}\n\n"))));
    // Answers alternate, and the server sends each event before it sees the next.
    let events = stream::iter(tokens.chain([last])).then(async |event| {
        yield_now().await;
        match event {
            Some(event) => event,
            None => future::pending().await,
        }
    });
    let body = Body::from_stream(events);
    ([("content-type", "text/event-stream")], Extension(answer), body).into_response()
}

/// Reads an answer. Returns whether it was admitted.
async fn read(server: &Server, index: usize, answer: Answer) -> bool {
    let mut response = server.request(&format!("/{index}")).send().await.unwrap();
    if response.status() == 429 {
        return false;
    }
    let mut text = Vec::new();
    loop {
        let events = text.windows(2).filter(|end| end == b"\n\n").count() as u64;
        if answer.end == End::Disconnects(events) {
            return true;
        }
        match response.chunk().await {
            Ok(Some(chunk)) => text.extend_from_slice(&chunk),
            Ok(None) => {
                assert_eq!((answer.end == End::Complete, events), (true, answer.tokens + 2));
                return true;
            }
            Err(_) => {
                assert!(matches!(answer.end, End::Fails(_)));
                return true;
            }
        }
    }
}

async fn a_budget_is_never_exceeded_and_ends_at_what_was_used<St: TestStore>() {
    let answers: Arc<[Answer]> = answers().into();
    let cost: u64 = answers.iter().map(Answer::cost).sum();
    let largest = answers.iter().map(Answer::reserved).max().unwrap();
    // The last answer is admitted if it is alone.
    let budget = cost + largest;
    let window = || FixedWindow::new(Quota::per_hour(budget as u32)).anchored();

    let ((store, _), tally) = (St::fresh(), Arc::new(Tally::default()));
    let of_request = {
        let answers = Arc::clone(&answers);
        move |request: &Request| answers[request.uri().path()[1..].parse::<usize>().unwrap()].reserved()
    };
    let (usage, metered) = (JsonUsage::openai(), Arc::clone(&tally));
    let tokens = Tier::new("tokens", window(), Global)
        .cost(of_request)
        .meter_body(move |response: &Response| Meter {
            usage: usage.meter(response.headers()),
            answer: *response.extensions().get::<Answer>().unwrap(),
            tally: Arc::clone(&metered),
        });
    let handler = {
        let (answers, tally) = (Arc::clone(&answers), Arc::clone(&tally));
        async move |Path(index): Path<usize>| {
            tally.change(0, answers[index].reserved());
            stream_of(answers[index])
        }
    };
    let app = Router::new().route("/{index}", get(handler));
    let server = Arc::new(Server::start(app.layer(RateLimitLayer::new(tokens, store.clone()))).await);

    let (next, denied) = (AtomicUsize::new(0), AtomicU64::new(0));
    let client = async || loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(&answer) = answers.get(index) else {
            break;
        };
        while !read(&server, index, answer).await {
            denied.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    };
    future::join_all((0..CLIENTS).map(|_| client())).await;

    let limit = Limit::new("tokens", window());
    yield_until(async || store.left(&limit, &Key::GLOBAL).await == largest).await;
    let (sum, most) = *tally.0.lock().unwrap();
    assert_eq!(sum, cost);
    assert!(most <= budget, "{most} of {budget} were reserved or used");
    // The budget was short, or it could not have been exceeded.
    assert!(denied.load(Ordering::Relaxed) > 0);
}
