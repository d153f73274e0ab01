//! Tests of `header_list`.

use super::*;

#[test]
fn a_list_may_exceed_the_stack() {
    for members in [0, 1, 12, 13, 14, 100] {
        let mut list = List::default();
        for member in 0..members {
            list.begin_member(b"\"limit\"");
            list.append_number(b";q=", member);
        }
        let expected: Vec<_> = (0..members).map(|member| format!("\"limit\";q={member}")).collect();
        assert_eq!(
            list.into_value()
                .map_or(String::new(), |value| value.to_str().unwrap().to_owned()),
            expected.join(", ")
        );
    }
}
