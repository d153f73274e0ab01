//! The reference: states in a map, and the pure functions.

use std::collections::HashMap;

use tollgate::{Charge, Decision, Micros, Operation, State};

#[derive(Default)]
pub(crate) struct Model {
    states: HashMap<String, State>,
}

impl Model {
    pub(crate) fn apply(&mut self, operation: Operation, now: Micros) -> Decision {
        let name = |charge: &Charge| format!("{}:{}", charge.limit(), charge.key().as_str());
        let names: Vec<String> = operation.charges().map(name).collect();
        let state = |name| self.states.get(name).cloned().unwrap_or_default();
        let mut states: Vec<State> = names.iter().map(state).collect();
        let decision = operation.apply_to(&mut states, now);
        self.states.extend(names.into_iter().zip(states));
        decision
    }
}
