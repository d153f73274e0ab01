//! Different identities never share a key, regardless of what clients send.

use std::{
    cell::RefCell,
    collections::HashMap,
    fmt::Debug,
    hash::Hash,
    net::{IpAddr, SocketAddr},
};

use http::{HeaderMap, HeaderName, HeaderValue, Request};
use proptest::{collection::vec, option, prelude::*, sample::select};
use tollgate::{ClientIp, Header, Key, KeyError, KeyExtractor};

use support::property::{cases, config};

use crate::keys::FAILURES;

/// Characters with a meaning in keys, in Redis or in logs.
const PIECES: &[&str] = &[
    "a", "b", "x", "y", ":", ":b:", "~", "~x", "/", "#", "(", ")", "):(", "{", "}", "[", "]", ".", "%", " ", "\0",
];

/// The longest value, or its digest.
const MAX_VALUE_LEN: usize = 64;
/// The longest value with a label of one letter.
const MAX_PART_LEN: usize = "a:".len() + MAX_VALUE_LEN;
/// The longest part in parentheses, with the colon before the next one.
const MAX_FENCED_LEN: usize = "():".len() + MAX_PART_LEN;

/// Text of few different letters, which often resembles a part of another text, or several parts.
fn any_ambiguous_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        vec(select(&["a", "b", ":"][..]), 0..6),
        vec(select(&["a", ":", "/", "~"][..]), 0..6),
        vec(select(PIECES), 0..4),
    ];
    pieces.prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => any_ambiguous_text(),
        1 => any::<String>(),
        1 => "[ab:]{62,67}",
        1 => any_ambiguous_text().prop_map(|text| Key::new(text).to_string()),
        1 => (any_ambiguous_text(), any_ambiguous_text()).prop_map(|(label, value)| Key::named(&label, value).to_string()),
    ]
}

/// Any value that a header can have.
fn any_value() -> impl Strategy<Value = HeaderValue> {
    let any_bytes = prop_oneof![7 => any_text().prop_map(String::into_bytes), 1 => vec(any::<u8>(), 1..80)];
    any_bytes.prop_map(|mut bytes| {
        bytes.retain(|byte| !byte.is_ascii_control());
        let value = if bytes.is_empty() { b"a" } else { &bytes[..] };
        HeaderValue::from_bytes(value).unwrap()
    })
}

/// A header that may be missing.
fn any_header() -> impl Strategy<Value = Option<HeaderValue>> {
    option::weighted(0.7, any_value())
}

/// A request with those of the headers `a`, `b` and so on that are present.
fn request<'v>(values: impl IntoIterator<Item = &'v Option<HeaderValue>>) -> Request<()> {
    let names = ["a", "b", "c", "d", "e", "f"].map(HeaderName::from_static);
    let present = names.into_iter().zip(values);
    let mut request = Request::new(());
    *request.headers_mut() = HeaderMap::from_iter(present.filter_map(|(name, value)| Some((name, value.clone()?))));
    request
}

fn key<Req>(extractor: &impl KeyExtractor<Req>, request: &Req) -> Key {
    extractor.extract(request).unwrap()
}

/// Every identity always gets the same key, no other identity gets it, and keys contain only safe characters.
fn assert_distinct_keys<I>(identities: impl Strategy<Value = I>, longest: usize, key: impl Fn(&I) -> Key)
where
    I: Clone + Debug + Eq + Hash,
{
    let known: RefCell<HashMap<Key, I>> = RefCell::default();
    proptest!(config(cases(), FAILURES), |(identity in identities)| {
        let text = key(&identity);
        prop_assert_eq!(&key(&identity), &text);
        let safe = |byte: u8| byte.is_ascii_graphic() && !b"{}".contains(&byte);
        prop_assert!(text.as_str().bytes().all(safe), "{:?}", text);
        prop_assert!(text.as_str().len() <= longest, "{:?}", text);
        let mut known = known.borrow_mut();
        let owner = known.entry(text).or_insert_with(|| identity.clone());
        prop_assert_eq!(&*owner, &identity);
    });
}

