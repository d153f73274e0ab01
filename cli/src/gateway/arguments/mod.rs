//! The command line.

mod job;
mod options;
mod value;

pub(crate) use self::{
    job::{HELP, Job},
    options::{OnStoreFailure, Options, Place},
};
