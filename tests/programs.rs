//! Tests of examples, tools and the command line tool, each run as a process.

mod cli;
mod examples;
mod gateway;
mod limit_service;
mod playground;
mod proxies;
mod server_process;
mod simulate;
mod tools;
