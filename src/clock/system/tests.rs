//! Tests of `system`.

use std::{ops::RangeInclusive, time::Instant};

use super::*;

fn system_nanos() -> i64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    time.as_nanos() as i64
}

fn system() -> u64 {
    system_nanos() as u64 / 1000
}

/// The range of the system time less the monotonic time, in nanoseconds: as narrow as a few readings allow.
fn offset(origin: Instant) -> RangeInclusive<i64> {
    let measure = || {
        let (before, system, after) = (origin.elapsed(), system_nanos(), origin.elapsed());
        system - after.as_nanos() as i64..=system - before.as_nanos() as i64
    };
    let ranges = (0..10).map(|_| measure());
    ranges.min_by_key(|range| range.end() - range.start()).unwrap()
}

/// Whether the system clock was set by more than a microsecond in between.
fn was_set(before: &RangeInclusive<i64>, after: &RangeInclusive<i64>) -> bool {
    after.start() - before.end() > 1000 || before.start() - after.end() > 1000
}

/// When the system clock is set, the counter follows at its next synchronization. Some machines set it often, in steps of half a
/// millisecond: what was read meanwhile is not compared.
#[test]
fn it_is_within_a_microsecond_of_the_system_clock() {
    let (origin, mut compared) = (Instant::now(), 0);
    while compared < 1000 {
        let offset_before = offset(origin);
        let synced = Instant::now() + Duration::from_nanos(2 * RESYNC_INTERVAL_NANOS);
        while Instant::now() < synced {
            now();
        }
        let readings = (0..1000).map(|_| [system(), now(), system()]);
        let is_off = |[before, now, after]: &[u64; 3]| *before > now + 1 || *now > after + 1;
        let off: Vec<_> = readings.filter(is_off).collect();
        if !was_set(&offset_before, &offset(origin)) {
            assert_eq!(off, [[0; 3]; 0]);
            compared += 1;
        }
    }
}
