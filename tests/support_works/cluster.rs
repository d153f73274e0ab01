//! A cluster that moves slots and fails over.

use tollgate::redis::{Connection, FromRedisValue, RedisResult, cmd};

use support::{
    cluster::Cluster,
    redis::{ask, keys},
};

/// The answer, or what kind of error it was.
fn query<T: FromRedisValue>(redis: &mut Connection, command: &str) -> Result<T, String> {
    let mut words = command.split(' ');
    let answer: RedisResult<T> = cmd(words.next().unwrap()).arg(words.collect::<Vec<_>>()).query(redis);
    answer.map_err(|error| error.code().unwrap().to_owned())
}

#[test]
fn a_slot_is_moved_key_by_key_and_clients_are_sent_along() {
    let cluster = Cluster::start();
    let slot = cluster.slot_of("{tag}");
    let from = cluster.node_of(slot);
    let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();
    let (source, target) = (&mut cluster.client_of(slot), &mut cluster.nodes[to].client());
    assert_eq!(query(target, "GET {tag}a"), Err::<(), _>("MOVED".into()));
    ask::<()>(source, "MSET {tag}a 1 {tag}b 2");

    let migration = cluster.migrate(slot, to);
    assert_eq!(query(source, "MGET {tag}a {tag}b"), Ok([1, 2]));
    assert_eq!(query(source, "GET {tag}c"), Err::<(), _>("ASK".into()));
    migration.move_key("{tag}a");
    assert_eq!(migration.keys(), ["{tag}b"]);
    assert_eq!(query(source, "GET {tag}a"), Err::<(), _>("ASK".into()));
    assert_eq!(query(source, "GET {tag}b"), Ok(2));
    assert_eq!(query(source, "MGET {tag}a {tag}b"), Err::<(), _>("TRYAGAIN".into()));
    assert_eq!(query(target, "GET {tag}a"), Err::<(), _>("MOVED".into()));
    ask::<()>(target, "ASKING");
    assert_eq!(query(target, "GET {tag}a"), Ok(1));

    migration.finish();
    assert_eq!(query(target, "MGET {tag}a {tag}b"), Ok([1, 2]));
    assert_eq!(query(source, "GET {tag}a"), Err::<(), _>("MOVED".into()));
    assert_eq!(cluster.node_of(slot), to);
    assert!(keys(source).is_empty());
}

#[test]
fn a_replica_takes_over_when_a_primary_is_killed_and_the_primary_follows_when_it_is_back() {
    let mut cluster = Cluster::start();
    assert_eq!((cluster.primaries().len(), cluster.urls().len()), (3, 6));
    let slot = cluster.slot_of("key");
    let primary = cluster.node_of(slot);
    let redis = &mut cluster.client_of(slot);
    ask::<()>(redis, "SET key value");
    assert_eq!(ask::<u64>(redis, "WAIT 1 0"), 1);
    cluster.nodes[primary].kill();
    let promoted = cluster.await_failover(slot, primary);
    assert_ne!(promoted, primary);
    assert_eq!(ask::<String>(&mut cluster.client_of(slot), "GET key"), "value");
    cluster.nodes[primary].restart();
    cluster.await_replicas(3);
    assert_eq!(cluster.node_of(slot), promoted);
}
