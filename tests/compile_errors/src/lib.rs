//! Mistakes that people make, each in a file of its own. `tests/compile_errors.rs` holds what the compiler says to them against
//! the file beside it. They are compiled with `--cfg mistakes` alone.
#![cfg(mistakes)]
#![allow(dead_code, reason = "nobody gets as far as calling them")]

mod a_closure_about_another_response;
mod a_closure_that_returns_no_key;
mod a_cost_beside_a_rules_file;
mod a_cost_that_is_none;
mod a_key_that_is_none;
mod a_key_that_is_none_in_a_tier;
mod a_store_that_is_none;
mod a_tier_beside_a_rules_file;
mod an_algorithm_that_is_none;
mod an_exemption_that_means_nothing;
mod http_answers_to_what_is_not_http;
