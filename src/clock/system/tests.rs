//! Tests of `system`.

use super::*;

fn system() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    time.as_micros() as u64
}

#[test]
fn it_is_within_a_microsecond_of_the_system_clock() {
    for _ in 0..1_000_000 {
        let (before, now, after) = (system(), now(), system());
        assert!(before <= now + 1 && now <= after + 1, "{before} {now} {after}");
    }
}
