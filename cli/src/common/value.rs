//! What the options say that are given.

use super::given::Given;

impl Given {
    /// What an option says, if it is given, or what is wrong with it: after its name.
    pub(crate) fn value<T>(
        &mut self,
        option: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let value = self.take(option);
        let said = value.map(|value| read(&value.to_string_lossy()));
        said.transpose().map_err(|wrong| format!("{option} {wrong}"))
    }
}
