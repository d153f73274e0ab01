//! Envoy's rate limit API over gRPC, with the gRPC health service.

mod messages;
mod responder;
mod server;

use std::{future, io, time::Duration};

use futures_util::{StreamExt, stream};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};
use tollgate::{RuleSet, rules::DescriptorRequest};
use tonic::{Status, server::NamedService, transport::Server};
use tonic_health::{
    ServingStatus,
    server::{HealthReporter, health_reporter},
};
use tower::service_fn;

use self::{messages::RateLimitResponse, responder::DescriptorResponder, server::RateLimitServer};
use super::metrics::ServiceMetrics;
use crate::server::{
    listener::{Drain, accept_connection, raise_file_limit},
    shutdown_requested,
    store::ServerStore,
};

/// Calls of one connection at once. Each worker thread of Envoy opens one connection.
const MAX_CONCURRENT_STREAMS: u32 = 4096;

/// The length of the preface that every HTTP/2 client sends first.
const PREFACE_LEN: usize = 24;

/// How often a preface that has arrived in part is read again.
const PREFACE_INTERVAL: Duration = Duration::from_millis(10);

/// Clients that have not sent the preface yet. Further ones wait to be accepted.
const MAX_SILENT_CLIENTS: usize = 1024;

/// The interval of HTTP/2 pings, which detect clients that no longer respond.
const PING_INTERVAL: Duration = Duration::from_secs(60);

/// The names that the health service knows. The empty one is that of the whole server.
const HEALTH_NAMES: [&str; 2] = ["", RateLimitServer::NAME];

/// Serves until `shutdown`, and then drains calls in flight for at most the drain timeout.
pub(crate) async fn serve(
    listener: TcpListener,
    store: &ServerStore,
    rules: RuleSet,
    metrics: ServiceMetrics,
    client_timeout: Duration,
    shutdown: watch::Receiver<bool>,
    drain: Drain,
) {
    let admitted = service_fn(|_: DescriptorRequest| future::ready(Ok::<_, Status>(RateLimitResponse::default())));
    let limited = store.rate_limit(rules, DescriptorResponder::default(), admitted);
    let (reporter, health) = health_reporter();
    reporter.set_serving::<RateLimitServer>().await;
    raise_file_limit();
    let accepted = stream::unfold(listener, async |listener| {
        let (socket, _) = accept_connection(&listener).await;
        Some((socket, listener))
    });
    let begun = accepted.map(|socket| begun(socket, client_timeout));
    let incoming = begun.buffer_unordered(MAX_SILENT_CLIENTS).filter_map(future::ready);
    let server = Server::builder()
        .timeout(client_timeout)
        .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
        .http2_keepalive_interval(Some(PING_INTERVAL))
        .add_service(health)
        .add_service(RateLimitServer::new(limited, metrics))
        .serve_with_incoming_shutdown(incoming, end_health(reporter, shutdown.clone()));
    let drain_elapsed = async {
        shutdown_requested(shutdown).await;
        sleep(drain.timeout).await;
    };
    tokio::select! {
        result = server => if let Err(error) = result {
            tracing::error!(target: "tollgate::server", %error, "the gRPC server failed");
        },
        () = drain_elapsed => drain.warn_elapsed(),
    }
}

/// The connection once the client has sent the preface of HTTP/2, for which the server would wait without a timeout.
async fn begun(socket: TcpStream, client_timeout: Duration) -> Option<io::Result<TcpStream>> {
    let has_preface = async {
        loop {
            match socket.peek(&mut [0; PREFACE_LEN]).await {
                Ok(PREFACE_LEN) => return true,
                Ok(0) | Err(_) => return false,
                // What has arrived stays readable, so that nothing tells when there is more.
                Ok(_) => sleep(PREFACE_INTERVAL).await,
            }
        }
    };
    let begun = timeout(client_timeout, has_preface).await;
    begun.unwrap_or(false).then_some(Ok(socket))
}

/// Waits for the shutdown, and ends the watches of health clients, which would delay it: each gets a last status.
async fn end_health(mut reporter: HealthReporter, shutdown: watch::Receiver<bool>) {
    shutdown_requested(shutdown).await;
    for name in HEALTH_NAMES {
        reporter.set_service_status(name, ServingStatus::NotServing).await;
        reporter.clear_service_status(name).await;
    }
}
