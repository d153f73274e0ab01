//! Counts the admitted requests in a window of the limit's length, wherever it begins.

use std::time::Duration;

/// When an admitted request was sent and when its answer arrived, since any fixed instant. The limiter decided in between.
#[derive(Clone, Copy, Debug)]
pub struct Admitted {
    pub sent: Duration,
    pub answered: Duration,
}

/// The maximum number of requests that were sent and answered within one window: the limiter has admitted them in that window, whatever
/// its clock and the delays are. So a limiter that holds the limit in every window has never more than the limit.
pub fn certain(window: Duration, admitted: &[Admitted]) -> usize {
    let starts = admitted.iter().map(|request| request.sent);
    let within = |start: Duration| {
        let end = start + window;
        admitted
            .iter()
            .filter(|request| request.sent >= start && request.answered < end)
            .count()
    };
    starts.map(within).max().unwrap_or(0)
}

/// The maximum number of answers in one window: what a service behind the limiter sees. Unequal delays of the answers can move some
/// requests into a window that were not admitted in it.
pub fn seen(window: Duration, admitted: &[Admitted]) -> usize {
    let answers: Vec<_> = admitted
        .iter()
        .map(|request| Admitted {
            sent: request.answered,
            answered: request.answered,
        })
        .collect();
    certain(window, &answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_millis(1000);

    fn requests(times: &[(u64, u64)]) -> Vec<Admitted> {
        let times = times.iter().map(|&(sent, answered)| Admitted {
            sent: Duration::from_millis(sent),
            answered: Duration::from_millis(answered),
        });
        times.collect()
    }

    #[test]
    fn no_request_is_a_count_of_zero() {
        assert_eq!((certain(WINDOW, &[]), seen(WINDOW, &[])), (0, 0));
    }

    #[test]
    fn a_window_is_half_open() {
        let requests = requests(&[(0, 0), (999, 999), (1000, 1000)]);
        assert_eq!((certain(WINDOW, &requests), seen(WINDOW, &requests)), (2, 2));
    }

    #[test]
    fn the_maximum_is_found_wherever_the_window_begins() {
        let requests = requests(&[(0, 1), (900, 901), (950, 951), (1700, 1701), (1898, 1899), (5000, 5001)]);
        assert_eq!((certain(WINDOW, &requests), seen(WINDOW, &requests)), (4, 4));
    }

    #[test]
    fn a_request_that_crosses_the_end_of_the_window_is_not_certain() {
        // Decided at 1 ms and at 1001 ms, for example, which no window contains; the service sees both within 950 ms.
        let requests = requests(&[(0, 51), (1000, 1001)]);
        assert_eq!((certain(WINDOW, &requests), seen(WINDOW, &requests)), (1, 2));
    }

    #[test]
    fn a_request_that_takes_longer_than_the_window_is_never_certain() {
        let requests = requests(&[(0, 1000), (10, 1010), (20, 1020)]);
        assert_eq!((certain(WINDOW, &requests), seen(WINDOW, &requests)), (0, 3));
    }
}