#[test]
fn different_values_of_a_header() {
    let header = Header::new("a");
    assert_distinct_keys(any_value(), MAX_PART_LEN, |value| {
        key(&header, &request([&Some(value.clone())]))
    });
}

#[test]
fn different_headers_in_a_tuple() {
    let tuple = (Header::new("a"), Header::new("b"));
    let both = (any_value(), any_value()).prop_map(|(a, b)| [Some(a), Some(b)]);
    assert_distinct_keys(both, 2 * MAX_FENCED_LEN, |values| key(&tuple, &request(values)));
}

#[test]
fn different_headers_under_one_label() {
    let tuple = (Header::new("a"), Header::new("b").label("a"));
    let both = (any_value(), any_value()).prop_map(|(a, b)| [Some(a), Some(b)]);
    assert_distinct_keys(both, 2 * MAX_FENCED_LEN, |values| key(&tuple, &request(values)));
}

#[test]
fn missing_headers_and_headers_that_look_like_their_default_keys() {
    let tuple = (Header::new("a").or("x"), Header::new("b").or("y"));
    assert_distinct_keys([any_header(), any_header()], 2 * MAX_FENCED_LEN, |values| {
        key(&tuple, &request(values))
    });
}

#[test]
fn different_headers_in_a_nested_tuple() {
    let left = ((Header::new("a"), Header::new("b")), Header::new("c").or("x"));
    let right = (Header::new("a"), (Header::new("b"), Header::new("c").or("x")));
    let three = || (any_value(), any_value(), any_header()).prop_map(|(a, b, c)| [Some(a), Some(b), c]);
    assert_distinct_keys(three(), 4 * MAX_FENCED_LEN, |values| key(&left, &request(values)));
    assert_distinct_keys(three(), 4 * MAX_FENCED_LEN, |values| key(&right, &request(values)));
}

/// One header, or two others.
fn one_or_two() -> impl Strategy<Value = [Option<HeaderValue>; 3]> {
    prop_oneof![
        any_value().prop_map(|one| [Some(one), None, None]),
        [any_value(), any_value()].prop_map(|[one, two]| [None, Some(one), Some(two)]),
    ]
}

#[test]
fn parts_that_are_tuples_themselves() {
    let labelled = |name: &str| Header::new(name).label("a");
    let one_or_both = |[one, two, three]: [&str; 3]| labelled(one).or((labelled(two), labelled(three)));
    let tuple = (one_or_both(["a", "b", "c"]), one_or_both(["d", "e", "f"]));
    let identities = [one_or_two(), one_or_two()];
    assert_distinct_keys(identities, 6 * MAX_FENCED_LEN, |values| {
        key(&tuple, &request(values.as_flattened()))
    });
}

#[test]
fn different_texts() {
    assert_distinct_keys(any_text(), MAX_VALUE_LEN, |text| Key::new(text.clone()));
}

#[test]
fn different_texts_and_a_default_key() {
    let text = |text: &Option<String>| text.clone().map(Key::new).ok_or(KeyError::missing("a text"));
    let text = text.or("x");
    assert_distinct_keys(option::of(any_text()), MAX_VALUE_LEN, |identity| key(&text, identity));
}

#[test]
fn different_labels_and_values() {
    assert_distinct_keys(
        [any_text(), any_text()],
        MAX_VALUE_LEN + MAX_PART_LEN,
        |[label, value]| Key::named(label, value),
    );
}

fn tuple_of_texts() -> impl KeyExtractor<[String; 2]> {
    (
        |[one, _]: &[String; 2]| Key::new(one.clone()),
        |[_, two]: &[String; 2]| Key::new(two.clone()),
    )
}

#[test]
fn different_texts_in_a_tuple() {
    assert_distinct_keys([any_text(), any_text()], 2 * MAX_FENCED_LEN, |texts| {
        key(&tuple_of_texts(), texts)
    });
}

