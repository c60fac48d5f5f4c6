//! Reasons for failed calls: one table for the code, the schemas and the documentation.

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $reason:ident = $name:literal;)*) => {
        /// Reason for a failed call, as clients see it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Reason {
            $($(#[doc = $doc])* $reason,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Reason] = &[$(Reason::$reason,)*];

            /// Returns the reason's name in replies.
            pub fn name(self) -> &'static str {
                match self {
                    $(Reason::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// The program has a syntax error.
    ParseError = "parse_error";
    /// The program was refused or stopped with an error.
    RuntimeError = "runtime_error";
    /// The program exceeded its time limit.
    Timeout = "timeout";
    /// The program exceeded its memory limit.
    MemoryLimit = "memory_limit";
    /// The program called `(fail …)`.
    Fail = "fail";
    /// The program's value does not match `output_schema`.
    ValidationError = "validation_error";
    /// The arguments of the call are wrong.
    ArgsError = "args_error";
    /// The maximum number of programs is running.
    Busy = "busy";
    /// The client cancelled the call.
    Cancelled = "cancelled";
    /// There is no tool with this name.
    UnknownTool = "unknown_tool";
    /// The server is shutting down.
    ShuttingDown = "shutting_down";
    /// The server does not offer sessions.
    SessionsDisabled = "sessions_disabled";
    /// There is no session with this id.
    SessionNotFound = "session_not_found";
    /// The session has ended.
    SessionClosed = "session_closed";
    /// Another program runs in the session.
    SessionBusy = "session_busy";
    /// The session belongs to another owner.
    SessionOwnerMismatch = "session_owner_mismatch";
    /// The arguments of a call about sessions are wrong.
    SessionArgsError = "session_args_error";
    /// A limit on sessions, or on the contents of one, is exceeded.
    SessionLimitExceeded = "session_limit_exceeded";
    /// The planner's model did not reply.
    PlannerError = "planner_error";
    /// The planner's model exceeded its time limit.
    PlannerTimeout = "planner_timeout";
    /// The planner's model is not available: the model is unknown, or its key is missing.
    AgenticConfigError = "agentic_config_error";
    /// The program of a task called `(fail …)`.
    AgentFailed = "agent_failed";
    /// The task exceeded its time limit.
    BudgetExceeded = "budget_exceeded";
    /// The task ended without a result after a call that wrote, or may have.
    PartialSideEffects = "partial_side_effects";
    /// The task used up its turns.
    PtcMaxTurnsExceeded = "ptc_max_turns_exceeded";
    /// The task used up its turns and retries.
    PtcBudgetExhausted = "ptc_budget_exhausted";
    /// The task's last turn neither returned nor failed.
    PtcMustReturnMissing = "ptc_must_return_missing";
    /// The task's programs defined too much.
    PtcMemoryExceeded = "ptc_memory_exceeded";
    /// The prelude requires an operation that does not exist.
    PtcPreludeAttachFailed = "ptc_prelude_attach_failed";
    /// The task's data is invalid.
    PtcValidationError = "ptc_validation_error";
    /// Any other reason; `detail_reason` names it.
    PtcError = "ptc_error";
}

impl Reason {
    /// Returns the reason for an error code of a program.
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
