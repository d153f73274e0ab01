//! Every field as HTTP clients see it: a real axum server, both stores, and a manual clock.

mod all_or_none;
mod costs;
mod defaults;
mod exempt;
mod fixture;
mod keys;
mod layer;
mod outcomes;
mod plans;
mod same_as_code;
mod scopes;
mod shadows;
mod trust;
