//! Sends requests through the layer, holds those that are queued, and reports the lane's state.

use std::{collections::VecDeque, convert::Infallible, future::poll_fn, pin::Pin, task::Poll};

use futures_util::FutureExt;
use http::{Request, Response};
use tollgate::{
    AnyAlgorithm, CallKey, ConfigError, DecisionExtension, Global, Key, Limiter, ManualClock, Micros, Outcome, Permit,
    RateLimitLayer, Store, Tier, Verdict,
};
use tower::{Layer, Service, service_fn, util::BoxCloneSyncService};

use super::{
    drawing::DrawingInput,
    goodput::Goodput,
    responder::DecisionResponder,
    state::{LaneInfo, LaneState, LastResponse, OutcomeCounts, RequestResult},
    text,
};
use crate::{
    common::peak_count::PeakCount,
    playground::session::{Overload, Settings},
};

type LaneResponse = Response<String>;
type ResponseFuture = Pin<Box<dyn Future<Output = Result<LaneResponse, Infallible>> + Send>>;

pub(crate) struct Lane<St> {
    index: usize,
    /// The algorithm that decides: with a lease, the stricter one that nodes would share.
    algorithm: AnyAlgorithm,
    settings: Settings,
    clock: ManualClock,
    service: BoxCloneSyncService<Request<()>, LaneResponse, Infallible>,
    /// The same limit on the same store, to peek.
    limiter: Limiter<St>,
    last_peek: Option<Verdict>,
    queued: Vec<ResponseFuture>,
    /// The slots of a concurrency limit that requests hold, and when these end, earliest first.
    held: VecDeque<(Micros, Permit)>,
    /// The times of admitted requests, for as long as an algorithm may need them.
    admitted: VecDeque<Micros>,
    peak_in_span: PeakCount,
    peak_in_window: PeakCount,
    counts: OutcomeCounts,
    /// Of the last overload.
    goodput: Option<Goodput>,
    /// The last response, until a frame has it.
    last_response: Option<LastResponse>,
}

impl<St: Store> Lane<St> {
    pub(crate) fn new(
        index: usize,
        algorithm: AnyAlgorithm,
        settings: &Settings,
        store: &St,
        clock: &ManualClock,
    ) -> Result<Self, ConfigError> {
        let name = algorithm.name();
        let tier = lease(Tier::try_new(name, algorithm, Global)?, settings)?;
        let call_tier = lease(Tier::try_new(name, algorithm, CallKey)?, settings)?;
        let shared = *tier.limit().algorithm();
        let layer = RateLimitLayer::new(tier, store.clone()).respond_with(DecisionResponder::default());
        Ok(Self {
            index,
            algorithm: shared,
            settings: settings.clone(),
            clock: clock.clone(),
            service: BoxCloneSyncService::new(layer.layer(service_fn(serve))),
            limiter: Limiter::new(call_tier, store.clone()),
            last_peek: None,
            queued: Vec::new(),
            held: VecDeque::new(),
            admitted: VecDeque::new(),
            peak_in_span: PeakCount::new(settings.span()),
            peak_in_window: PeakCount::new(settings.window_micros()),
            counts: OutcomeCounts::default(),
            goodput: None,
            last_response: None,
        })
    }

    pub(crate) fn info(&self) -> LaneInfo {
        let (title, description) = text::title_and_description(&self.algorithm);
        let name = self.algorithm.name();
        LaneInfo {
            name,
            title,
            description,
            limits_rate: self.algorithm.quota().is_some(),
        }
    }

    /// Counts what passes in each window of an overload that starts now.
    pub(crate) fn start_overload(&mut self, overload: Overload) {
        self.goodput = Some(Goodput::new(overload));
    }

