//! Why a call of a tool did not do what it should: one table for the code, the schemas and the documentation.

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $reason:ident = $name:literal;)*) => {
        /// Why a call failed, as clients are told.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Reason {
            $($(#[doc = $doc])* $reason,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Reason] = &[$(Reason::$reason,)*];

            /// As it is written in replies.
            pub fn name(self) -> &'static str {
                match self {
                    $(Reason::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// The program could not be read.
    ParseError = "parse_error";
    /// It was read, and refused or stopped with an error.
    RuntimeError = "runtime_error";
    /// It took too long.
    Timeout = "timeout";
    /// It needed too much memory.
    MemoryLimit = "memory_limit";
    /// It called `(fail …)`.
    Fail = "fail";
    /// Its value does not match `output_schema`.
    ValidationError = "validation_error";
    /// The arguments of the call are wrong.
    ArgsError = "args_error";
    /// As many programs run as may.
    Busy = "busy";
    /// The client gave the call up.
    Cancelled = "cancelled";
    /// There is no tool of that name.
    UnknownTool = "unknown_tool";
    /// The server is about to end.
    ShuttingDown = "shutting_down";
    /// The server has no sessions.
    SessionsDisabled = "sessions_disabled";
    /// There was never such a session.
    SessionNotFound = "session_not_found";
    /// There was one, and it is over.
    SessionClosed = "session_closed";
    /// Another program runs in it.
    SessionBusy = "session_busy";
    /// It belongs to somebody else.
    SessionOwnerMismatch = "session_owner_mismatch";
    /// The arguments of a call about sessions are wrong.
    SessionArgsError = "session_args_error";
    /// There are as many sessions, or as much in one, as there may be.
    SessionLimitExceeded = "session_limit_exceeded";
    /// The model that plans gave no reply.
    PlannerError = "planner_error";
    /// It took too long.
    PlannerTimeout = "planner_timeout";
    /// It cannot be asked: there is no such model, or no key for it.
    AgenticConfigError = "agentic_config_error";
    /// The program of a task called `(fail …)`.
    AgentFailed = "agent_failed";
    /// The task took longer than it may.
    BudgetExceeded = "budget_exceeded";
    /// The task ended without a result after a call that wrote, or may have.
    PartialSideEffects = "partial_side_effects";
    /// The turns of a task were used up.
    PtcMaxTurnsExceeded = "ptc_max_turns_exceeded";
    /// Its turns and retries were used up.
    PtcBudgetExhausted = "ptc_budget_exhausted";
    /// Its last turn neither returned nor failed.
    PtcMustReturnMissing = "ptc_must_return_missing";
    /// Its programs defined too much.
    PtcMemoryExceeded = "ptc_memory_exceeded";
    /// The prelude needs an operation that is not there.
    PtcPreludeAttachFailed = "ptc_prelude_attach_failed";
    /// Its data cannot be used.
    PtcValidationError = "ptc_validation_error";
    /// Anything else; `detail_reason` says what.
    PtcError = "ptc_error";
}

impl Reason {
    /// The reason for a fault of a program.
    ///
    /// ```
    /// use ptc_mcp::Reason;
    /// assert_eq!(Reason::of(ptc_bytecode::Code::FuelExceeded), Reason::Timeout);
    /// assert_eq!(Reason::of(ptc_bytecode::Code::UnknownTool), Reason::RuntimeError);
    /// ```
    pub fn of(code: ptc_bytecode::Code) -> Reason {
        use ptc_bytecode::Code;
        match code {
            Code::ParseError => Reason::ParseError,
            limit if limit.is_compile_limit() => Reason::ParseError,
            Code::Timeout | Code::FuelExceeded | Code::LoopLimitExceeded => Reason::Timeout,
            Code::MemoryExceeded | Code::StackExceeded => Reason::MemoryLimit,
            Code::Cancelled => Reason::Cancelled,
            Code::Fail => Reason::Fail,
            _ => Reason::RuntimeError,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
