//! The playground as a program of its own, looked at and used in a real browser.

mod arguments;
mod boundary;
mod burst;
mod colours;
mod keyboard;
mod load;
mod model;
mod outage;
mod pages;
mod program;
mod reader;
mod reconnect;
mod settings;
mod share;
mod stage;
mod table;
mod time;
mod widths;
