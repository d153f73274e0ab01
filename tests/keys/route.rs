//! The template of the route that axum matched.

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    middleware::{Next, from_fn},
    routing::get,
};
use tollgate::{Header, KeyExtractor, Route};
use tower::ServiceExt;

use crate::keys::digest;

/// Responds with the key of each request.
fn responding_with_key<K>(router: Router, extractor: K) -> Router
where
    K: KeyExtractor<Request> + Clone + Send + Sync + 'static,
{
    router.layer(from_fn(move |request: Request, _: Next| {
        let key = crate::keys::key(&extractor, &request);
        async move { key }
    }))
}

async fn key_of(router: &Router, path: &str) -> String {
    let request = Request::get(path)
        .header("x-user-id", "123")
        .body(Body::empty())
        .unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(body.into()).unwrap()
}

fn routes(templates: &[&str]) -> Router {
    let router = Router::new();
    templates
        .iter()
        .fold(router, |router, template| router.route(template, get(async || ())))
}

#[tokio::test]
async fn a_route_is_counted_by_its_template() {
    let templates = [
        "/",
        "/api/search",
        "/users/{id}",
        "/users/{id}/posts/{post}",
        "/files/{*rest}",
    ];
    let router = responding_with_key(routes(&templates), Route);
    let cases = [
        ("/", "/"),
        ("/api/search", "/api/search"),
        ("/api/search?q=/users/1", "/api/search"),
        ("/users/1", "/users/<id>"),
        ("/users/~unmatched", "/users/<id>"),
        ("/users/%7Bid%7D", "/users/<id>"),
        ("/users/a:b", "/users/<id>"),
        ("/users/1/posts/2", "/users/<id>/posts/<post>"),
        ("/files/a", "/files/<*rest>"),
        ("/files/a/b/c:d", "/files/<*rest>"),
    ];
    for (path, text) in cases {
        assert_eq!(key_of(&router, path).await, text);
    }
}

#[tokio::test]
async fn a_nested_route_is_counted_by_its_full_template() {
    let inside = Router::new().nest("/api/{version}", responding_with_key(routes(&["/users/{id}"]), Route));
    let outside = responding_with_key(Router::new().nest("/api/{version}", routes(&["/users/{id}"])), Route);
    for router in [inside, outside] {
        assert_eq!(key_of(&router, "/api/v1/users/1").await, "/api/<version>/users/<id>");
    }
}

#[tokio::test]
async fn requests_without_a_route_share_one_key() {
    let router = responding_with_key(routes(&["/users/{id}"]).fallback(async || ()), Route);
    for path in ["/", "/users", "/users/1/2", "/unmatched", "/~unmatched"] {
        assert_eq!(key_of(&router, path).await, "~unmatched");
    }
}

#[tokio::test]
async fn long_or_unsafe_templates_are_digested() {
    let [one, other] = ["1", "2"].map(|last| format!("/{}{last}", "a".repeat(63)));
    let templates = [
        "/users:batch",
        "/users:purge",
        "/users:batch/{id}",
        "/(a)",
        &one,
        &other,
    ];
    let router = responding_with_key(routes(&templates), Route);
    for template in templates {
        let path = template.replace("{id}", "1");
        assert_eq!(key_of(&router, &path).await, format!("/#{}", digest(template)));
    }
}

/// A doubled brace in a template is a brace in the path.
#[tokio::test]
async fn a_doubled_brace_is_not_a_parameter() {
    let router = responding_with_key(routes(&["/{id}", "/{{id}}"]), Route);
    assert_eq!(key_of(&router, "/1").await, "/<id>");
    assert_eq!(key_of(&router, "/{id}").await, "/<<id>>");
}

#[tokio::test]
async fn a_route_can_be_part_of_a_tuple() {
    let per_user = (Header::new("x-user-id").label("user"), Route);
    let router = responding_with_key(routes(&["/api/search", "/users/{id}", "/users:batch"]), per_user);
    assert_eq!(key_of(&router, "/api/search").await, "user:123:/api/search");
    assert_eq!(key_of(&router, "/users/1").await, "user:123:/users/<id>");
    assert_eq!(
        key_of(&router, "/users:batch").await,
        format!("user:123:/#{}", digest("/users:batch"))
    );
    assert_eq!(key_of(&router, "/").await, "user:123:~unmatched");
}
