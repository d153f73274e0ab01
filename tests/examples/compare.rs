//! Twenty requests through five algorithms, on a clock of their own.

use support::{project::example, redis::RedisServer};

#[test]
fn compare_is_the_same_on_both_stores() {
    let memory = example("compare").output().unwrap();
    assert!(memory.status.success());
    let redis = RedisServer::start();
    let shared = example("compare").env("REDIS_URL", redis.url()).output().unwrap();
    let [memory, shared] = [memory, shared].map(|output| String::from_utf8(output.stdout).unwrap());
    assert_eq!(memory, shared);
    let lines: Vec<_> = memory.lines().skip(3).collect();
    assert_eq!(
        lines,
        [
            "token_bucket          10       0   come back in 4s",
            "leaky_bucket          10       0   come back in 4s",
            "fixed_window          10      10   go ahead",
            "sliding_log           10       0   come back in 58s",
            "sliding_counter       10       1   come back in 5.000001s",
        ]
    );
}
