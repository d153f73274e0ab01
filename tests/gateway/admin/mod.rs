//! What operators are told at the admin address, and who is told.

mod health;
mod keys;
mod keys_without_redis;
mod limits;
mod metrics;
mod reach;

use axum::http::Method;
use serde_json::Value;

use support::http::Reply;

use crate::gateway::fixture::Gateway;

/// The status, and what it says in JSON.
fn said(reply: &Reply) -> (u16, Value) {
    assert_eq!(reply.header("content-type"), "application/json");
    (reply.status, reply.json())
}

async fn get(gateway: &Gateway, path: &str) -> (u16, Value) {
    said(&gateway.admin(Method::GET, path).await)
}

async fn delete(gateway: &Gateway, path: &str) -> (u16, Value) {
    said(&gateway.admin(Method::DELETE, path).await)
}

/// Three for each user, ten on a plan, in a window that does not end while a test runs.
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
async fn ask_as(gateway: &Gateway, user: &str) -> u16 {
    let request = gateway.request(Method::GET, "/").header("x-user-id", user);
    Reply::to(request).await.status
}
