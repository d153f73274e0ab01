//! A file to be written, and what it shows in words.

pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) svg: String,
    pub(crate) facts: Vec<String>,
}
