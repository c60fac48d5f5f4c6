//! `ptc agent`: which of its commands runs.

use super::{check, replay, run, test};
use crate::args::{AgentArgs, AgentCommand};
use std::process::ExitCode;

pub fn run(args: &AgentArgs) -> ExitCode {
    match &args.command {
        AgentCommand::Run(args) => run::run(args),
        AgentCommand::Check(args) => check::run(args),
        AgentCommand::Replay(args) => replay::run(args),
        AgentCommand::Test(args) => test::run(args),
    }
}
