//! How long a request waits, and what becomes of it.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use super::{
    room::{Spot, Ticket, WaitingRoom},
    waited::Waited,
};
use crate::{
    charge::Charges,
    clock::Clock,
    decision::Decision,
    leaving::Asking,
    store::Store,
    time::{Micros, micros},
};

/// How long requests wait, and where.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    pub(crate) max: Duration,
    pub(crate) room: Arc<WaitingRoom>,
}

/// A request that waits. It is on the heap, which what takes a while can afford.
pub(crate) type Waiting<St> = Pin<Box<dyn Future<Output = Result<Decision, <St as Store>::Error>> + Send>>;

/// Charges to wait for, and what is known of them.
struct Wait {
    charges: Charges,
    spot: Spot,
    /// What the store has just said of them, if it has been asked.
    told: Option<Decision>,
}

/// What comes of a turn at the head of a line.
enum Turn {
    /// The decision is the last.
    Over(Decision),
    /// It refuses, and for something that is waited for in another line.
    Elsewhere(Decision, Spot),
}

impl Patience {
    /// Waits behind those who already wait for what these are charged to, if anybody does.
    pub(crate) fn in_line<St: Store>(&self, store: &St, charges: &Charges) -> Option<Waiting<St>> {
        let wait = Wait {
            spot: self.room.line_for(charges)?,
            charges: charges.clone(),
            told: None,
        };
        Some(Box::pin(wait.until_admitted(store.clone(), self.clone())))
    }

    /// Asks, behind those who already wait, and waits for as long as it takes.
    pub(crate) async fn admitted<St: Store>(&self, store: &St, charges: Charges) -> Result<Decision, St::Error> {
        let waiting = match self.in_line(store, &charges) {
            Some(waiting) => waiting,
            None => match ask(store, charges).await? {
                decision if decision.admits() => return Ok(decision),
                refusal => match self.after(store, refusal.into()) {
                    Ok(waiting) => waiting,
                    Err(refusal) => return Ok(*refusal),
                },
            },
        };
        waiting.await
    }

    /// Waits after a refusal, if it promises a time that is worth waiting for.
    pub(crate) fn after<St: Store>(&self, store: &St, refusal: Box<Decision>) -> Result<Waiting<St>, Box<Decision>> {
        match (Spot::spent(&refusal), refusal.charges()) {
            (Some(spot), Some(charges)) if refusal.retry_after() <= Some(self.max) => {
                let wait = Wait {
                    spot,
                    charges,
                    told: Some(*refusal),
                };
                Ok(Box::pin(wait.until_admitted(store.clone(), self.clone())))
            }
            _ => Err(refusal),
        }
    }
}

impl Wait {
    /// The decision that admits the request, or the last one that did not.
    async fn until_admitted<St: Store>(mut self, store: St, patience: Patience) -> Result<Decision, St::Error> {
        let (clock, room) = (store.clock(), &patience.room);
        let until = clock.now().saturating_add(micros(patience.max));
        loop {
            let Some(ticket) = room.join(&self.spot, until) else {
                return self.turned_away(&store, room).await;
            };
            let _waited = Waited::begin(clock, self.spot.limit());
            let Some(_head) = before(until, clock, ticket.head()).await else {
                self.told = None;
                return self.turned_away(&store, room).await;
            };
            match self.at_the_head(&store, &ticket, until).await? {
                Turn::Over(decision) => return Ok(decision),
                Turn::Elsewhere(decision, spot) => {
                    self.told = Some(decision);
                    self.spot = spot;
                }
            }
        }
    }

    /// Asks, waits for as long as the store says, and asks again.
    async fn at_the_head<St: Store>(&mut self, store: &St, ticket: &Ticket, until: Micros) -> Result<Turn, St::Error> {
        // What was said before others left is out of date.
        let mut told = self.told.take().filter(|_| ticket.is_first());
        loop {
            let decision = match told.take() {
                Some(decision) => decision,
                None => ask(store, self.charges.clone()).await?,
            };
            let (Some(wait), Some(spent)) = (decision.retry_after(), Spot::spent(&decision)) else {
                return Ok(Turn::Over(decision));
            };
            let now = store.clock().now();
            if now.saturating_add(micros(wait)) > until {
                return Ok(Turn::Over(decision));
            }
            if spent != self.spot {
                return Ok(Turn::Elsewhere(decision, spent));
            }
            // Only what it really waits for concerns those behind it: else it leaves, and they may be luckier.
            ticket.tell(&decision, now);
            store.clock().sleep(wait).await;
        }
    }

    /// What the store has just said, or what the head of the line was told; else the store has to be asked.
    async fn turned_away<St: Store>(self, store: &St, room: &WaitingRoom) -> Result<Decision, St::Error> {
        let repeated = || room.refusal(&self.spot, &self.charges, store.clock().now());
        match self.told.or_else(repeated) {
            Some(refusal) => Ok(refusal),
            None => ask(store, self.charges).await,
        }
    }
}

/// Asks the store. If nobody waits for the answer any more, what was taken is given back.
async fn ask<St: Store>(store: &St, charges: Charges) -> Result<Decision, St::Error> {
    let mut asking = Asking::new(charges, Some(store.clone()));
    poll_fn(|context| asking.poll(store, context)).await
}

/// What comes of a future, if it comes in time.
async fn before<T>(until: Micros, clock: &Clock, future: impl Future<Output = T>) -> Option<T> {
    let left = Duration::from_micros(until.saturating_sub(clock.now()));
    let (mut future, mut timeout) = (pin!(future), pin!(clock.sleep(left)));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timeout.as_mut().poll(context).map(|()| None),
    })
    .await
}
