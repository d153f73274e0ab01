//! All reachable states of small buckets with leases: every order of requests, leases, spends, returns and losses, second by second.
//! Every spend is fed to the bucket without leases, which has to admit it.

use std::{collections::HashSet, time::Duration};

use crate::{
    algorithm::{Algorithm, AnyAlgorithm, Mark, State, TokenBucket},
    quota::{Cost, Quota},
    time::{Micros, SECOND},
};

/// Units that were charged at once. Who holds them makes no difference.
#[derive(Clone, Copy)]
struct Lease {
    units: Cost,
    mark: Mark,
}

#[derive(Clone)]
struct Situation {
    now: Micros,
    shared: State,
    /// The bucket without leases, charged by the spends.
    spends: State,
    leases: Vec<Lease>,
}

/// A bucket that refills by one per second.
struct Enumeration {
    unleased: AnyAlgorithm,
    shared: AnyAlgorithm,
    seconds: u64,
    max_units: Cost,
    /// Whether units are returned like a refund, up to the whole backlog.
    returns_like_refund: bool,
}

impl Enumeration {
    fn new(capacity: u32, seconds: u64, max_units: Cost) -> Option<Self> {
        let unleased = TokenBucket::with_capacity(Quota::per_second(1), capacity).to_any();
        Some(Self {
            unleased,
            shared: unleased.leased(seconds * SECOND)?,
            seconds,
            max_units,
            returns_like_refund: false,
        })
    }

    /// What distinguishes two situations, regardless of the time.
    fn identity(&self, situation: &Situation) -> (Duration, Duration, Vec<(Cost, u64)>) {
        let Situation {
            now,
            shared,
            spends,
            leases,
        } = situation;
        let level = |algorithm: &AnyAlgorithm, state| algorithm.peek(state, *now, 0).reset_after();
        let mut leases: Vec<_> = leases.iter().map(|lease| (lease.units, now - lease.mark.at)).collect();
        leases.sort_unstable();
        (level(&self.shared, shared), level(&self.unleased, spends), leases)
    }

    /// The number of situations; `None` if a spend exceeds the limit in one of them.
    fn situations(&self) -> Option<usize> {
        let start = Situation {
            now: 1_000_000 * SECOND,
            shared: State::Fresh,
            spends: State::Fresh,
            leases: Vec::new(),
        };
        let mut known = HashSet::from([self.identity(&start)]);
        let mut open = vec![start];
        while let Some(situation) = open.pop() {
            for next in self.next(&situation) {
                let next = next?;
                if known.insert(self.identity(&next)) {
                    open.push(next);
                }
            }
        }
        Some(known.len())
    }

    /// Everything that can happen next; `None` for a spend that exceeds the limit.
    fn next(&self, situation: &Situation) -> Vec<Option<Situation>> {
        let mut all = Vec::new();
        // A second passes. Units that cannot be spent any more are returned within a second, or lost.
        let mut later = situation.clone();
        later.now += SECOND;
        later
            .leases
            .retain(|lease| later.now - lease.mark.at <= (self.seconds + 1) * SECOND);
        all.push(Some(later));
        for units in 1..=self.max_units {
            // A request.
            let mut request = situation.clone();
            if self.shared.acquire(&mut request.shared, request.now, units).1.is_some() {
                all.push(self.spend(request, units));
            }
            // A lease.
            let mut lease = situation.clone();
            if lease.leases.len() < 3
                && let (_, Some(mark)) = self.shared.acquire(&mut lease.shared, lease.now, units)
            {
                lease.leases.push(Lease { units, mark });
                all.push(Some(lease));
            }
        }
        for (index, lease) in situation.leases.iter().enumerate() {
            if situation.now - lease.mark.at <= self.seconds * SECOND {
                let mut spent = situation.clone();
                spent.leases[index].units -= 1;
                spent.leases.retain(|lease| lease.units > 0);
                all.push(self.spend(spent, 1));
            }
            let mut returned = situation.clone();
            let Lease { units, mark } = returned.leases.remove(index);
            let mark = match self.returns_like_refund {
                true => mark,
                false => self.shared.return_mark(mark, units),
            };
            self.shared.refund(&mut returned.shared, returned.now, mark, units);
            all.push(Some(returned));
        }
        all
    }

    fn spend(&self, mut situation: Situation, units: Cost) -> Option<Situation> {
        let (_, mark) = self.unleased.acquire(&mut situation.spends, situation.now, units);
        mark.map(|_| situation)
    }
}

#[test]
fn small_buckets_never_admit_too_much() {
    for capacity in 2..=8 {
        for seconds in 1..=3 {
            for max_units in 1..=3 {
                if let Some(enumeration) = Enumeration::new(capacity, seconds, max_units) {
                    let situations = enumeration.situations();
                    assert!(
                        situations.is_some_and(|count| count > 10),
                        "{capacity} {seconds} {max_units}"
                    );
                }
            }
        }
    }
}

#[test]
fn mistakes_are_found() {
    let enumeration = || Enumeration::new(8, 3, 3).expect("it leaves room");
    assert_eq!(
        Enumeration {
            returns_like_refund: true,
            ..enumeration()
        }
        .situations(),
        None
    );
    let unleased = enumeration().unleased;
    assert_eq!(
        Enumeration {
            shared: unleased,
            ..enumeration()
        }
        .situations(),
        None
    );
    // The lease time is longer than the shared rule allows for.
    assert_eq!(
        Enumeration {
            seconds: 4,
            ..enumeration()
        }
        .situations(),
        None
    );
}
