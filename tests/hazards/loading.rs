//! Redis loads its data, as after a restart with persistence: it answers LOADING, and no charge is lost.

use std::thread;

use support::{
    folder::Folder,
    redis::{RedisServer, info, query},
    wait::until,
};

use crate::hazards::{
    fixture::{MODES, Node, Response, assert_exact, charged},
    leaks::assert_no_leaks,
};

/// Enough keys that, at one millisecond each, loading does not finish before the delay is removed.
const KEYS: usize = 20_000;

/// Redis admits [`LIMIT`](crate::hazards::fixture::LIMIT) before and after loading together.
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
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        let script = "for i = 1, ARGV[1] do redis.call('SET', 'key' .. i, i, 'EX', 3600) end";
        let mut fill = tollgate::redis::cmd("EVAL");
        fill.arg(script).arg(0).arg(KEYS).query::<()>(redis).unwrap();
        query::<()>(redis, "CONFIG SET key-load-delay 1000");

        let mut reloading = server.client();
        let reload = thread::spawn(move || query::<()>(&mut reloading, "DEBUG RELOAD"));
        until("Redis is loading", || info(redis, "persistence", "loading:") == 1);
        let without = node.request_times("alice", 20).await;
        assert_eq!(without.without_redis(mode), 20);
        assert!(!node.store.health().is_up());
        assert_eq!(info(redis, "persistence", "loading:"), 1);

        query::<()>(redis, "CONFIG SET key-load-delay 0");
        reload.join().unwrap();
        node.until_recovered().await;
        assert_eq!(charged(redis, "alice"), 10);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}
