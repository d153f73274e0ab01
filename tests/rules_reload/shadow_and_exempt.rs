//! Changes of shadow mode, exemptions, paths and methods.

use support::http::NOTHING;

use crate::rules_reload::api::{Api, TestStore, limit, on_both_stores};

on_both_stores![
    a_shadow_denies_no_request_until_it_is_enforced,
    exempt_requests_are_not_counted_while_the_exemption_exists,
    a_limit_does_not_apply_to_another_path,
];

fn api(amount: u32, more: &str) -> String {
    limit(&format!(
        "name = 'api'; algorithm = 'fixed_window'; limit = {amount}; window = '1d'; {more}"
    ))
}

async fn is_not_counted<St: TestStore>(api: &Api<St>, left: u64) {
    let reply = api.get(0).await;
    assert_eq!((reply.status, reply.limits()), (200, NOTHING.into()));
    assert_eq!(api.left().await, [left]);
}

async fn a_shadow_denies_no_request_until_it_is_enforced<St: TestStore>() {
    let served = Api::<St>::start(&api(1, "")).await;
    assert_eq!(served.status().await, (200, "0".into()));
    assert_eq!(served.status().await, (429, "0".into()));
    served.replace(&api(1, "shadow = true"));
    is_not_counted(&served, 0).await;
    served.replace(&api(1, "shadow = false"));
    assert_eq!(served.status().await, (429, "0".into()));
    // A shadow counts the requests that it would admit.
    served.replace(&api(3, "shadow = true"));
    is_not_counted(&served, 1).await;
    served.replace(&api(3, ""));
    assert_eq!(served.status().await, (200, "0".into()));
    assert_eq!(served.status().await, (429, "0".into()));
}

async fn exempt_requests_are_not_counted_while_the_exemption_exists<St: TestStore>() {
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

async fn a_limit_does_not_apply_to_another_path<St: TestStore>() {
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
