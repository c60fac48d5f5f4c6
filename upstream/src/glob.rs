//! Patterns for names, in which `*` stands for any characters, and `?` for one.

/// Returns whether a name matches a pattern as a whole. Takes time proportional to the product of their lengths at most.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star is, and where what it stands for ends.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, end)) => {
                    star = Some((at, end + 1));
                    p = at + 1;
                    n = end + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Returns whether a text is a pattern rather than a name.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "abc"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*c", "abc"),
            ("a*b*c", "aXXbYYbc"),
            ("?b?", "abc"),
            ("repos/*", "repos/get"),
            ("**", "x"),
            ("abc", "abc"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("a", ""), ("a*", "ba"), ("*a", "ab"), ("a?c", "ac"), ("abc", "abcd")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        // The worst case for naive matching.
        assert!(!matches(&"*a".repeat(100), &format!("{}b", "a".repeat(5_000))));
    }
}
