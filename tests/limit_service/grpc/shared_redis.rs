//! Services that share a Redis admit exactly the limits together, all or none.

use tokio::task::JoinSet;

use super::{
    GrpcService,
    client::{OK, request},
    limit,
};
use support::redis::RedisServer;

const CLIENTS: usize = 16;
const CALLS: usize = 20;

#[tokio::test]
async fn two_services_admit_exactly_the_limits() {
    let redis = RedisServer::start();
    let rules = [
        limit("tenant", 150, "['tenant']"),
        limit("search", 100, "['tenant', 'path=/search']"),
    ]
    .concat();
    let services = [(); 2].map(|()| GrpcService::with_redis(&redis, &rules, &["--on-store-failure", "closed"]));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = services[number % 2].client.clone();
        clients.spawn(async move {
            let mut admitted = 0;
            for _ in 0..CALLS {
                let search: [&[(&str, &str)]; 2] = [&[("tenant", "acme")], &[("tenant", "acme"), ("path", "/search")]];
                admitted += usize::from(client.code(&search).await == OK);
            }
            admitted
        });
    }
    assert_eq!(clients.join_all().await.into_iter().sum::<usize>(), 100);
    // The 220 denied calls have cost the tenant nothing.
    let response = services[0].client.call(request(&[&[("tenant", "acme")]])).await;
    assert_eq!(response.remaining(), [(OK, 49)]);
}
