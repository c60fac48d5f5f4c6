//! Templates of the generator, by the type they produce, in the notation of [`super::template`].
//!
//! Rows avoid intended differences where that is easy: the order of sets and of large maps, integers against
//! floats, characters against strings.

mod control;
mod maps;
mod scalars;
mod seqs;
mod text;

/// All rows: the type of the result, and the template.
pub const PRODUCTIONS: &[&[(&str, &str)]] = &[
    scalars::ROWS,
    text::ROWS,
    seqs::ROWS,
    seqs::TRANSDUCERS,
    seqs::STATEFUL,
    seqs::SORTED,
    maps::ROWS,
    control::ROWS,
];

/// Forms that print.
pub const STATEMENTS: &[&str] = &[
    "(println ~s ~i ~k)",
    "(doseq [$x ~lA :when ~[x:A]t] (println ~[x:A]i))",
    "(doseq [$x ~li $y ~ls :while ~[x:i y:s]t] (println $x $y))",
    "(doseq [[$k $v] ~mki :let [$w (str $k $v)]] (println $w))",
    "(run! (fn [$x] (println ~[x:A]s)) ~lA)",
    "(dotimes [$i ~#] (println ~[i:i]i))",
    "(when ~t (println ~i) (println ~s))",
    "(println (str ~i) (name ~k))",
    "(run! println (map ~(A>i) ~lA))",
    "(let [$x ~A] (println ~[x:A]i) (println ~[x:A]s))",
];
