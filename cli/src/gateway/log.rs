//! What is logged: only what tollgate and the gateway have to say, not what each of their libraries does.

use tracing::{level_filters::LevelFilter, subscriber};
use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt, registry};

pub(crate) fn start(level: LevelFilter) {
    let ours = Targets::new()
        .with_target("tollgate", level)
        .with_target("gateway", level);
    let lines = fmt::layer().with_writer(std::io::stderr);
    let log = registry().with(lines).with(ours);
    subscriber::set_global_default(log).expect("nobody else has set one");
}
