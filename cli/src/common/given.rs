//! The options that a command line gives, each once: `--name VALUE`, or `--name=VALUE`.

use std::{collections::BTreeMap, ffi::OsString};

/// An option's name, and what it needs.
pub(crate) type Known = (&'static str, &'static str);

/// What an option needs that takes no value.
pub(crate) const NOTHING: &str = "";

#[derive(Default)]
pub(crate) struct Given(BTreeMap<&'static str, OsString>);

impl Given {
    /// Nothing if somebody asks for help, or what is wrong.
    pub(crate) fn read(
        mut arguments: impl Iterator<Item = OsString>,
        options: &[Known],
    ) -> Result<Option<Self>, String> {
        let mut given = Self::default();
        while let Some(argument) = arguments.next() {
            let argument = argument.to_string_lossy();
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.into())),
                None => (&*argument, None),
            };
            if matches!(name, "--help" | "-h") {
                return Ok(None);
            }
            let known = options.iter().find(|(known, _)| *known == name);
            let &(name, needed) = known.ok_or_else(|| unknown(name, options))?;
            let value = match (value, needed) {
                (None, NOTHING) => OsString::new(),
                (Some(_), NOTHING) => return Err(format!("{name} takes no value")),
                (Some(value), _) => value,
                (None, _) => {
                    let next = arguments.next().filter(|next| !is_option(next));
                    next.ok_or_else(|| format!("{name} needs {needed}"))?
                }
            };
            if given.0.insert(name, value).is_some() {
                return Err(format!("{name} is given twice: give it once"));
            }
        }
        Ok(Some(given))
    }

    /// What an option was given, if it was.
    pub(crate) fn take(&mut self, option: &str) -> Option<OsString> {
        self.0.remove(option)
    }
}

fn is_option(argument: &OsString) -> bool {
    argument.to_string_lossy().starts_with("--")
}

fn unknown(option: &str, options: &[Known]) -> String {
    let names: Vec<_> = options.iter().map(|(name, _)| *name).collect();
    let names = names.join(", ");
    format!("there is no option {option}: there are {names} and --help")
}
