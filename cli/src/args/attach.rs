//! Flags of every command that attaches preludes.

use clap::Args as ClapArgs;
use std::path::PathBuf;

/// Heading of these flags in help.
const HEADING: &str = "Preludes";

/// Preludes, whose they must be, and what programs see of them.
#[derive(ClapArgs, Debug, Default, Clone)]
pub struct AttachArgs {
    /// Attaches a prelude: a source, a `.ptcp` file, `ptc:paged` for one that comes with ptc, or
    /// `store:DIR#shop@2` for a stored one; `crm.ptcp@artifact:HASH` pins one build. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE", help_heading = HEADING)]
    pub preludes: Vec<PathBuf>,

    /// Accepts only preludes signed with this public key, or with a key in this file. Repeatable.
    #[arg(long, value_name = "KEY|FILE", help_heading = HEADING)]
    pub trusted: Vec<String>,

    #[command(flatten)]
    policy: PolicyArgs,
}

impl AttachArgs {
    /// Returns the rules for what programs see of the preludes.
    pub fn policy(&self) -> ptc_runtime::Policy {
        let PolicyArgs { hide, discoverable, hide_writes, deny_dynamic } = self.policy.clone();
        ptc_runtime::Policy { hide, discoverable, hide_writes, deny_dynamic }
    }
}

/// Rules about the attached preludes.
#[derive(ClapArgs, Debug, Default, Clone)]
struct PolicyArgs {
    /// Hides this export of the attached preludes: `crm/remove`, `crm/get-*` or all of `crm`. Repeatable.
    #[arg(long = "prelude-hide", value_name = "NAME", help_heading = HEADING)]
    hide: Vec<String>,

    /// Leaves this export out of prompts; programs still find it. Repeatable.
    #[arg(long = "prelude-discoverable", value_name = "NAME", help_heading = HEADING)]
    discoverable: Vec<String>,

    /// Hides every export of the attached preludes that may write.
    #[arg(long = "prelude-hide-writes", help_heading = HEADING)]
    hide_writes: bool,

    /// Refuses preludes that may call any upstream operation, whatever they declare.
    #[arg(long = "prelude-deny-dynamic", help_heading = HEADING)]
    deny_dynamic: bool,
}
