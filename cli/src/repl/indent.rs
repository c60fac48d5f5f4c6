//! Indentation of the next line of an unfinished form.

use ptc_compiler::Reading;

/// Blanks before a line that follows `text`.
pub fn after(text: &str) -> usize {
    let mut reading = Reading::new();
    reading.push(text);
    match reading.innermost() {
        _ if reading.is_quoted() => 0,
        // Bodies of forms and arguments of calls alike; elements stand below each other.
        Some(open) if open.text() == "(" => open.column + 2,
        Some(open) => open.column + open.text().len(),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn lines_follow_the_bracket_they_are_in() {
        for (text, blanks) in [
            ("1\n", 0),
            ("(defn f [x]\n", 2),
            ("(let [x 1\n", 6),
            ("(let [x 1]\n  {:a\n", 3),
            ("(map #(inc\n", 7),
            ("(str \"a\n", 0),
            ("(f (g 1)\n", 2),
            ("#{1\n", 2),
        ] {
            assert_eq!(after(text), blanks, "{text}");
        }
    }
}
