//! A text becomes rules, or a list of all that is wrong with it.

use toml::de::DeTable;

use super::{
    super::{error::RulesError, in_force::Rules},
    exempt, limit,
    problems::{Problems, Reported},
    syntax,
    table::Table,
    trust,
};

/// The rules that a text says, or all that is wrong with it.
pub(in crate::rules) fn parse(text: &str) -> Result<Rules, RulesError> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let problems = Problems::new(text);
    for error in &errors {
        let span = error.span().unwrap_or_default();
        let written = text.get(span.clone()).unwrap_or_default();
        let told = syntax::told(error.message(), written);
        problems.report(span, told);
    }
    // Of a text that is no TOML, nobody knows what is in which table.
    let rules = match errors.iter().all(|error| error.message() == syntax::TWICE) {
        true => read(text, Table::document(document.get_ref(), &problems)),
        false => Err(Reported),
    };
    match (rules, problems.all()) {
        (Ok(rules), none) if none.is_empty() => Ok(rules),
        (_, problems) => Err(RulesError::wrong(problems)),
    }
}

/// What is wrong with a text that goes on with something that is none.
pub(in crate::rules) fn broken_off(text: &str) -> RulesError {
    let problems = Problems::new(text);
    problems.report(text.len()..text.len(), "this is no UTF-8: save the file as that");
    RulesError::wrong(problems.all())
}

fn read(text: &str, mut document: Table<'_>) -> Result<Rules, Reported> {
    let trust = trust::read(&mut document);
    let tiers = limit::read_all(&mut document, trust.as_ref().ok());
    let exemptions = exempt::read_all(&mut document, trust.as_ref().ok());
    document.finish();
    let (tiers, exemptions, trust) = (tiers?, exemptions?, trust?);
    Ok(Rules {
        text: text.into(),
        tiers,
        exemptions,
        trust,
    })
}
