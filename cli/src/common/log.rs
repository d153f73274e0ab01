//! The log, on standard error: what tollgate does, without what each of its libraries does.

use std::io::stderr;

use anstream::AutoStream;
use tracing::{level_filters::LevelFilter, subscriber};
use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt, registry};

pub(crate) fn start(level: LevelFilter) {
    let ours = Targets::new().with_target("tollgate", level);
    let has_colours = AutoStream::choice(&stderr()) != anstream::ColorChoice::Never;
    let lines = fmt::layer().with_writer(stderr).with_ansi(has_colours);
    let log = registry().with(lines).with(ours);
    subscriber::set_global_default(log).expect("the log is started once");
}
