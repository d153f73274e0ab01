//! Numbers in JSON texts, against serde_json.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};
use tollgate::JsonUsage;

use support::property::{cases, config};

use super::{read, with_ends};

const JSON: &str = "application/json";

/// Values whose members have names of the paths, and names that resemble them.
fn value() -> impl Strategy<Value = Value> {
    let text = select(
        &[
            "",
            "usage",
            "\"usage\":{\"total\":7}",
            "a\\",
            "\\\"",
            "{[:,1",
            "é\u{1f600}\n",
            "total",
        ][..],
    );
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..200_u64).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e3..1e3).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let name = select(
            &[
                "usage",
                "total",
                "input",
                "usage.total",
                "usag",
                "usage2",
                "us\"age",
                "\\usage",
                "",
            ][..],
        );
        let members = vec((name, inner.clone()), 0..5);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// Compact or indented texts in sequence, as lines of JSON are.
fn texts() -> impl Strategy<Value = (Vec<Value>, String)> {
    vec((value(), any::<bool>()), 1..4).prop_map(|values| {
        let print = |(value, pretty): &(Value, bool)| match pretty {
            true => serde_json::to_string_pretty(value).unwrap(),
            false => value.to_string(),
        };
        let texts: Vec<_> = values.iter().map(print).collect();
        (
            values.into_iter().map(|(value, _)| value).collect(),
            texts.join("\n") + "\n",
        )
    })
}

/// The last whole number at a path. A path is a pointer without array indices, since no name is a number.
fn last(values: &[Value], pointers: &[&str]) -> Option<u64> {
    let numbers = values.iter().flat_map(|value| {
        // In the order of the text: serde_json sorts members by name.
        let mut found: Vec<_> = pointers
            .iter()
            .filter_map(|at| Some((*at, value.pointer(at)?.as_u64()?)))
            .collect();
        found.sort_unstable();
        found
    });
    numbers.map(|(_, number)| number).next_back()
}

proptest! {
    #![proptest_config(config(cases(), "meters/json.txt"))]

    #[test]
    fn numbers_are_those_that_a_parser_finds((values, text, ends) in texts().prop_flat_map(|(values, text)| {
        with_ends(Just(text)).prop_map(move |(text, ends)| (values.clone(), text, ends))
    })) {
        for (paths, pointers) in [
            (&["usage.total"][..], &["/usage/total"][..]),
            (&["usage"], &["/usage"]),
            (&["usage.total", "input"], &["/usage/total", "/input"]),
            (&["usage.usage.total"], &["/usage/usage/total"]),
        ] {
            let usage = JsonUsage::at(paths.iter().copied());
            let meter = read(&usage, JSON, text.as_bytes(), &ends);
            prop_assert_eq!(meter.usage(), last(&values, pointers), "{:?}", paths);
        }
        let sum = JsonUsage::at(["usage.input"]).plus(["usage.total", "total"]);
        let expected = last(&values, &["/usage/input"]).zip(last(&values, &["/total", "/usage/total"]));
        let expected = expected.map(|(input, total)| input.saturating_add(total));
        prop_assert_eq!(read(&sum, JSON, text.as_bytes(), &ends).usage(), expected);
    }

    /// Any bytes are read without a panic, and the rest of a body that is cut off changes nothing.
    #[test]
    fn any_bytes_can_be_read(bytes in vec(select(&b"{}[]\",:\\ 0129-.eausage.total\n\r\xff"[..]), 0..60), split in 0..61_usize) {
        let split = split.min(bytes.len());
        for content_type in [JSON, "text/event-stream"] {
            let usage = JsonUsage::at(["usage", "a.u"]);
            let [whole, pieces] = [&[][..], &[split]].map(|ends| read(&usage, content_type, &bytes, ends));
            prop_assert_eq!((whole.usage(), whole.events()), (pieces.usage(), pieces.events()));
        }
    }
}

#[test]
fn only_whole_numbers_are_costs() {
    for (number, cost) in [
        ("0", Some(0)),
        ("17", Some(17)),
        ("18446744073709551615", Some(u64::MAX)),
        ("99999999999999999999999", Some(u64::MAX)),
        ("-1", None),
        ("1.0", None),
        ("1e3", None),
        ("1E3", None),
        ("\"17\"", None),
        ("null", None),
        ("[17]", None),
        ("{\"total_tokens\": 17}", None),
    ] {
        let text = format!(r#"{{"usage": {{"total_tokens": {number}, "x": 3}}, "total_tokens": 4}}"#);
        assert_eq!(
            read(&JsonUsage::openai(), JSON, text.as_bytes(), &[]).usage(),
            cost,
            "{number}"
        );
    }
}

#[test]
fn a_number_that_may_continue_is_not_known_yet() {
    let text = br#"{"usage":{"total_tokens":17"#;
    assert_eq!(read(&JsonUsage::openai(), JSON, text, &[]).usage(), None);
    let text = br#"{"usage":{"total_tokens":17}"#;
    assert_eq!(read(&JsonUsage::openai(), JSON, text, &[26]).usage(), Some(17));
}

#[test]
fn the_usage_of_known_interfaces_is_found() {
    let chat = json!({"id": "1", "choices": [{"usage": {"total_tokens": 1}}], "usage": {"prompt_tokens": 9, "total_tokens": 12}});
    let responses =
        json!({"type": "response.completed", "response": {"usage": {"input_tokens": 9, "total_tokens": 12}}});
    let message = json!({"content": [{"text": "\"usage\""}], "usage": {"input_tokens": 9, "output_tokens": 3}});
    let cached = json!({"usage": {
        "input_tokens": 9, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 400, "output_tokens": 3,
    }});
    for (usage, body, cost) in [
        (JsonUsage::openai(), &chat, Some(12)),
        (JsonUsage::openai(), &responses, Some(12)),
        (JsonUsage::openai(), &message, None),
        (JsonUsage::anthropic(), &message, Some(12)),
        (JsonUsage::anthropic(), &cached, Some(512)),
        (JsonUsage::anthropic(), &chat, None),
    ] {
        assert_eq!(
            read(&usage, JSON, body.to_string().as_bytes(), &[]).usage(),
            cost,
            "{body}"
        );
    }
}

#[test]
fn a_path_has_names_between_its_dots() {
    for path in ["", ".", "usage.", ".usage", "usage..total"] {
        let error = JsonUsage::try_at([path]).unwrap_err();
        let expected = format!("path = {path:?}: it must be names separated by dots, like usage.total_tokens");
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(read(&JsonUsage::at([]), JSON, b"{\"usage\":1}", &[]).usage(), None);
}
