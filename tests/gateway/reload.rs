//! Reloads of the rules under load: no request is lost, each is decided by one version of the rules and charged once or not at
//! all, and the service receives each admitted request once.

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
    redis::RedisServer,
    rule_versions::{RulesVersion, VERSIONS, tier_names},
    wait::eventually,
};

use crate::gateway::{fixture::Gateway, service::Service};

const CLIENTS: usize = 12;
const USERS: [&str; 3] = ["ann", "bob", "carol"];
/// The minimum number of responses per version.
const MIN_PER_VERSION: usize = 150;

/// The version's rules, with a window that does not end at midnight.
fn text(version: &RulesVersion) -> String {
    version.text().replace("'1d'", "'3650d'")
}

fn policy(version: &RulesVersion, is_pro: bool) -> String {
    version.policy(is_pro).replace("w=86400", "w=315360000")
}

/// What a client has received.
#[derive(Default)]
struct ClientRecord {
    policies: BTreeSet<String>,
    /// By tier and user.
    charged: BTreeMap<(String, &'static str), u64>,
    /// The requests that the service must have received.
    admitted: Vec<String>,
    denied: usize,
}

struct Load {
    gateways: Vec<Gateway>,
    answered: AtomicUsize,
    is_done: AtomicBool,
}

/// Sends requests to the gateways in turn until the rules stop changing.
async fn client(load: Arc<Load>, number: usize) -> ClientRecord {
    let (user, is_pro) = (USERS[number % USERS.len()], number.is_multiple_of(2));
    let policies = VERSIONS.map(|version| policy(&version, is_pro));
    let mut record = ClientRecord::default();
    for count in 0.. {
        if load.is_done.load(Ordering::Relaxed) {
            break;
        }
        let gateway = &load.gateways[count % load.gateways.len()];
        let path = format!("/{number}/{count}");
        let request = gateway.request(Method::GET, &path).header("x-user-id", user);
        let reply = Reply::to(request.header("x-plan", if is_pro { "pro" } else { "none" })).await;
        let policy = reply.header("ratelimit-policy");
        assert!(policies.contains(&policy), "{policy}");
        let (states, tiers) = (reply.header("ratelimit"), tier_names(&policy));
        match reply.status {
            200 => {
                assert_eq!(tier_names(&states), tiers);
                for name in tiers {
                    *record.charged.entry((name.into(), user)).or_default() += if name == "heavy" { 3 } else { 1 };
                }
                record.admitted.push(format!("GET {path}"));
            }
            status => {
                assert_eq!(status, 429);
                assert!(
                    tier_names(&states).iter().all(|name| tiers.contains(name)),
                    "{states}: {policy}"
                );
                record.denied += 1;
            }
        }
        record.policies.insert(policy);
        load.answered.fetch_add(1, Ordering::Relaxed);
    }
    record
}

/// Replaces the rules of every gateway, and waits for the reloads.
async fn reload(gateways: &[Gateway], rules: &str) {
    let limits: Value = toml::from_str(rules).unwrap();
    gateways.iter().for_each(|gateway| gateway.replace_rules(rules));
    for gateway in gateways {
        eventually("the rules are active", async || {
            gateway.admin(Method::GET, "/limits").await.json() == limits
        })
        .await;
    }
}

/// The used quota of a tier, while every tier has the maximum limit.
async fn used(gateway: &Gateway, key: &str) -> u64 {
    let reply = gateway.admin(Method::GET, &format!("/keys/{key}")).await;
    u64::from(u32::MAX) - reply.json()["remaining"].as_u64().unwrap()
}

async fn reload_under_load(service: Service, gateways: Vec<Gateway>) {
    let load = Arc::new(Load {
        gateways,
        answered: AtomicUsize::new(0),
        is_done: AtomicBool::new(false),
    });
    let clients: JoinSet<_> = (0..CLIENTS).map(|number| client(load.clone(), number)).collect();
    for version in VERSIONS.iter().chain(&VERSIONS) {
        reload(&load.gateways, &text(version)).await;
        let before = load.answered.load(Ordering::Relaxed);
        eventually("enough requests are answered", async || {
            load.answered.load(Ordering::Relaxed) >= before + MIN_PER_VERSION
        })
        .await;
    }
    load.is_done.store(true, Ordering::Relaxed);
    let records = clients.join_all().await;

    let policies: BTreeSet<_> = records.iter().flat_map(|record| record.policies.clone()).collect();
    let versions = VERSIONS.iter();
    let versions = versions.flat_map(|version| [true, false].map(|is_pro| policy(version, is_pro)));
    assert_eq!(policies, versions.collect());
    assert!(records.iter().any(|record| record.denied > 0));

    let mut admitted: Vec<_> = records.iter().flat_map(|record| record.admitted.clone()).collect();
    let mut received = service.lines();
    admitted.sort();
    received.sort();
    assert_eq!(received, admitted);

    let tiers = [
        ("all", "global"),
        ("heavy", "global"),
        ("user", "header:x-user-id"),
        ("other", "header:x-user-id"),
    ];
    let maximal = tiers.map(|(name, key)| {
        let terms = "algorithm = 'fixed_window'\nlimit = 4294967295\nwindow = '3650d'";
        format!("[[limit]]\nname = '{name}'\n{terms}\nkey = '{key}'\n")
    });
    reload(&load.gateways, &maximal.concat()).await;
    let charged = |tier: &str, users: &[&str]| -> u64 {
        let all = records.iter().flat_map(|record| &record.charged);
        let matching = all.filter(|((name, user), _)| name == tier && users.contains(user));
        matching.map(|(_, charged)| charged).sum()
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
    let gateway = Gateway::with_upstream(&service.url(), &text(&VERSIONS[0]), &[]);
    reload_under_load(service, vec![gateway]).await;
}

/// Two gateways run different versions for a moment, with the same counts.
#[tokio::test(flavor = "multi_thread")]
async fn rules_change_under_load_on_redis() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let gateways = [(); 2].map(|()| Gateway::with_redis(&service, &redis, &text(&VERSIONS[0]), &[]));
    reload_under_load(service, gateways.into()).await;
}
