//! Tests of `event_stream`.

use super::*;

/// The data of each event, and the number of events, if the stream arrives in pieces of this size.
fn events(stream: &str, size: usize) -> (Vec<String>, u64) {
    let (mut parser, mut events, mut data) = (EventStream::default(), Vec::new(), Vec::new());
    for piece in stream.as_bytes().chunks(size) {
        parser.read(piece, |part| match part {
            Part::Data(piece) => data.extend_from_slice(piece),
            Part::End => events.push(String::from_utf8(std::mem::take(&mut data)).unwrap()),
        });
    }
    (events, parser.events())
}

#[test]
fn events_are_found_in_pieces_of_any_size() {
    for (stream, expected, count) in [
        ("", &[][..], 0),
        ("data: 1\n\ndata: 2\n\n", &[" 1\n", " 2\n"], 2),
        ("data:1\r\rdata:2\r\r", &["1\n", "2\n"], 2),
        ("event: a\r\ndata:1\r\n\r\nid: 7\r\ndata:2\r\n\r\n", &["1\n", "2\n"], 2),
        ("data:1\ndata:2\n\n", &["1\n2\n"], 1),
        (": data:1\n\ndat:2\n\ndata\n\n database:3\n\n", &["", "", "", ""], 0),
        // Only begun.
        ("data:1\n\ndata:2", &["1\n"], 2),
    ] {
        for size in 1..=stream.len().max(1) {
            let expected: Vec<_> = expected.iter().map(|&data| data.to_owned()).collect();
            assert_eq!(
                events(stream, size),
                (expected, count),
                "{stream:?} in pieces of {size}"
            );
        }
    }
}
