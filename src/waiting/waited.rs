//! How long somebody has waited.

use std::time::Duration;

use crate::{clock::Clock, limit::Limit, time::Micros};

/// A request that a limit holds back, in a queue or in a line. When that is over it is measured, also if the client has left.
#[derive(Debug)]
pub(crate) struct Waited {
    limit: Limit,
    clock: Clock,
    since: Micros,
}

impl Waited {
    pub(crate) fn begin(clock: &Clock, limit: &Limit) -> Self {
        Self {
            limit: limit.clone(),
            since: clock.now(),
            clock: clock.clone(),
        }
    }
}

impl Drop for Waited {
    fn drop(&mut self) {
        let time = self.clock.now().saturating_sub(self.since);
        self.limit.measures().held(Duration::from_micros(time));
    }
}
