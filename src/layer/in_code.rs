//! Layers whose limits are defined in code.

use crate::algorithm::Algorithm;

/// The algorithm of the first tier, for layers whose limits are defined in code. Per-tier methods require it.
#[diagnostic::on_unimplemented(
    message = "per-tier methods are not available on a layer built from a rules file",
    label = "configure the limit in the rules file instead",
    note = "a rules file defines any number of limits, with their costs, plans and shadows",
    note = "for settings that a rules file does not have, wrap this layer in one whose limits are defined in code"
)]
pub trait InCode {}

#[diagnostic::do_not_recommend]
impl<A: Algorithm> InCode for A {}
