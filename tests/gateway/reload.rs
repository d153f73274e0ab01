//! Rules that change under load: no request is lost, each is answered by one version of the rules and charged once by it or
//! not at all, and the service sees those that are admitted, each once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use axum::http::Method;
use serde_json::Value;
use tokio::task::JoinSet;

use support::{
    http::Reply,
    patience::eventually,
    redis::RedisServer,
    versions::{VERSIONS, Version, names},
};

use crate::gateway::{fixture::Gateway, service::Service};

const CLIENTS: usize = 12;
const USERS: [&str; 3] = ["ann", "bob", "carol"];
/// So many meet with each version, at least.
const MEET_EACH: usize = 150;

/// The version in a window that does not end while a test runs, be it midnight.
fn text(version: &Version) -> String {
    version.text().replace("'1d'", "'3650d'")
}

fn policy(version: &Version, is_pro: bool) -> String {
    version.policy(is_pro).replace("w=86400", "w=315360000")
}

/// What clients have met with.
#[derive(Default)]
struct Met {
    policies: BTreeSet<String>,
    /// By tier and user.
    charged: BTreeMap<(String, &'static str), u64>,
    /// What the service must have seen.
    admitted: Vec<String>,
    refused: usize,
}

struct Load {
    gateways: Vec<Gateway>,
    answered: AtomicUsize,
    changed: AtomicBool,
}

/// Sends one request after the other for as long as the rules change, to each gateway in turn.
async fn client(load: Arc<Load>, number: usize) -> Met {
    let (user, is_pro) = (USERS[number % USERS.len()], number.is_multiple_of(2));
    let policies = VERSIONS.map(|version| policy(&version, is_pro));
    let mut met = Met::default();
    for count in 0.. {
        if load.changed.load(Ordering::Relaxed) {
            break;
        }
        let gateway = &load.gateways[count % load.gateways.len()];
        let path = format!("/{number}/{count}");
        let request = gateway.request(Method::GET, &path).header("x-user-id", user);
        let reply = Reply::to(request.header("x-plan", if is_pro { "pro" } else { "none" })).await;
        let policy = reply.header("ratelimit-policy");
        assert!(policies.contains(&policy), "{policy}");
        assert_eq!(names(&reply.header("ratelimit")), names(&policy));
        match reply.status {
            200 => {
                names(&policy).into_iter().for_each(|name| {
                    *met.charged.entry((name.into(), user)).or_default() += if name == "heavy" { 3 } else { 1 };
                });
                met.admitted.push(format!("GET {path}"));
            }
            status => {
                assert_eq!(status, 429);
                met.refused += 1;
            }
        }
        met.policies.insert(policy);
        load.answered.fetch_add(1, Ordering::Relaxed);
    }
    met
}

/// Puts these rules in force, everywhere.
async fn put(gateways: &[Gateway], rules: &str) {
    let limits: Value = toml::from_str(rules).unwrap();
    gateways.iter().for_each(|gateway| gateway.change(rules));
    for gateway in gateways {
        eventually("the rules are in force", async || {
            gateway.admin(Method::GET, "/limits").await.json() == limits
        })
        .await;
    }
}

/// What is used of a tier. For that, all of them are in force, and nobody can use up any.
async fn used(gateway: &Gateway, key: &str) -> u64 {
    let reply = gateway.admin(Method::GET, &format!("/keys/{key}")).await;
    u64::from(u32::MAX) - reply.json()["remaining"].as_u64().unwrap()
}

async fn all_is_right(service: Service, gateways: Vec<Gateway>) {
    let load = Arc::new(Load {
        gateways,
        answered: AtomicUsize::new(0),
        changed: AtomicBool::new(false),
    });
    let clients: JoinSet<_> = (0..CLIENTS).map(|number| client(load.clone(), number)).collect();
    for version in VERSIONS.iter().chain(&VERSIONS) {
        put(&load.gateways, &text(version)).await;
        let before = load.answered.load(Ordering::Relaxed);
        eventually("some are answered by it", async || {
            load.answered.load(Ordering::Relaxed) >= before + MEET_EACH
        })
        .await;
    }
    load.changed.store(true, Ordering::Relaxed);
    let met = clients.join_all().await;

    let policies: BTreeSet<_> = met.iter().flat_map(|met| met.policies.clone()).collect();
    let versions = VERSIONS.iter();
    let versions = versions.flat_map(|version| [true, false].map(|is_pro| policy(version, is_pro)));
    assert_eq!(policies, versions.collect());
    assert!(met.iter().any(|met| met.refused > 0));

    let mut admitted: Vec<_> = met.iter().flat_map(|met| met.admitted.clone()).collect();
    let mut seen = service.lines();
    admitted.sort();
    seen.sort();
    assert_eq!(seen, admitted);

    let tiers = [
        ("all", "global"),
        ("heavy", "global"),
        ("user", "header:x-user-id"),
        ("other", "header:x-user-id"),
    ];
    let endless = tiers.map(|(name, key)| {
        let terms = "algorithm = 'fixed_window'\nlimit = 4294967295\nwindow = '3650d'";
        format!("[[limit]]\nname = '{name}'\n{terms}\nkey = '{key}'\n")
    });
    put(&load.gateways, &endless.concat()).await;
    let charged = |tier: &str, users: &[&str]| -> u64 {
        let all = met.iter().flat_map(|met| &met.charged);
        let meant = all.filter(|((name, user), _)| name == tier && users.contains(user));
        meant.map(|(_, charged)| charged).sum()
    };
    for gateway in &load.gateways {
        for tier in ["all", "heavy"] {
            assert_eq!(
                used(gateway, &format!("{tier}/global")).await,
                charged(tier, &USERS),
                "{tier}"
            );
        }
        for (tier, user) in ["user", "other"]
            .into_iter()
            .flat_map(|tier| USERS.map(|user| (tier, user)))
        {
            let used = used(gateway, &format!("{tier}/x-user-id:{user}")).await;
            assert_eq!(used, charged(tier, &[user]), "{tier} {user}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_change_under_load_in_memory() {
    let service = Service::start().await;
    let gateway = Gateway::to(&service.url(), &text(&VERSIONS[0]), &[]);
    all_is_right(service, vec![gateway]).await;
}

/// Two gateways run different versions for a moment, and do not disturb each other.
#[tokio::test(flavor = "multi_thread")]
async fn rules_change_under_load_on_redis() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let gateways = [(); 2].map(|()| Gateway::between(&service, &redis, &text(&VERSIONS[0]), &[]));
    all_is_right(service, gateways.into()).await;
}
