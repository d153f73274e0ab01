//! A limit by plan: whom a proxy says to be on one has its numbers, and everybody else those of the limit itself.

use super::fixture::{Server, TRUST, TRUST_OTHERS, TestStore, ask, on_both_stores, serve, ten};

on_both_stores![
    a_plan_overrides_the_limit_of_whoever_is_on_it,
    nobody_but_a_proxy_says_who_is_on_which_plan,
    what_was_used_stays_used_when_the_plan_changes,
    a_plan_without_a_capacity_keeps_the_one_that_was_written,
    a_plan_may_have_a_capacity_alone,
    a_plan_of_a_queue_queues,
];

const PLANS: &str = "plan = \"header:x-plan\"\nplans.free = { limit = 5 }\nplans.pro = { limit = 1000 }\nplans.\"größe 3\" = { limit = 3 }\n";

/// What a user on this plan is told: the status, and so many left of so many.
async fn told(server: &Server, user: &str, plan: &str) -> (u16, String) {
    let headers = [("x-user-id", user), ("x-plan", plan)];
    // An empty header is not the same as none.
    let headers = if plan == "none" { &headers[..1] } else { &headers };
    let reply = ask(server, "/", headers).await;
    let limit = reply.header("x-ratelimit-limit");
    (reply.status, format!("{} of {limit}", reply.remaining()))
}

fn by_user(more: &str) -> String {
    ten("user", &format!("key = \"header:x-user-id\"\n{more}"))
}

async fn a_plan_overrides_the_limit_of_whoever_is_on_it<St: TestStore>() {
    let (server, ..) = serve::<St>(&(by_user(PLANS) + TRUST)).await;
    for (plan, expected) in [
        ("free", "4 of 5"),
        ("pro", "999 of 1000"),
        ("größe 3", "2 of 3"),
        // Who is on a plan that nobody knows has the limit itself.
        ("none", "9 of 10"),
        ("", "9 of 10"),
        ("gold", "9 of 10"),
        ("PRO", "9 of 10"),
        ("pro, free", "9 of 10"),
    ] {
        let user = format!("on {plan}");
        assert_eq!(told(&server, &user, plan).await, (200, expected.into()), "{plan}");
    }
}

async fn nobody_but_a_proxy_says_who_is_on_which_plan<St: TestStore>() {
    let (server, ..) = serve::<St>(&(by_user(PLANS) + TRUST_OTHERS)).await;
    for (plan, left) in [("none", 9), ("free", 8), ("pro", 7)] {
        assert_eq!(told(&server, "a", plan).await, (200, format!("{left} of 10")), "{plan}");
    }
    // Nor does it help to claim to come from one.
    let headers = [("x-user-id", "a"), ("x-plan", "pro"), ("x-forwarded-for", "10.0.0.1")];
    assert_eq!(ask(&server, "/", &headers).await.remaining(), "6");
}

async fn what_was_used_stays_used_when_the_plan_changes<St: TestStore>() {
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
                told(&server, "a", plan).await,
                (status, expected.into()),
                "{plan} of {algorithm}"
            );
        }
        assert_eq!(told(&server, "b", "free").await, (200, "4 of 5".into()), "{algorithm}");
    }
}

/// What a bucket holds for those on a plan, less the one that asks.
async fn holds<St: TestStore>(bucket: &str, plans: &str, expected: [(&str, u32); 3]) {
    let settings = format!("key = \"header:x-user-id\"\nplan = \"header:x-plan\"\n{bucket}\n{plans}\n");
    let file = (ten("user", &settings) + TRUST).replace("fixed_window", "token_bucket");
    let (server, ..) = serve::<St>(&file).await;
    for (plan, capacity) in expected {
        let left = (capacity - 1).to_string();
        let reply = ask(&server, "/", &[("x-user-id", plan), ("x-plan", plan)]).await;
        assert_eq!(reply.remaining(), left, "{plan} of {bucket}");
    }
}

async fn a_plan_without_a_capacity_keeps_the_one_that_was_written<St: TestStore>() {
    let plans = "plans.free = { limit = 5 }\nplans.pro = { limit = 1000, capacity = 50 }";
    holds::<St>("", plans, [("none", 10), ("free", 5), ("pro", 50)]).await;
    holds::<St>("capacity = 20", plans, [("none", 20), ("free", 20), ("pro", 50)]).await;
    // It was written, even if it is what would be held anyway.
    holds::<St>("capacity = 10", plans, [("none", 10), ("free", 10), ("pro", 50)]).await;
}

async fn a_plan_may_have_a_capacity_alone<St: TestStore>() {
    let plans = "plans.free = { capacity = 2 }\nplans.pro = { capacity = 30 }";
    holds::<St>("", plans, [("none", 10), ("free", 2), ("pro", 30)]).await;
    // One is back after a tenth of a minute, on each of them.
    let settings = format!("key = \"global\"\nplan = \"header:x-plan\"\n{plans}\n");
    let file = (ten("user", &settings) + TRUST).replace("fixed_window", "token_bucket");
    let (server, ..) = serve::<St>(&file).await;
    let free = async || ask(&server, "/", &[("x-plan", "free")]).await;
    for retry_after in ["-", "-", "6"] {
        assert_eq!(free().await.header("retry-after"), retry_after);
    }
}

async fn a_plan_of_a_queue_queues<St: TestStore>() {
    let settings = format!("key = \"global\"\nmax_wait = \"1us\"\n{PLANS}");
    let file = (ten("user", &settings) + TRUST).replace("fixed_window", "leaky_bucket");
    let (server, ..) = serve::<St>(&file).await;
    assert_eq!(told(&server, "a", "free").await, (200, "4 of 5".into()));
    // There is room, but it would have to wait for longer than anybody may.
    assert_eq!(told(&server, "a", "free").await, (429, "4 of 5".into()));
}
