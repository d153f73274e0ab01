//! A test case: rules, requests, their responses, and the final state in Redis.

use axum::http::Method;
use tollgate::redis::Connection;

use support::{
    http::Reply,
    redis::{RedisServer, keys, query, stored},
};

use crate::gateway::{fixture::Gateway, service::Service};

pub(super) struct Case {
    /// The fields of the reference that it covers.
    pub(super) covers: &'static [&'static str],
    /// The rules, where `FIXED` is a fixed window that does not end while a test runs.
    pub(super) rules: &'static str,
    pub(super) requests: &'static [Request],
    /// Each key and its state, where `*` matches a number that depends on the time of the test.
    pub(super) holds: &'static [(&'static str, &'static str)],
}

/// `GET /path`, headers, and `status | RateLimit-Policy | RateLimit`, without the times of the last one.
pub(super) type Request = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// A fixed window of ten years, which began in December 2019.
const FIXED: &str = "algorithm = 'fixed_window'\nwindow = '3650d'";

/// Runs the cases in order, each with a new gateway.
pub(super) async fn check_all(cases: &[Case]) {
    let redis = RedisServer::start();
    for case in cases {
        query::<()>(&mut redis.client(), "FLUSHALL");
        case.check(&redis).await;
    }
}

impl Case {
    async fn check(&self, redis: &RedisServer) {
        let rules = self.rules.replace("FIXED", FIXED);
        let service = Service::start().await;
        let gateway = Gateway::with_redis(&service, redis, &rules, &[]);
        let mut served = Vec::new();
        for (number, (line, headers, expected)) in self.requests.iter().enumerate() {
            let (method, target) = line.split_once(' ').unwrap();
            let request = gateway.request(Method::from_bytes(method.as_bytes()).unwrap(), target);
            let request = headers
                .iter()
                .fold(request, |request, (name, value)| request.header(*name, *value));
            let reply = Reply::to(request).await;
            assert_eq!(
                summary(&reply),
                *expected,
                "request {number}: {line} {headers:?}\n{}\n{rules}",
                reply.body
            );
            if reply.status == 200 {
                served.push((*line).to_owned());
            }
        }
        assert_eq!(service.lines(), served, "{rules}");
        self.check_stored(&mut redis.client(), &rules);
    }

    fn check_stored(&self, redis: &mut Connection, rules: &str) {
        let keys = keys(redis).into_iter();
        let mut state = |key: &str| stored(redis, key).unwrap();
        let held: Vec<_> = keys.map(|key| (key.clone(), state(&key))).collect();
        let is_match = |(key, state): &(String, String), (wanted, expected): &(&str, &str)| {
            let (fields, expected): (Vec<_>, Vec<_>) = (state.split(' ').collect(), expected.split(' ').collect());
            let same = |(field, expected): (&&str, &&str)| *expected == "*" || field == expected;
            key == wanted && fields.len() == expected.len() && fields.iter().zip(&expected).all(same)
        };
        let is_equal = held.len() == self.holds.len()
            && held
                .iter()
                .zip(self.holds)
                .all(|(held, expected)| is_match(held, expected));
        assert!(
            is_equal,
            "Redis holds {held:#?}\nwhere {:#?} is expected\n{rules}",
            self.holds
        );
    }
}

/// The status and the rate limit headers, without times.
pub(super) fn summary(reply: &Reply) -> String {
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
