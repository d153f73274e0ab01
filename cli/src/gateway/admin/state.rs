//! What there is to look at.

use tokio::sync::watch;
use tollgate::RuleSet;

use crate::gateway::{counting::Counting, measures::Measures};

#[derive(Clone)]
pub(crate) struct Admin {
    pub(crate) rules: RuleSet,
    pub(crate) counting: Counting,
    pub(crate) measures: Measures,
    pub(crate) ending: watch::Receiver<bool>,
}
