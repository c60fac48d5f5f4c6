//! `ptc explain CODE…`: what an error or a warning means, from the pages of the documentation.

use crate::args::ExplainArgs;
use crate::colour;
use crate::problem::Problem;
use crate::report::{self, OK, out, text_json};
use ptc_bytecode::{Code, likeness};
use ptc_errors::page;
use std::io;
use std::process::ExitCode;

pub fn run(args: &ExplainArgs) -> ExitCode {
    let codes = match args.codes.iter().map(|word| find(word)).collect::<Result<Vec<Code>, Problem>>() {
        Ok(codes) => codes,
        Err(problem) => return report::problem(&problem, args.json),
    };
    let is_list = codes.is_empty();
    let codes = if is_list { Code::ALL } else { &codes };
    if args.json {
        let found: Vec<String> = codes.iter().map(|code| members(*code, !is_list)).collect();
        return out(&format!("{{\"ok\":true,\"codes\":[{}]}}\n", found.join(",")), OK);
    }
    if is_list {
        return out(&list(), OK);
    }
    let bold = colour::on(&io::stdout());
    let shown: Vec<String> = codes.iter().map(|code| plain(page(*code), bold)).collect();
    out(&shown.join("\n"), OK)
}

/// The code with this number or reason, in any case: `E0302`, `302`, `type_error`, `type-error`.
fn find(word: &str) -> Result<Code, Problem> {
    let name = word.trim().to_ascii_lowercase().replace('-', "_");
    if let Some(code) = Code::from_reason(&name).or_else(|| by_number(&name)) {
        return Ok(code);
    }
    let near = near(&name);
    let hint = match near.is_empty() {
        true => "`ptc explain` lists all codes".to_string(),
        false => format!("did you mean `{}`?", near.join("`, `")),
    };
    Err(Problem::new(Code::InvalidConfig, format!("there is no error code `{word}`")).hint(hint))
}

/// The code with this number, with or without its letter and zeros: `e0302`, `302`.
fn by_number(name: &str) -> Option<Code> {
    let digits = name.strip_prefix(['e', 'w']).unwrap_or(name);
    let number: u16 = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())??;
    let code = Code::ALL.iter().copied().find(|code| *code as u16 == number)?;
    let has_its_letter = digits == name || code.label().to_ascii_lowercase().starts_with(&name[..1]);
    has_its_letter.then_some(code)
}

/// At most three reasons that are like this name or contain it, the most similar first.
fn near(name: &str) -> Vec<&'static str> {
    /// Below it, names only share some letters.
    const ALIKE: f64 = 0.8;
    if name.is_empty() {
        return Vec::new();
    }
    let alike = |reason: &'static str| (likeness(name, reason), reason);
    let mut found: Vec<(f64, &str)> = Code::ALL.iter().map(|code| alike(code.reason())).collect();
    found.retain(|(score, reason)| *score > ALIKE || reason.contains(name));
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.into_iter().take(3).map(|(_, reason)| reason).collect()
}

/// All codes, one line each.
fn list() -> String {
    let width = Code::ALL.iter().map(|code| code.reason().len()).max().unwrap_or(0);
    let line = |code: &Code| format!("{}  {:width$}  {}\n", code.label(), code.reason(), code.summary());
    Code::ALL.iter().map(line).collect()
}

/// One code as a JSON object.
fn members(code: Code, with_page: bool) -> String {
    let page = match with_page {
        true => format!(r#","page":{}"#, text_json(page(code))),
        false => String::new(),
    };
    format!(
        r#"{{"code":{},"reason":{},"summary":{}{page}}}"#,
        text_json(&code.label()),
        text_json(code.reason()),
        text_json(code.summary()),
    )
}

/// A page as text for a terminal: headings without marks, examples indented, links by their words.
fn plain(page: &str, bold: bool) -> String {
    let mut text = String::with_capacity(page.len() + page.len() / 8);
    let mut in_fence = false;
    for line in page.lines() {
        if line.starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("# "));
        match heading {
            _ if in_fence && line.is_empty() => {}
            _ if in_fence => text.extend(["    ", line]),
            Some(heading) if bold => text.extend(["\u{1b}[1m", heading, "\u{1b}[0m"]),
            Some(heading) => text.push_str(heading),
            None => text.push_str(&without_links(line)),
        }
        text.push('\n');
    }
    text
}

/// `[words](target)` as `words`.
fn without_links(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(middle) = rest.find("](") {
        let (Some(open), Some(close)) = (rest[..middle].rfind('['), rest[middle..].find(')')) else { break };
        text.push_str(&rest[..open]);
        text.push_str(&rest[open + 1..middle]);
        rest = &rest[middle + close + 1..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::{find, near, page, plain};
    use ptc_bytecode::Code;

    #[test]
    fn codes_are_found_by_number_and_reason() {
        for word in ["E0302", "e0302", "302", "0302", "type_error", "Type_Error", "TYPE-ERROR", " E302 "] {
            assert_eq!(find(word).ok(), Some(Code::TypeError), "{word}");
        }
        assert_eq!(find("w1001").ok(), Some(Code::SurplusBracket));
        for word in ["", "E", "W0302", "E1001", "99999", "E0302x", "é0302", "+302"] {
            assert!(find(word).is_err(), "{word}");
        }
    }

    #[test]
    fn similar_reasons_come_first() {
        assert_eq!(near("tpye_error").first(), Some(&"type_error"));
        assert!(near("memory").contains(&"memory_exceeded"), "{:?}", near("memory"));
        assert!(near("xyzzy").is_empty() && near("error").len() == 3);
    }

    #[test]
    fn pages_are_shown_without_marks() {
        for code in Code::ALL {
            let text = plain(page(*code), false);
            assert!(!text.contains("```") && !text.contains("](") && !text.contains("\n#"), "{text}");
        }
        assert!(plain("# A b\n\nSee [`x`](E1.md) and [y](z).\n", false) == "A b\n\nSee `x` and y.\n");
        assert!(plain("## Fix\n", true).contains("\u{1b}[1mFix"));
    }
}
