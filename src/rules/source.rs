//! The file that rules are in.

use std::{fs, path::Path};

use super::{error::RulesError, file};

/// The most bytes that are taken for rules. Whoever reads a file again and again should not read a log by mistake.
const MOST: u64 = 1 << 20;

/// The text of a rules file.
pub(super) fn read(path: &Path) -> Result<String, RulesError> {
    let unreadable = |error| RulesError::unusable(format_args!("it cannot be read: {error}"));
    let found = fs::metadata(path).map_err(unreadable)?;
    // To open a pipe would be to wait for its writer.
    if !found.is_file() {
        return Err(RulesError::unusable("it is not a file"));
    }
    if found.len() > MOST {
        let (has, most) = (found.len(), MOST);
        return Err(RulesError::unusable(format_args!(
            "it has {has} bytes, and rules have {most} at most"
        )));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let until = error.utf8_error().valid_up_to();
        file::broken_off(&String::from_utf8_lossy(&error.as_bytes()[..until]))
    })
}
