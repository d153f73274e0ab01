//! Nodes on a Redis that answers more slowly than requests are due.

use std::time::Duration;

use reqwest::Client;

use support::{
    proxy::{Direction, Proxy},
    redis::RedisServer,
    wait::with_timeout,
};

use crate::playground::program::Playground;

/// The state of the nodes is still shown: a request is due every 10 ms, and takes 15.
#[tokio::test]
async fn frames_continue() {
    let redis = RedisServer::start();
    let proxy = Proxy::to(redis.port());
    let playground = Playground::on(&proxy.url());
    proxy.delay(Direction::ToServer, Duration::from_millis(15));
    let client = Client::builder().no_proxy().build().unwrap();
    let stream = "/nodes?limit=1000&window=1&rate=100&play=0-stream.a";
    let mut events = client.get(playground.url() + stream).send().await.unwrap();
    let mut frames = 0;
    with_timeout(async {
        while frames < 15 {
            let chunk = events.chunk().await.unwrap().expect("the stream goes on");
            frames += String::from_utf8_lossy(&chunk).matches("event: frame").count();
        }
    })
    .await;
}
