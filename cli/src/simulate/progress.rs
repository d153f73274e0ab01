//! How far it is, for whoever waits, and how fast it was.

use std::{
    io::{IsTerminal, stdout},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    common::grouped::grouped,
    simulate::{input::Input, numbers::lines},
};

/// The clock is looked at once in so many lines: often enough for Redis, and seldom enough for memory.
const LINES: u64 = 256;
const FRAME: Duration = Duration::from_millis(100);

pub(crate) struct Progress {
    began: Instant,
    drawn: Instant,
    bar: ProgressBar,
    quiet: bool,
}

impl Progress {
    /// Of a run that writes nothing before its end.
    pub(crate) fn of_a_report(input: &Input, quiet: bool) -> Self {
        Self::new(input, ProgressDrawTarget::stderr(), quiet)
    }

    /// Of a run that writes all the time. On a terminal the answers themselves tell how far it is.
    pub(crate) fn of_answers(input: &Input, quiet: bool) -> Self {
        match stdout().is_terminal() {
            true => Self::new(input, ProgressDrawTarget::hidden(), quiet),
            false => Self::of_a_report(input, quiet),
        }
    }

    fn new(input: &Input, target: ProgressDrawTarget, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { target };
        let template = match input.size() {
            Some(_) => "{bar:40} {percent:>3} %  {msg}  {eta} to go",
            None => "{spinner} {msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is sound");
        let bar = ProgressBar::with_draw_target(input.size(), target).with_style(style);
        let began = Instant::now();
        let drawn = began;
        Self {
            began,
            drawn,
            bar,
            quiet,
        }
    }

    /// After each line.
    pub(crate) fn keep(&mut self, input: &Input) {
        if input.lines().is_multiple_of(LINES) && self.drawn.elapsed() >= FRAME {
            self.drawn = Instant::now();
            self.bar.set_message(self.told(input));
            self.bar.set_position(input.read());
        }
    }

    /// Says something meanwhile.
    pub(crate) fn warn(&self, words: &str) {
        self.bar.suspend(|| eprintln!("{words}"));
    }

    /// At the end.
    pub(crate) fn tell(&self, input: &Input) {
        self.bar.finish_and_clear();
        if self.quiet {
            return;
        }
        let seconds = self.began.elapsed().as_secs_f64();
        let (lines, rate) = (lines(input.lines()), grouped(self.rate(input)));
        eprintln!("{lines} in {seconds:.2} s: {rate} a second");
    }

    fn told(&self, input: &Input) -> String {
        let (lines, rate) = (lines(input.lines()), grouped(self.rate(input)));
        format!("{lines}, {rate} a second")
    }

    fn rate(&self, input: &Input) -> u64 {
        (input.lines() as f64 / self.began.elapsed().as_secs_f64().max(1e-6)).round() as u64
    }
}
