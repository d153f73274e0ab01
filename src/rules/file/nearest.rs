//! The nearest known name, for "did you mean ..?".

/// The known name that is nearest to this one, if at most two letters differ, not counting capitals.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = name.to_ascii_lowercase();
    let distances = known.iter().map(|known| (distance(&name, known), *known));
    let (distance, nearest) = distances.min()?;
    (distance <= 2 && distance < nearest.len()).then_some(nearest)
}

/// How many letters have to be added, removed or changed to make one of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, wanted) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
