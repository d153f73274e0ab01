//! Every example is run, and receives the requests of its opening comment.

mod documented;
mod from_tower_governor;
mod listed;
mod llm;
mod migrating;
mod outcomes;
mod quickstart;
mod rules;
mod services;
mod standalone;

use reqwest::Response;

use support::example_server::ExampleServer as Server;

fn header(response: &Response, name: &str) -> String {
    response.headers()[name].to_str().unwrap().to_owned()
}

/// The remaining quota of a tier, from the `RateLimit` header.
fn remaining(tier: &str, response: &Response) -> u32 {
    let tiers = header(response, "ratelimit");
    let (_, rest) = tiers.split_once(&format!("\"{tier}\";r=")).unwrap();
    rest.split(';').next().unwrap().parse().unwrap()
}
