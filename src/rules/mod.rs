//! Limits as data: a rules file that operators change while the service runs.
#![doc = include_str!("../../docs/rules.md")]

mod error;
mod file;
mod identity;
mod in_force;
mod path;
mod scope;
mod set;
mod source;
mod tier;
mod trust;
mod watch;

pub use self::{
    error::{Problem, RulesError},
    set::RuleSet,
    trust::TrustedProxies,
};
