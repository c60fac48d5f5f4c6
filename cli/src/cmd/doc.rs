//! `ptc doc NAME` and `ptc apropos WORD…`: the catalog, asked from a shell.

use crate::args::{AproposArgs, DocArgs};
use crate::colour;
use crate::report::{FAULT, OK, out, text_json};
use ptc_runtime::{Catalog, Entry};
use std::io::{self, Write};
use std::process::ExitCode;

pub fn doc(args: &DocArgs) -> ExitCode {
    let catalog = Catalog::language();
    match (catalog.find(&args.name), catalog.members(&args.name)) {
        (Some(entry), _) if args.json => out(&format!("{{\"ok\":true,{}}}\n", members(entry)), OK),
        (Some(entry), _) => out(&page(entry, is_plain()), OK),
        (None, entries) if !entries.is_empty() => list(&entries, args.json, false),
        (None, _) => {
            let hint = match catalog.near(&args.name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("`ptc apropos {}` searches", args.name),
            };
            missing(&format!("there is no `{}`", args.name), &hint, args.json)
        }
    }
}

pub fn apropos(args: &AproposArgs) -> ExitCode {
    let query = args.words.join(" ");
    let found = Catalog::language().search(&query, usize::from(args.limit));
    if found.is_empty() {
        let hint = match Catalog::language().near(&query) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "try a word from what it should do, such as `ptc apropos group`".to_string(),
        };
        return missing(&format!("nothing matches `{query}`"), &hint, args.json);
    }
    list(&found, args.json, true)
}

fn list(entries: &[&Entry], json: bool, ranked: bool) -> ExitCode {
    if json {
        let found: Vec<String> = entries.iter().map(|entry| format!("{{{}}}", members(entry))).collect();
        return out(&format!("{{\"ok\":true,\"found\":[{}]}}\n", found.join(",")), OK);
    }
    out(&lines(entries, ranked, is_plain()), OK)
}

/// Entries as lines of name and description.
pub fn lines(entries: &[&Entry], ranked: bool, plain: bool) -> String {
    // A ranked list is short, and its columns may follow its widest name.
    let width = entries.iter().map(|entry| entry.reference.chars().count()).max().unwrap_or(0);
    let width = if ranked { width } else { width.min(20) };
    let mut text = String::new();
    for entry in entries {
        let pad = " ".repeat(width.saturating_sub(entry.reference.chars().count()));
        text.push_str(&format!("{}{pad}  {}\n", strong(&entry.reference, plain), entry.description));
    }
    text
}

/// One entry as a page.
pub fn page(entry: &Entry, plain: bool) -> String {
    entry.page(|signature| strong(signature, plain))
}

/// The members of an entry's JSON object.
fn members(entry: &Entry) -> String {
    format!(
        r#""ref":{},"kind":{},"namespace":{},"name":{},"description":{},"signatures":{},"section":{},"example":{}"#,
        text_json(&entry.reference),
        text_json(entry.kind),
        text_json(&entry.namespace),
        text_json(&entry.name),
        text_json(&entry.description),
        text_json(&entry.signatures),
        text_json(&entry.section),
        text_json(&entry.example),
    )
}

fn missing(message: &str, hint: &str, json: bool) -> ExitCode {
    if json {
        let (message, hint) = (text_json(message), text_json(hint));
        return out(
            &format!("{{\"ok\":false,\"error\":{{\"message\":{message},\"hint\":{hint}}}}}\n"),
            FAULT,
        );
    }
    let _ = writeln!(io::stderr(), "error: {message}\n hint: {hint}");
    ExitCode::from(FAULT)
}

fn is_plain() -> bool {
    !colour::on(&io::stdout())
}

fn strong(text: &str, plain: bool) -> String {
    if plain { text.to_string() } else { format!("\u{1b}[1m{text}\u{1b}[0m") }
}

#[cfg(test)]
mod tests {
    use super::page;
    use ptc_runtime::Catalog;

    #[test]
    fn a_page_has_call_words_and_example() {
        let entry = Catalog::language().find("str/join").expect("join");
        let text = page(entry, true);
        assert!(text.starts_with("(join coll)\n(join sep coll)\n"), "{text}");
        assert!(text.contains(";=>") && text.contains("clojure.string"), "{text}");
        assert!(page(entry, false).contains("\u{1b}[1m"));
    }
}
