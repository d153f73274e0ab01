//! The admin server: its endpoints, and which clients may reach it.

mod access;
mod health;
mod keys;
mod keys_without_redis;
mod limits;
mod metrics;

use axum::http::Method;
use serde_json::Value;

use support::http::Reply;

use crate::gateway::fixture::Gateway;

/// The status and the JSON body.
fn status_and_json(reply: &Reply) -> (u16, Value) {
    assert_eq!(reply.header("content-type"), "application/json");
    (reply.status, reply.json())
}

async fn get(gateway: &Gateway, path: &str) -> (u16, Value) {
    status_and_json(&gateway.admin(Method::GET, path).await)
}

async fn delete(gateway: &Gateway, path: &str) -> (u16, Value) {
    status_and_json(&gateway.admin(Method::DELETE, path).await)
}

/// Three requests per user, ten on the plan `pro`, in a window that does not end while a test runs.
const RULES: &str = "
[[limit]]
name = 'user'
algorithm = 'fixed_window'
limit = 3
window = '3650d'
key = 'header:x-user-id'
plan = 'header:x-plan'
plans.pro = { limit = 10 }

[trust]
proxies = ['127.0.0.1']
headers = ['x-plan']
";

/// The status of a request by this user.
async fn request_as(gateway: &Gateway, user: &str) -> u16 {
    let request = gateway.request(Method::GET, "/").header("x-user-id", user);
    Reply::to(request).await.status
}
