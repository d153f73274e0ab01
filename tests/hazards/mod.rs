//! Faults of Redis and of the network, each on a real server.
//!
//! Each test asserts exact counts: clients got the responses of the configured failure mode; no more requests were admitted
//! than that mode allows per lifetime of Redis; no charge was applied twice; no key without expiry, task or connection was
//! leaked; and the limit was exact again after Redis recovered.

mod acl_denied;
mod authentication;
mod batch;
mod cancelled_requests;
mod clock;
mod cluster;
mod connection_lost;
mod corrupt_values;
mod demoted_to_replica;
mod fixture;
mod killed;
mod leaks;
mod load;
mod loading;
mod network;
mod out_of_memory;
mod overload;
mod pool_exhausted;
mod runtime_shutdown;
mod scripts;
mod sentinel;
mod unresponsive;
