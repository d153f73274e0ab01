//! Proxies that reject requests while the service is unreachable, by the documented change of their configuration.

use super::{for_each_proxy, program::Program, stack::Stack};

async fn requests_are_rejected_while_the_service_is_down(program: &'static Program) {
    let edits = [&[program.patient], program.closed].concat();
    let rules = program.limit("tenant", 5, None);
    let mut stack = Stack::start_with(program, &rules, 1, &edits, &[]).await;
    stack.services[0].kill();
    for _ in 0..10 {
        let reply = stack.proxy().get("/items", &[("x-tenant", "alice")]).await;
        assert_eq!(reply.status, program.closed_status, "{reply:?}");
    }
    assert_eq!(stack.app.received("GET /items"), 0);
}

for_each_proxy!(requests_are_rejected_while_the_service_is_down);
