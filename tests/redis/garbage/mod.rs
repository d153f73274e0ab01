//! What is not ours under a key of ours.

mod planted;
mod tiers;
mod under_our_keys;
mod warnings;
