//! Commands: what can be asked of the REPL itself. [`COMMANDS`] is the only list of them; help,
//! completion and the reader follow from it.

use super::{Answer, Feed, Repl, input, lookup, or_problem, paint, show, subagent, usage};
use crate::input::{Data, read_program};
use crate::limits::parse_pair;
use crate::quantity;
use ptc_bytecode::{LIMITS, LimitRow, Unit, disassemble};
use ptc_compiler::suggest;
use ptc_runtime::Prelude;
use std::path::{Path, PathBuf};

/// A command.
pub struct Command {
    /// Names: the full one first, then shorter ones.
    pub names: &'static [&'static str],
    /// Arguments, for help.
    pub takes: &'static str,
    /// Description, for help.
    pub about: &'static str,
    /// It takes a program, which may have several lines.
    pub takes_code: bool,
    /// It takes names of files.
    pub takes_files: bool,
    /// Answers, given what follows its name.
    pub run: fn(&mut Repl, &str) -> Answer,
}

const fn command(
    names: &'static [&'static str],
    takes: &'static str,
    about: &'static str,
    run: fn(&mut Repl, &str) -> Answer,
) -> Command {
    Command { names, takes, about, takes_code: false, takes_files: false, run }
}

impl Command {
    const fn code(mut self) -> Command {
        self.takes_code = true;
        self
    }

    const fn files(mut self) -> Command {
        self.takes_files = true;
        self
    }
}

/// All commands, in the order of `:help`.
pub const COMMANDS: &[Command] = &[
    command(&[":help", ":h", ":?"], "[COMMAND]", "lists the commands and keys", help),
    command(&[":doc", ":d"], "NAME", "shows what a name means; a namespace lists its members", lookup::doc),
    command(&[":dir"], "[NAMESPACE]", "lists the members of a namespace, or the namespaces", lookup::dir),
    command(&[":apropos", ":find"], "WORD…", "searches names and descriptions", lookup::apropos),
    command(&[":source"], "NAME", "shows a definition of this session or of a prelude", lookup::source),
    command(&[":defs"], "", "lists what this session has defined", lookup::defs),
    command(&[":full"], "", "shows all of the last value, *1", full),
    command(&[":json"], "[EXPR]", "shows a value as JSON; *1 without one", json).code(),
    command(&[":time"], "[EXPR]", "shows time and fuel of one program, or of all from now on", time).code(),
    command(&[":disasm"], "EXPR|NAME", "lists the instructions of a program or function", disasm).code(),
    command(&[":turns"], "", "lists the programs of this session", turns),
    command(&[":load", ":l"], "FILE", "runs a file as a program", load).files(),
    command(&[":prelude", ":p"], "[FILE…|off]", "shows the attached preludes, or attaches others", prelude)
        .files(),
    command(&[":reload", ":r"], "", "reloads the preludes", reload),
    command(&[":inventory"], "", "shows what an agent's prompt says about the preludes", inventory),
    command(&[":data"], "[NAME=JSON|NAME=@FILE]", "lists granted data, or grants more", data),
    command(
        &[":tools", ":stub"],
        "[NAME=JSON|NAME=@FILE]",
        "lists granted tools, or grants one with a fixed result",
        tools,
    ),
    command(&[":limits"], "[NAME=VALUE…]", "shows the limits, or changes some", limits),
    command(
        &["/subagent", ":subagent"],
        "\"MISSION\"",
        "hands a mission to an agent with the data, tools and definitions of the session",
        subagent::quiet,
    ),
    command(
        &["/subagent:verbose"],
        "\"MISSION\"",
        "like `/subagent`, and shows its programs and tool calls",
        subagent::verbose,
    ),
    command(&[":reset"], "", "forgets definitions and results", reset),
    command(&[":quit", ":q", ":exit"], "", "exits; so does Ctrl-D", quit),
];

/// The command an input is, and what follows its name.
pub fn find(input: &str) -> Option<(&'static Command, &str)> {
    let input = input.trim();
    let (name, rest) = input.split_once(char::is_whitespace).unwrap_or((input, ""));
    let command = COMMANDS.iter().find(|command| command.names.contains(&name))?;
    Some((command, rest.trim()))
}

impl Feed for Repl {
    fn feed(&mut self, input: &str) -> Answer {
        match find(input) {
            Some((command, rest)) => (command.run)(self, rest),
            None if input::is_blank(input) => Answer::default(),
            None => {
                let mut answer = self.program(input, "input");
                answer.err.push_str(&near_miss(input, self.look.width.is_some()));
                answer
            }
        }
    }
}

/// A note for a keyword that was perhaps meant to be a command.
fn near_miss(input: &str, is_terminal: bool) -> String {
    let word = input.trim();
    if !is_terminal || !word.starts_with(':') || word.contains(char::is_whitespace) {
        return String::new();
    }
    let names = COMMANDS.iter().map(|command| command.names[0]);
    match suggest::nearest(word, names) {
        Some(near) => format!("note: `{word}` is a keyword; the command is `{near}`\n"),
        None => String::new(),
    }
}

