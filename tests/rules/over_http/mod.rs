//! What every field does, as clients meet it: a real axum server, both stores, and a clock that stands still.

mod costs;
mod defaults;
mod exempt;
mod fixture;
mod keys;
mod layer;
mod like_code;
mod plans;
mod scopes;
mod shadows;
mod together;
mod trust;
