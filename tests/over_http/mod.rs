//! The layer as HTTP clients see it: a real axum server, a real HTTP client, both stores, and a manual clock.

mod algorithms;
mod bad_input;
mod costs;
mod disconnects;
mod extractor;
mod filters;
mod fixture;
mod incomplete_bodies;
mod networks;
mod outcomes;
mod placement;
mod plans;
mod problem_details;
mod queue;
mod queue_disconnects;
mod responder_settings;
mod responses;
mod settlements;
mod shadows;
mod stacked;
mod store_failure;
mod streaming;
mod tiers;
mod wait_queue;
mod waiting;
