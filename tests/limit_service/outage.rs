//! The failure modes, while Redis is killed and after it is back.

use axum::http::Method;

use super::fixture::{LimitService, limit};
use support::{
    http::{NOTHING, Reply},
    redis::RedisServer,
};

const LIMIT: usize = 5;

fn rules() -> String {
    limit("user", LIMIT, "key = 'query:user'")
}

async fn check(service: &LimitService, user: &str, times: usize) -> Vec<Reply> {
    let mut replies = Vec::new();
    for _ in 0..times {
        replies.push(Reply::to(service.check(&format!("/?user={user}"))).await);
    }
    replies
}

fn statuses(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(|reply| reply.status).collect()
}

/// Redis admits exactly the limit.
async fn assert_counted_on_redis(service: &LimitService, user: &str) {
    let replies = check(service, user, LIMIT + 2).await;
    assert_eq!(statuses(&replies), [200, 200, 200, 200, 200, 429, 429]);
    let key = service
        .admin(Method::GET, &format!("/keys/user/query/user:{user}"))
        .await;
    assert_eq!(
        (&key.json()["remaining"], &key.json()["by_fallback"]),
        (&0.into(), &false.into())
    );
}

async fn kill_and_restart(mode: &str, assert_failure_mode: impl Fn(&[Reply])) {
    let mut redis = RedisServer::start();
    let service = LimitService::with_redis(&redis, &rules(), &["--on-store-failure", mode]);
    assert_counted_on_redis(&service, "alice").await;
    redis.kill();
    service.until_status("store_failing").await;
    assert_failure_mode(&check(&service, "bob", LIMIT + 2).await);
    redis.restart();
    service.until_status("ok").await;
    // Redis restarts empty, and counts of the fallback are not carried over.
    assert_counted_on_redis(&service, "bob").await;
}

#[tokio::test]
async fn open_admits_without_counting() {
    kill_and_restart("open", |replies| {
        assert_eq!(statuses(replies), [200; LIMIT + 2]);
        assert!(replies.iter().all(|reply| reply.limits() == NOTHING));
    })
    .await;
}

#[tokio::test]
async fn closed_rejects_with_503() {
    kill_and_restart("closed", |replies| {
        let unavailable = (503, "1".to_owned(), NOTHING.to_owned());
        assert!(replies.iter().all(|reply| reply.all() == unavailable), "{replies:?}");
    })
    .await;
}

#[tokio::test]
async fn closed_rejects_with_503_where_denials_are_403() {
    let mut redis = RedisServer::start();
    let service = LimitService::with_redis(&redis, &rules(), &["--on-store-failure", "closed"]);
    redis.kill();
    service.until_status("store_failing").await;
    let reply = Reply::to(service.check_at("/check?deny=403", "/?user=alice")).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]),
        (503, &"rate_limiter_unavailable".into())
    );
}

#[tokio::test]
async fn local_counts_in_memory() {
    kill_and_restart("local", |replies| {
        assert_eq!(statuses(replies), [200, 200, 200, 200, 200, 429, 429]);
    })
    .await;
}
