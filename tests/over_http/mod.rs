//! The layer as clients meet it: a real axum server, a real HTTP client, both stores, and a clock that stands still.

mod algorithms;
mod answers;
mod bad_input;
mod broken_off;
mod costs;
mod dropped;
mod extractor;
mod failing;
mod fixture;
mod handlers;
mod leaving;
mod networks;
mod outcomes;
mod placement;
mod plans;
mod problems;
mod queue;
mod screening;
mod settings;
mod settling;
mod shadows;
mod stacked;
mod streaming;
mod tiers;
mod waiting;
mod waiting_in_line;
