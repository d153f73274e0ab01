//! Failover of the sentinel fixture.

use support::{
    redis::{info, query},
    sentinel::Sentinels,
};

#[test]
fn a_replica_replaces_a_killed_primary_which_restarts_as_a_replica() {
    let mut sentinels = Sentinels::start();
    assert_eq!((sentinels.primary(), sentinels.urls().len()), (0, 3));
    let redis = &mut sentinels.servers[0].client();
    query::<()>(redis, "SET key value");
    assert_eq!(query::<u64>(redis, "WAIT 2 0"), 2);
    sentinels.servers[0].kill();
    let promoted = sentinels.await_failover(0);
    let redis = &mut sentinels.servers[promoted].client();
    assert_eq!(query::<String>(redis, "GET key"), "value");
    query::<()>(redis, "SET key another");
    sentinels.servers[0].restart();
    sentinels.await_replicas(2);
    assert_eq!(sentinels.primary(), promoted);
    let primary_port = info(&mut sentinels.servers[0].client(), "replication", "master_port:");
    assert_eq!(primary_port, u64::from(sentinels.servers[promoted].port()));
}

#[test]
fn a_replica_is_promoted_when_the_primary_is_frozen() {
    let mut sentinels = Sentinels::start();
    // Two of three sentinels are a quorum.
    sentinels.sentinels[0].kill();
    sentinels.servers[0].freeze();
    assert_ne!(sentinels.await_failover(0), 0);
    sentinels.servers[0].thaw();
    sentinels.await_replicas(2);
}
