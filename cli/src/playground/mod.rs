//! `tollgate playground`: five algorithms side by side in the browser. Press for requests, see which pass, and why.
//!
//! Every lane is a service behind the real layer, in memory or on Redis; only the time is the page's own, so it can be slowed,
//! stopped and stepped.
//!
//! A scene is what one open page plays: its settings, its time, and the requests that were pressed for. [`scene`] runs it,
//! [`lane`] is one algorithm in it, [`serve`] brings it to the page as server-sent events, and `page/` draws it.

mod args;
mod lane;
mod run;
mod scene;
mod serve;

pub(crate) use self::{args::PlaygroundArgs, run::run};
