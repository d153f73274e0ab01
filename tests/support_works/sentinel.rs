//! Sentinels that promote a replica when the primary is gone.

use support::{
    redis::{ask, info},
    sentinel::Sentinels,
};

#[test]
fn a_replica_is_promoted_when_the_primary_is_killed_and_the_primary_follows_when_it_is_back() {
    let mut sentinels = Sentinels::start();
    assert_eq!((sentinels.primary(), sentinels.urls().len()), (0, 3));
    let redis = &mut sentinels.servers[0].client();
    ask::<()>(redis, "SET key value");
    assert_eq!(ask::<u64>(redis, "WAIT 2 0"), 2);
    sentinels.servers[0].kill();
    let promoted = sentinels.await_failover(0);
    let redis = &mut sentinels.servers[promoted].client();
    assert_eq!(ask::<String>(redis, "GET key"), "value");
    ask::<()>(redis, "SET key another");
    sentinels.servers[0].restart();
    sentinels.await_replicas(2);
    assert_eq!(sentinels.primary(), promoted);
    let followed = info(&mut sentinels.servers[0].client(), "replication", "master_port:");
    assert_eq!(followed, u64::from(sentinels.servers[promoted].port()));
}

#[test]
fn a_replica_is_promoted_when_the_primary_is_frozen() {
    let mut sentinels = Sentinels::start();
    // Two of three are enough.
    sentinels.sentinels[0].kill();
    sentinels.servers[0].freeze();
    assert_ne!(sentinels.await_failover(0), 0);
    sentinels.servers[0].thaw();
    sentinels.await_replicas(2);
}