fn help(repl: &mut Repl, about: &str) -> Answer {
    let colour = repl.look.colour;
    if !about.is_empty() {
        let wanted = if about.starts_with([':', '/']) { about.to_string() } else { format!(":{about}") };
        return match find(&wanted) {
            Some((command, _)) => Answer::out(page(command, colour)),
            None => {
                Answer::failed(format!("error: there is no command `{wanted}`\n hint: `:help` lists them\n"))
            }
        };
    }
    let calls = COMMANDS.iter().map(|command| [command.names[0], command.takes].join(" "));
    let width = calls.map(|call| call.trim_end().chars().count()).max().unwrap_or(0);
    let mut out = String::from(
        "Type a program; it runs when its brackets are closed. *1 *2 *3 are the last values.\n\n",
    );
    for command in COMMANDS {
        let call = [command.names[0], command.takes].join(" ");
        let pad = " ".repeat(width - call.trim_end().chars().count());
        let name = paint::strong(command.names[0], colour);
        let takes = if command.takes.is_empty() { String::new() } else { format!(" {}", command.takes) };
        out.push_str(&format!("{name}{takes}{pad}  {}\n", command.about));
    }
    out.push_str(
        "\nTab completes, F1 shows what the name at the cursor means, Ctrl-R searches earlier inputs.\n\
         Alt-Enter begins a new line, Ctrl-C clears the input or stops the program, Ctrl-D leaves.\n",
    );
    Answer::out(out)
}

fn page(command: &Command, colour: bool) -> String {
    let name = paint::strong(command.names[0], colour);
    let also = match &command.names[1..] {
        [] => String::new(),
        others => format!("  also {}\n", others.join(" ")),
    };
    format!("{}\n  {}\n{also}", [&*name, command.takes].join(" ").trim_end(), command.about)
}

fn quit(_: &mut Repl, _: &str) -> Answer {
    Answer { leaves: true, ..Answer::default() }
}

fn reset(repl: &mut Repl, _: &str) -> Answer {
    let count = repl.world.defined().count();
    repl.world.reset();
    let definitions = if count == 1 { "definition" } else { "definitions" };
    Answer::out(format!("{count} {definitions} forgotten\n"))
}

fn full(repl: &mut Repl, _: &str) -> Answer {
    match repl.world.peek("*1").map(|outcome| show::whole(&outcome, "*1", repl.look)) {
        Ok(Ok(text)) => Answer::out(text),
        Ok(Err(errors)) => Answer::failed(show::errors(&errors, "*1", repl.look)),
        Err(wrong) => Answer::failed(show::errors(&wrong.errors, "*1", repl.look)),
    }
}

fn json(repl: &mut Repl, source: &str) -> Answer {
    let look = repl.look;
    let result = match source {
        "" => repl.world.peek("*1"),
        _ => repl.world.run(source).result,
    };
    let mut answer = match &result {
        Ok(outcome) => match outcome.json() {
            Ok(text) => Answer::out(format!("{text}\n")),
            Err(fault) => Answer::failed(format!("error: {}\n", fault.to_diagnostic().message)),
        },
        Err(wrong) => Answer::failed(show::errors(&wrong.errors, "input", look)),
    };
    let prints = match &result {
        Ok(outcome) => &outcome.prints,
        Err(wrong) => &wrong.prints,
    };
    answer.out.insert_str(0, &show::prints(prints));
    answer
}

fn time(repl: &mut Repl, source: &str) -> Answer {
    if source.is_empty() {
        repl.timing = !repl.timing;
        let state = if repl.timing { "on" } else { "off" };
        return Answer::out(format!("time and fuel of each program: {state}\n"));
    }
    repl.program_as(source, "input", true, true)
}

fn disasm(repl: &mut Repl, source: &str) -> Answer {
    if source.is_empty() {
        return or_problem(Err(usage(
            "what should be listed? Write `:disasm (+ 1 2)` or the name of a function",
        )));
    }
    if let Some(prelude) = repl.world.runtime().prelude_of(source)
        && let Some(text) = crate::cmd::inspect::listing(prelude, source)
    {
        return Answer::out(text);
    }
    let source = repl.world.typed(source).map_or(source.to_string(), |typed| typed.text.clone());
    match repl.world.compile(&source) {
        Ok(program) => Answer::out(disassemble(program.artifact(), Some(&source))),
        Err(wrong) => Answer::failed(show::errors(&wrong.errors, "input", repl.look)),
    }
}

