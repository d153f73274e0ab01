//! The gateway as a program of its own, in front of real services: asked over HTTP, and by whoever does not keep to it.

mod admin;
mod arguments;
mod bodies;
mod client;
mod crowd;
mod ending;
mod fields;
mod fixture;
mod forwarded;
mod headers;
mod log;
mod no_arguments;
mod outage;
mod paths;
mod program;
mod reload;
mod room;
mod service;
mod sharing;
mod tunnels;
mod upstream;
mod wire;
