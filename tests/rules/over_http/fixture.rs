//! An app behind a rules file, on each store and a clock of the test's.

use axum::{Router, routing::any};
use tollgate::{Decision, ManualClock, RateLimitLayer, RuleSet};

pub(crate) use support::{
    each_store::{NOW, TestStore, on_both_stores},
    http::{NOTHING, Reply, Server},
    patience::yielding,
};

/// The algorithm whose answers are the easiest to count by.
pub(crate) const PER_MINUTE: &str = "algorithm = \"fixed_window\"\nlimit = 10\nwindow = \"1m\"\n";

/// A limit of ten a minute, and what else there is to say.
pub(crate) fn ten(name: &str, more: &str) -> String {
    format!("[[limit]]\nname = \"{name}\"\n{PER_MINUTE}{more}\n")
}

/// The test's own client is the only proxy, and is believed for these headers.
pub(crate) const TRUST: &str = "[trust]\nproxies = [\"127.0.0.1/32\"]\nheaders = [\"x-plan\", \"x-cost\"]\n";

/// The test's own client is no proxy.
pub(crate) const TRUST_OTHERS: &str = "[trust]\nproxies = [\"10.0.0.0/8\"]\nheaders = [\"x-plan\", \"x-cost\"]\n";

#[track_caller]
pub(crate) fn rules(file: &str) -> RuleSet {
    RuleSet::parse(file).unwrap_or_else(|error| panic!("{error}\n{file}"))
}

/// Answers whatever it is asked with the tiers that it was charged in: `name key, so many left`, one to a line.
pub(crate) fn telling() -> Router {
    let handler = async |decision: Decision| {
        let tiers = decision.tiers().iter().map(|tier| {
            let left = tier.verdict().remaining();
            format!("{} {}, {left} left", tier.limit().name(), tier.key())
        });
        tiers.collect::<Vec<_>>().join("\n")
    };
    Router::new().route("/users/{id}", any(handler)).fallback(any(handler))
}

/// That app behind these rules.
pub(crate) async fn serve<St: TestStore>(file: &str) -> (Server, St, ManualClock) {
    let (store, clock) = St::fresh();
    let app = telling().layer(RateLimitLayer::rules(rules(file), store.clone()));
    (Server::start(app).await, store, clock)
}

/// A request for this path with these headers.
pub(crate) async fn ask(server: &Server, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = server.request(path);
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    Reply::to(request).await
}
