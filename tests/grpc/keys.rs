//! Keys of calls, and calls without a key.

use tollgate::{ClientIp, Header, MemoryStore, Quota, RateLimitLayer};
use tonic::Code;

use crate::grpc::fixture::{Client, HealthService, NOTHING, Server, TestStore, check_request, on_both_stores};

on_both_stores![metadata_is_a_key];

async fn metadata_is_a_key<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("user", Quota::per_minute(1), Header::new("x-user-id"), store);
    let service = HealthService::default();
    let server = Server::start(service.router().layer(layer)).await;
    let client = Client::of(&server);
    for (user, code) in [
        ("alice", Code::Ok),
        ("alice", Code::ResourceExhausted),
        ("bob", Code::Ok),
    ] {
        let mut call = check_request(user);
        call.metadata_mut().insert("x-user-id", user.parse().unwrap());
        assert_eq!(client.send(call).await.code, code);
    }
    let reply = client.check().await;
    assert_eq!(reply.message, "the request lacks the `x-user-id` header");
    assert_eq!(reply.all(), (Code::InvalidArgument, "-".into(), NOTHING.into()));
    let mut call = check_request("mallory");
    for user in ["mallory", "bob"] {
        call.metadata_mut().append("x-user-id", user.parse().unwrap());
    }
    let reply = client.send(call).await;
    assert_eq!(
        reply.message,
        "the request has different values for the `x-user-id` header"
    );
    assert_eq!(reply.all(), (Code::InvalidArgument, "-".into(), NOTHING.into()));
    assert_eq!(service.served(), [("alice".into(), vec![0]), ("bob".into(), vec![0])]);
}

#[tokio::test]
async fn a_missing_peer_address_is_an_internal_error() {
    let store = MemoryStore::new();
    let layer = RateLimitLayer::fixed_window("client", Quota::per_minute(1), ClientIp::peer(), store);
    let app = HealthService::default().router().layer(layer);
    let server = Server::start_without_peers(app.clone()).await;
    let reply = Client::of(&server).check().await;
    assert_eq!(reply.all(), (Code::Internal, "-".into(), NOTHING.into()));
    assert_eq!(
        reply.message,
        "there is no peer address to count requests by: serve the router with \
         .into_make_service_with_connect_info::<SocketAddr>(), in tests add the layer MockConnectInfo(address), or insert \
         a SocketAddr into the request's extensions"
    );
    assert_eq!(Client::of(&Server::start(app).await).check().await.code, Code::Ok);
}
