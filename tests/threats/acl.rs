//! The user that docs/security.md makes for the store: it can do all that the store does, and nothing else.

use std::process::Command;

use tollgate::{
    Charge, Charges, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, RedisStoreBuilder, SlidingLog,
    Store, StoreError,
    redis::{Client, Connection, FromRedisValue, RedisResult, cmd},
};

use support::{
    cluster::Cluster,
    redis::{DEADLINE, RedisServer, ask},
    rules::each_algorithm,
};

use crate::threats::page;

/// What a store on a clock of its own needs too, which only tests have.
const ON_A_NAMED_CLOCK: &str = "+pexpire";

/// The command on the page, with which an operator makes the user.
fn documented() -> String {
    let page = page::text();
    let blocks = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|block| block.split("```").next());
    let mut commands = blocks.filter(|block| block.contains("ACL SETUSER"));
    commands.next().unwrap().to_owned()
}

/// Types it in a shell.
fn make_user(server: &RedisServer) {
    let script = documented().replace("redis-cli", &format!("redis-cli -p {}", server.port()));
    let typed = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&typed.stdout).trim(), "OK", "{typed:?}");
}

/// What it allows, like `+get` and `+script|load`.
fn rights() -> Vec<String> {
    let command = documented().replace('\'', "");
    let words = command.split_whitespace().filter(|word| word.starts_with('+'));
    words.map(str::to_owned).collect()
}

fn logged_in(builder: RedisStoreBuilder) -> RedisStoreBuilder {
    builder.username("tollgate").password("PASSWORD")
}

fn charge(limit: &Limit, name: &'static str) -> Charge {
    Charge::new(limit.clone(), Key::new(name)).cost(2)
}

fn two(limit: &Limit) -> Charges {
    let mut charges = Charges::from(charge(limit, "one"));
    charges.push(charge(limit, "two")).unwrap();
    charges
}

/// Does all that a store can do, by every algorithm, and names what it may not.
async fn all(server: &RedisServer) -> Result<(), StoreError> {
    logged_in(server.store()).build().unwrap().check().await?;
    let clock = ManualClock::at(0);
    let store = logged_in(server.store()).clock(clock.clone()).build().unwrap();
    for rule in each_algorithm(Quota::per_minute(9)) {
        let limit = Limit::new("limit", rule);
        store.apply(Operation::Acquire(charge(&limit, "one").into())).await?;
        let mut taken = store.apply(Operation::Acquire(two(&limit))).await?;
        store.apply(Operation::Refund(taken.take_receipt().unwrap())).await?;
        for settled in [1, 3] {
            let mut taken = store.apply(Operation::Acquire(two(&limit))).await?;
            store
                .apply(Operation::Settle(taken.take_receipt().unwrap().settled(settled)))
                .await?;
        }
        let refused = store
            .apply(Operation::Acquire(charge(&limit, "one").cost(9).into()))
            .await?;
        assert!(!refused.admits());
        store.apply(Operation::Reset(two(&limit))).await?;
    }
    // Of a log that goes on for longer than its window, what is gone is dropped.
    let log = Limit::new("log", SlidingLog::new(Quota::per_second(99)));
    for _ in 0..40 {
        clock.set(store.clock().now() + 100_000);
        store.apply(Operation::Acquire(charge(&log, "one").into())).await?;
    }
    store
        .apply(Operation::Reset(charge(&log, "one").into()))
        .await
        .map(drop)
}

#[tokio::test]
async fn the_documented_user_can_do_all_that_the_store_does() {
    for server in RedisServer::each() {
        make_user(&server);
        let redis = &mut server.client();
        ask::<()>(redis, &format!("ACL SETUSER tollgate {ON_A_NAMED_CLOCK}"));
        all(&server).await.unwrap();
        assert!(ask::<Vec<String>>(redis, "KEYS *").is_empty());
    }
}

#[tokio::test]
async fn each_of_its_rights_is_needed() {
    let server = RedisServer::start();
    make_user(&server);
    let redis = &mut server.client();
    ask::<()>(redis, &format!("ACL SETUSER tollgate {ON_A_NAMED_CLOCK}"));
    let rights = rights();
    assert!(rights.len() > 10, "{rights:?}");
    for right in rights {
        let taken_away = right.replace('+', "-");
        ask::<()>(redis, &format!("ACL SETUSER tollgate {taken_away}"));
        let error = all(&server).await.expect_err(&right);
        assert!(matches!(error, StoreError::Refused { .. }), "{right}: {error}");
        ask::<()>(redis, "FLUSHALL");
        ask::<()>(redis, &format!("ACL SETUSER tollgate {right}"));
    }
}

fn try_to<T: FromRedisValue>(redis: &mut Connection, words: &[&str]) -> RedisResult<T> {
    cmd(words[0]).arg(&words[1..]).query(redis)
}

#[test]
fn whoever_steals_its_password_cannot_do_anything_else() {
    for server in RedisServer::each() {
        make_user(&server);
        ask::<()>(&mut server.client(), "SET canary alive");
        ask::<()>(&mut server.client(), "SET rate_limits canary");
        let url = format!("redis://tollgate:PASSWORD@127.0.0.1:{}", server.port());
        let redis = &mut Client::open(url).unwrap().get_connection().unwrap();
        for words in [
            &["FLUSHALL"][..],
            &["KEYS", "*"],
            &["SCAN", "0"],
            &["CONFIG", "GET", "*"],
            &["ACL", "LIST"],
            &["SCRIPT", "FLUSH"],
            &["EVAL", "return 1", "0"],
            &["PUBLISH", "channel", "word"],
            &["INFO"],
            &["GET", "canary"],
            &["SET", "rate_limits", "x"],
        ] {
            let error = try_to::<()>(redis, words).expect_err(words[0]);
            assert_eq!(error.code(), Some("NOPERM"), "{words:?}: {error}");
        }
        // A program of one's own can do no more.
        for program in ["redis.call('GET', 'canary')", "redis.call('FLUSHALL')"] {
            let sha: String = try_to(redis, &["SCRIPT", "LOAD", program]).unwrap();
            try_to::<()>(redis, &["EVALSHA", &sha, "0"]).expect_err(program);
        }
        assert_eq!(ask::<String>(&mut server.client(), "GET canary"), "alive");
    }
}

#[tokio::test]
async fn in_a_cluster_it_has_to_find_out_where_keys_are() {
    let cluster = Cluster::start();
    cluster.nodes.iter().for_each(make_user);
    let allow = |right: &str| {
        for node in &cluster.nodes {
            ask::<()>(&mut node.client(), &format!("ACL SETUSER tollgate {right}"));
        }
    };
    let builder = RedisStore::builder().cluster(cluster.urls());
    let store = logged_in(builder).deadline(DEADLINE).build().unwrap();
    assert!(store.check().await.is_err());
    allow("+cluster|slots");
    store.check().await.unwrap();

    let limit = Limit::new("limit", FixedWindow::new(Quota::per_day(9)).anchored());
    let acquire = async || store.apply(Operation::Acquire(charge(&limit, "one").into())).await;
    acquire().await.unwrap();
    let key = format!("rate_limit:{limit}:one");
    let slot = cluster.slot_of(&key);
    let to = cluster
        .primaries()
        .into_iter()
        .find(|node| *node != cluster.node_of(slot));
    let migration = cluster.migrate(slot, to.unwrap());
    migration.move_key(&key);
    assert!(acquire().await.is_err());
    allow("+asking");
    acquire().await.unwrap();
    migration.finish();
}
