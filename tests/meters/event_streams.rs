//! The usage that event streams state, and the number of their events.

use proptest::{collection::vec, prelude::*, sample::select};
use tollgate::JsonUsage;

use support::property::{cases, config};

use super::{read, with_ends};

const EVENTS: &str = "text/event-stream; charset=utf-8";

/// An event: its lines without their ends, whether it has data, and the number that it states.
fn event() -> impl Strategy<Value = (Vec<String>, bool, Option<u64>)> {
    let number = 0..1000_u64;
    prop_oneof![
        number.prop_map(|number| (
            vec![format!(r#"data: {{"usage":{{"total_tokens":{number}}}}}"#)],
            true,
            Some(number)
        )),
        Just((
            vec![
                "event: a".to_owned(),
                r#"data:{"usage": {"#.to_owned(),
                r#"data: "total_tokens": 5 }}"#.to_owned()
            ],
            true,
            Some(5)
        )),
        Just((
            vec![r#"data: {"choices":[{"delta":{"content":"\"usage\": {"}}],"usage":null}"#.to_owned()],
            true,
            None
        )),
        // Cut off: the next event is not nested in it.
        Just((vec![r#"data: {"usage":{"a":["#.to_owned()], true, None)),
        Just((vec!["data: [DONE]".to_owned()], true, None)),
        Just((
            vec![": comment".to_owned(), r#"id: {"usage":{"total_tokens":3}}"#.to_owned()],
            false,
            None
        )),
    ]
}

proptest! {
    #![proptest_config(config(cases(), "meters/event_streams.txt"))]

    #[test]
    fn the_last_usage_counts((events, stream, ends) in (vec(event(), 0..6), select(&["\n", "\r\n", "\r"][..])).prop_flat_map(|(events, end)| {
        let lines = events.iter().flat_map(|(lines, ..)| lines.iter().map(String::as_str).chain([""]));
        let stream: String = lines.flat_map(|line| [line, end]).collect();
        with_ends(Just(stream)).prop_map(move |(stream, ends)| (events.clone(), stream, ends))
    })) {
        let meter = read(&JsonUsage::openai(), EVENTS, stream.as_bytes(), &ends);
        prop_assert!(meter.is_event_stream());
        prop_assert_eq!(meter.usage(), events.iter().filter_map(|(.., number)| *number).next_back());
        prop_assert_eq!(meter.events(), events.iter().filter(|(_, has_data, _)| *has_data).count() as u64);
    }
}

/// The two numbers of a stream of Anthropic's are in different events, and its usage is known with the second.
#[test]
fn a_sum_is_known_when_its_last_number_is() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":60,\"cache_creation_input_tokens\":null,\"output_tokens\":1}}}\n\n";
    let delta = "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":30}}\n\n";
    for (stream, cost) in [(start.to_owned(), None), (format!("{start}{delta}"), Some(99))] {
        assert_eq!(
            read(&JsonUsage::anthropic(), EVENTS, stream.as_bytes(), &[]).usage(),
            cost
        );
    }
}

#[test]
fn the_content_type_selects_the_format() {
    let usage = r#"{"usage":{"total_tokens":3}}"#;
    let (json, events) = (usage.to_owned(), format!("data: {usage}\n\n"));
    for (content_type, cost_of_json, cost_of_events) in [
        ("application/json", Some(3), Some(3)),
        ("application/problem+json", Some(3), Some(3)),
        ("application/x-ndjson; charset=utf-8", Some(3), Some(3)),
        ("Text/Event-Stream", None, Some(3)),
        ("text/event-streams", None, None),
        ("text/html", None, None),
        ("", None, None),
    ] {
        let cost = |body: &str| read(&JsonUsage::openai(), content_type, body.as_bytes(), &[]).usage();
        assert_eq!(
            (cost(&json), cost(&events)),
            (cost_of_json, cost_of_events),
            "{content_type}"
        );
    }
}
