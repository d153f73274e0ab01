//! Flow control: when calls may be started, and how much work may be in flight.
//!
//! Two calls may be in flight at any time. A further one may be started every quarter of a millisecond, as long as that many intervals
//! fit in the least recent round trip. So a fast Redis gets few and large batches, and a distant one is kept busy.
//!
//! The work in flight is bounded once a round trip takes most of the timeout: Redis cannot keep up, or another client keeps it busy. The
//! bound then follows the round trip. Work in flight divided by the round trip is what Redis executes in that time, so the bound that
//! leads to the target round trip is known; below the target, the bound grows in proportion to the distance. A batch then takes between
//! an eighth and a fifth of the bound: smaller ones would cost Redis more per charge, and larger ones would let round trips vary.

use std::time::Duration;

use tokio::time::Instant;

/// The maximal weight of a batch, during which Redis serves no other client. A charge weighs 1, and takes a few microseconds.
const MAX_BATCH_WEIGHT: usize = 128;

/// The number of calls that may always be in flight: Redis receives the next one while it executes one.
const MIN_CALLS: usize = 2;

/// The interval between further calls.
const CALL_INTERVAL: Duration = Duration::from_micros(250);

/// While the work in flight is bounded, batches that are not full are sent this many times per timeout.
const BOUNDED_CALLS_PER_TIMEOUT: u32 = 16;

/// How often the largest batch fits in the bound, and the smallest one that is sent next to others.
const LARGEST_BATCHES_PER_BOUND: f64 = 5.0;
const SMALLEST_BATCHES_PER_BOUND: f64 = 8.0;

/// The least growth of the bound per round trip, as a share of it: without any, it would never reach the target.
const MIN_GROWTH: f64 = 1.0 / 16.0;

/// The least number of timeouts that a bound is kept for.
const BOUND_PERIODS: u32 = 10;

pub(super) struct FlowControl {
    timeout: Duration,
    /// The configured maximum of calls in flight.
    max_calls: Option<usize>,
    /// What was measured in the current period and in the previous one, each of which is one timeout long.
    periods: [Period; 2],
    period_started: Instant,
    last_reply: Option<Instant>,
    /// When a call was last started.
    last_start: Option<Instant>,
    /// The bound of the work in flight, once Redis could not keep up.
    max_weight: Option<f64>,
    /// When the bound was last decreased. Calls that were sent before do not decrease it again.
    decreased: Option<Instant>,
}

/// What was measured in one timeout.
#[derive(Clone, Copy, Default)]
struct Period {
    least_round_trip: Option<Duration>,
    /// The most work in flight.
    most_weight: usize,
}

