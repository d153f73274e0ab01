//! Tests of `set`.

use super::*;

#[test]
fn the_same_text_replaces_nothing() {
    let text = |limit| {
        format!(
            "[[limit]]\nname = \"user\"\nalgorithm = \"fixed_window\"\nlimit = {limit}\nwindow = \"1m\"\nkey = \"global\"\n"
        )
    };
    let rules = RuleSet::parse(&text(10)).unwrap();
    let mut limit = rules.limits().remove(0);
    rules.replace(&text(10)).unwrap();
    assert!(!limit.update_to(&rules.limits()[0]));
    rules.replace(&text(20)).unwrap();
    assert!(limit.update_to(&rules.limits()[0]));
}
