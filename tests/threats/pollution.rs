//! Parameter pollution: requests with two values for one key, of which the limit would count one and the handler use the other.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    extract::Query,
    http::{HeaderMap, StatusCode, header::COOKIE},
    routing::{get, post},
};
use tollgate::{ApiKey, Cookie, Header, KeyExtractor, QueryParam, Quota, RateLimitLayer, RuleSet, RulesLayer};

use support::{
    each_store::{TestStore, on_both_stores},
    http::{NOTHING, Reply, Server},
};

on_both_stores![
    guesses_with_two_names_are_rejected_in_code,
    guesses_with_two_names_are_rejected_by_a_rules_file,
    a_session_with_two_cookies_is_rejected_in_code,
    a_session_with_two_cookies_is_rejected_by_a_rules_file,
    a_key_in_two_header_lines_is_rejected_in_code,
    a_key_in_two_header_lines_is_rejected_by_a_rules_file,
];

/// Five per hour by the key in code, or by that of a rules file.
fn in_code<St: TestStore, K>(key: K, app: Router) -> Router
where
    K: KeyExtractor<axum::extract::Request> + Clone + Send + Sync + 'static,
{
    let (store, _) = St::fresh();
    app.layer(RateLimitLayer::sliding_log("login", Quota::per_hour(5), key, store))
}

fn by_rules<St: TestStore>(key: &str, app: Router) -> Router {
    let limit = "[[limit]]\nname = 'login'\nalgorithm = 'sliding_log'\nlimit = 5\nwindow = '1h'\n";
    let (store, _) = St::fresh();
    let rules = RuleSet::parse(&format!("{limit}key = '{key}'\ndefault = 'ip'")).unwrap();
    app.layer(RulesLayer::new(rules, store))
}

/// Requests that a handler served for the victim.
#[derive(Clone, Default)]
struct Served(Arc<AtomicUsize>);

