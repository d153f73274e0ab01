//! Limits as data: a rules file that operators change while the service runs.

mod error;
mod file;
mod identity;
mod path;
#[expect(
    clippy::module_inception,
    reason = "rules that are in force, beside how they are read and replaced"
)]
mod rules;
mod scope;
mod set;
mod tier;
mod trust;
mod watch;

pub use self::{
    error::{Problem, RulesError},
    set::RuleSet,
};
