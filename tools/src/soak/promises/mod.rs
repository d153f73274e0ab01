//! What is promised, and whether it was kept.

mod answered;
mod back;
mod bounded;
mod left;
mod promise;
mod promises;
mod run;
mod windows;

pub(crate) use self::{
    promises::promises,
    run::{Left, Run},
};
