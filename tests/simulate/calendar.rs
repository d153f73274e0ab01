//! Days and dates.

#[path = "../../cli/src/simulate/calendar.rs"]
mod calendar;

#[test]
fn every_day_has_the_date_after_the_one_before_and_is_found_by_it() {
    let (mut last, end) = ((1969, 12, 31), calendar::days(2401, 1, 1));
    for number in 0..end {
        let date = calendar::date(number);
        let (year, month, day) = last;
        let follow = [(year, month, day + 1), (year, month + 1, 1), (year + 1, 1, 1)];
        assert!(follow.contains(&date), "{date:?} after {last:?}");
        assert_eq!(calendar::days(date.0, date.1, date.2), number, "{date:?}");
        last = date;
    }
    assert_eq!((last, end), ((2400, 12, 31), 157_420));
}
