//! `ptc repl`: what is run first, and where inputs come from after that.

use crate::args::ReplArgs;
use crate::colour;
use crate::input::read_program;
use crate::problem::Problem;
use crate::repl::{Answer, Facade, Feed, Interrupt, Look, Repl, World, stream, terminal};
use crate::report::{self, FAULT, OK};
use ptc_bytecode::Code;
use std::io::{self, BufReader, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &ReplArgs) -> ExitCode {
    match start(args) {
        Ok(code) => ExitCode::from(code),
        Err(problem) => report::problem(&problem, args.settings.json),
    }
}

fn start(args: &ReplArgs) -> Result<u8, Problem> {
    if args.mcp {
        return facade(args);
    }
    let is_batch = args.script.is_some() || !args.exprs.is_empty();
    let has_prompt = (!is_batch || args.interactive) && is_terminal() && !args.settings.json && !args.echo;
    let look = match has_prompt {
        true => terminal::look(colour::on(&io::stdout())),
        false if args.echo => Look { width: Some(80), excerpts: Some(false), ..Look::PLAIN },
        false => {
            let in_colour = colour::on(&io::stderr());
            Look { excerpts: (in_colour || io::stderr().is_terminal()).then_some(in_colour), ..Look::PLAIN }
        }
    };
    let interrupt = Interrupt::default();
    let mut repl = Repl::new(World::new(args, interrupt.clone())?, look, args.settings.json);
    if has_prompt {
        interrupt.watch()?;
    }
    if args.show_prompt_inventory {
        repl.feed(":inventory").say().map_err(broken)?;
    }
    let code = first(args, &mut repl, has_prompt)?;
    if code != OK || (is_batch && !args.interactive) {
        return Ok(code);
    }
    if !has_prompt {
        return stream::run(&mut repl, BufReader::new(io::stdin().lock()), args.echo).map_err(broken);
    }
    terminal::run(&mut repl, args).map(|()| OK).map_err(broken)
}

/// Runs the REPL through the tools of the MCP server.
fn facade(args: &ReplArgs) -> Result<u8, Problem> {
    let wrong = |message: String| Problem::new(Code::InvalidConfig, message);
    let flags = args.server.iter().map(String::as_str);
    // Sessions are what it is for, unless it is told otherwise.
    let flags: Vec<&str> = flags.chain((!args.stateless).then_some("--sessions")).collect();
    let settings = super::mcp::settings(&flags)?.settings;
    let built = super::mcp::build(&settings)?;
    let executor = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| wrong(format!("cannot start threads for the server: {error}")))?;
    let interrupt = Interrupt::default();
    let mut facade = Facade::new(built.server, executor, interrupt.clone(), args.display, args.stateless)
        .map_err(wrong)?;
    let is_batch = args.script.is_some() || !args.exprs.is_empty();
    let has_prompt = (!is_batch || args.interactive) && is_terminal() && !args.echo;
    if has_prompt {
        interrupt.watch()?;
    }
    let code = first_of(args, |source| facade.program(source), has_prompt)?;
    let code = match () {
        () if code != OK || (is_batch && !args.interactive) => code,
        () if has_prompt => {
            terminal::run_facade(&mut facade, args, colour::on(&io::stdout())).map_err(broken)?;
            OK
        }
        () => stream::run(&mut facade, BufReader::new(io::stdin().lock()), args.echo).map_err(broken)?,
    };
    drop(facade);
    if let Some(upstream) = built.upstream {
        upstream.stop();
    }
    Ok(code)
}

/// Programs of the command line for a server, up to the first that fails.
fn first_of(args: &ReplArgs, mut run: impl FnMut(&str) -> Answer, has_prompt: bool) -> Result<u8, Problem> {
    for file in &args.loads {
        let answer = run(&read_program(file)?);
        if answer.failed {
            answer.say().map_err(broken)?;
            if !has_prompt {
                return Ok(FAULT);
            }
        }
    }
    let exprs = args.exprs.iter().map(|expr| Ok(expr.clone()));
    for program in exprs.chain(args.script.iter().map(|file| read_program(file))) {
        let answer = run(&program?);
        answer.say().map_err(broken)?;
        if answer.failed && !has_prompt {
            return Ok(FAULT);
        }
    }
    Ok(OK)
}

/// Files and programs of the command line, up to the first that fails. At a prompt such a failure is
/// told and no more.
fn first(args: &ReplArgs, repl: &mut Repl, has_prompt: bool) -> Result<u8, Problem> {
    for file in &args.loads {
        let answer = repl.load(&read_program(file)?, &file.display().to_string());
        answer.say().map_err(broken)?;
        if answer.failed && !has_prompt {
            return Ok(FAULT);
        }
    }
    let exprs = args.exprs.iter().map(|expr| Ok((expr.clone(), "-e".to_string())));
    let script = args.script.iter().map(|file| Ok((read_program(file)?, name_of(file))));
    for program in exprs.chain(script) {
        let (source, name) = program?;
        let answer = repl.program(&source, &name);
        answer.say().map_err(broken)?;
        if answer.failed && !has_prompt {
            return Ok(FAULT);
        }
    }
    Ok(OK)
}

fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_string() } else { file.display().to_string() }
}

/// True if there is someone to show a prompt to, on a terminal that can be drawn on.
fn is_terminal() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal() && !is_dumb
}

#[cold]
fn broken(error: io::Error) -> Problem {
    Problem::new(Code::InvalidConfig, format!("the terminal or stream failed: {error}"))
}
