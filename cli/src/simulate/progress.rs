//! The progress bar, and the throughput at the end.

use std::{
    io::{IsTerminal, stdout},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{format::lines, input::Input};
use crate::common::grouped::grouped;

/// The clock is read once per this many lines: often enough with Redis, rarely enough in memory.
const LINES_PER_CLOCK_READ: u64 = 256;
const MIN_DRAW_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct Progress {
    start: Instant,
    last_drawn: Instant,
    bar: ProgressBar,
    quiet: bool,
}

impl Progress {
    /// For a run that prints its result at the end.
    pub(crate) fn of_log(input: &Input, quiet: bool) -> Self {
        Self::new(input, ProgressDrawTarget::stderr(), quiet)
    }

    /// For a run that prints continuously. On a terminal, its output shows the progress.
    pub(crate) fn of_trace(input: &Input, quiet: bool) -> Self {
        match stdout().is_terminal() {
            true => Self::new(input, ProgressDrawTarget::hidden(), quiet),
            false => Self::of_log(input, quiet),
        }
    }

    fn new(input: &Input, target: ProgressDrawTarget, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { target };
        let template = match input.size() {
            Some(_) => "{bar:40} {percent:>3} %  {msg}  {eta} to go",
            None => "{spinner} {msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        let bar = ProgressBar::with_draw_target(input.size(), target).with_style(style);
        let start = Instant::now();
        Self {
            start,
            last_drawn: start,
            bar,
            quiet,
        }
    }

    /// Redraws the bar if it is due. Call it after each line.
    pub(crate) fn update(&mut self, input: &Input) {
        if input.lines().is_multiple_of(LINES_PER_CLOCK_READ) && self.last_drawn.elapsed() >= MIN_DRAW_INTERVAL {
            self.last_drawn = Instant::now();
            let (lines, rate) = (lines(input.lines()), grouped(self.rate(input)));
            self.bar.set_message(format!("{lines}, {rate} a second"));
            self.bar.set_position(input.bytes_read());
        }
    }

    /// Prints a warning above the bar.
    pub(crate) fn warn(&self, message: &str) {
        self.bar.suspend(|| eprintln!("{message}"));
    }

    /// Removes the bar and prints the throughput.
    pub(crate) fn finish(&self, input: &Input) {
        self.bar.finish_and_clear();
        if self.quiet {
            return;
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let (lines, rate) = (lines(input.lines()), grouped(self.rate(input)));
        eprintln!("{lines} in {seconds:.2} s: {rate} a second");
    }

    fn rate(&self, input: &Input) -> u64 {
        (input.lines() as f64 / self.start.elapsed().as_secs_f64().max(1e-6)).round() as u64
    }
}
