//! A real Chromium without a window, which ends with its owner and leaves nothing behind.

mod chromium;
mod commands;
mod page;
mod screen;

pub use chromium::Browser;
pub use screen::Screen;
