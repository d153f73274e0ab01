//! The Redis user that docs/security.md creates for the store: it has the rights that the store needs, and no others.

use std::process::Command;

use tollgate::{
    Charge, Charges, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, RedisStoreBuilder, SlidingLog,
    Store, StoreError,
    redis::{Client, Connection, FromRedisValue, RedisResult, cmd},
};

use support::{
    algorithms::each_algorithm,
    cluster::Cluster,
    redis::{DEADLINE, RedisServer, query},
};

use crate::threats::page;

/// What a store with a manual clock needs in addition, which only tests have.
const FOR_A_MANUAL_CLOCK: &str = "+pexpire";

/// The documented command that creates the user.
fn documented() -> String {
    let page = page::text();
    let blocks = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|block| block.split("```").next());
    let mut commands = blocks.filter(|block| block.contains("ACL SETUSER"));
    commands.next().unwrap().to_owned()
}

/// Runs the documented command in a shell.
fn create_user(server: &RedisServer) {
    let script = documented().replace("redis-cli", &format!("redis-cli -p {}", server.port()));
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "OK", "{output:?}");
}

/// The rights that the command grants, like `+get` and `+script|load`.
fn rights() -> Vec<String> {
    let command = documented().replace('\'', "");
    let rights = command.split_whitespace().filter(|part| part.starts_with('+'));
    rights.map(str::to_owned).collect()
}

fn logged_in(builder: RedisStoreBuilder) -> RedisStoreBuilder {
    builder.username("tollgate").password("PASSWORD")
}

fn charge(limit: &Limit, name: &'static str) -> Charge {
    Charge::new(limit.clone(), Key::new(name)).with_cost(2)
}

fn two(limit: &Limit) -> Charges {
    let mut charges = Charges::from(charge(limit, "one"));
    charges.push(charge(limit, "two")).unwrap();
    charges
}

/// Runs every operation of a store with every algorithm.
async fn run_every_operation(server: &RedisServer) -> Result<(), StoreError> {
    logged_in(server.store()).build().unwrap().check().await?;
    let clock = ManualClock::at(0);
    let store = logged_in(server.store()).clock(clock.clone()).build().unwrap();
    for algorithm in each_algorithm(Quota::per_minute(9)) {
        let limit = Limit::new("limit", algorithm);
        store.apply(Operation::Acquire(charge(&limit, "one").into())).await?;
        let mut taken = store.apply(Operation::Acquire(two(&limit))).await?;
        store.apply(Operation::Refund(taken.take_receipt().unwrap())).await?;
        for settled in [1, 3] {
            let mut taken = store.apply(Operation::Acquire(two(&limit))).await?;
            store
                .apply(Operation::Settle(taken.take_receipt().unwrap().settled(settled)))
                .await?;
        }
        let denied = store
            .apply(Operation::Acquire(charge(&limit, "one").with_cost(9).into()))
            .await?;
        assert!(!denied.admits());
        store.apply(Operation::Reset(two(&limit))).await?;
    }
    // A log that is used for longer than its window drops expired entries.
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
async fn the_documented_user_can_do_everything_the_store_does() {
    for server in RedisServer::each() {
        create_user(&server);
        let redis = &mut server.client();
        query::<()>(redis, &format!("ACL SETUSER tollgate {FOR_A_MANUAL_CLOCK}"));
        run_every_operation(&server).await.unwrap();
        assert!(query::<Vec<String>>(redis, "KEYS *").is_empty());
    }
}

#[tokio::test]
async fn each_of_its_rights_is_needed() {
    let server = RedisServer::start();
    create_user(&server);
    let redis = &mut server.client();
    query::<()>(redis, &format!("ACL SETUSER tollgate {FOR_A_MANUAL_CLOCK}"));
    let rights = rights();
    assert!(rights.len() > 10, "{rights:?}");
    for right in rights {
        let revoked = right.replace('+', "-");
        query::<()>(redis, &format!("ACL SETUSER tollgate {revoked}"));
        let error = run_every_operation(&server).await.expect_err(&right);
        assert!(matches!(error, StoreError::Server { .. }), "{right}: {error}");
        query::<()>(redis, "FLUSHALL");
        query::<()>(redis, &format!("ACL SETUSER tollgate {right}"));
    }
}

fn try_to<T: FromRedisValue>(redis: &mut Connection, args: &[&str]) -> RedisResult<T> {
    cmd(args[0]).arg(&args[1..]).query(redis)
}

#[test]
fn a_stolen_password_allows_nothing_else() {
    for server in RedisServer::each() {
        create_user(&server);
        query::<()>(&mut server.client(), "SET canary alive");
        query::<()>(&mut server.client(), "SET rate_limits canary");
        let url = format!("redis://tollgate:PASSWORD@127.0.0.1:{}", server.port());
        let redis = &mut Client::open(url).unwrap().get_connection().unwrap();
        for args in [
            &["FLUSHALL"][..],
            &["KEYS", "*"],
            &["SCAN", "0"],
            &["CONFIG", "GET", "*"],
            &["ACL", "LIST"],
            &["SCRIPT", "FLUSH"],
            &["EVAL", "return 1", "0"],
            &["PUBLISH", "channel", "message"],
            &["INFO"],
            &["GET", "canary"],
            &["SET", "rate_limits", "x"],
        ] {
            let error = try_to::<()>(redis, args).expect_err(args[0]);
            assert_eq!(error.code(), Some("NOPERM"), "{args:?}: {error}");
        }
        // A script of the attacker's can do no more.
        for program in ["redis.call('GET', 'canary')", "redis.call('FLUSHALL')"] {
            let sha: String = try_to(redis, &["SCRIPT", "LOAD", program]).unwrap();
            try_to::<()>(redis, &["EVALSHA", &sha, "0"]).expect_err(program);
        }
        assert_eq!(query::<String>(&mut server.client(), "GET canary"), "alive");
    }
}

#[tokio::test]
async fn in_a_cluster_the_user_needs_the_rights_to_locate_keys() {
    let cluster = Cluster::start();
    cluster.nodes.iter().for_each(create_user);
    let allow = |right: &str| {
        for node in &cluster.nodes {
            query::<()>(&mut node.client(), &format!("ACL SETUSER tollgate {right}"));
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
