//! Services and gateways that share a Redis admit exactly the limit together.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::http::Method;
use tokio::task::JoinSet;

use super::fixture::{LimitService, limit};
use crate::gateway::{fixture::Gateway, service::Service};
use support::{http::Reply, redis::RedisServer};

const LIMIT: usize = 100;
const CLIENTS: usize = 16;
const CHECKS: usize = 300;

#[tokio::test(flavor = "multi_thread")]
async fn two_services_admit_exactly_the_limit_together() {
    let redis = RedisServer::start();
    let rules = limit("all", LIMIT, "key = 'global'");
    let services = [(); 2].map(|()| Arc::new(LimitService::with_redis(&redis, &rules, &[])));
    let sent = Arc::new(AtomicUsize::new(0));
    let clients = (0..CLIENTS).map(|client| {
        let (service, sent) = (Arc::clone(&services[client % 2]), Arc::clone(&sent));
        async move {
            let mut statuses = Vec::new();
            while sent.fetch_add(1, Ordering::Relaxed) < CHECKS {
                statuses.push(service.status_of("/").await);
            }
            statuses
        }
    });
    let statuses = clients.collect::<JoinSet<_>>().join_all().await.concat();
    let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(200), count(429)), (LIMIT, CHECKS - LIMIT));
    let passed = [services[0].answers("passed").await, services[1].answers("passed").await];
    assert_eq!(passed.iter().sum::<f64>(), LIMIT as f64);
    for service in &services {
        let key = service.admin(Method::GET, "/keys/all/global").await;
        assert_eq!(key.json()["remaining"], 0);
    }
}

/// The same request has the same key in both.
#[tokio::test]
async fn a_service_and_a_gateway_share_their_limits() {
    let (redis, upstream) = (RedisServer::start(), Service::start().await);
    let rules = limit(
        "files",
        2,
        "path = '/files/{name}'\nkey = ['route', 'method', 'header:x-user-id', 'ip']",
    );
    let service = LimitService::with_redis(&redis, &rules, &[]);
    let gateway = Gateway::with_redis(&upstream, &redis, &rules, &[]);
    let check = async || {
        Reply::to(service.check("/files/a").header("x-user-id", "alice"))
            .await
            .status
    };
    let get = async || {
        Reply::to(gateway.request(Method::GET, "/files/b").header("x-user-id", "alice"))
            .await
            .status
    };
    assert_eq!(
        [check().await, get().await, check().await, get().await],
        [200, 200, 429, 429]
    );
}
