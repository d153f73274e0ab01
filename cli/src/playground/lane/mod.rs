//! One algorithm of a session: a service behind the real layer, and its state for the page.

mod drawing;
mod goodput;
mod lane;
mod responder;
mod state;
mod text;

pub(crate) use self::{
    lane::Lane,
    state::{LaneInfo, LaneState, RequestResult},
    text::seconds,
};
