//! The ledger of effects: which one a run writes to, and what can be written after `ptc effects`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use ptc_runtime::effects::EffectId;
use std::path::PathBuf;

/// Heading of these flags in help.
const HEADING: &str = "Effects";

/// The ledger that a run writes to.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct RecordArgs {
    /// Writes every call of a program that may change something to this ledger before it is sent, so
    /// that none is sent twice: a file, `postgres://…` or `sqlite:FILE`; default: $PTC_EFFECTS.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub effects: Option<PathBuf>,

    /// Name of the run in the ledger. A run with the name of an earlier one goes on where that stopped:
    /// its calls get the answers that the ledger has.
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub run_name: Option<String>,

    /// Asks about calls that may change something, as this policy says; without one, about all of them.
    #[arg(long, value_name = "POLICY", num_args = 0..=1, require_equals = true, help_heading = HEADING)]
    pub approve: Option<Option<PathBuf>>,

    /// Makes only the calls of this plan: see `ptc effects apply`.
    #[arg(long, value_name = "PLAN", hide = true)]
    pub apply: Option<PathBuf>,
}

/// Shows what programs changed outside, and settles calls whose outcome is unknown.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 done, 1 refused (no such effect, or it cannot be settled), 2 a usage or file error."
)]
pub struct EffectsArgs {
    #[command(subcommand)]
    pub command: EffectsCommand,
}

/// Command on a ledger.
#[derive(Subcommand, Debug)]
pub enum EffectsCommand {
    /// Lists calls, oldest first.
    List {
        /// Only calls in this state, such as `unknown`. Repeatable.
        #[arg(long = "state", value_name = "STATE", value_parser = states())]
        states: Vec<String>,

        /// Only calls of this run.
        #[arg(long, value_name = "NAME")]
        run: Option<String>,

        /// At most this many calls, the newest.
        #[arg(long, value_name = "N", default_value_t = 1000)]
        newest: usize,

        #[command(flatten)]
        at: LedgerAt,
    },
    /// Shows all about a call.
    Show {
        /// Id of the call, as `ptc effects list` shows it.
        #[arg(value_name = "ID")]
        id: EffectId,

        #[command(flatten)]
        at: LedgerAt,
    },
    /// Says whether a call was done whose outcome is unknown. Look at the tool's own records first.
    Settle {
        /// Id of the call.
        #[arg(value_name = "ID")]
        id: EffectId,

        /// Whether it was done.
        #[arg(value_enum, value_name = "VERDICT")]
        verdict: VerdictArg,

        /// Answer that the program gets for a call that was done, as JSON.
        #[arg(long, value_name = "JSON")]
        answer: Option<String>,

        #[command(flatten)]
        at: LedgerAt,
    },
    /// Runs a command with a plan, and makes exactly the calls that the plan lists: the first call that
    /// differs stops the run before it is sent.
    Apply {
        /// The plan, as `--plan=FILE` wrote it.
        #[arg(value_name = "PLAN")]
        plan: PathBuf,

        /// The command, as it was planned without `--plan`: `run …`, `eval …` or `agent run …`.
        #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// Forgets runs whose last call is old. Runs with calls of unknown outcome are kept.
    Prune {
        /// Age in days.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(0..=100_000))]
        older_than: u64,

        #[command(flatten)]
        at: LedgerAt,
    },
    /// Forgets a run: what it did, with arguments and answers. Run again, it makes its calls again.
    Forget {
        /// Name of the run.
        #[arg(value_name = "RUN")]
        run: String,

        /// Also if it has calls of unknown outcome.
        #[arg(long)]
        with_open: bool,

        #[command(flatten)]
        at: LedgerAt,
    },
}

/// Verdict about a call.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerdictArg {
    /// It had its effect. Its run is told so when it goes on.
    Done,
    /// It had no effect. It is sent when its run gets to it again.
    NotDone,
}

/// Which ledger, and how the answer is printed.
#[derive(ClapArgs, Debug)]
pub struct LedgerAt {
    /// The ledger, a file or the address of a database; default: $PTC_EFFECTS.
    #[arg(long, value_name = "FILE")]
    pub effects: Option<PathBuf>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

fn states() -> clap::builder::PossibleValuesParser {
    ptc_runtime::effects::State::ALL.map(ptc_runtime::effects::State::name).into()
}
