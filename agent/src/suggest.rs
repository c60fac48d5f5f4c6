//! The name that was probably meant.

/// The closest of `known`, if it is close enough to be meant.
pub(crate) fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    // Names are short; a long text is no misspelling of one, and comparing costs its length.
    if name.chars().count() > 60 {
        return None;
    }
    let far = name.chars().count().max(3) / 3;
    known
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .min()
        .and_then(|(distance, candidate)| (distance <= far).then_some(candidate))
}
