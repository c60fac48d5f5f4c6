//! Printer of definitions for `source`: comments and layout are lost, everything else reads back.

use crate::form::{Form, FormKind};

/// Maximum columns of a line, where a form can be broken.
const WIDTH: usize = 80;

/// Prints a form on as many lines as it needs.
pub(super) fn pretty(form: &Form<'_>) -> String {
    let mut out = String::new();
    write(form, 0, &mut out);
    out
}

/// Prints a definition with the metadata before its name, which is not part of the tree.
pub(super) fn with_marks(form: &Form<'_>, marks: &[Form<'_>]) -> String {
    let shown = pretty(form);
    let (Some(at), false) = (shown.find(char::is_whitespace), marks.is_empty()) else { return shown };
    let marks: String = marks.iter().map(|mark| format!(" ^{mark}")).collect();
    format!("{}{marks}{}", &shown[..at], &shown[at..])
}

fn write(form: &Form<'_>, indent: usize, out: &mut String) {
    let flat = form.to_string();
    if indent + flat.chars().count() <= WIDTH {
        out.push_str(&flat);
        return;
    }
    let (open, items, close) = match form.kind {
        FormKind::List(items) => ("(", items, ")"),
        FormKind::Vector(items) => ("[", items, "]"),
        FormKind::Map(items) => ("{", items, "}"),
        FormKind::Set(items) => ("#{", items, "}"),
        FormKind::ShortFn(items) => ("#(", items, ")"),
        _ => {
            out.push_str(&flat);
            return;
        }
    };
    out.push_str(open);
    match form.kind {
        FormKind::List(_) | FormKind::ShortFn(_) => list(items, indent, out),
        FormKind::Map(_) => pairs(items, indent + open.len(), out),
        _ => lines(items, indent + open.len(), out),
    }
    out.push_str(close);
}

/// Prints the head and a short first operand on one line, the rest below.
fn list(items: &[Form<'_>], indent: usize, out: &mut String) {
    let Some((head, rest)) = items.split_first() else { return };
    write(head, indent + 1, out);
    let mut rest = rest;
    if let (FormKind::Symbol(_), Some((first, more))) = (head.kind, rest.split_first()) {
        let at = indent + 2 + head.to_string().chars().count();
        if at + first.to_string().chars().count() <= WIDTH || matches!(first.kind, FormKind::Vector(_)) {
            out.push(' ');
            write(first, at, out);
            rest = more;
        }
    }
    for item in rest {
        new_line(indent + 2, out);
        write(item, indent + 2, out);
    }
}

fn pairs(items: &[Form<'_>], indent: usize, out: &mut String) {
    for (i, pair) in items.chunks(2).enumerate() {
        if i > 0 {
            new_line(indent, out);
        }
        let mut at = indent;
        for (j, item) in pair.iter().enumerate() {
            if j > 0 {
                out.push(' ');
                at += 1;
            }
            write(item, at, out);
            at += item.to_string().chars().count().min(WIDTH / 2);
        }
    }
}

fn lines(items: &[Form<'_>], indent: usize, out: &mut String) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            new_line(indent, out);
        }
        write(item, indent, out);
    }
}

fn new_line(indent: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use super::pretty;
    use bumpalo::Bump;
    use ptc_bytecode::Limits;

    #[test]
    fn what_is_shown_reads_back_as_the_same() {
        let source = r#"(defn find "Look up one invoice by its id, which may have spaces around it; more words."
            {:visibility :prompt :effect :read :requires ["upstream:erp/get_invoice" "tool:fetch"]}
            [{:keys [id name] :or {name "nobody at all"}} & more]
            (let [found (map #(str % #"a\d+" 'x #{1 2}) more) other {:a 1 :bbbbbbbbbbbbbbbbbbbbbbbbbbbb [1 2 3]}]
              (tool/call {:server "erp" :tool "get_invoice" :args {:id (clean-id id) :n -1.5e10 :q "\n\"q\""}})))"#;
        let arena = Bump::new();
        let read = |text: &str| crate::parse(text, &arena, &Limits::default()).unwrap()[0].to_string();
        let shown = pretty(&crate::parse(source, &arena, &Limits::default()).unwrap()[0]);
        assert_eq!(read(&shown), read(source));
        assert!(shown.lines().count() > 4 && shown.starts_with("(defn find"), "{shown}");
    }
}
