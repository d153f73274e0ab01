//! Rules files of any text: they are accepted completely, or rejected with diagnostics that point into the text.

use std::{fmt::Debug, net::SocketAddr, sync::LazyLock};

use http::Request;
use tollgate::{
    Algorithm, Limit, ManualClock, MemoryStore, Operation, RuleSet, RulesError, State, Store, extract::NoPeerAddr,
};

/// Rules that are replaced by the input.
const BEFORE: &str =
    "[[limit]]\nname = \"a\"\nalgorithm = \"sliding_log\"\nlimit = 1\nwindow = \"1s\"\nkey = \"global\"";

const NOW: u64 = 1_700_000_000_000_000;

/// Checks a text, decoded as lossy UTF-8.
pub fn rules(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match RuleSet::parse(&text) {
        Ok(rules) => {
            parsing_is_deterministic(&rules, &text);
            limits_can_be_charged(&rules);
            charges_match_the_rules(&rules);
        }
        Err(error) => {
            diagnostics_point_into_the_text(&error, &text);
            rejected_text_changes_nothing(&error, &text);
        }
    }
}

fn debug(value: &impl Debug) -> String {
    format!("{value:?}")
}

/// The same text yields the same rules, and a comment at its end changes nothing.
fn parsing_is_deterministic(rules: &RuleSet, text: &str) {
    assert_eq!(rules.text(), text);
    let others = RuleSet::parse(BEFORE).expect("valid rules");
    others.replace(text).expect("the text was accepted before");
    assert_eq!(debug(&others), debug(rules));
    let commented = RuleSet::parse(&format!("{text}\n# a comment")).expect("a comment may follow");
    assert_eq!(debug(&commented), debug(rules));
    for limit in rules.limits() {
        let found = rules.limit(limit.name(), None).expect("the limit exists");
        assert_eq!(found, limit);
    }
}

/// The limits for requests without a plan and on these plans.
fn versions(rules: &RuleSet) -> Vec<Limit> {
    let on = |limit: Limit| [None, Some("pro"), Some("free")].map(|plan| rules.limit(limit.name(), plan));
    rules.limits().into_iter().flat_map(on).flatten().collect()
}

/// Every accepted limit can be charged: it admits up to its capacity, and no more.
fn limits_can_be_charged(rules: &RuleSet) {
    for limit in versions(rules) {
        let (algorithm, capacity) = (limit.algorithm(), limit.algorithm().capacity());
        let outcome = |cost| algorithm.peek(&State::Fresh, NOW, cost).outcome().name();
        assert_eq!([outcome(1), outcome(capacity)], ["admitted"; 2], "{limit:?}");
        let too_much = capacity.checked_add(1).map(outcome);
        assert!(too_much.is_none_or(|outcome| outcome == "impossible"), "{limit:?}");
    }
}

/// A request with every field that a limit can count by, one that is marked as having no peer address, and one that is not.
static REQUESTS: LazyLock<[Request<()>; 3]> = LazyLock::new(|| {
    let full = Request::builder()
        .uri("/api/search?tenant=a:b&q=%7B%7D")
        .extension(SocketAddr::from(([127, 0, 0, 1], 4711)))
        .header("x-forwarded-for", "198.51.100.7")
        .header("forwarded", "for=\"[2001:db8::7]\"")
        .header("x-user-id", "(a):{b}")
        .header("x-plan", "pro")
        .header("x-cost", "4294967296")
        .header("authorization", "Bearer secret")
        .header("cookie", "session=a; b=\"c\"");
    let no_peer_addr = Request::builder().uri("/").extension(NoPeerAddr);
    let unmarked = Request::builder().uri("/").method("OPTIONS");
    [full, no_peer_addr, unmarked].map(|request| request.body(()).expect("a valid request"))
});

/// Each charge belongs to a limit of the rules, and its key contains only safe characters, regardless of what a client sent.
fn charges_match_the_rules(rules: &RuleSet) {
    let (limits, versions) = (rules.limits(), versions(rules));
    let is_safe = |byte: u8| byte.is_ascii_graphic() && !b"{}".contains(&byte);
    for request in &*REQUESTS {
        let Ok(charges) = rules.charges(request) else { continue };
        let store = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
        let decision = store.apply(Operation::Acquire(charges)).into_inner();
        let tiers = decision.expect("the memory store does not fail").tiers().to_vec();
        let mut in_order = limits.iter();
        for tier in tiers {
            assert!(versions.contains(tier.limit()));
            assert!(in_order.any(|limit| limit.name() == tier.limit().name()));
            assert!(tier.key().as_str().bytes().all(is_safe), "{:?}", tier.key());
        }
    }
}

/// Each diagnostic points at a character or the end of a line, and they are sorted by position.
fn diagnostics_point_into_the_text(error: &RulesError, text: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    let diagnostics = error.diagnostics();
    let positions: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| (diagnostic.line(), diagnostic.column()))
        .collect();
    assert!(!positions.is_empty() && positions.is_sorted(), "{positions:?}");
    for (line, column) in positions {
        let length = lines[line - 1].chars().count();
        assert!((1..=length + 1).contains(&column), "{line}:{column}");
    }
    assert!(diagnostics.iter().all(|diagnostic| !diagnostic.message().is_empty()));
    // One per line, fifty at most, then how many more there are.
    assert_eq!(error.to_string().lines().count(), diagnostics.len().min(51));
}

/// Replacing rules with the text fails with the same diagnostics and keeps the current rules.
fn rejected_text_changes_nothing(error: &RulesError, text: &str) {
    let rules = RuleSet::parse(BEFORE).expect("valid rules");
    let again = rules.replace(text).expect_err("the text was rejected before");
    assert_eq!(again.diagnostics(), error.diagnostics());
    assert_eq!(rules.text(), BEFORE);
}
