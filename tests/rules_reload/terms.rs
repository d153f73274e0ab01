//! Limits that are tried out, and requests that are not counted, from one moment to the next.

use support::http::NOTHING;

use crate::rules_reload::api::{Api, TestStore, limit, on_both_stores};

on_both_stores![
    a_limit_that_is_only_watched_refuses_nobody_until_it_is_in_earnest,
    who_is_exempt_is_not_counted_for_as_long_as_that_holds,
    a_limit_for_another_path_is_not_used,
];

fn api(amount: u32, terms: &str) -> String {
    limit(&format!(
        "name = 'api'; algorithm = 'fixed_window'; limit = {amount}; window = '1d'; {terms}"
    ))
}

async fn is_not_counted<St: TestStore>(api: &Api<St>, left: u64) {
    let reply = api.get(0).await;
    assert_eq!((reply.status, reply.limits()), (200, NOTHING.into()));
    assert_eq!(api.left().await, [left]);
}

async fn a_limit_that_is_only_watched_refuses_nobody_until_it_is_in_earnest<St: TestStore>() {
    let served = Api::<St>::start(&api(1, "")).await;
    assert_eq!(served.status().await, (200, "0".into()));
    assert_eq!(served.status().await, (429, "0".into()));
    served.replace(&api(1, "shadow = true"));
    is_not_counted(&served, 0).await;
    served.replace(&api(1, "shadow = false"));
    assert_eq!(served.status().await, (429, "0".into()));
    // It counts whom it would have admitted.
    served.replace(&api(3, "shadow = true"));
    is_not_counted(&served, 1).await;
    served.replace(&api(3, ""));
    assert_eq!(served.status().await, (200, "0".into()));
    assert_eq!(served.status().await, (429, "0".into()));
}

async fn who_is_exempt_is_not_counted_for_as_long_as_that_holds<St: TestStore>() {
    let exempt = "[[exempt]]; methods = ['GET']; path = '/{any}'";
    let served = Api::<St>::start(&api(2, "")).await;
    assert_eq!(served.status().await, (200, "1".into()));
    served.replace(&api(2, exempt));
    is_not_counted(&served, 1).await;
    served.replace(&api(2, ""));
    assert_eq!(served.status().await, (200, "0".into()));
    assert_eq!(served.status().await, (429, "0".into()));
    served.replace(&api(2, exempt));
    is_not_counted(&served, 0).await;
}

async fn a_limit_for_another_path_is_not_used<St: TestStore>() {
    let served = Api::<St>::start(&api(2, "path = '/{any}'")).await;
    assert_eq!(served.status().await, (200, "1".into()));
    served.replace(&api(2, "path = '/other'"));
    is_not_counted(&served, 1).await;
    served.replace(&api(2, "methods = ['POST']"));
    is_not_counted(&served, 1).await;
    served.replace(&api(2, "methods = ['POST', 'GET']"));
    assert_eq!(served.status().await, (200, "0".into()));
    assert_eq!(served.status().await, (429, "0".into()));
}
