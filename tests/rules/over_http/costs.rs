//! Request costs: a number, or a header that a proxy sets.

use super::fixture::{Server, TRUST, TRUST_OTHERS, TestStore, on_both_stores, send, serve, ten};

on_both_stores![
    a_cost_can_be_a_number,
    a_cost_can_be_in_a_header_of_a_proxy,
    an_invalid_cost_counts_as_one,
    only_a_proxy_can_set_the_cost,
    an_impossible_cost_has_no_retry_after,
    costs_are_capped_at_the_largest_limit,
    a_plan_can_allow_a_cost_above_the_limit,
];

const BY_HEADER: &str = "key = \"global\"\ncost = \"header:x-cost\"\n";

/// The status and what remains, after a request of this cost.
async fn status_and_remaining(server: &Server, cost: &str) -> (u16, String) {
    let reply = send(server, "/", &[("x-cost", cost)]).await;
    (reply.status, reply.remaining())
}

async fn a_cost_can_be_a_number<St: TestStore>() {
    for (cost, left) in [("1", ["9", "8", "7"]), ("3", ["7", "4", "1"]), ("5", ["5", "0", "0"])] {
        let file = ten("api", &format!("key = \"global\"\ncost = {cost}")) + &ten("all", "key = \"global\"");
        let (server, ..) = serve::<St>(&file).await;
        for left in left {
            // The cost in one limit does not affect the other.
            assert_eq!(status_and_remaining(&server, "9").await.1, left, "{cost}");
        }
    }
}

async fn a_cost_can_be_in_a_header_of_a_proxy<St: TestStore>() {
    let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST)).await;
    for (cost, status, left) in [("4", 200, "6"), ("7", 429, "6"), ("06", 200, "0"), ("1", 429, "0")] {
        assert_eq!(
            status_and_remaining(&server, cost).await,
            (status, left.into()),
            "{cost}"
        );
    }
}

async fn an_invalid_cost_counts_as_one<St: TestStore>() {
    for cost in [
        "", "0", "000", "-5", "+5", "5.0", "1e3", "five", "0x5", "5 5", "5,5", "\u{665}",
    ] {
        let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST)).await;
        assert_eq!(status_and_remaining(&server, cost).await, (200, "9".into()), "{cost}");
    }
    let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST)).await;
    assert_eq!(server.get("/").await.remaining(), "9");
}

async fn only_a_proxy_can_set_the_cost<St: TestStore>() {
    let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST_OTHERS)).await;
    for (cost, left) in [("5", "9"), ("0", "8"), ("1000", "7")] {
        assert_eq!(status_and_remaining(&server, cost).await, (200, left.into()), "{cost}");
    }
}

const NEVER: &str = "This request asks for more than its limit ever allows.";

async fn an_impossible_cost_has_no_retry_after<St: TestStore>() {
    for algorithm in [
        "token_bucket",
        "leaky_bucket",
        "fixed_window",
        "sliding_log",
        "sliding_counter",
    ] {
        let file = (ten("api", BY_HEADER) + &ten("all", "key = \"global\"") + TRUST).replace("fixed_window", algorithm);
        let (server, ..) = serve::<St>(&file).await;
        for cost in ["11", "4294967295", "4294967296", "99999999999999999999999999"] {
            let reply = send(&server, "/", &[("x-cost", cost)]).await;
            assert_eq!(
                (reply.status, reply.header("retry-after")),
                (429, "-".into()),
                "{cost} of {algorithm}"
            );
            assert_eq!(reply.json()["message"], NEVER);
            assert_eq!(reply.remaining(), "10");
        }
    }
}

async fn costs_are_capped_at_the_largest_limit<St: TestStore>() {
    for cost in [
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "99999999999999999999999999",
    ] {
        let file = (ten("api", BY_HEADER) + TRUST).replace("limit = 10", "limit = 4294967295");
        let (server, ..) = serve::<St>(&file).await;
        assert_eq!(status_and_remaining(&server, cost).await, (200, "0".into()), "{cost}");
        assert_eq!(status_and_remaining(&server, "1").await, (429, "0".into()), "{cost}");
    }
}

async fn a_plan_can_allow_a_cost_above_the_limit<St: TestStore>() {
    let plans = "plan = \"header:x-plan\"\nplans.pro = { limit = 100 }";
    let (server, ..) = serve::<St>(&(ten("api", &format!("{BY_HEADER}{plans}")) + TRUST)).await;
    let on = async |plan| send(&server, "/", &[("x-cost", "50"), ("x-plan", plan)]).await;
    assert_eq!(on("none").await.json()["message"], NEVER);
    assert_eq!(on("pro").await.remaining(), "50");
}
