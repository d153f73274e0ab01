//! `tollgate playground`: six algorithms side by side in the browser.
//!
//! A session belongs to one open page: its settings, its simulated time, and the actions of its user. [`session`] runs it,
//! [`lane`] is one algorithm in it, [`serve`] streams it to the page as server-sent events, and `page/` draws it. Every lane is
//! a service behind the real layer, in memory or on Redis; only the clock is simulated, so that it can be slowed, paused and
//! stepped. [`nodes`] is another session, in real time: two nodes that share a limit with a lease.

mod lane;
mod nodes;
mod run;
mod serve;
mod session;

pub(crate) use self::run::{PlaygroundArgs, run};
