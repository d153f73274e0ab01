//! What a request costs: a number, or what a proxy says of it.

use super::fixture::{Server, TRUST, TRUST_OTHERS, TestStore, ask, on_both_stores, serve, ten};

on_both_stores![
    a_request_costs_what_the_file_says,
    a_request_costs_what_a_proxy_says,
    what_is_no_cost_counts_as_one,
    nobody_but_a_proxy_says_what_a_request_costs,
    a_cost_that_never_fits_is_promised_no_time,
    no_cost_is_more_than_can_be_counted,
    a_plan_may_hold_what_the_limit_does_not,
];

const BY_HEADER: &str = "key = \"global\"\ncost = \"header:x-cost\"\n";

/// The status, and what is left, of a request of this cost.
async fn told(server: &Server, cost: &str) -> (u16, String) {
    let reply = ask(server, "/", &[("x-cost", cost)]).await;
    (reply.status, reply.remaining())
}

async fn a_request_costs_what_the_file_says<St: TestStore>() {
    for (cost, left) in [("1", ["9", "8", "7"]), ("3", ["7", "4", "1"]), ("5", ["5", "0", "0"])] {
        let file = ten("api", &format!("key = \"global\"\ncost = {cost}")) + &ten("all", "key = \"global\"");
        let (server, ..) = serve::<St>(&file).await;
        for left in left {
            // What one limit costs is nothing to the other.
            assert_eq!(told(&server, "9").await.1, left, "{cost}");
        }
    }
}

async fn a_request_costs_what_a_proxy_says<St: TestStore>() {
    let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST)).await;
    for (cost, status, left) in [("4", 200, "6"), ("7", 429, "6"), ("06", 200, "0"), ("1", 429, "0")] {
        assert_eq!(told(&server, cost).await, (status, left.into()), "{cost}");
    }
}

async fn what_is_no_cost_counts_as_one<St: TestStore>() {
    for cost in [
        "", "0", "000", "-5", "+5", "5.0", "1e3", "five", "0x5", "5 5", "5,5", "\u{665}",
    ] {
        let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST)).await;
        assert_eq!(told(&server, cost).await, (200, "9".into()), "{cost}");
    }
    let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST)).await;
    assert_eq!(server.get("/").await.remaining(), "9");
}

async fn nobody_but_a_proxy_says_what_a_request_costs<St: TestStore>() {
    let (server, ..) = serve::<St>(&(ten("api", BY_HEADER) + TRUST_OTHERS)).await;
    for (cost, left) in [("5", "9"), ("0", "8"), ("1000", "7")] {
        assert_eq!(told(&server, cost).await, (200, left.into()), "{cost}");
    }
}

const NEVER: &str = "This request asks for more than its limit ever allows.";

async fn a_cost_that_never_fits_is_promised_no_time<St: TestStore>() {
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
            let reply = ask(&server, "/", &[("x-cost", cost)]).await;
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

async fn no_cost_is_more_than_can_be_counted<St: TestStore>() {
    for cost in [
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "99999999999999999999999999",
    ] {
        let file = (ten("api", BY_HEADER) + TRUST).replace("limit = 10", "limit = 4294967295");
        let (server, ..) = serve::<St>(&file).await;
        assert_eq!(told(&server, cost).await, (200, "0".into()), "{cost}");
        assert_eq!(told(&server, "1").await, (429, "0".into()), "{cost}");
    }
}

async fn a_plan_may_hold_what_the_limit_does_not<St: TestStore>() {
    let plans = "plan = \"header:x-plan\"\nplans.pro = { limit = 100 }";
    let (server, ..) = serve::<St>(&(ten("api", &format!("{BY_HEADER}{plans}")) + TRUST)).await;
    let on = async |plan| ask(&server, "/", &[("x-cost", "50"), ("x-plan", plan)]).await;
    assert_eq!(on("none").await.json()["message"], NEVER);
    assert_eq!(on("pro").await.remaining(), "50");
}
