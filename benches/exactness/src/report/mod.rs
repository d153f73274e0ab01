//! The results as a CSV file, and as tables of docs/exactness.md. Only the standard library is used here: the workspace's tests and the
//! program that draws the figures include these files.

pub mod results;
pub mod systems;
pub mod tables;
