//! A Redis that is reading its data, as after a restart with a file on disk: it answers LOADING, and has forgotten nothing.

use std::thread;

use support::{
    folder::Folder,
    patience::until,
    redis::{RedisServer, ask, info},
};

use crate::hazards::{
    fixture::{MODES, Node, Seen, charged, is_exact},
    left::nothing_is_left,
};

/// So many keys that, at a millisecond each, it is not done before it is told to hurry.
const KEYS: usize = 20_000;

/// Redis admits [`LIMIT`](crate::hazards::fixture::LIMIT), before and after together: nothing was lost.
#[tokio::test]
async fn loading() {
    for mode in MODES {
        let folder = Folder::new("loading");
        let path = folder.path().display().to_string();
        let server = RedisServer::start_with(&[
            "--dir",
            &path,
            "--enable-debug-command",
            "yes",
            "--loading-process-events-interval-bytes",
            "1024",
        ]);
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        let plant = "for i = 1, ARGV[1] do redis.call('SET', 'key' .. i, i, 'EX', 3600) end";
        let mut planted = tollgate::redis::cmd("EVAL");
        planted.arg(plant).arg(0).arg(KEYS).query::<()>(redis).unwrap();
        ask::<()>(redis, "CONFIG SET key-load-delay 1000");

        let mut reloading = server.client();
        let reload = thread::spawn(move || ask::<()>(&mut reloading, "DEBUG RELOAD"));
        until("it is loading", || info(redis, "persistence", "loading:") == 1);
        let without = node.ask_times("alice", 20).await;
        assert_eq!(without.without_redis(mode), 20);
        assert!(!node.store.health().is_up());
        assert_eq!(info(redis, "persistence", "loading:"), 1);

        ask::<()>(redis, "CONFIG SET key-load-delay 0");
        reload.join().unwrap();
        node.is_back().await;
        assert_eq!(charged(redis, "alice"), 10);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}
