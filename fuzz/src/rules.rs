//! Rules files of any text: they are taken as they are, or refused for what is in them.

use std::{fmt::Debug, net::SocketAddr, sync::LazyLock};

use http::Request;
use tollgate::{
    Algorithm, Limit, ManualClock, MemoryStore, Operation, RuleSet, RulesError, State, Store, extract::Unaddressed,
};

/// Rules that are in force before others are put in their place.
const BEFORE: &str =
    "[[limit]]\nname = \"a\"\nalgorithm = \"sliding_log\"\nlimit = 1\nwindow = \"1s\"\nkey = \"global\"";

const NOW: u64 = 1_700_000_000_000_000;

/// A text, in UTF-8 or nearly.
pub fn rules(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match RuleSet::parse(&text) {
        Ok(rules) => {
            are_what_the_text_says(&rules, &text);
            can_be_kept(&rules);
            charge_whom_they_say(&rules);
        }
        Err(error) => {
            has_its_places(&error, &text);
            leaves_others_alone(&error, &text);
        }
    }
}

fn shown(value: &impl Debug) -> String {
    format!("{value:?}")
}

/// The same text says the same ever after, and a remark at its end changes nothing.
fn are_what_the_text_says(rules: &RuleSet, text: &str) {
    assert_eq!(rules.text(), text);
    let others = RuleSet::parse(BEFORE).expect("these are rules");
    others.replace(text).expect("it was taken before");
    assert_eq!(shown(&others), shown(rules));
    let remarked = RuleSet::parse(&format!("{text}\n# a remark")).expect("a remark may follow");
    assert_eq!(shown(&remarked), shown(rules));
    for limit in rules.limits() {
        let found = rules.limit(limit.name(), None).expect("it is there");
        assert_eq!(found, limit);
    }
}

/// The limits in force, as requests on any of these plans have them.
fn versions(rules: &RuleSet) -> Vec<Limit> {
    let on = |limit: Limit| [None, Some("pro"), Some("free")].map(|plan| rules.limit(limit.name(), plan));
    rules.limits().into_iter().flat_map(on).flatten().collect()
}

/// Whatever was taken can be charged: it admits what it can hold, and no more.
fn can_be_kept(rules: &RuleSet) {
    for limit in versions(rules) {
        let (rule, capacity) = (limit.rule(), limit.rule().capacity());
        let told = |cost| rule.peek(&State::Fresh, NOW, cost).outcome().name();
        assert_eq!([told(1), told(capacity)], ["admitted"; 2], "{limit:?}");
        let too_much = capacity.checked_add(1).map(told);
        assert!(too_much.is_none_or(|told| told == "impossible"), "{limit:?}");
    }
}

/// Who comes with all that limits can count by, who comes with nothing, and whom nobody has given an address.
static REQUESTS: LazyLock<[Request<()>; 3]> = LazyLock::new(|| {
    let known = Request::builder()
        .uri("/api/search?tenant=a:b&q=%7B%7D")
        .extension(SocketAddr::from(([127, 0, 0, 1], 4711)))
        .header("x-forwarded-for", "198.51.100.7")
        .header("forwarded", "for=\"[2001:db8::7]\"")
        .header("x-user-id", "(a):{b}")
        .header("x-plan", "pro")
        .header("x-cost", "4294967296")
        .header("authorization", "Bearer secret")
        .header("cookie", "session=a; b=\"c\"");
    let unknown = Request::builder().uri("/").extension(Unaddressed);
    let nobody = Request::builder().uri("/").method("OPTIONS");
    [known, unknown, nobody].map(|request| request.body(()).expect("it is a request"))
});

/// Each charge is under a limit that is in force, and what a client sent does no harm in its key.
fn charge_whom_they_say(rules: &RuleSet) {
    let (limits, versions) = (rules.limits(), versions(rules));
    let harmless = |byte: u8| byte.is_ascii_graphic() && !b"{}".contains(&byte);
    for request in &*REQUESTS {
        let Ok(charges) = rules.charges(request) else { continue };
        let store = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
        let decision = store.apply(Operation::Acquire(charges)).into_inner();
        let tiers = decision.expect("nobody fails in memory").tiers().to_vec();
        let mut in_order = limits.iter();
        for tier in tiers {
            assert!(versions.contains(tier.limit()));
            assert!(in_order.any(|limit| limit.name() == tier.limit().name()));
            assert!(tier.key().as_str().bytes().all(harmless), "{:?}", tier.key());
        }
    }
}

/// Each place that it is refused for is there, or at the end of a line that is, from the top to the end.
fn has_its_places(error: &RulesError, text: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    let problems = error.problems();
    let places: Vec<_> = problems
        .iter()
        .map(|problem| (problem.line(), problem.column()))
        .collect();
    assert!(!places.is_empty() && places.is_sorted(), "{places:?}");
    for (line, column) in places {
        let length = lines[line - 1].chars().count();
        assert!((1..=length + 1).contains(&column), "{line}:{column}");
    }
    assert!(problems.iter().all(|problem| !problem.message().is_empty()));
    // One to a line, and fifty at most; then, how many more there are.
    assert_eq!(error.to_string().lines().count(), problems.len().min(51));
}

/// It is refused in the same words wherever it is meant to go, and what is in force there stays.
fn leaves_others_alone(error: &RulesError, text: &str) {
    let rules = RuleSet::parse(BEFORE).expect("these are rules");
    let again = rules.replace(text).expect_err("it was refused before");
    assert_eq!(again.problems(), error.problems());
    assert_eq!(rules.text(), BEFORE);
}
