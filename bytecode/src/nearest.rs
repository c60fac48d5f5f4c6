//! Finds the known name most similar to an unknown one: "did you mean".

/// Longest name worth comparing; also the width of the bit sets below.
const MAX_LEN: usize = 64;

/// Returns the candidate most similar to `name`, if any is similar enough.
///
/// Another spelling of the name (`group_by`, `groupBy`) wins at once. Otherwise the score is the Jaro similarity,
/// plus 0.3 for a permutation, minus 0.05 per character of difference in length; it must exceed 0.8, or the bare
/// Jaro similarity 0.85. Ties go to the first.
///
/// ```
/// use ptc_bytecode::nearest;
/// assert_eq!(nearest("fliter", ["map", "filter"].into_iter()), Some("filter"));
/// assert_eq!(nearest("group_by", ["group-by"].into_iter()), Some("group-by"));
/// assert_eq!(nearest("xyz", ["map", "filter"].into_iter()), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.is_empty() || name.len() > MAX_LEN {
        return None;
    }
    let dashed = kebab(name);
    let mut best: Option<(f64, &'a str)> = None;
    for candidate in candidates {
        if candidate == dashed {
            return Some(candidate);
        }
        if candidate == name || candidate.is_empty() || candidate.len() > MAX_LEN {
            continue;
        }
        let (score, jaro) = scores(name, candidate);
        if (score > 0.8 || jaro > 0.85) && best.is_none_or(|(top, _)| score > top) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Scores the similarity of two names for ranking; higher is more alike. Only the first 64 bytes count.
///
/// ```
/// use ptc_bytecode::likeness;
/// assert!(likeness("search", "searches") > likeness("search", "close"));
/// ```
pub fn likeness(name: &str, candidate: &str) -> f64 {
    scores(first(name), first(candidate)).0
}

fn first(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LEN)]
}

/// Returns the score of two names, and their bare Jaro similarity.
fn scores(name: &str, candidate: &str) -> (f64, f64) {
    let jaro = jaro(name.as_bytes(), candidate.as_bytes());
    let score = jaro - 0.05 * name.len().abs_diff(candidate.len()) as f64;
    (if is_permutation(name, candidate) { score + 0.3 } else { score }, jaro)
}

/// Spells `group_by` and `groupBy` as `group-by`.
fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        match c {
            '_' => out.push('-'),
            c if c.is_ascii_uppercase() => {
                if !out.is_empty() && !out.ends_with('-') {
                    out.push('-');
                }
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c),
        }
    }
    out
}

fn is_permutation(a: &str, b: &str) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let sorted = |s: &str| {
        let mut bytes = s.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    sorted(a) == sorted(b)
}

/// Returns the Jaro similarity of two texts of at most 64 bytes: 1 for equal ones, 0 for nothing in common.
fn jaro(a: &[u8], b: &[u8]) -> f64 {
    let window = (a.len().max(b.len()) / 2).saturating_sub(1);
    let (mut matched_a, mut matched_b) = (0u64, 0u64);
    for (i, c) in a.iter().enumerate() {
        let from = i.saturating_sub(window);
        let to = (i + window + 1).min(b.len());
        if let Some(j) = (from..to).find(|j| matched_b & (1 << j) == 0 && b[*j] == *c) {
            matched_a |= 1 << i;
            matched_b |= 1 << j;
        }
    }
    let matches = f64::from(matched_a.count_ones());
    if matches == 0.0 {
        return 0.0;
    }
    let picked = |text: &[u8], bits: u64| -> Vec<u8> {
        text.iter().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, c)| *c).collect()
    };
    let moved = picked(a, matched_a).iter().zip(picked(b, matched_b)).filter(|(x, y)| **x != *y).count();
    let transposed = (moved / 2) as f64;
    (matches / a.len() as f64 + matches / b.len() as f64 + (matches - transposed) / matches) / 3.0
}

#[cfg(test)]
mod tests {
    use super::jaro;

    #[test]
    fn jaro_as_published() {
        assert!((jaro(b"MARTHA", b"MARHTA") - 0.944_444).abs() < 1e-5);
        assert!((jaro(b"DIXON", b"DICKSONX") - 0.766_666).abs() < 1e-5);
        assert_eq!(jaro(b"abc", b"abc"), 1.0);
        assert_eq!(jaro(b"a", b"b"), 0.0);
    }
}
