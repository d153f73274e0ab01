//! The messages of Envoy's rate limit API, as far as the benchmark needs them.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct RateLimitRequest {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(message, repeated, tag = "2")]
    pub descriptors: Vec<RateLimitDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RateLimitDescriptor {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct RateLimitResponse {
    #[prost(int32, tag = "1")]
    pub overall_code: i32,
}

/// The overall code of an admitted request.
pub const OK: i32 = 1;

impl RateLimitRequest {
    /// Two descriptors: a user, and the user on a path.
    pub fn new(user: &str) -> Self {
        let entry = |key: &str, value: &str| Entry {
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let by_user = vec![entry("user", user)];
        let by_path = vec![entry("user", user), entry("path", "/search")];
        Self {
            domain: "edge".to_owned(),
            descriptors: [by_user, by_path].map(|entries| RateLimitDescriptor { entries }).into(),
        }
    }
}
