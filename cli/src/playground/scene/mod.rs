//! What one open page plays: settings, a time of its own, and the requests that were pressed for.

mod frame;
mod pace;
mod play;
mod press;
mod running;
mod settings;
mod traffic;

pub(crate) use self::{
    frame::{Frame, Opening},
    press::Command,
    running::Scene,
    settings::{Settings, Wrong},
};