impl Served {
    fn record(&self, identity: Option<&str>) -> StatusCode {
        self.0
            .fetch_add(usize::from(identity == Some("alice")), Ordering::SeqCst);
        StatusCode::OK
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[track_caller]
fn assert_ambiguous(reply: &Reply, what: &str) {
    assert_eq!(reply.all(), (400, "-".into(), NOTHING.into()), "{}", reply.body);
    assert_eq!(reply.header("content-type"), "application/json");
    let message = format!("the request has different values for {what}");
    // The body contains none of the client's values.
    let body = format!(r#"{{"error":"rate_limit_key_ambiguous","message":"{message}"}}"#);
    assert_eq!(reply.body, body);
}

/// A handler that uses the last of several parameters, as a map from axum's `Query` contains it.
fn login(served: &Served) -> Router {
    let served = served.clone();
    let log_in =
        async move |Query(login): Query<HashMap<String, String>>| served.record(login.get("name").map(String::as_str));
    Router::new().route("/login", post(log_in))
}

async fn guess_with_two_names(app: Router, served: Served) {
    let server = Server::start(app).await;
    let log_in = async |query: &str| Reply::to(server.post(&format!("/login?{query}"))).await;
    for junk in 0..50 {
        for query in [
            format!("name=junk{junk}&name=alice"),
            format!("name=junk{junk}&password={junk}&na%6De=alice"),
            format!("n%61me=junk{junk}&name=alic%65"),
        ] {
            assert_ambiguous(&log_in(&query).await, "the query parameter `name`");
        }
    }
    // A default key would count these by another key than that of the name that the handler uses.
    for query in [
        "name=&name=alice",
        "name&name=alice",
        "name=alice&name=",
        "name=alice&name",
    ] {
        assert_ambiguous(&log_in(query).await, "the query parameter `name`");
    }
    assert_eq!(served.count(), 0);
    // Equal values are one value.
    for query in [
        "name=alice",
        "name=alice&name=alice",
        "name=alice&n%61me=%61lice",
        "name=alice&names=bob",
        "name=alice",
    ] {
        assert_eq!(log_in(query).await.status, 200, "{query}");
    }
    for query in ["name=alice", "name=alice&name=alice"] {
        assert_eq!(log_in(query).await.status, 429, "{query}");
    }
    assert_eq!(served.count(), 5);
}

async fn guesses_with_two_names_are_rejected_in_code<St: TestStore>() {
    let served = Served::default();
    guess_with_two_names(
        in_code::<St, _>(QueryParam::new("name").or("unnamed"), login(&served)),
        served,
    )
    .await;
}

async fn guesses_with_two_names_are_rejected_by_a_rules_file<St: TestStore>() {
    let served = Served::default();
    guess_with_two_names(by_rules::<St>("query:name", login(&served)), served).await;
}

/// A handler that uses the last of several cookies.
fn session(served: &Served) -> Router {
    let served = served.clone();
    let show = async move |headers: HeaderMap| {
        let lines = headers.get_all(COOKIE).into_iter().map(|line| line.to_str().unwrap());
        let pairs = lines.flat_map(|line| line.split("; "));
        let value = pairs.filter_map(|pair| pair.strip_prefix("session=")).last();
        served.record(value.map(|value| value.trim_matches('"')))
    };
    Router::new().route("/", get(show))
}

async fn send(server: &Server, headers: &[(&str, &str)]) -> Reply {
    let request = headers.iter().fold(server.request("/"), |request, (name, value)| {
        request.header(*name, *value)
    });
    Reply::to(request).await
}

async fn send_two_cookies(app: Router, served: Served) {
    let server = Server::start(app).await;
    let ambiguous: [&[_]; 6] = [
        &[("cookie", "session=junk; session=alice")],
        &[("cookie", "session=alice; theme=dark; session=junk")],
        &[("cookie", "session=junk"), ("cookie", "session=alice")],
        &[("cookie", "session=junk; sessi%6Fn=alice")],
        &[("cookie", "session=; session=alice")],
        &[("cookie", "session=alice; session=\"\"")],
    ];
    for headers in ambiguous {
        assert_ambiguous(&send(&server, headers).await, "the cookie `session`");
    }
    assert_eq!(served.count(), 0);
    let equal: [&[_]; 5] = [
        &[("cookie", "session=alice")],
        &[("cookie", "session=alice; session=alice")],
        &[("cookie", "session=alice"), ("cookie", "session=alice")],
        &[("cookie", "session=\"alice\"; session=alice")],
        &[("cookie", "sessions=junk; session=alice")],
    ];
    for headers in equal {
        assert_eq!(send(&server, headers).await.status, 200, "{headers:?}");
    }
    for headers in equal {
        assert_eq!(send(&server, headers).await.status, 429, "{headers:?}");
    }
    assert_eq!(served.count(), 5);
}

async fn a_session_with_two_cookies_is_rejected_in_code<St: TestStore>() {
    let served = Served::default();
    send_two_cookies(
        in_code::<St, _>(Cookie::new("session").or("anonymous"), session(&served)),
        served,
    )
    .await;
}

async fn a_session_with_two_cookies_is_rejected_by_a_rules_file<St: TestStore>() {
    let served = Served::default();
    send_two_cookies(by_rules::<St>("cookie:session", session(&served)), served).await;
}

/// A handler that uses the last line of a header, as services behind a proxy that appends its lines do.
fn header(served: &Served, name: &'static str) -> Router {
    let served = served.clone();
    let show = async move |headers: HeaderMap| {
        let last = headers.get_all(name).into_iter().next_back();
        served.record(last.map(|value| value.to_str().unwrap().trim_start_matches("Bearer ")))
    };
    Router::new().route("/", get(show))
}

async fn send_two_lines(app: Router, served: Served, name: &str, [junk, alice]: [&str; 2]) {
    let server = Server::start(app).await;
    for values in [[junk, alice], [alice, junk], ["", alice], [alice, ""]] {
        let reply = send(&server, &values.map(|value| (name, value))).await;
        assert_ambiguous(&reply, &format!("the `{name}` header"));
    }
    assert_eq!(served.count(), 0);
    for status in [200, 200, 200, 200, 200, 429] {
        assert_eq!(send(&server, &[(name, alice); 2]).await.status, status);
    }
    assert_eq!(served.count(), 5);
}

const IN_HEADERS: [(&str, &str, [&str; 2]); 3] = [
    ("header:x-user-id", "x-user-id", ["junk", "alice"]),
    ("apikey:x-api-key", "x-api-key", ["junk", "alice"]),
    ("apikey:authorization", "authorization", ["Basic junk", "Bearer alice"]),
];

async fn a_key_in_two_header_lines_is_rejected_in_code<St: TestStore>() {
    for (kind, name, values) in IN_HEADERS {
        let served = Served::default();
        let app = header(&served, name);
        let app = match kind {
            "header:x-user-id" => in_code::<St, _>(Header::new(name).or("anonymous"), app),
            "apikey:x-api-key" => in_code::<St, _>(ApiKey::header(name).or("anonymous"), app),
            _ => in_code::<St, _>(ApiKey::bearer().or("anonymous"), app),
        };
        send_two_lines(app, served, name, values).await;
    }
}

async fn a_key_in_two_header_lines_is_rejected_by_a_rules_file<St: TestStore>() {
    for (key, name, values) in IN_HEADERS {
        let served = Served::default();
        send_two_lines(by_rules::<St>(key, header(&served, name)), served, name, values).await;
    }
}
