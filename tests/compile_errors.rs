//! What the compiler says when something is passed that will not do: words that help.
//!
//! The words around ours change from one version of Rust to the next, so they are compared with one version only;
//! `TRYBUILD=overwrite cargo test --test compile_errors` writes them anew.
#![cfg(feature = "axum")]

#[rustversion::attr(not(stable(1.95)), ignore = "the words are those of Rust 1.95")]
#[test]
fn compile_errors_help() {
    trybuild::TestCases::new().compile_fail("tests/compile_errors/*.rs");
}
