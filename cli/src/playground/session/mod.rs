//! A session: settings, a simulated clock, and the actions of the user.

mod action;
mod frame;
mod history;
mod pace;
mod session;
mod settings;
mod traffic;

pub(crate) use self::{
    action::Command,
    frame::{Frame, SessionInfo},
    session::Session,
    settings::{FieldErrors, Settings},
};
