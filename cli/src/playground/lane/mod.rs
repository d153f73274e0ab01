//! One algorithm in a scene: a service behind the real layer, and what is shown of it.

mod answers;
mod drawing;
mod passed;
mod sending;
mod shown;
mod words;

pub(crate) use self::{
    sending::Lane,
    shown::{About, Sent, Shown},
};
