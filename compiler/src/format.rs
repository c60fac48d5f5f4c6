//! Formatter of source text into its canonical layout, for `ptc fmt`.
//!
//! The layout depends on tokens and comments alone, not on earlier line breaks, so two people who write the same
//! program get the same text. Comments stay in place, blank lines between forms are kept (one at most), and everything
//! else is laid out anew.

mod layout;
mod style;
mod tree;

use crate::meter::Meter;
use crate::parse::parse_metered;
use bumpalo::Bump;
use ptc_bytecode::{Diagnostic, Limits};

/// Formats `source`. A text that cannot be read, or that has surplus brackets, is refused with its errors: a
/// formatter that guessed could change the program.
///
/// ```
/// use ptc_bytecode::Limits;
/// use ptc_compiler::format;
/// let text = "(defn area \"Area of a rectangle.\"\n[w h] ; both in metres\n(* w\n h))";
/// let expected = "(defn area\n  \"Area of a rectangle.\"\n  [w h] ; both in metres\n  (* w h))\n";
/// assert_eq!(format(text, &Limits::default()).unwrap(), expected);
/// assert_eq!(format(expected, &Limits::default()).unwrap(), expected);
/// assert!(format("(inc 1", &Limits::default()).is_err());
/// ```
pub fn format(source: &str, limits: &Limits) -> Result<String, Vec<Diagnostic>> {
    let arena = Bump::new();
    let mut warnings = Vec::new();
    let meter = Meter::new(limits, &|| false);
    parse_metered(source, &arena, limits, &meter, &mut warnings)?;
    if !warnings.is_empty() {
        return Err(warnings);
    }
    Ok(layout::text(&tree::read(source)))
}

#[cfg(test)]
mod tests {
    use super::format;
    use crate::tokens;
    use ptc_bytecode::Limits;

    fn formatted(text: &str) -> String {
        let limits = Limits::default();
        let made = format(text, &limits).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        let names =
            |text: &str| tokens(text, &limits).0.into_iter().map(|(_, token)| token).collect::<Vec<_>>();
        assert_eq!(names(&made), names(text), "the program changed:\n{made}");
        assert_eq!(format(&made, &limits).unwrap(), made, "a second run changes it:\n{made}");
        made
    }

    #[test]
    fn what_fits_is_one_line() {
        assert_eq!(formatted("(+ 1\n   2)\n\n\n\n[1,\n2]"), "(+ 1 2)\n\n[1 2]\n");
        assert_eq!(formatted(""), "");
        assert_eq!(formatted("; only a comment"), "; only a comment\n");
        assert_eq!(formatted("(def a 1) (def b 2)"), "(def a 1)\n(def b 2)\n");
    }

    #[test]
    fn bodies_are_indented_and_arguments_aligned() {
        assert_eq!(
            formatted("(let [a 1 b (inc a)] (println a) (+ a b))"),
            "(let [a 1\n      b (inc a)]\n  (println a)\n  (+ a b))\n"
        );
        assert_eq!(
            formatted("(->> data/orders (filter :paid) (map :total) (reduce +))"),
            "(->> data/orders\n     (filter :paid)\n     (map :total)\n     (reduce +))\n"
        );
        assert_eq!(
            formatted("(cond (neg? x) :minus (pos? x) :plus :else :zero)"),
            "(cond\n  (neg? x) :minus\n  (pos? x) :plus\n  :else :zero)\n"
        );
        assert_eq!(
            formatted("(defn f ([a] (f a 1)) ([a b] (+ a b)))"),
            "(defn f\n  ([a] (f a 1))\n  ([a b] (+ a b)))\n"
        );
        assert_eq!(
            formatted("(try (f) (catch Exception e (g) :none) (finally (h)))"),
            "(try\n  (f)\n  (catch Exception e\n    (g)\n    :none)\n  (finally (h)))\n"
        );
    }

    #[test]
    fn maps_break_by_pairs() {
        let long = "a text that takes up most of the line that it stands on";
        assert_eq!(
            formatted(&format!("(return {{:name \"{long}\", :total 12}})")),
            format!("(return {{:name \"{long}\"\n         :total 12}})\n")
        );
        let numbers = (100..130).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let made = formatted(&format!("[{numbers}]"));
        assert!(made.lines().all(|line| line.len() <= 80) && made.lines().count() == 2, "{made}");
    }

    #[test]
    fn comments_stay() {
        for text in [
            "(foo a ; one\n     b ; two\n     ; three\n )\n",
            ";; head\n\n(inc 1) ; tail\n; end\n",
            "{:a 1 ; first\n ; second\n :b 2}\n",
            "(let [a 1 ; one\n      ; two\n      b 2]\n  ; body\n  (+ a b))\n",
        ] {
            assert_eq!(formatted(text), text);
        }
        // Places where nobody would write a comment.
        for text in [
            "( ; c\n inc 1)",
            "' ; c\n x",
            "(a #_ ; c\n b)",
            "{:a ; c\n 1}",
            "(let ; c\n [a 1] a)",
            "#inst ; c\n \"2024-01-01\"",
        ] {
            assert!(formatted(text).contains("; c"), "{text}");
        }
    }

    #[test]
    fn marks_stay_with_their_forms() {
        assert_eq!(formatted("(def ^:private x 1)"), "(def ^:private x 1)\n");
        assert_eq!(formatted("[1 #_ 2 #_ #_ 3 4 5]"), "[1 #_2 #_#_3 4 5]\n");
        assert_eq!(formatted("{:a #_ 0 1 :b ' x}"), "{:a #_0 1 :b 'x}\n");
        assert_eq!(formatted("@ a #'inc #inst \"2024-01-01\""), "@a\n#'inc\n#inst \"2024-01-01\"\n");
    }

    #[test]
    fn texts_are_kept_to_the_letter() {
        let text = "(def a\n  \"two\n  lines\")\n";
        assert_eq!(formatted(text), text);
        assert_eq!(
            formatted("[\"a\\u0041\" \\newline 1e3 0x1F #\"a b\"]"),
            "[\"a\\u0041\" \\newline 1e3 0x1F #\"a b\"]\n"
        );
    }

    #[test]
    fn deep_texts_are_laid_out() {
        let limits = Limits { nesting: 256, ..Limits::default() };
        let text = format!("{}x{}", "(f a ".repeat(250), ")".repeat(250));
        let made = format(&text, &limits).unwrap();
        assert_eq!(format(&made, &limits).unwrap(), made);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for text in ["(inc 1", "(inc 1))", "{:a}", "\"open", "~x"] {
            assert!(format(text, &Limits::default()).is_err(), "{text}");
        }
    }
}
