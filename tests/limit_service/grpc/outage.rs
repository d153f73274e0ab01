//! The failure modes, while Redis is killed and after it is back.

use tonic::{Code, Status};

use super::{
    GrpcService,
    client::{OK, OVER_LIMIT, Response, request},
    limit,
};
use support::redis::RedisServer;

async fn call(service: &GrpcService, tenant: &str) -> Result<Response, Status> {
    service.client.try_call(request(&[&[("tenant", tenant)]])).await
}

/// Redis admits exactly the limit of 2.
async fn assert_counted(service: &GrpcService, tenant: &str) {
    for expected in [(OK, 1), (OK, 0), (OVER_LIMIT, 0), (OVER_LIMIT, 0)] {
        assert_eq!(call(service, tenant).await.unwrap().remaining(), [expected]);
    }
}

/// A service whose Redis has been killed.
async fn without_redis(mode: &str) -> (GrpcService, RedisServer) {
    let mut redis = RedisServer::start();
    let service = GrpcService::with_redis(&redis, &limit("tenant", 2, "['tenant']"), &["--on-store-failure", mode]);
    assert_counted(&service, "before").await;
    redis.kill();
    service.until_status("store_failing").await;
    (service, redis)
}

async fn assert_recovers(service: &GrpcService, redis: &mut RedisServer) {
    redis.restart();
    service.until_status("ok").await;
    assert_counted(service, "after").await;
}

#[tokio::test]
async fn open_admits_without_statuses_of_limits() {
    let (service, mut redis) = without_redis("open").await;
    for _ in 0..4 {
        let response = call(&service, "during").await.unwrap();
        assert_eq!((response.overall_code, response.headers()), (OK, vec![]));
        assert_eq!(
            (response.statuses.len(), &response.statuses[0].current_limit),
            (1, &None)
        );
    }
    assert_recovers(&service, &mut redis).await;
}

#[tokio::test]
async fn closed_is_unavailable() {
    let (service, mut redis) = without_redis("closed").await;
    let status = call(&service, "during").await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Unavailable, "the store of the rate limits is unavailable")
    );
    assert_eq!(service.answers("rate_limiter_unavailable").await, 1.0);
    assert_recovers(&service, &mut redis).await;
}

#[tokio::test]
async fn local_counts_in_memory() {
    let (service, mut redis) = without_redis("local").await;
    assert_counted(&service, "during").await;
    assert_recovers(&service, &mut redis).await;
}
