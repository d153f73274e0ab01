//! Envoy's rate limit API over gRPC, with the gRPC health service.

mod messages;
mod responder;
mod server;

use std::{future, time::Duration};

use tokio::{net::TcpListener, sync::watch, time::sleep};
use tollgate::{RuleSet, rules::DescriptorRequest};
use tonic::{
    Status,
    server::NamedService,
    transport::{Server, server::TcpIncoming},
};
use tonic_health::{
    ServingStatus,
    server::{HealthReporter, health_reporter},
};
use tower::service_fn;

use self::{messages::RateLimitResponse, responder::DescriptorResponder, server::RateLimitServer};
use super::metrics::ServiceMetrics;
use crate::server::{connection::TCP_KEEPALIVE_INTERVAL, shutdown_requested, store::ServerStore};

/// Calls of one connection at once. Each worker thread of Envoy opens one connection.
const MAX_CONCURRENT_STREAMS: u32 = 4096;

/// The names that the health service knows. The empty one is that of the whole server.
const HEALTH_NAMES: [&str; 2] = ["", RateLimitServer::NAME];

/// Serves until `shutdown`, and then drains calls in flight for at most `drain`.
pub(crate) async fn serve(
    listener: TcpListener,
    store: &ServerStore,
    rules: RuleSet,
    metrics: ServiceMetrics,
    shutdown: watch::Receiver<bool>,
    drain: Duration,
) {
    let admitted = service_fn(|_: DescriptorRequest| future::ready(Ok::<_, Status>(RateLimitResponse::default())));
    let limited = store.rate_limit(rules, DescriptorResponder::default(), admitted);
    let (reporter, health) = health_reporter();
    reporter.set_serving::<RateLimitServer>().await;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let server = Server::builder()
        .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
        .http2_keepalive_interval(Some(TCP_KEEPALIVE_INTERVAL))
        .add_service(health)
        .add_service(RateLimitServer::new(limited, metrics))
        .serve_with_incoming_shutdown(incoming, end_health(reporter, shutdown.clone()));
    let drained = async {
        shutdown_requested(shutdown).await;
        sleep(drain).await;
    };
    tokio::select! {
        _ = server => {}
        () = drained => tracing::warn!(
            target: "tollgate::server",
            "drain timeout elapsed: closing gRPC connections with calls in flight"
        ),
    }
}

/// Waits for the shutdown, and ends the watches of health clients, which would delay it: each gets a last status.
async fn end_health(mut reporter: HealthReporter, shutdown: watch::Receiver<bool>) {
    shutdown_requested(shutdown).await;
    for name in HEALTH_NAMES {
        reporter.set_service_status(name, ServingStatus::NotServing).await;
        reporter.clear_service_status(name).await;
    }
}
