//! A limit in one line.

use tollgate::Limit;

/// The quota, the algorithm and the lease, as they were configured: `100 per 60s, token_bucket, lease 100ms`.
pub(crate) fn limit_summary(limit: &Limit) -> String {
    let algorithm = limit.unleased_algorithm();
    let mut summary = format!("{}, {}", algorithm.allowance(), algorithm.name());
    if let Some(lease) = limit.lease_time() {
        summary.push_str(&format!(", lease {lease:?}"));
    }
    summary
}
