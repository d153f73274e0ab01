//! Settings, and what is said at once of a Redis that will not do.

mod check;
mod fixture;
mod places;
mod values;
