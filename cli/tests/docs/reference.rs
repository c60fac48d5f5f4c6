//! Reference pages, generated from the tables of `ptc-bytecode`, the settings of the server and the options of agents.

use crate::{bless, root};
use ptc_bytecode::{BUILTINS, Body, CONSTANTS, Code, Effect, FORMS, LIMITS, Literal, NAMESPACES, OPS, Unit};
use std::fmt::Write;

const NOTE: &str =
    "<!-- Made from the tables by `PTC_BLESS=1 cargo test -p ptc-cli --test docs`; do not edit. -->\n\n";

#[test]
fn reference_pages_are_fresh() {
    let pages = [
        ("limits", limits()),
        ("errors", errors()),
        ("instructions", instructions()),
        ("builtins", builtins()),
        ("forms", forms()),
        ("settings", settings()),
        ("agent-options", agent_options()),
    ];
    let mut stale = Vec::new();
    for (name, text) in pages {
        let path = root().join("docs/reference").join(name).with_extension("md");
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if bless() {
            std::fs::write(&path, text).expect("the page can be written");
        } else {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "stale: {stale:?}; PTC_BLESS=1 rewrites them");
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn limits() -> String {
    let mut out = format!(
        "# Limits\n\n{NOTE}Every limit is on by default, except `loop_iterations` and `tool_calls`, whose default of 0 \
         means no limit. A program that exceeds a limit stops with an error that names \
         it, such as `limits.fuel`. To change a limit, set it by this name in Rust, or on the command line with its flag \
         or `--limit NAME=VALUE`.\n\n| Limit | Unit | Default | Maximum | What it bounds |\n|---|---|---|---|---|\n"
    );
    for row in LIMITS {
        let unit = match row.unit {
            Unit::Bytes => "bytes",
            Unit::Millis => "milliseconds",
            Unit::Count => "count",
        };
        let _ = writeln!(
            out,
            "| `{}` | {unit} | {} | {} | {} |",
            row.name,
            row.default,
            row.ceiling,
            cell(row.doc)
        );
    }
    out.push_str(BUDGETS);
    out
}

/// Text below the table of limits.
const BUDGETS: &str = "
## Compiling

`compile_fuel` bounds the work of the compiler: reading, expanding, resolving, writing and checking code, and making its constants. It is \
separate from `fuel`. The same source takes the same number of units on every machine, so a program that compiled once always compiles. \
A program of a few lines takes some thousand units. A program that takes too many ends with `compile_fuel_exceeded`. All stages also \
check `compile_ms`, which ends with `compile_timeout`.

## Results

`result_fuel` bounds the work of turning the result of a run into text, JSON or owned data. It is separate from `fuel`. The price is one \
unit per part, three more per element of a sorted map or set, one per 8 bytes of text, and for large integers a price that grows with the \
square of their length. It depends only on the value, not on the format, and is known before anything is written. A result that takes too \
many units ends with `output_exceeded`, and so does a result that is longer than `result_bytes`.

`fuel` only pays for running. A precompiled program spends as much fuel as one that is compiled for the run, and a result costs no \
fuel in any format. Reports of `--json` contain all three: `fuel`, `compile_fuel` and `result_fuel`.
";

fn settings() -> String {
    let mut out = format!(
        "# Settings of the server\n\n{NOTE}`ptc mcp` reads its settings once, when it starts. A flag overrides its environment \
         variable, and an empty variable is ignored.\n\n| Flag | Variable | Default | Meaning |\n|---|---|---|---|\n"
    );
    for flag in ptc_mcp::settings::FLAGS {
        let default = match flag.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let _ = writeln!(out, "| `--{}` | `{}` | {default} | {} |", flag.name, flag.env(), cell(flag.doc));
    }
    out
}

fn agent_options() -> String {
    let mut out = format!(
        "# Options of agents\n\n{NOTE}Each option is a key in an agent file, and a method of `Agent::builder()` with the same name. \
         [Missions](../agents/running.md) shows them in use.\n\n| Option | Default | Meaning |\n|---|---|---|\n"
    );
    for row in ptc_agent::definition::OPTIONS {
        // A default that is a type name or a call adds nothing to the text next to it.
        let plain = row.default.trim_start_matches("Some(").trim_end_matches(')').replace('_', "");
        let is_value = plain == "true" || plain == "false" || plain.parse::<f64>().is_ok();
        let default = if is_value { format!("`{plain}`") } else { String::new() };
        let code = if row.in_files { "" } else { " Only in Rust." };
        let _ = writeln!(out, "| `{}` | {default} | {}{code} |", row.name, cell(row.doc));
    }
    out
}

/// Headings of the error page, by the hundreds of the codes.
const AREAS: &[(u16, &str)] = &[
    (1, "Reading the text"),
    (2, "Checking the program"),
    (3, "Running"),
    (4, "Limits"),
    (5, "Host and data"),
    (6, "Artifacts and snapshots"),
    (7, "Preludes"),
    (8, "The store of preludes"),
    (9, "Bugs in PTC"),
    (10, "Warnings"),
];

fn errors() -> String {
    let mut out = format!(
        "# Errors\n\n{NOTE}Programs and models can rely on the reason of an error: it is never changed or reused. \
         Codes and messages may change. Codes that begin with `W` are warnings: the program runs, and its result \
         carries the warning. Each code has a page with an example, the reason and a fix; `ptc explain E0302` shows it on a \
         terminal.\n"
    );
    for (area, heading) in AREAS {
        let _ = write!(out, "\n## {heading}\n\n| Code | Reason | When |\n|---|---|---|\n");
        for code in Code::ALL.iter().filter(|code| **code as u16 / 100 == *area) {
            let label = code.label();
            let page = format!("[{label}](../errors/{label}.md)");
            let _ = writeln!(out, "| {page} | `{}` | {} |", code.reason(), cell(code.summary()));
        }
    }
    let told: usize = AREAS
        .iter()
        .map(|(area, _)| Code::ALL.iter().filter(|code| **code as u16 / 100 == *area).count())
        .sum();
    assert_eq!(told, Code::ALL.len(), "a code has no heading");
    out
}

fn instructions() -> String {
    let mut out = format!(
        "# Instructions\n\n{NOTE}A frame sees 256 registers: `r0` is the running function, and its arguments start at `r1`. \
         The role of an operand says whether it is read (`In`), written (`Out`), both (`InOut`), or not a register (`At`). \
         The cost is the number of units that the instruction adds to the price of its block \
         (see [fuel](../internals/fuel.md)). `ptc disasm` lists the instructions of a program.\n\n\
         | Instruction | Operands | Cost | Does |\n|---|---|---|---|\n"
    );
    for row in OPS {
        let operands: Vec<String> =
            row.operands.iter().map(|(name, kind, role)| format!("`{name}: {kind} {role}`")).collect();
        let _ =
            writeln!(out, "| `{}` | {} | {} | {} |", row.name, operands.join(", "), row.cost, cell(row.doc));
    }
    out
}

fn forms() -> String {
    let mut out = format!(
        "# Forms\n\n{NOTE}Forms are the names that the compiler itself understands. A form is not a value: it can only be \
         the first element of a list. For functions, see [builtins](builtins.md).\n\n| Form | Does |\n|---|---|\n"
    );
    for row in FORMS {
        let _ = writeln!(out, "| `{}` | {} |", cell(row.usage), cell(row.doc));
    }
    out.push_str("\n```clojure\n");
    for row in FORMS {
        let _ = writeln!(out, "{}", row.example);
    }
    out.push_str("```\n");
    out
}

fn builtins() -> String {
    let mut out = format!(
        "# Builtins\n\n{NOTE}Every function of the language, with an example that the tests run. *Core* functions are \
         written in PTC-Lisp (`preludes/core`), *native* functions in Rust. A direct call of an *inlined* function becomes an \
         instruction.\n"
    );
    let mut section = "";
    let mut examples = String::new();
    for row in BUILTINS.iter().filter(|row| !row.name.starts_with('%')) {
        if row.section != section {
            close(&mut out, &mut examples);
            section = row.section;
            let _ = write!(out, "\n## {section}\n\n| Call | Does | Implementation |\n|---|---|---|\n");
        }
        let body = match (row.body, row.inline, row.effect) {
            (Body::Core, _, _) => "core".to_string(),
            (Body::Native, Some(_), _) => "native, inlined".to_string(),
            (Body::Native, None, Effect::State) => "native, state".to_string(),
            (Body::Native, None, Effect::Prints) => "native, prints".to_string(),
            (Body::Native, None, Effect::Clock) => "native, reads the clock".to_string(),
            (Body::Native, None, Effect::Journal) => "native, keeps a journal".to_string(),
            (Body::Native, None, Effect::Host) => "native, asks the host".to_string(),
            (Body::Native, None, Effect::Pure) => "native".to_string(),
        };
        let calls: Vec<String> = row.signatures().iter().map(|call| format!("`{}`", cell(call))).collect();
        let _ = writeln!(out, "| {} | {} | {body} |", calls.join("<br>"), cell(row.doc));
        let _ = writeln!(examples, "{}", row.example);
    }
    close(&mut out, &mut examples);
    constants(&mut out);
    namespaces(&mut out);
    out
}

fn constants(out: &mut String) {
    out.push_str("\n## Constants\n\nA constant can be written with or without parentheses: `(Math/PI)` is `Math/PI`.\n\n");
    out.push_str("| Name | Value | Meaning |\n|---|---|---|\n");
    let mut examples = String::new();
    for row in CONSTANTS {
        let value = match row.value {
            Literal::Int(n) => n.to_string(),
            Literal::Float(x) => format!("{x:?}"),
            Literal::Keyword(name) => format!(":{name}"),
        };
        let _ = writeln!(out, "| `{}` | `{value}` | {} |", row.name, cell(row.doc));
        let _ = writeln!(examples, "{}", row.example);
    }
    close(out, &mut examples);
}

fn namespaces(out: &mut String) {
    out.push_str(
        "\n## Prefixes\n\nNothing has to be loaded: a prefix is another way to write a builtin. `clojure.core/` works with \
         every builtin that has no prefix of its own.\n\n| Prefix | Alternatives | Members | Other names |\n|---|---|---|---|\n",
    );
    for space in NAMESPACES {
        let (first, others) = space.names.split_first().unwrap_or((&"", &[]));
        let others: Vec<String> = others.iter().map(|name| format!("`{name}/`")).collect();
        let members = if space.takes_all() { "all".into() } else { cell(&code(&space.list().join(" "))) };
        let renamed: Vec<String> =
            space.renamed.iter().map(|(alias, name)| cell(&format!("`{alias}` is `{name}`"))).collect();
        let _ = writeln!(out, "| `{first}/` | {} | {members} | {} |", others.join(" "), renamed.join(", "));
    }
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// Writes the examples of a section below its table.
fn close(out: &mut String, examples: &mut String) {
    if !examples.is_empty() {
        let _ = write!(out, "\n```clojure\n{examples}```\n");
        examples.clear();
    }
}
