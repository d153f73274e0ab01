//! How much the memory stores of this process hold.

use std::sync::atomic::{AtomicUsize, Ordering};

use metrics::Key;

use super::{gauge, names};

/// A part of a memory store has another number of keys than before.
pub(crate) fn memory_keys(before: usize, after: usize) {
    static KEY: Key = Key::from_static_name(names::MEMORY_KEYS);
    static TOTAL: AtomicUsize = AtomicUsize::new(0);
    if before == after {
        return;
    }
    let change = after.wrapping_sub(before);
    let mut total = TOTAL.fetch_add(change, Ordering::SeqCst).wrapping_add(change);
    // The total, and not the change: a recorder may have missed those before it came. Whoever sets it last looks last, and so
    // what is set in the end is the total in the end, in whatever order threads get here.
    loop {
        gauge(&KEY).set(total as f64);
        match TOTAL.load(Ordering::SeqCst) {
            now if now == total => return,
            now => total = now,
        }
    }
}
