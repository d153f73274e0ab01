//! Two proxies with a service each admit exactly the limit together.

use super::{for_each_proxy, program::Program, stack::Stack};

const TENANT: usize = 100;
const SEARCH: usize = 10;

async fn two_instances_admit_exactly_the_limit(program: &'static Program) {
    let stack = Stack::start(program, &program.limit("tenant", TENANT, None), 2).await;
    let counts = stack.send_concurrently(3 * TENANT, "/items", "alice").await;
    assert_eq!(counts, (TENANT, 2 * TENANT));
    assert_eq!(stack.app.received("GET /items"), TENANT);
    // Another tenant has its own quota.
    assert_eq!(
        stack.send_concurrently(2 * TENANT, "/others", "bob").await,
        (TENANT, TENANT)
    );
    assert_eq!(stack.app.received("GET /others"), TENANT);
}

async fn a_denial_by_one_limit_costs_the_others_nothing(program: &'static Program) {
    let rules = program.limit("tenant", TENANT, None) + &program.limit("search", SEARCH, Some("/search"));
    let stack = Stack::start(program, &rules, 2).await;
    let counts = stack.send_concurrently(6 * SEARCH, "/search", "alice").await;
    assert_eq!(counts, (SEARCH, 5 * SEARCH));
    let left = TENANT - SEARCH;
    assert_eq!(
        stack.send_concurrently(2 * TENANT, "/items", "alice").await,
        (left, 2 * TENANT - left)
    );
    assert_eq!(
        (stack.app.received("GET /search"), stack.app.received("GET /items")),
        (SEARCH, left)
    );
}

for_each_proxy!(
    two_instances_admit_exactly_the_limit,
    a_denial_by_one_limit_costs_the_others_nothing
);
