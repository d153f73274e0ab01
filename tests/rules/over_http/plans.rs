//! Limits by plan: a proxy reports the plan of a request, and other requests have the limit itself.

use super::fixture::{Server, TRUST, TRUST_OTHERS, TestStore, on_both_stores, send, serve, ten};

on_both_stores![
    a_plan_overrides_the_limit,
    only_a_proxy_can_set_the_plan,
    usage_is_kept_when_the_plan_changes,
    a_plan_without_a_capacity_keeps_that_of_the_limit,
    a_plan_can_have_only_a_capacity,
    a_plan_of_a_queue_queues_too,
];

const PLANS: &str = "plan = \"header:x-plan\"\nplans.free = { limit = 5 }\nplans.pro = { limit = 1000 }\nplans.\"größe 3\" = { limit = 3 }\n";

/// The status, and `n of limit`, of a request by a user on this plan.
async fn status_and_quota(server: &Server, user: &str, plan: &str) -> (u16, String) {
    let headers = [("x-user-id", user), ("x-plan", plan)];
    // An empty header differs from a missing one.
    let headers = if plan == "none" { &headers[..1] } else { &headers };
    let reply = send(server, "/", headers).await;
    let limit = reply.header("x-ratelimit-limit");
    (reply.status, format!("{} of {limit}", reply.remaining()))
}

fn by_user(more: &str) -> String {
    ten("user", &format!("key = \"header:x-user-id\"\n{more}"))
}

async fn a_plan_overrides_the_limit<St: TestStore>() {
    let (server, ..) = serve::<St>(&(by_user(PLANS) + TRUST)).await;
    for (plan, expected) in [
        ("free", "4 of 5"),
        ("pro", "999 of 1000"),
        ("größe 3", "2 of 3"),
        // A request with an unknown plan has the limit itself.
        ("none", "9 of 10"),
        ("", "9 of 10"),
        ("gold", "9 of 10"),
        ("PRO", "9 of 10"),
        ("pro, free", "9 of 10"),
    ] {
        let user = format!("on {plan}");
        assert_eq!(
            status_and_quota(&server, &user, plan).await,
            (200, expected.into()),
            "{plan}"
        );
    }
}

async fn only_a_proxy_can_set_the_plan<St: TestStore>() {
    let (server, ..) = serve::<St>(&(by_user(PLANS) + TRUST_OTHERS)).await;
    for (plan, left) in [("none", 9), ("free", 8), ("pro", 7)] {
        assert_eq!(
            status_and_quota(&server, "a", plan).await,
            (200, format!("{left} of 10")),
            "{plan}"
        );
    }
    // Nor does a claim to come from a proxy help.
    let headers = [("x-user-id", "a"), ("x-plan", "pro"), ("x-forwarded-for", "10.0.0.1")];
    assert_eq!(send(&server, "/", &headers).await.remaining(), "6");
}

async fn usage_is_kept_when_the_plan_changes<St: TestStore>() {
    for algorithm in ["token_bucket", "fixed_window", "sliding_log", "sliding_counter"] {
        let file = (by_user(PLANS) + TRUST).replace("fixed_window", algorithm);
        let (server, ..) = serve::<St>(&file).await;
        for (plan, status, expected) in [
            ("free", 200, "4 of 5"),
            ("pro", 200, "998 of 1000"),
            ("gold", 200, "7 of 10"),
            ("free", 200, "1 of 5"),
            ("free", 200, "0 of 5"),
            ("free", 429, "0 of 5"),
            ("none", 200, "4 of 10"),
            ("pro", 200, "993 of 1000"),
        ] {
            assert_eq!(
                status_and_quota(&server, "a", plan).await,
                (status, expected.into()),
                "{plan} of {algorithm}"
            );
        }
        assert_eq!(
            status_and_quota(&server, "b", "free").await,
            (200, "4 of 5".into()),
            "{algorithm}"
        );
    }
}

/// Asserts the capacity of a bucket on each plan.
async fn holds<St: TestStore>(bucket: &str, plans: &str, expected: [(&str, u32); 3]) {
    let settings = format!("key = \"header:x-user-id\"\nplan = \"header:x-plan\"\n{bucket}\n{plans}\n");
    let file = (ten("user", &settings) + TRUST).replace("fixed_window", "token_bucket");
    let (server, ..) = serve::<St>(&file).await;
    for (plan, capacity) in expected {
        let left = (capacity - 1).to_string();
        let reply = send(&server, "/", &[("x-user-id", plan), ("x-plan", plan)]).await;
        assert_eq!(reply.remaining(), left, "{plan} of {bucket}");
    }
}

async fn a_plan_without_a_capacity_keeps_that_of_the_limit<St: TestStore>() {
    let plans = "plans.free = { limit = 5 }\nplans.pro = { limit = 1000, capacity = 50 }";
    holds::<St>("", plans, [("none", 10), ("free", 5), ("pro", 50)]).await;
    holds::<St>("capacity = 20", plans, [("none", 20), ("free", 20), ("pro", 50)]).await;
    // An explicit capacity is kept, even if it equals the limit.
    holds::<St>("capacity = 10", plans, [("none", 10), ("free", 10), ("pro", 50)]).await;
}

async fn a_plan_can_have_only_a_capacity<St: TestStore>() {
    let plans = "plans.free = { capacity = 2 }\nplans.pro = { capacity = 30 }";
    holds::<St>("", plans, [("none", 10), ("free", 2), ("pro", 30)]).await;
    // One unit is available again after a tenth of a minute, on each plan.
    let settings = format!("key = \"global\"\nplan = \"header:x-plan\"\n{plans}\n");
    let file = (ten("user", &settings) + TRUST).replace("fixed_window", "token_bucket");
    let (server, ..) = serve::<St>(&file).await;
    let free = async || send(&server, "/", &[("x-plan", "free")]).await;
    for retry_after in ["-", "-", "6"] {
        assert_eq!(free().await.header("retry-after"), retry_after);
    }
}

async fn a_plan_of_a_queue_queues_too<St: TestStore>() {
    let settings = format!("key = \"global\"\nmax_wait = \"1us\"\n{PLANS}");
    let file = (ten("user", &settings) + TRUST).replace("fixed_window", "leaky_bucket");
    let (server, ..) = serve::<St>(&file).await;
    assert_eq!(status_and_quota(&server, "a", "free").await, (200, "4 of 5".into()));
    // A place is free, but the wait would exceed the maximum.
    assert_eq!(status_and_quota(&server, "a", "free").await, (429, "4 of 5".into()));
}
