//! Rules files: limits that operators change while the service runs.
#![doc = ""]
// As in the guide: definitions before a page override its links to files. Not for doctests, which report line numbers of the page.
#![cfg_attr(not(doctest), doc = include_str!("../guide/links.md"))]
#![cfg_attr(not(doctest), doc = "")]
#![doc = include_str!("../../docs/rules.md")]

mod compiled;
mod descriptor;
mod descriptor_pattern;
mod error;
mod key_spec;
mod outcome;
mod parser;
mod request_rule;
mod rule;
mod scope;
mod set;
mod trust;
mod watch;

pub use self::{
    descriptor::{Descriptor, DescriptorRequest},
    error::{Diagnostic, RulesError},
    set::RuleSet,
    trust::TrustedProxies,
};
