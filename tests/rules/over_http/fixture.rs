//! An app behind a rules file, on each store and a manual clock.

use axum::{Router, routing::any};
use tollgate::{Decision, ManualClock, RuleSet, RulesLayer};

pub(crate) use support::{
    each_store::{NOW, TestStore, on_both_stores},
    http::{NOTHING, Reply, Server},
    wait::yield_until,
};

/// The algorithm whose responses are the easiest to predict.
pub(crate) const PER_MINUTE: &str = "algorithm = \"fixed_window\"\nlimit = 10\nwindow = \"1m\"\n";

/// A limit of ten per minute, with more fields.
pub(crate) fn ten(name: &str, more: &str) -> String {
    format!("[[limit]]\nname = \"{name}\"\n{PER_MINUTE}{more}\n")
}

/// The test's own client is the only proxy, and is trusted to set these headers.
pub(crate) const TRUST: &str = "[trust]\nproxies = [\"127.0.0.1/32\"]\nheaders = [\"x-plan\", \"x-cost\"]\n";

/// The test's own client is not a proxy.
pub(crate) const TRUST_OTHERS: &str = "[trust]\nproxies = [\"10.0.0.0/8\"]\nheaders = [\"x-plan\", \"x-cost\"]\n";

#[track_caller]
pub(crate) fn rules(file: &str) -> RuleSet {
    RuleSet::parse(file).unwrap_or_else(|error| panic!("{error}\n{file}"))
}

/// Responds with the tiers that the request was charged in, one per line: `name key, n left`.
pub(crate) fn decision_app() -> Router {
    let handler = async |decision: Decision| {
        let tiers = decision.tiers().iter().map(|tier| {
            let left = tier.verdict().remaining();
            format!("{} {}, {left} left", tier.limit().name(), tier.key())
        });
        tiers.collect::<Vec<_>>().join("\n")
    };
    Router::new().route("/users/{id}", any(handler)).fallback(any(handler))
}

/// The app behind these rules.
pub(crate) async fn serve<St: TestStore>(file: &str) -> (Server, St, ManualClock) {
    let (store, clock) = St::fresh();
    let app = decision_app().layer(RulesLayer::new(rules(file), store.clone()));
    (Server::start(app).await, store, clock)
}

/// Sends a request for this path with these headers.
pub(crate) async fn send(server: &Server, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = server.request(path);
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    Reply::to(request).await
}
