//! Input that comes from a file or a pipe: read as it would be at a prompt, answered plainly.

use super::input::Input;
use super::keys::{MORE, PROMPT};
use super::{Answer, Feed};
use crate::input::read_line;
use crate::report::{FAULT, OK};
use std::io::{self, BufRead, ErrorKind, Write};

/// Answers to all inputs; gives the exit code.
pub fn run(repl: &mut impl Feed, mut lines: impl BufRead, echo: bool) -> io::Result<u8> {
    let mut code = OK;
    let mut input = Input::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let more = read_line(&mut lines, &mut line)? > 0;
        if more && echo {
            let prompt = if input.is_open() { MORE } else { PROMPT };
            say(&format!("{prompt}{}\n", String::from_utf8_lossy(&line).trim_end()), "")?;
        }
        let whole = match std::str::from_utf8(&line) {
            Ok(text) if more => input.push(text),
            Ok(_) => input.rest(),
            Err(_) => {
                // What belongs to it is lost with it.
                input.rest();
                say("", "error: a line is not UTF-8 text\n")?;
                code = FAULT;
                None
            }
        };
        if let Some(whole) = whole {
            let answer = repl.feed(&whole);
            code = code.max(if answer.failed { FAULT } else { OK });
            answer.say()?;
            if answer.leaves {
                return Ok(code);
            }
        }
        if !more {
            return Ok(code);
        }
    }
}

impl Answer {
    /// Writes it out.
    pub fn say(&self) -> io::Result<()> {
        say(&self.out, &self.err)
    }
}

/// Writes to standard output, then to standard error. A reader that went away is no error.
pub fn say(out: &str, err: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(i32::from(OK)),
        written => written?,
    }
    // Nothing is left to tell anyone when standard error is closed.
    let _ = io::stderr().write_all(err.as_bytes());
    Ok(())
}