/// Few pairs of texts would collide if fewer parts were parenthesized, so all short pairs are tried.
#[test]
fn all_short_texts_in_a_tuple() {
    let mut texts = vec![String::new()];
    for length in 0..4 {
        let longer = |text: &String| ["a", ":", "/", "~"].map(|letter| text.clone() + letter);
        let longest = texts.iter().filter(|text| text.len() == length);
        texts.extend(longest.flat_map(longer).collect::<Vec<_>>());
    }
    let mut known = HashMap::new();
    for pair in texts.iter().flat_map(|one| texts.iter().map(move |two| [one, two])) {
        let key = key(&tuple_of_texts(), &pair.map(String::clone));
        assert_eq!(known.insert(key, pair), None, "{pair:?}");
    }
    assert_eq!(known.len(), 341 * 341);
}

#[test]
fn different_labels_and_values_in_a_tuple() {
    type Texts = [String; 3];
    let tuple = (
        |[label, value, _]: &Texts| Key::named(label, value),
        |[_, label, value]: &Texts| Key::named(label, value),
    );
    assert_distinct_keys([any_text(), any_text(), any_text()], 4 * MAX_FENCED_LEN, |texts| {
        key(&tuple, texts)
    });
}

fn any_address() -> impl Strategy<Value = IpAddr> {
    const ADDRESSES: &[&str] = &["192.0.2.1", "192.0.2.2", "::", "::1", "2001:db8::", "2001:db8::1"];
    prop_oneof![
        3 => select(ADDRESSES).prop_map(|text| text.parse().unwrap()),
        1 => any::<IpAddr>().prop_map(|address| address.to_canonical()),
    ]
}

/// A client that is known by its header, or by its address.
fn any_client() -> impl Strategy<Value = Result<HeaderValue, IpAddr>> {
    let like_a_key = |address| Key::named("ip", address).to_string();
    let like_an_address = any_address().prop_flat_map(move |address| {
        select(
            [
                address.to_string(),
                format!("[{address}]"),
                format!("ip:{address}"),
                like_a_key(address),
            ]
            .to_vec(),
        )
    });
    prop_oneof![
        any_value().prop_map(Ok),
        like_an_address.prop_map(|text| Ok(text.parse().unwrap())),
        any_address().prop_map(Err),
    ]
}

#[test]
fn headers_and_addresses() {
    let address = "ip:[]/128:".len() + "ffff:".len() * 8;
    let client = Header::new("ip").or(ClientIp::peer().ipv6_prefix(128));
    let either = (
        Header::new("ip").or(ClientIp::peer().ipv6_prefix(128)),
        Header::new("a").or("x"),
    );
    let sent = |client: &Result<HeaderValue, IpAddr>, other: &Option<HeaderValue>| {
        let mut request = request([other]);
        match client {
            Ok(value) => drop(request.headers_mut().insert("ip", value.clone())),
            Err(address) => drop(request.extensions_mut().insert(SocketAddr::new(*address, 4711))),
        }
        request
    };
    let longest = address + "header/".len() + MAX_FENCED_LEN;
    assert_distinct_keys(any_client(), longest, |one| key(&client, &sent(one, &None)));
    assert_distinct_keys(
        (any_client(), any_header()),
        longest + MAX_FENCED_LEN,
        |(one, other)| key(&either, &sent(one, other)),
    );
}

proptest! {
    #![proptest_config(config(cases(), FAILURES))]

    #[test]
    fn safe_text_is_kept(text in "([a-zA-Z0-9_.@+=,|/:-][a-zA-Z0-9_.~@+=,|/:-]{0,63})?") {
        let (whole, value) = (Key::new(text.clone()), text.replace(':', "."));
        prop_assert_eq!(whole.as_str(), text);
        let named = Key::named("user", &value);
        prop_assert_eq!(named.as_str(), format!("user:{value}"));
    }

    #[test]
    fn other_text_is_digested(text in "[a-z:]{0,32}[^a-zA-Z0-9_.~@+=,|/:-][a-z:]{0,32}|[a-z]{65,200}") {
        let (whole, named) = (Key::new(text.clone()), Key::named("user", text));
        let digest = whole.as_str().strip_prefix('#').unwrap();
        prop_assert_eq!(digest.len(), 32);
        prop_assert!(digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        prop_assert_eq!(named.as_str(), format!("user:#{digest}"));
    }
}
