//! Days and dates.

#[path = "../../../examples/simulate/calendar.rs"]
mod calendar;

#[test]
fn every_day_has_a_date_and_that_date_is_of_that_day() {
    assert_eq!(calendar::date(0), (1970, 1, 1));
    let (mut last, end) = ((1969, 12, 31), calendar::days(2401, 1, 1));
    for day in 0..end {
        let date = calendar::date(day);
        assert!(date > last, "{date:?} after {last:?}");
        assert_eq!(calendar::days(date.0, date.1, date.2), day, "{date:?}");
        last = date;
    }
    assert_eq!(last, (2400, 12, 31));
}
