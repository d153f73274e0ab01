//! `hits_addend`, of the request and of a descriptor.

use super::{
    GrpcService,
    client::{Descriptor, OK, OVER_LIMIT, RateLimit, Request, descriptor, request},
    limit,
};

const TENANT: &[(&str, &str)] = &[("tenant", "acme")];

#[tokio::test]
async fn the_cost_is_that_of_the_descriptor_else_of_the_request_else_1() {
    let service = GrpcService::start(&limit("tenant", 100, "['tenant']"), &[]);
    let mut remaining = 100;
    let cases = [
        (0, None, 1),
        (1, None, 1),
        (5, None, 5),
        (5, Some(3), 3),
        (0, Some(7), 7),
        // It is decided, and charges nothing.
        (5, Some(0), 0),
    ];
    for (of_request, of_descriptor, cost) in cases {
        let request = Request {
            hits_addend: of_request,
            descriptors: vec![Descriptor {
                hits_addend: of_descriptor,
                ..descriptor(TENANT)
            }],
            ..request(&[])
        };
        remaining -= cost;
        let response = service.client.call(request).await;
        assert_eq!(
            response.remaining(),
            [(OK, remaining)],
            "{of_request} {of_descriptor:?}"
        );
    }
}

#[tokio::test]
async fn a_cost_above_the_capacity_is_over_the_limit_and_charges_nothing() {
    let service = GrpcService::start(&limit("tenant", 100, "['tenant']"), &[]);
    for hits_addend in [101, u64::from(u32::MAX) + 1, u64::MAX] {
        let mut large = request(&[TENANT]);
        large.descriptors[0].hits_addend = Some(hits_addend);
        let response = service.client.call(large).await;
        assert_eq!(
            (response.overall_code, response.remaining()),
            (OVER_LIMIT, vec![(OVER_LIMIT, 100)])
        );
        assert!(
            !response
                .headers()
                .iter()
                .any(|header| header.starts_with("retry-after"))
        );
    }
}

#[tokio::test]
async fn a_repeated_descriptor_costs_the_sum() {
    let service = GrpcService::start(&limit("tenant", 3, "['tenant']"), &[]);
    assert_eq!(
        service.client.call(request(&[TENANT, TENANT])).await.remaining(),
        [(OK, 1), (OK, 1)]
    );
    let denied = service.client.call(request(&[TENANT, TENANT])).await;
    assert_eq!(denied.remaining(), [(OVER_LIMIT, 1), (OVER_LIMIT, 1)]);
}

#[tokio::test]
async fn negative_hits_and_a_limit_of_the_proxy_have_no_effect() {
    let service = GrpcService::start(&limit("tenant", 3, "['tenant']"), &[]);
    service.client.call(request(&[TENANT])).await;
    let mut negative = request(&[TENANT]);
    negative.descriptors[0].hits_addend = Some(1);
    negative.descriptors[0].is_negative_hits = true;
    assert_eq!(service.client.call(negative).await.remaining(), [(OK, 2)]);
    let mut with_limit = request(&[TENANT]);
    with_limit.descriptors[0].limit = Some(RateLimit {
        requests_per_unit: 1,
        unit: 1,
        name: String::new(),
    });
    let response = service.client.call(with_limit).await;
    assert_eq!(response.remaining(), [(OK, 1)]);
    assert_eq!(
        response.statuses[0].current_limit.as_ref().unwrap().requests_per_unit,
        3
    );
}