fn turns(repl: &mut Repl, _: &str) -> Answer {
    let width = repl.look.width.unwrap_or(80).saturating_sub(34).max(20);
    let line = |(i, turn): (usize, &super::world::Turn)| {
        let state = if turn.ok { "ok" } else { "failed" };
        let source = lookup::short(&turn.source, width);
        let fuel = quantity::show(turn.fuel, Unit::Count);
        format!("{:>3}  {state:<6}  {:>8}  {fuel:>8}  {source}\n", i + 1, show::duration(turn.elapsed))
    };
    Answer::out(repl.world.turns().iter().enumerate().map(line).collect::<String>())
}

fn load(repl: &mut Repl, file: &str) -> Answer {
    if file.is_empty() {
        return or_problem(Err(usage("which file? Write `:load definitions.clj`")));
    }
    match read_program(Path::new(file)) {
        Err(problem) => or_problem(Err(problem)),
        Ok(source) => repl.program(&source, file),
    }
}

fn prelude(repl: &mut Repl, files: &str) -> Answer {
    if !files.is_empty() {
        let files: Vec<PathBuf> = match files {
            "off" => Vec::new(),
            _ => files.split_whitespace().map(PathBuf::from).collect(),
        };
        if let Err(problem) = repl.world.change(|given| given.attach.preludes = files) {
            return or_problem(Err(problem));
        }
    }
    Answer::out(attached(repl))
}

fn reload(repl: &mut Repl, _: &str) -> Answer {
    or_problem(repl.world.change(|_| ()).map(|()| Answer::out(attached(repl))))
}

/// The attached preludes, a line for each namespace.
pub fn attached(repl: &Repl) -> String {
    let lines: String = repl.world.runtime().preludes().map(|prelude| namespaces(repl, prelude)).collect();
    match lines.is_empty() {
        true => "no prelude is attached; `:prelude FILE` attaches one\n".to_string(),
        false => lines,
    }
}

/// The namespaces of a prelude, a line for each.
fn namespaces(repl: &Repl, prelude: &Prelude) -> String {
    let line = |namespace: &ptc_bytecode::NamespaceRecord| {
        let count = prelude.exports().iter().filter(|export| export.namespace == namespace.name).count();
        let exports = if count == 1 { "export" } else { "exports" };
        let doc =
            namespace.doc.as_deref().map_or(String::new(), |doc| format!(" - {}", lookup::one_line(doc)));
        format!("{} ({count} {exports}){doc}\n", paint::strong(&namespace.name, repl.look.colour))
    };
    prelude.namespaces().iter().map(line).collect()
}

fn inventory(repl: &mut Repl, _: &str) -> Answer {
    match repl.world.runtime().inventory(Default::default()) {
        Some(text) => Answer::out(text),
        None => Answer::out("the preludes add nothing to prompts\n"),
    }
}

fn data(repl: &mut Repl, given: &str) -> Answer {
    if given.is_empty() {
        let names: String = repl.world.data().iter().map(|name| format!("data/{name}\n")).collect();
        return Answer::out(if names.is_empty() { "no data is granted\n".into() } else { names });
    }
    let granted = Data::parse(given).map_err(usage).and_then(|data| {
        repl.world.grant(&data)?;
        Ok(Answer::out(format!("granted data/{}\n", data.name)))
    });
    or_problem(granted)
}

fn tools(repl: &mut Repl, given: &str) -> Answer {
    if given.is_empty() {
        let mut names: String = repl.world.tools().map(|name| format!("tool/{name}\n")).collect();
        if let Some(servers) = repl.world.servers() {
            names.push_str(&format!("tool/call, to the servers {}\n", servers.join(", ")));
        }
        return Answer::out(if names.is_empty() { "no tools are granted\n".into() } else { names });
    }
    let granted = Data::parse(given).map_err(usage).and_then(|stub| {
        repl.world.stub(&stub)?;
        Ok(Answer::out(format!("granted tool/{}\n", stub.name)))
    });
    or_problem(granted)
}

fn limits(repl: &mut Repl, pairs: &str) -> Answer {
    let changed = pairs.split_whitespace().map(parse_pair).collect::<Result<Vec<_>, _>>().map_err(usage);
    let changed = changed.and_then(|pairs| {
        repl.world.change(|given| {
            for (name, value) in &pairs {
                given.limits.set(name, *value);
            }
        })?;
        Ok(pairs)
    });
    match changed {
        Err(problem) => or_problem(Err(problem)),
        Ok(pairs) => {
            let wanted =
                |row: &&LimitRow| pairs.is_empty() || pairs.iter().any(|(name, _)| *name == row.name);
            let limits = repl.world.given().limits;
            let line = |row: &LimitRow| {
                let value = quantity::show(limits.get(row.name).unwrap_or(row.default), row.unit);
                format!("{:<22} {value:>14}  {}\n", row.name, row.doc.trim())
            };
            Answer::out(LIMITS.iter().filter(wanted).map(line).collect::<String>())
        }
    }
}
