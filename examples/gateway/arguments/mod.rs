//! The command line.

mod address;
mod given;
mod options;
mod value;

pub(crate) use self::{
    given::{HELP, Job},
    options::{OnStoreFailure, Options, Place},
};
