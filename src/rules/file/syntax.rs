//! What is wrong with a text that is no TOML, in an operator's words.

/// What the parser says of a name that is there twice. Whatever else it says, the text is no TOML.
pub(super) const TWICE: &str = "duplicate key";

/// How the parser calls text without quotes, by the letter that it begins with.
const UNQUOTED: [&str; 3] = ["string values must be quoted", "invalid boolean", "invalid float"];

const FLAGS: [&str; 6] = ["true", "false", "yes", "no", "on", "off"];

/// What the parser says of what is written in a place, in other words where those mean something else here.
pub(super) fn told(message: &str, written: &str) -> String {
    let is = |words: &str| message.starts_with(words);
    match written.to_ascii_lowercase() {
        _ if is(TWICE) => format!("{written} is there twice"),
        _ if is("unexpected leading zero") => "a number does not begin with 0".into(),
        nothing if is(UNQUOTED[0]) && nothing.is_empty() => "there is no value after the =".into(),
        flag if UNQUOTED.into_iter().any(is) && FLAGS.contains(&&*flag) => {
            format!("{written} is no value: write true or false")
        }
        _ if UNQUOTED.into_iter().any(is) => format!("{written} is no value: text has to be in quotes"),
        _ => message.into(),
    }
}
