//! A limit in one line.

use serde_json::Value;
use tollgate::{Limit, RuleSet};

/// The quota, the algorithm and the lease, as they were configured: `100 per 60s, token_bucket, lease 100ms`.
pub(crate) fn limit_summary(limit: &Limit) -> String {
    let algorithm = limit.unleased_algorithm();
    let mut summary = format!("{}, {}", algorithm.allowance(), algorithm.name());
    if let Some(lease) = limit.lease_time() {
        summary.push_str(&format!(", lease {lease:?}"));
    }
    summary
}

/// The name of each limit and its summary, with its descriptor and outcomes: `5 per 900s, sliding_log, refund_status 2xx or 404`.
pub(crate) fn rules_summary(rules: &RuleSet) -> Vec<(String, String)> {
    // Neither is part of a limit. The text was parsed when the rules were loaded.
    let file: Value = toml::from_str(&rules.text()).unwrap_or_default();
    let tables = file["limit"].as_array().map(Vec::as_slice).unwrap_or_default();
    let summaries = rules.limits().into_iter().map(|limit| {
        let (name, mut summary) = (limit.name(), limit_summary(&limit));
        let table = tables.iter().find(|table| table["name"] == name);
        for (field, separator) in [
            ("domain", ""),
            ("descriptor", " "),
            ("refund_status", " or "),
            ("settle_json", " or "),
        ] {
            if let Some(value) = table.and_then(|table| table.get(field)) {
                summary.push_str(&format!(", {field} {}", joined(value, separator)));
            }
        }
        (name.to_owned(), summary)
    });
    summaries.collect()
}

/// A value, or the values of a list, without quotes.
fn joined(value: &Value, separator: &str) -> String {
    match value {
        Value::Array(values) => {
            let values = values.iter().map(|value| joined(value, separator));
            values.collect::<Vec<_>>().join(separator)
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