    /// Sends a request now, and waits for its outcome.
    pub(crate) async fn send(&mut self) -> RequestResult {
        let now = self.clock.now();
        let delay = self.next_delay().await;
        let sleeps = self.clock.pending_sleeps();
        let mut response = self.service.call(Request::new(()));
        let outcome = poll_fn(|context| match response.poll_unpin(context) {
            Poll::Ready(Ok(response)) => Poll::Ready(Some(response)),
            // It sleeps in the queue, rather than waiting for the store.
            Poll::Pending if self.clock.pending_sleeps() > sleeps => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        let Some(mut response) = outcome.await else {
            self.counts.queued += 1;
            self.queued.push(response);
            self.record_admitted(now);
            self.set_last_response(text::queued(delay), String::new());
            return self.result(now, "queued", Some(now + delay));
        };
        if let Some(permit) = response.extensions_mut().remove::<Permit>() {
            self.held.push_back((now + self.settings.duration_micros(), permit));
        }
        let decision = response.extensions().get::<DecisionExtension>();
        let (outcome, passes_at) = match decision.map(|decision| (decision.is_unchecked(), decision.outcome())) {
            Some((false, Outcome::Admitted { .. })) => {
                self.counts.admitted += 1;
                self.record_admitted(now);
                ("admitted", Some(now))
            }
            Some((true, _)) => {
                self.counts.unchecked += 1;
                ("unchecked", Some(now))
            }
            _ => {
                self.counts.denied += 1;
                ("denied", None)
            }
        };
        passes_at.into_iter().for_each(|at| self.record_passed(at));
        self.set_last_response(
            text::summary(&self.algorithm, decision.map(|decision| &**decision)),
            text::response(&response),
        );
        self.result(now, outcome, passes_at)
    }

    /// The delay of the next request: a leaky bucket has to drain first.
    async fn next_delay(&mut self) -> Micros {
        if !matches!(self.algorithm, AnyAlgorithm::LeakyBucket(_)) {
            return 0;
        }
        match self.limiter.peek(&Key::GLOBAL).await {
            Ok(decision) => decision.tiers()[0].verdict().reset_after().as_micros() as Micros,
            Err(_) => 0,
        }
    }

    /// Completes the queued requests whose delay has elapsed.
    pub(crate) fn release_queued(&mut self) {
        let mut released = Vec::new();
        self.queued.retain_mut(|response| match response.now_or_never() {
            Some(Ok(response)) => {
                released.push(response);
                false
            }
            None => true,
        });
        for response in released {
            if let Some(decision) = response.extensions().get::<DecisionExtension>() {
                let delay = decision.delay().as_micros() as Micros;
                self.record_passed(decision.now() + delay);
                self.set_last_response(text::released(delay), text::response(&response));
            }
        }
    }

    /// When the next request ends that holds a slot.
    pub(crate) fn next_end(&self) -> Option<Micros> {
        self.held.front().map(|(end, _)| *end)
    }

    /// Ends the requests that hold slots until now.
    pub(crate) fn end_requests(&mut self, now: Micros) {
        while self.next_end().is_some_and(|end| end <= now) {
            self.held.pop_front();
        }
    }

    /// Reads the state of the limit from the store.
    pub(crate) async fn peek(&mut self) -> Result<(), String> {
        match self.limiter.peek(&Key::GLOBAL).await {
            Ok(decision) => {
                self.last_peek = Some(decision.tiers()[0].verdict());
                Ok(())
            }
            Err(error) => Err(error.into().to_string()),
        }
    }

    /// The state as of the last peek.
    pub(crate) fn state(&mut self, now: Micros) -> LaneState {
        let drawing = self.last_peek.map(|peek| self.drawing_input(now, peek).drawing());
        LaneState {
            drawing,
            counts: self.counts,
            max_in_span: self.peak_in_span.max(),
            max_in_window: self.peak_in_window.max(),
            explanation: match (self.counts.unchecked, &self.goodput) {
                (0, None) => text::explanation(&self.algorithm, &self.settings, self.peak_in_window.max()),
                (0, Some(goodput)) => text::overload(&self.algorithm, &self.settings, goodput, now),
                (count, _) => text::unchecked(count),
            },
            last: self.last_response.take(),
        }
    }

    /// Deletes the lane's key from the store.
    pub(crate) async fn delete_key(self) {
        // Queued requests refund their charge and slots are released when dropped, which must happen before the reset.
        drop((self.queued, self.held));
        self.limiter.reset(&Key::GLOBAL).await.ok();
    }

    fn drawing_input(&self, now: Micros, peek: Verdict) -> DrawingInput<'_> {
        DrawingInput {
            algorithm: &self.algorithm,
            settings: &self.settings,
            now,
            peek,
            admitted: &self.admitted,
            waiting: self.queued.len(),
            next_end: self.next_end(),
        }
    }

    fn record_admitted(&mut self, now: Micros) {
        self.admitted.push_back(now);
        // A sliding counter needs a window and one more sub-window, which is a window at most. The window of a leased log is longer
        // than that of the settings.
        let window = text::window_micros(&self.algorithm);
        let oldest = now.saturating_sub(2 * window);
        while self.admitted.front().is_some_and(|at| *at < oldest) {
            self.admitted.pop_front();
        }
    }

    fn record_passed(&mut self, at: Micros) {
        self.peak_in_span.add(at);
        self.peak_in_window.add(at);
        self.goodput.iter_mut().for_each(|goodput| goodput.add(at));
    }

    fn set_last_response(&mut self, summary: String, response: String) {
        self.last_response = Some(LastResponse { summary, response });
    }

    fn result(&self, at: Micros, outcome: &'static str, passes_at: Option<Micros>) -> RequestResult {
        RequestResult {
            lane: self.index,
            at,
            outcome,
            passes_at,
        }
    }
}

/// Responds at once, and hands out the permit of a request that takes longer in simulated time.
async fn serve(mut request: Request<()>) -> Result<LaneResponse, Infallible> {
    let mut response = LaneResponse::default();
    if let Some(permit) = request.extensions_mut().remove::<Permit>() {
        response.extensions_mut().insert(permit);
    }
    Ok(response)
}

/// The tier with the lease of the settings, if there is one.
fn lease<K>(tier: Tier<AnyAlgorithm, K>, settings: &Settings) -> Result<Tier<AnyAlgorithm, K>, ConfigError> {
    match settings.lease_time() {
        Some(time) => tier.try_lease(time),
        None => Ok(tier),
    }
}
