//! A malicious or manipulated model: programs that try to reach what was not granted, and data that poses as
//! instructions. `faults/firewall.rs` covers firewalled fields, `mcp` the sessions of servers, `cli` credentials.

mod caches;
mod injected;
mod others;
mod preludes;
mod tools;

use ptc_runtime::{Failure, Grants, Outcome, Runtime, Tools};
use std::sync::LazyLock;

fn runtime() -> Runtime {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::with_core(ptc_preludes::core()).unwrap());
    RUNTIME.clone()
}

fn eval(program: &str, grants: &Grants, tools: &Tools) -> Result<Outcome, Failure> {
    runtime().with_tools(tools.clone()).eval(program, grants)
}
