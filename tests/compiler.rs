//! What the compiler and rustdoc report about the library. These tests run cargo, which locks the build directory, so they have a target
//! of their own, and do not run beside other builds.

mod compile_errors;
mod public_api;
