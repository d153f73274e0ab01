//! The rules of docs/recipes.md behave like its code: both get the requests of the page, and the same statuses.

#[path = "../../docs/recipes/requests.rs"]
mod requests;

use std::net::SocketAddr;

use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::{HeaderValue, StatusCode, header::CONTENT_TYPE},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
};
use requests::{Customer, authenticate, send, store};
use tollgate::{RuleSet, RulesLayer};

const PAGE: &str = include_str!("../../docs/recipes.md");

/// A recipe with rules.
struct Recipe {
    title: &'static str,
    /// How many requests, which, and their status: of the last example before the rules.
    requests: Vec<(usize, &'static str, u16)>,
    rules: &'static str,
}

impl Recipe {
    fn read(section: &'static str) -> Option<Self> {
        let (title, text) = section.split_once('\n')?;
        let (before, rules) = text.split_once("```toml\n")?;
        let (_, example) = before.rsplit_once("send(&")?;
        let (rules, _) = rules.split_once("```")?;
        let requests = example.lines().filter_map(request).collect();
        Some(Self { title, requests, rules })
    }
}

/// Parses a line like `(2, "GET / authorization=ann", 200), // a comment`.
fn request(line: &'static str) -> Option<(usize, &'static str, u16)> {
    let (count, rest) = line.trim().strip_prefix('(')?.split_once(", \"")?;
    let (request, rest) = rest.split_once("\", ")?;
    let (status, _) = rest.split_once(')')?;
    Some((count.parse().ok()?, request, status.parse().ok()?))
}

/// A service behind the rules: of each login, only this password is right, and each answer states its usage.
fn app(recipe: &Recipe) -> Router {
    let respond = async |body: String| {
        let status = match body.is_empty() || body.ends_with(":open+sesame") {
            true => StatusCode::OK,
            false => StatusCode::UNAUTHORIZED,
        };
        let json = [(CONTENT_TYPE, "application/json")];
        (status, json, r#"{"usage":{"total_tokens":312}}"#).into_response()
    };
    let rules = RuleSet::parse(recipe.rules).unwrap_or_else(|error| panic!("{}: {error}", recipe.title));
    let app = Router::new().fallback(respond).layer(RulesLayer::new(rules, store()));
    match recipe
        .requests
        .iter()
        .any(|(_, request, _)| request.contains("authorization="))
    {
        true => app.layer(from_fn(forward)).layer(from_fn(authenticate)),
        false => app,
    }
}

/// The authenticating proxy that the rules trust.
async fn forward(mut request: Request, next: Next) -> Response {
    let customer: Customer = request.extensions().get().cloned().expect("it is authenticated");
    for (name, value) in [
        ("x-user-id", &customer.id),
        ("x-customer", &customer.id),
        ("x-account", &customer.id),
        ("x-plan", &customer.plan),
    ] {
        let value = HeaderValue::from_str(value).expect("a valid value");
        request.headers_mut().insert(name, value);
    }
    let proxy = SocketAddr::from(([10, 0, 0, 7], 443));
    request.extensions_mut().insert(ConnectInfo(proxy));
    next.run(request).await
}

#[tokio::test]
async fn rules_behave_like_the_code_before_them() {
    let recipes: Vec<Recipe> = PAGE.split("\n## ").filter_map(Recipe::read).collect();
    let mut tested = Vec::new();
    for recipe in &recipes {
        send(&app(recipe), recipe.requests.iter().copied()).await;
        let denied = recipe.requests.iter().filter(|(.., status)| *status == 429).count();
        tested.push((recipe.title, recipe.requests.len(), denied));
    }
    assert_eq!(
        tested,
        [
            ("All clients and each user", 6, 2),
            ("Login", 3, 1),
            ("API plans", 6, 3),
            ("Token budgets", 3, 1),
            ("An expensive endpoint", 5, 2),
            ("A public API behind a CDN", 12, 6),
            ("Payments", 3, 1),
        ]
    );
}

/// The last recipe shows parts of the files that the tests of the proxies start.
#[test]
fn the_parts_of_proxy_files_are_in_the_complete_files() {
    let (_, recipe) = PAGE
        .split_once("\n## Behind Envoy or nginx\n")
        .expect("the last recipe");
    let files = [
        include_str!("../../docs/service/nginx.conf"),
        include_str!("../../docs/service/rules.toml"),
        include_str!("../../docs/service/envoy.yaml"),
        include_str!("../../docs/service/envoy_rules.toml"),
    ];
    let blocks = recipe.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.split_once('\n'));
    let parts: Vec<_> = blocks.filter(|(language, _)| *language != "sh").collect();
    assert_eq!(parts.len(), files.len());
    for ((_, part), file) in parts.iter().zip(files) {
        // In the same order, with other lines in between.
        let mut rest = file.lines();
        for line in part.lines() {
            assert!(
                rest.any(|other| other == line),
                "{line:?} is not in the complete file:\n{file}"
            );
        }
    }
}
