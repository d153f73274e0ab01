//! A headless Chromium that is killed on drop and leaves no files behind.

mod chromium;
mod commands;
mod page;
mod screen;

pub use chromium::Browser;
pub use screen::Screen;
