//! Rules that change under load: each request is decided by one version of them, and charged once by it or not at all.

use std::{
    collections::{HashMap, HashSet},
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

use axum::{Router, routing::get};
use tokio::task::JoinSet;
use tollgate::{FixedWindow, Key, Limit, MemoryStore, Quota, RedisStore, RuleSet, RulesLayer};

use support::{
    each_store::TestStore,
    folder::Folder,
    http::{Reply, Server},
    rule_versions::{VERSIONS, tier_names},
    wait::until,
};

const CLIENTS: usize = 12;
const USERS: [&str; 3] = ["ann", "bob", "carol"];
/// The minimum number of answered requests.
const MIN_ANSWERED: usize = 6_000;

/// What a client observed.
#[derive(Default)]
struct Observed {
    policies: HashSet<String>,
    /// By tier and user.
    charged: HashMap<(String, &'static str), u64>,
}

/// Sends requests one after the other while the rules change.
async fn client(
    server: Arc<Server>,
    number: usize,
    answered: Arc<AtomicUsize>,
    changing: Arc<JoinHandle<()>>,
) -> Observed {
    let (user, is_pro) = (USERS[number % USERS.len()], number.is_multiple_of(2));
    let policies = VERSIONS.map(|version| version.policy(is_pro));
    let mut observed = Observed::default();
    while !changing.is_finished() {
        let plan = if is_pro { "pro" } else { "none" };
        let request = server.request("/").header("x-user-id", user).header("x-plan", plan);
        let reply = Reply::to(request).await;
        let policy = reply.header("ratelimit-policy");
        assert!(policies.contains(&policy), "{policy}");
        let (states, tiers) = (reply.header("ratelimit"), tier_names(&policy));
        match reply.status {
            200 => {
                assert_eq!(tier_names(&states), tiers);
                for name in tiers {
                    *observed.charged.entry((name.into(), user)).or_default() += if name == "heavy" { 3 } else { 1 };
                }
            }
            status => {
                assert_eq!(status, 429);
                assert!(
                    tier_names(&states).iter().all(|name| tiers.contains(name)),
                    "{states}: {policy}"
                );
            }
        }
        observed.policies.insert(policy);
        answered.fetch_add(1, Ordering::Relaxed);
    }
    observed
}

/// The usage of a tier in the store.
async fn used<St: TestStore>(store: &St, name: &str, key: &Key) -> u64 {
    let all = u32::MAX;
    let limit = Limit::new(name, FixedWindow::new(Quota::per_day(all)));
    u64::from(all) - store.left(&limit, key).await
}

/// Serves while a closure changes the rules. The closure receives the number of answered requests.
async fn under_load<St: TestStore>(rules: RuleSet, change: impl FnOnce(&AtomicUsize) + Send + 'static) {
    let (store, _) = St::fresh();
    let layer = RulesLayer::new(rules, store.clone());
    let app = Router::new().route("/", get(async || "served")).layer(layer);
    let (server, answered) = (Arc::new(Server::start(app).await), Arc::new(AtomicUsize::new(0)));
    let changing = Arc::new(thread::spawn({
        let answered = answered.clone();
        move || change(&answered)
    }));
    let clients = (0..CLIENTS).map(|number| client(server.clone(), number, answered.clone(), changing.clone()));
    let observed = clients.collect::<JoinSet<_>>().join_all().await;
    Arc::into_inner(changing).unwrap().join().unwrap();

    let policies: HashSet<_> = observed.iter().flat_map(|observed| observed.policies.clone()).collect();
    let versions = VERSIONS
        .iter()
        .flat_map(|version| [true, false].map(|is_pro| version.policy(is_pro)));
    assert_eq!(policies, versions.collect());
    let charged = |tier: &str, users: &[&str]| -> u64 {
        let all = observed.iter().flat_map(|observed| &observed.charged);
        let meant = all.filter(|((name, user), _)| name == tier && users.contains(user));
        meant.map(|(_, charged)| charged).sum()
    };
    for tier in ["all", "heavy"] {
        assert_eq!(used(&store, tier, &Key::GLOBAL).await, charged(tier, &USERS), "{tier}");
    }
    for (tier, user) in ["user", "other"]
        .into_iter()
        .flat_map(|tier| USERS.map(|user| (tier, user)))
    {
        let key = Key::named("x-user-id", user);
        assert_eq!(used(&store, tier, &key).await, charged(tier, &[user]), "{tier} {user}");
    }
}

/// With `RuleSet::replace`, as fast as possible.
async fn replaced<St: TestStore>() {
    let rules = RuleSet::parse(&VERSIONS[0].text()).unwrap();
    let texts = VERSIONS.map(|version| version.text());
    under_load::<St>(rules.clone(), move |answered| {
        while answered.load(Ordering::Relaxed) < MIN_ANSWERED {
            texts.iter().for_each(|text| rules.replace(text).unwrap());
        }
    })
    .await;
}

/// In a file, each time after the previous version is current and some requests were answered.
async fn rewritten<St: TestStore>() {
    let folder = Folder::new("load");
    let file = folder.file("rules.toml");
    fs::write(&file, VERSIONS[0].text()).unwrap();
    let rules = RuleSet::watch(&file).unwrap();
    under_load::<St>(rules.clone(), move |answered| {
        for version in VERSIONS.iter().chain(&VERSIONS) {
            let new = folder.file("new");
            fs::write(&new, version.text()).unwrap();
            fs::rename(&new, &file).unwrap();
            let limits = RuleSet::parse(&version.text()).unwrap().limits();
            until("it is in force", || rules.limits() == limits);
            let before = answered.load(Ordering::Relaxed);
            until("some are answered by it", || {
                answered.load(Ordering::Relaxed) >= before + MIN_ANSWERED / 12
            });
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replaced_under_load_in_memory() {
    replaced::<MemoryStore>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replaced_under_load_on_redis() {
    replaced::<RedisStore>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rewritten_under_load_in_memory() {
    rewritten::<MemoryStore>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rewritten_under_load_on_redis() {
    rewritten::<RedisStore>().await;
}
