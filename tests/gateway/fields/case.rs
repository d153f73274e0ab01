//! Rules, requests, what they are told, and what Redis holds in the end.

use axum::http::Method;
use tollgate::redis::Connection;

use support::{
    http::Reply,
    redis::{RedisServer, ask, keys, stored},
};

use crate::gateway::{fixture::Gateway, service::Service};

pub(super) struct Case {
    /// What it is about, as the reference has it.
    pub(super) covers: &'static [&'static str],
    /// The rules, where `FIXED` is a fixed window that does not end while a test runs.
    pub(super) rules: &'static str,
    pub(super) requests: &'static [Request],
    /// Each key, and its state where that does not depend on when it was asked: a star stands for a number that does.
    pub(super) holds: &'static [(&'static str, &'static str)],
}

/// `GET /path`, headers, and `status | RateLimit-Policy | RateLimit`, without the times of the last one.
pub(super) type Request = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// A fixed window of ten years, which began in December 2019.
const FIXED: &str = "algorithm = 'fixed_window'\nwindow = '3650d'";

/// Tries one case after the other, each by a gateway of its own.
pub(super) async fn try_all(cases: &[Case]) {
    let redis = RedisServer::start();
    for case in cases {
        ask::<()>(&mut redis.client(), "FLUSHALL");
        case.is_so(&redis).await;
    }
}

impl Case {
    async fn is_so(&self, redis: &RedisServer) {
        let rules = self.rules.replace("FIXED", FIXED);
        let service = Service::start().await;
        let gateway = Gateway::between(&service, redis, &rules, &[]);
        let mut served = Vec::new();
        for (number, (line, headers, told)) in self.requests.iter().enumerate() {
            let (method, target) = line.split_once(' ').unwrap();
            let request = gateway.request(Method::from_bytes(method.as_bytes()).unwrap(), target);
            let request = headers
                .iter()
                .fold(request, |request, (name, value)| request.header(*name, *value));
            let reply = Reply::to(request).await;
            assert_eq!(
                says(&reply),
                *told,
                "request {number}: {line} {headers:?}\n{}\n{rules}",
                reply.body
            );
            if reply.status == 200 {
                served.push((*line).to_owned());
            }
        }
        assert_eq!(service.lines(), served, "{rules}");
        self.is_held(&mut redis.client(), &rules);
    }

    fn is_held(&self, redis: &mut Connection, rules: &str) {
        let keys = keys(redis).into_iter();
        let mut state = |key: &str| stored(redis, key).unwrap();
        let held: Vec<_> = keys.map(|key| (key.clone(), state(&key))).collect();
        let is_meant = |(key, state): &(String, String), (wanted, expected): &(&str, &str)| {
            let (words, expected): (Vec<_>, Vec<_>) = (state.split(' ').collect(), expected.split(' ').collect());
            let same = |(word, expected): (&&str, &&str)| *expected == "*" || word == expected;
            key == wanted && words.len() == expected.len() && words.iter().zip(&expected).all(same)
        };
        let all =
            held.len() == self.holds.len() && held.iter().zip(self.holds).all(|(held, meant)| is_meant(held, meant));
        assert!(all, "Redis holds {held:#?}\nwhere {:#?} is meant\n{rules}", self.holds);
    }
}

/// The status, and what it says of limits, without times.
pub(super) fn says(reply: &Reply) -> String {
    let left = reply.header("ratelimit");
    let left = left
        .split(", ")
        .map(|tier| tier.split(";t=").next().unwrap())
        .collect::<Vec<_>>();
    format!(
        "{} | {} | {}",
        reply.status,
        reply.header("ratelimit-policy"),
        left.join(", ")
    )
}
