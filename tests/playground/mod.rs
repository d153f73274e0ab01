//! The playground as a process, used in a real browser.

mod arguments;
mod boundary;
mod burst;
mod colours;
mod concurrent_pages;
mod duration;
mod keyboard;
mod layout;
mod lease;
mod load;
mod model;
mod nodes;
mod origin;
mod outage;
mod overload;
mod page;
mod program;
mod reconnect;
mod screen_reader;
mod settings;
mod share;
mod slow_redis;
mod table;
mod time;
