//! What can befall a Redis, one by one, on the real thing.
//!
//! Each test holds five things to the count: clients saw what their layer's owner chose; no more was admitted than that
//! choice allows in the lifetime of that Redis; no charge was applied twice; nothing was left behind, be it a key that
//! lives for ever, a task or a connection; and the store was exact again once Redis was back.

mod clock;
mod cluster;
mod cut;
mod demoted;
mod dropped;
mod exhausted;
mod fixture;
mod forbidden;
mod frozen;
mod full;
mod garbage;
mod killed;
mod left;
mod load;
mod loading;
mod log;
mod logins;
mod network;
mod runtimes;
mod scripts;
mod sentinel;
mod together;
