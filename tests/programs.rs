//! Tests of examples, tools and the command line tool, each run as a process.

mod cli;
mod examples;
mod gateway;
mod playground;
mod simulate;
mod tools;
