//! Layers whose limits are in code.

use crate::algorithm::Algorithm;

/// What the first tier of a layer is limited by, where that is said in code and more can be said after it.
#[diagnostic::on_unimplemented(
    message = "this says something of a limit in code, and `{Self}` has its limits in a file",
    label = "the limits of this layer are in a file: say it there",
    note = "a rules file has any number of limits, and their costs, plans and shadows",
    note = "for what it does not have, put a layer of limits in code around this one"
)]
pub trait InCode {}

#[diagnostic::do_not_recommend]
impl<A: Algorithm> InCode for A {}