impl FlowControl {
    pub(super) fn new(timeout: Duration, max_calls: Option<usize>, now: Instant) -> Self {
        Self {
            timeout,
            max_calls,
            periods: [Period::default(); 2],
            period_started: now,
            last_reply: None,
            last_start: None,
            max_weight: None,
            decreased: None,
        }
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The round trip above which the work in flight is decreased. The rest of the timeout is for the time in the queue, and for the
    /// variation of round trips.
    fn target(&self) -> Duration {
        self.timeout * 4 / 5
    }

    /// The least recent round trip. Without recent replies it is the last known one.
    fn least_round_trip(&self) -> Option<Duration> {
        self.periods.iter().filter_map(|period| period.least_round_trip).min()
    }

    /// Whether Redis replied within the last timeout. An older estimate of the round trip sheds no requests: otherwise one stall would
    /// shed requests for ever.
    pub(super) fn is_replying(&self, now: Instant) -> bool {
        let is_recent = |last| now.duration_since(last) < self.timeout;
        self.last_reply.is_some_and(is_recent)
    }

    /// The time that a request needs at least, once it is sent. Zero if it is not known.
    pub(super) fn needed_time(&self, now: Instant) -> Duration {
        let least = self.least_round_trip().filter(|_| self.is_replying(now));
        least.unwrap_or_default()
    }

    /// Whether requests with this time left are likely to expire in the queue: less than half of what the round trip leaves.
    pub(super) fn is_hopeless(&self, time_left: Duration, now: Instant) -> bool {
        let needed = self.needed_time(now);
        time_left < needed + self.timeout.saturating_sub(needed) / 2
    }

    /// When another call may be started, next to calls in flight and their weight. `None` if one of them has to return before.
    /// `is_queued` returns whether requests of a weight are queued.
    pub(super) fn next_start(
        &self,
        calls: usize,
        weight: usize,
        is_queued: impl Fn(usize) -> bool,
        now: Instant,
    ) -> Option<Instant> {
        let smallest_batch = |max: f64| (max / SMALLEST_BATCHES_PER_BOUND).max(1.0);
        if self
            .max_weight
            .is_some_and(|max| weight as f64 + smallest_batch(max) > max)
        {
            return None;
        }
        if let Some(max_calls) = self.max_calls {
            return (calls < max_calls).then_some(now);
        }
        if calls < MIN_CALLS {
            return Some(now);
        }
        let intervals = |round_trip: Duration| (round_trip.as_micros() / CALL_INTERVAL.as_micros()) as usize;
        if self
            .least_round_trip()
            .is_some_and(|least| calls >= MIN_CALLS + intervals(least))
        {
            return None;
        }
        let full = self.max_batch_weight(0);
        // A full batch is sent at once, or else the interval would bound the work, too.
        let is_full = || self.max_batch_weight(weight) == full && is_queued(full);
        let interval = match self.max_weight.is_none() || is_full() {
            true => CALL_INTERVAL,
            false => self.timeout / BOUNDED_CALLS_PER_TIMEOUT,
        };
        Some(self.last_start.map_or(now, |last| now.max(last + interval)))
    }

    /// The maximal weight of the next batch, next to work in flight.
    pub(super) fn max_batch_weight(&self, in_flight: usize) -> usize {
        let bounded =
            |max: f64| ((max / LARGEST_BATCHES_PER_BOUND) as usize).min((max as usize).saturating_sub(in_flight));
        self.max_weight.map_or(MAX_BATCH_WEIGHT, bounded).min(MAX_BATCH_WEIGHT)
    }

    pub(super) fn on_start(&mut self, now: Instant) {
        self.last_start = Some(now);
    }

    /// Records the reply to a call, which was sent when this much work was in flight, its own weight included.
    pub(super) fn on_reply(&mut self, round_trip: Duration, weight: usize, in_flight: usize, now: Instant) {
        let elapsed = now.duration_since(self.period_started);
        if elapsed >= self.timeout {
            let mut last = std::mem::take(&mut self.periods[0]);
            last.least_round_trip = last.least_round_trip.filter(|_| elapsed < 2 * self.timeout);
            // A bound that work has not approached is dropped, or else a burst would have to raise it first.
            let is_recent = self
                .decreased
                .is_some_and(|at| now.duration_since(at) < BOUND_PERIODS * self.timeout);
            self.max_weight = self
                .max_weight
                .filter(|max| is_recent || 2.0 * last.most_weight as f64 >= *max);
            self.periods[1] = last;
            self.period_started = now;
        }
        let least = &mut self.periods[0].least_round_trip;
        *least = Some(least.map_or(round_trip, |least| least.min(round_trip)));
        let most = &mut self.periods[0].most_weight;
        *most = in_flight.max(*most);
        self.last_reply = Some(now);
        let target = self.target();
        match round_trip > target {
            true => self.decrease(
                now - round_trip,
                in_flight as f64 * target.div_duration_f64(round_trip),
                now,
            ),
            false => self.increase(round_trip, weight, in_flight),
        }
    }

    /// Records a call without a reply.
    pub(super) fn on_silence(&mut self, sent: Instant, now: Instant) {
        // Before the first reply, a call takes longer: the connection is new, and the script has to be loaded.
        if self.last_reply.is_some() {
            self.decrease(sent, 0.0, now);
        }
    }

    /// Decreases the bound, once per round trip, and by half at most: the work in flight does not include calls that are given up,
    /// which Redis may still have to execute.
    fn decrease(&mut self, sent: Instant, weight: f64, now: Instant) {
        if self.decreased.is_none_or(|decreased| sent >= decreased) {
            let most = self.periods.map(|period| period.most_weight);
            let max = self
                .max_weight
                .unwrap_or(MAX_BATCH_WEIGHT.max(most[0]).max(most[1]) as f64);
            self.max_weight = Some(weight.clamp(max / 2.0, max).max(1.0));
            self.decreased = Some(now);
        }
    }

    /// Increases the bound, if work in flight was close to it: by up to half per round trip, and by less near the target.
    fn increase(&mut self, round_trip: Duration, weight: usize, in_flight: usize) {
        if let Some(max) = self.max_weight
            && in_flight as f64 * (LARGEST_BATCHES_PER_BOUND + 2.0) >= max
        {
            let target = self.target();
            let distance = (target - round_trip)
                .div_duration_f64(target - self.timeout / 2)
                .min(1.0);
            self.max_weight = Some(max + weight as f64 * (distance / 2.0).max(MIN_GROWTH));
        }
    }
}
