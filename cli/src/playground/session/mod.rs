//! A session: settings, a simulated clock, and the actions of the user.

mod action;
mod fields;
mod frame;
mod history;
mod overload;
mod pace;
mod session;
mod settings;
mod traffic;

pub(crate) use self::{
    action::Command,
    fields::{FieldErrors, Fields},
    frame::{Frame, SessionInfo},
    history::{ActionHistory, NamedAction},
    overload::{OVERLOAD_WINDOWS, Overload},
    session::Session,
    settings::{MAX_LEASE, Settings},
};
