//! How much the memory stores of this process hold.

use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use metrics::Key;

use super::{handles::gauge, names};

/// What all stores hold. A key may be counted a moment after it is gone again: then, for that moment, it is one too few.
static TOTAL: AtomicIsize = AtomicIsize::new(0);
/// Whether somebody is telling the total.
static TELLING: AtomicBool = AtomicBool::new(false);

/// A part of a memory store has another number of keys than before.
pub(crate) fn memory_keys(before: usize, after: usize) {
    if before != after {
        TOTAL.fetch_add(after as isize - before as isize, Ordering::SeqCst);
        tell();
    }
}

/// The total, and not the change: a recorder may have missed those before it came. One tells at a time, and looks again when it
/// is done: so others may leave it to that one, and what is told last is the total at the last.
fn tell() {
    static KEY: Key = Key::from_static_name(names::MEMORY_KEYS);
    while !TELLING.swap(true, Ordering::SeqCst) {
        let total = TOTAL.load(Ordering::SeqCst);
        gauge(&KEY).set(total.max(0) as f64);
        TELLING.store(false, Ordering::SeqCst);
        if TOTAL.load(Ordering::SeqCst) == total {
            return;
        }
    }
}
