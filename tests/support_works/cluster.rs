//! Slot migration and failover of the cluster fixture.

use tollgate::redis::{Connection, FromRedisValue, RedisResult, cmd};

use support::{
    cluster::Cluster,
    redis::{keys, query},
};

/// The reply, or the error code.
fn try_query<T: FromRedisValue>(redis: &mut Connection, command: &str) -> Result<T, String> {
    let mut arguments = command.split(' ');
    let reply: RedisResult<T> = cmd(arguments.next().unwrap())
        .arg(arguments.collect::<Vec<_>>())
        .query(redis);
    reply.map_err(|error| error.code().unwrap().to_owned())
}

#[test]
fn a_slot_migrates_key_by_key_and_clients_are_redirected() {
    let cluster = Cluster::start();
    let slot = cluster.slot_of("{tag}");
    let from = cluster.node_of(slot);
    let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();
    let (source, target) = (&mut cluster.client_of(slot), &mut cluster.nodes[to].client());
    assert_eq!(try_query(target, "GET {tag}a"), Err::<(), _>("MOVED".into()));
    query::<()>(source, "MSET {tag}a 1 {tag}b 2");

    let migration = cluster.migrate(slot, to);
    assert_eq!(try_query(source, "MGET {tag}a {tag}b"), Ok([1, 2]));
    assert_eq!(try_query(source, "GET {tag}c"), Err::<(), _>("ASK".into()));
    migration.move_key("{tag}a");
    assert_eq!(migration.keys(), ["{tag}b"]);
    assert_eq!(try_query(source, "GET {tag}a"), Err::<(), _>("ASK".into()));
    assert_eq!(try_query(source, "GET {tag}b"), Ok(2));
    assert_eq!(try_query(source, "MGET {tag}a {tag}b"), Err::<(), _>("TRYAGAIN".into()));
    assert_eq!(try_query(target, "GET {tag}a"), Err::<(), _>("MOVED".into()));
    query::<()>(target, "ASKING");
    assert_eq!(try_query(target, "GET {tag}a"), Ok(1));

    migration.finish();
    assert_eq!(try_query(target, "MGET {tag}a {tag}b"), Ok([1, 2]));
    assert_eq!(try_query(source, "GET {tag}a"), Err::<(), _>("MOVED".into()));
    assert_eq!(cluster.node_of(slot), to);
    assert!(keys(source).is_empty());
}

#[test]
fn a_replica_replaces_a_killed_primary_which_restarts_as_a_replica() {
    let mut cluster = Cluster::start();
    assert_eq!((cluster.primaries().len(), cluster.urls().len()), (3, 6));
    let slot = cluster.slot_of("key");
    let primary = cluster.node_of(slot);
    let redis = &mut cluster.client_of(slot);
    query::<()>(redis, "SET key value");
    assert_eq!(query::<u64>(redis, "WAIT 1 0"), 1);
    cluster.nodes[primary].kill();
    let promoted = cluster.await_failover(slot, primary);
    assert_ne!(promoted, primary);
    assert_eq!(query::<String>(&mut cluster.client_of(slot), "GET key"), "value");
    cluster.nodes[primary].restart();
    cluster.await_replicas(3);
    assert_eq!(cluster.node_of(slot), promoted);
}
