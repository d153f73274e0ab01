//! The descriptors that a rule applies to: `domain` and `descriptor` of a rules file.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::descriptor::{Descriptor, key_of};
use crate::{config_error::ConfigError, key::Key};

/// A domain, and an entry pattern for each entry of a descriptor.
#[derive(Debug)]
pub(super) struct DescriptorPattern {
    pub(super) domain: Box<str>,
    pub(super) entries: Vec<EntryPattern>,
}

#[derive(Debug)]
pub(super) struct EntryPattern {
    pub(super) key: Box<str>,
    pub(super) value: ValuePattern,
}

#[derive(Debug)]
pub(super) enum ValuePattern {
    Any,
    Prefix(Box<str>),
    Exact(Box<str>),
}

impl DescriptorPattern {
    /// Whether a descriptor has the keys of this pattern, in their order and no others, with values that match.
    pub(super) fn matches(&self, domain: &str, descriptor: &Descriptor) -> bool {
        let (patterns, entries) = (&self.entries, descriptor.entries());
        *self.domain == *domain
            && patterns.len() == entries.len()
            && patterns
                .iter()
                .zip(entries)
                .all(|(pattern, (key, value))| *pattern.key == **key && pattern.value.matches(value))
    }

    /// Compares two patterns that match the same descriptor. The first entry in which they differ decides.
    pub(super) fn cmp_specificity(&self, other: &Self) -> Ordering {
        let specificity = |pattern: &'_ Self| -> SmallVec<[usize; 4]> {
            pattern.entries.iter().map(|entry| entry.value.specificity()).collect()
        };
        specificity(self).cmp(&specificity(other))
    }
}

impl ValuePattern {
    fn matches(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Prefix(prefix) => value.starts_with(&**prefix),
            Self::Exact(exact) => **exact == *value,
        }
    }

    /// A value is more specific than a prefix, which is more specific than a shorter one.
    fn specificity(&self) -> usize {
        match self {
            Self::Any => 0,
            Self::Prefix(prefix) => prefix.len(),
            Self::Exact(_) => usize::MAX,
        }
    }
}

/// Keys for operators, from named values or from the text in a store.
impl DescriptorPattern {
    /// The key of a descriptor with these values. Only a value that the pattern states may be omitted. If the pattern has a key
    /// several times, the values are in its order.
    pub(super) fn key_of_values(&self, values: &[(&str, &str)]) -> Result<Key, ConfigError> {
        let invalid = |(name, value): &(&str, &str)| {
            ConfigError::new("key", format_args!("{name}={value}"), self.expected_values())
        };
        let is_unknown = |(name, _): &&(&str, &str)| self.entries.iter().all(|entry| *entry.key != **name);
        if let Some(unknown) = values.iter().find(is_unknown) {
            return Err(invalid(unknown));
        }
        let mut values = values.to_vec();
        let mut entries = SmallVec::<[(&str, &str); 4]>::new();
        for EntryPattern { key, value: pattern } in &self.entries {
            let index = values.iter().position(|(name, _)| **key == **name);
            let entry = match (index.map(|index| values.remove(index)), pattern) {
                (Some((_, value)), pattern) if pattern.matches(value) => (&**key, value),
                (Some(entry), _) => return Err(invalid(&entry)),
                (None, ValuePattern::Exact(value)) => (&**key, &**value),
                (None, _) => return Err(ConfigError::new("key", "nothing", self.expected_values())),
            };
            entries.push(entry);
        }
        match values.first() {
            Some(repeated) => Err(invalid(repeated)),
            None => Ok(key_of(entries.into_iter())),
        }
    }

    /// The key with this text in a store, if it can be a key of this pattern.
    pub(super) fn stored_key(&self, text: &str) -> Result<Key, ConfigError> {
        let is_possible = self.entries.first().is_some_and(|entry| match &entry.value {
            ValuePattern::Exact(value) => {
                let rest = text.strip_prefix(Key::named(&entry.key, value).as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            }
            _ => text.starts_with(Key::named(&entry.key, "").as_str()),
        });
        match is_possible {
            true => Ok(Key::verbatim(text.to_owned())),
            false => Err(ConfigError::new(
                "key",
                format_args!("{text:?}"),
                self.expected_values(),
            )),
        }
    }

    /// The values that operators have to name, to complete the sentence "it must ...".
    fn expected_values(&self) -> String {
        let entries = self.entries.iter().map(|EntryPattern { key, value }| match value {
            ValuePattern::Any => format!("{key}=VALUE"),
            ValuePattern::Prefix(prefix) => format!("{key}={prefix}.."),
            ValuePattern::Exact(value) => format!("{key}={value}"),
        });
        format!("be {}", entries.collect::<Vec<_>>().join(" and "))
    }
}
