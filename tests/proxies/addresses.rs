//! The address that the rules count by is that of the proxy's client.

use std::net::Ipv4Addr;

use axum::http::Method;

use super::{
    client::Client,
    for_each_http_proxy,
    program::{Program, documented},
    stack::Stack,
};

/// Of searches, in docs/service/rules.toml.
const LIMIT: usize = 10;

async fn each_address_has_its_own_quota(program: &'static Program) {
    let stack = Stack::start(program, &documented(program.rules), 1).await;
    for address in [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)] {
        let client = Client::at(address);
        let mut statuses = Vec::new();
        for _ in 0..=LIMIT {
            let reply = stack.proxy().send_from(&client, Method::GET, "/search", &[], "").await;
            statuses.push(reply.status);
        }
        assert_eq!(statuses, [vec![200; LIMIT], vec![429]].concat(), "{address}");
    }
}

for_each_http_proxy!(each_address_has_its_own_quota);
