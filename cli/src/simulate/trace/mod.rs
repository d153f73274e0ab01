//! A trace: each request is answered, in order.

mod answer;
mod answers;
mod line;

pub(crate) use self::answers::answer;
