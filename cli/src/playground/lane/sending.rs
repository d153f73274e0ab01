//! A lane: sends requests through the layer, keeps who is held back, and tells how it stands.

use std::{collections::VecDeque, convert::Infallible, future::poll_fn, pin::Pin, task::Poll};

use futures_util::FutureExt;
use http::{Request, Response};
use tollgate::{
    Decision, Global, Invalid, Key, Limiter, ManualClock, Micros, Outcome, RateLimitLayer, Rule, Store, Verdict,
};
use tower::{Layer, Service, service_fn, util::BoxCloneSyncService};

use super::{
    answers::Answers,
    drawing::Sight,
    passed::Passed,
    shown::{About, Counts, Said, Sent, Shown},
    words,
};
use crate::playground::scene::Settings;

type Answer = Response<String>;
type Answering = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

pub(crate) struct Lane<St> {
    place: usize,
    rule: Rule,
    settings: Settings,
    clock: ManualClock,
    service: BoxCloneSyncService<Request<()>, Answer, Infallible>,
    /// The same limit on the same store, to look without asking for anything.
    limiter: Limiter<St>,
    /// What a look has told last.
    seen: Option<Verdict>,
    held: Vec<Answering>,
    /// When requests were admitted, for as long as an algorithm may remember it.
    admitted: VecDeque<Micros>,
    passed: Passed,
    counts: Counts,
    /// What the last request was told, until a frame has told it.
    said: Option<Said>,
}

impl<St: Store> Lane<St> {
    pub(crate) fn new(
        place: usize,
        rule: Rule,
        settings: &Settings,
        store: &St,
        clock: &ManualClock,
    ) -> Result<Self, Invalid> {
        let behind = service_fn(async |_: Request<()>| Ok::<_, Infallible>(Answer::default()));
        let layer = RateLimitLayer::try_new(rule.name(), rule, Global, store.clone())?.respond_with(Answers::default());
        Ok(Self {
            place,
            rule,
            settings: settings.clone(),
            clock: clock.clone(),
            service: BoxCloneSyncService::new(layer.layer(behind)),
            limiter: Limiter::try_new(rule.name(), rule, store.clone())?,
            seen: None,
            held: Vec::new(),
            admitted: VecDeque::new(),
            passed: Passed::new(settings.span(), settings.window_micros()),
            counts: Counts::default(),
            said: None,
        })
    }

    pub(crate) fn about(&self) -> About {
        let (title, idea) = words::about(&self.rule);
        let name = self.rule.name();
        About { name, title, idea }
    }

    /// Sends a request now, and waits until it is known what becomes of it.
    pub(crate) async fn send(&mut self) -> Sent {
        let now = self.clock.now();
        let ahead = self.ahead().await;
        let waiting = self.clock.waiting();
        let mut answering = self.service.call(Request::new(()));
        let answered = poll_fn(|context| match answering.poll_unpin(context) {
            Poll::Ready(Ok(answer)) => Poll::Ready(Some(answer)),
            // It waits for the time, and not for the store.
            Poll::Pending if self.clock.waiting() > waiting => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        let Some(answer) = answered.await else {
            self.counts.queued += 1;
            self.held.push(answering);
            self.admit(now);
            self.tell(words::queued(ahead), String::new());
            return self.sent(now, "queued", Some(now + ahead));
        };
        let decision = answer.extensions().get::<Decision>();
        let (outcome, passes) = match decision.map(|decision| (decision.is_unchecked(), decision.outcome())) {
            Some((false, Outcome::Admitted { .. })) => {
                self.counts.admitted += 1;
                self.admit(now);
                ("admitted", Some(now))
            }
            Some((true, _)) => {
                self.counts.unchecked += 1;
                ("unchecked", Some(now))
            }
            _ => {
                self.counts.refused += 1;
                ("refused", None)
            }
        };
        passes.into_iter().for_each(|at| self.passed.add(at));
        self.tell(words::said(decision), words::answer(&answer));
        self.sent(now, outcome, passes)
    }

    /// For how long a request would be held: a bucket that leaks has to be empty before its turn comes.
    async fn ahead(&mut self) -> Micros {
        if !matches!(self.rule, Rule::LeakyBucket(_)) {
            return 0;
        }
        match self.limiter.peek(&Key::GLOBAL).await {
            Ok(decision) => decision.tiers()[0].verdict().reset_after().as_micros() as Micros,
            Err(_) => 0,
        }
    }

    /// Lets whoever's turn has come leave.
    pub(crate) fn see_off(&mut self) {
        let mut left = Vec::new();
        self.held.retain_mut(|answering| match answering.now_or_never() {
            Some(Ok(answer)) => {
                left.push(answer);
                false
            }
            None => true,
        });
        for answer in left {
            if let Some(decision) = answer.extensions().get::<Decision>() {
                let delay = decision.delay().as_micros() as Micros;
                self.passed.add(decision.now() + delay);
                self.tell(words::left(delay), words::answer(&answer));
            }
        }
    }

    /// Asks the store how the limit stands.
    pub(crate) async fn look(&mut self) -> Result<(), String> {
        match self.limiter.peek(&Key::GLOBAL).await {
            Ok(decision) => {
                self.seen = Some(decision.tiers()[0].verdict());
                Ok(())
            }
            Err(error) => Err(error.into().to_string()),
        }
    }

    /// How it stands, by the last look.
    pub(crate) fn shown(&mut self, now: Micros) -> Shown {
        let drawing = self.seen.map(|peek| self.sight(now, peek).drawing());
        Shown {
            drawing,
            counts: self.counts,
            most_in_span: self.passed.most_in_span(),
            most_in_window: self.passed.most_in_window(),
            why: match self.counts.unchecked {
                0 => words::why(&self.rule, &self.settings, self.passed.most_in_window()),
                count => words::unchecked(count),
            },
            said: self.said.take(),
        }
    }

    /// Deletes what it has written.
    pub(crate) async fn forget(self) {
        // Whoever is held gives its place back, and must not do so after that.
        drop(self.held);
        self.limiter.reset(&Key::GLOBAL).await.ok();
    }

    fn sight(&self, now: Micros, peek: Verdict) -> Sight<'_> {
        Sight {
            rule: &self.rule,
            settings: &self.settings,
            now,
            peek,
            admitted: &self.admitted,
            waiting: self.held.len(),
        }
    }

    fn admit(&mut self, now: Micros) {
        self.admitted.push_back(now);
        // A counter remembers one sub-window more than a window, and that is a window at most.
        let forgotten = now.saturating_sub(2 * self.settings.window_micros());
        while self.admitted.front().is_some_and(|at| *at < forgotten) {
            self.admitted.pop_front();
        }
    }

    fn tell(&mut self, said: String, answer: String) {
        self.said = Some(Said { said, answer });
    }

    fn sent(&self, at: Micros, outcome: &'static str, passes: Option<Micros>) -> Sent {
        let lane = self.place;
        Sent {
            lane,
            at,
            outcome,
            passes,
        }
    }
}
