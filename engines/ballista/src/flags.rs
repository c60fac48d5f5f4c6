//! Flags that commands share.

use clap::Args;
use ptc_runtime::{Limits, Runtime, TrustedKeys};

/// Limits of functions, and whose they must be.
#[derive(Args, Clone, Debug, Default)]
pub struct RuntimeArgs {
    /// Accepts only functions signed with this public key, or with a key in this file. Repeatable.
    #[arg(long, value_name = "KEY|FILE")]
    pub trusted: Vec<String>,

    /// Sets a limit of one run of a function, which is one row: `fuel=100000`, `memory_bytes=1000000`. Repeatable.
    #[arg(long = "limit", value_name = "NAME=VALUE", value_parser = limit)]
    pub limits: Vec<(String, u64)>,
}

impl RuntimeArgs {
    /// Makes the runtime that functions run in.
    pub fn runtime(&self) -> Result<Runtime, String> {
        let mut limits = Limits::default();
        for (name, value) in &self.limits {
            limits.set(name, *value);
        }
        limits.check()?;
        let runtime = Runtime::with_core(ptc_preludes::core()).map_err(|problem| problem.message)?;
        let runtime = runtime.limits(limits);
        if self.trusted.is_empty() {
            return Ok(runtime);
        }
        let keys = TrustedKeys::named(&self.trusted, "").map_err(|problem| problem.message)?;
        Ok(runtime.trusted(keys))
    }
}

fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as fuel=100000")?;
    let mut limits = Limits::default();
    let value = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
    if limits.set(name, value) {
        return Ok((name.to_string(), value));
    }
    let names: Vec<&str> = ptc_bytecode::LIMITS.iter().map(|row| row.name).collect();
    Err(format!("there is no limit `{name}`; the limits are {}", names.join(", ")))
}
