//! Rules that change under load: each request is answered by one version of them, and charged once by it or not at all.

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
use tollgate::{FixedWindow, Key, Limit, MemoryStore, Quota, RateLimitLayer, RedisStore, RuleSet};

use support::{
    each_store::TestStore,
    folder::Folder,
    http::{Reply, Server},
    patience::until,
    versions::{VERSIONS, names},
};

const CLIENTS: usize = 12;
const USERS: [&str; 3] = ["ann", "bob", "carol"];
/// At least so many are answered.
const ANSWERS: usize = 6_000;

/// What a client has met with.
#[derive(Default)]
struct Met {
    policies: HashSet<String>,
    /// By tier and user.
    charged: HashMap<(String, &'static str), u64>,
}

/// Sends one request after the other for as long as the rules change.
async fn client(server: Arc<Server>, number: usize, answered: Arc<AtomicUsize>, changing: Arc<JoinHandle<()>>) -> Met {
    let (user, is_pro) = (USERS[number % USERS.len()], number.is_multiple_of(2));
    let policies = VERSIONS.map(|version| version.policy(is_pro));
    let mut met = Met::default();
    while !changing.is_finished() {
        let plan = if is_pro { "pro" } else { "none" };
        let request = server.request("/").header("x-user-id", user).header("x-plan", plan);
        let reply = Reply::to(request).await;
        let policy = reply.header("ratelimit-policy");
        assert!(policies.contains(&policy), "{policy}");
        assert_eq!(names(&reply.header("ratelimit")), names(&policy));
        match reply.status {
            200 => names(&policy).into_iter().for_each(|name| {
                *met.charged.entry((name.into(), user)).or_default() += if name == "heavy" { 3 } else { 1 };
            }),
            status => assert_eq!(status, 429),
        }
        met.policies.insert(policy);
        answered.fetch_add(1, Ordering::Relaxed);
    }
    met
}

/// What is used of a tier, by the word of the store.
async fn used<St: TestStore>(store: &St, name: &str, key: &Key) -> u64 {
    let all = u32::MAX;
    let limit = Limit::new(name, FixedWindow::new(Quota::per_day(all)));
    u64::from(all) - store.left(&limit, key).await
}

/// Serves by rules that somebody changes all the time, who is told how many have been answered.
async fn under_load<St: TestStore>(rules: RuleSet, change: impl FnOnce(&AtomicUsize) + Send + 'static) {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::rules(rules, store.clone());
    let app = Router::new().route("/", get(async || "served")).layer(layer);
    let (server, answered) = (Arc::new(Server::start(app).await), Arc::new(AtomicUsize::new(0)));
    let changing = Arc::new(thread::spawn({
        let answered = answered.clone();
        move || change(&answered)
    }));
    let clients = (0..CLIENTS).map(|number| client(server.clone(), number, answered.clone(), changing.clone()));
    let met = clients.collect::<JoinSet<_>>().join_all().await;
    Arc::into_inner(changing).unwrap().join().unwrap();

    let policies: HashSet<_> = met.iter().flat_map(|met| met.policies.clone()).collect();
    let versions = VERSIONS
        .iter()
        .flat_map(|version| [true, false].map(|is_pro| version.policy(is_pro)));
    assert_eq!(policies, versions.collect());
    let charged = |tier: &str, users: &[&str]| -> u64 {
        let all = met.iter().flat_map(|met| &met.charged);
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

/// By the program, as fast as it can.
async fn replaced<St: TestStore>() {
    let rules = RuleSet::parse(&VERSIONS[0].text()).unwrap();
    let texts = VERSIONS.map(|version| version.text());
    under_load::<St>(rules.clone(), move |answered| {
        while answered.load(Ordering::Relaxed) < ANSWERS {
            texts.iter().for_each(|text| rules.replace(text).unwrap());
        }
    })
    .await;
}

/// In a file, whenever the version before is in force and a few have met with it.
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
                answered.load(Ordering::Relaxed) >= before + ANSWERS / 12
            });
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn by_the_program_in_memory() {
    replaced::<MemoryStore>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn by_the_program_on_redis() {
    replaced::<RedisStore>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_file_in_memory() {
    rewritten::<MemoryStore>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_file_on_redis() {
    rewritten::<RedisStore>().await;
}
