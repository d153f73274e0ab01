//! Common mistakes, one per file. `tests/compile_errors.rs` compares the compiler's errors with the file beside each. They are
//! compiled only with `--cfg mistakes`.
#![cfg(mistakes)]
#![allow(dead_code, reason = "the functions do not compile, so none is called")]

mod closure_for_another_response_type;
mod closure_that_reads_an_untyped_request;
mod closure_that_returns_no_cost;
mod closure_that_returns_no_key;
mod closure_without_a_type;
mod cost_on_a_layer;
mod http_responder_for_another_protocol;
mod invalid_algorithm;
mod invalid_exemption;
mod invalid_key_extractor;
mod invalid_key_extractor_in_a_tier;
mod invalid_store;
mod key_extractor_of_a_limiter;
mod tier_on_a_layer_of_rules;
