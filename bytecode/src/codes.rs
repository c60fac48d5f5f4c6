//! The error registry: every error of a program, artifact or configuration, and every warning.
//!
//! Reasons (snake_case) are the contract with programs and models: they never change and are never reused, while
//! numbers and wording may improve. `docs/reference/errors.md` is generated from here.

macro_rules! codes {
    ($($number:literal $name:ident $reason:literal $summary:literal;)*) => {
        /// A stable code of an error or a warning.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Code {
            $(#[doc = $summary] $name = $number,)*
        }

        impl Code {
            /// Every code, by number.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The stable snake_case reason, as programs and models see it.
            pub fn reason(self) -> &'static str {
                match self { $(Code::$name => $reason,)* }
            }

            /// One sentence on when it happens.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => $summary,)* }
            }
        }
    };
}

codes! {
    // Load
    101 ParseError "parse_error" "The text is not well-formed PTC-Lisp.";
    102 ProgramTooLarge "program_too_large" "The source is longer than `limits.source_bytes`.";
    103 SymbolLimitExceeded "symbol_limit_exceeded" "The program uses more distinct names than `limits.symbols`.";
    104 CompileTimeout "compile_timeout" "Compiling took longer than `limits.compile_ms`.";
    105 CompileMemoryExceeded "compile_memory_exceeded" "Compiling needed more memory than allowed.";
    106 CompileError "compile_error" "A prelude cannot be compiled, or the compiler could not handle a program.";
    107 CompileFuelExceeded "compile_fuel_exceeded" "Compiling took more work than `limits.compile_fuel` allows.";
    // Analysis
    201 InvalidForm "invalid_form" "A special form is malformed or not allowed here.";
    202 InvalidArity "invalid_arity" "A special form, or a lookup function such as `doc`, got the wrong number of arguments.";
    203 InvalidCondForm "invalid_cond_form" "`cond` needs test and result in pairs.";
    204 InvalidThreadForm "invalid_thread_form" "A threading form lacks an operand, or a test has no step.";
    205 UnsupportedPattern "unsupported_pattern" "This is not a destructuring pattern.";
    206 InvalidPlaceholder "invalid_placeholder" "`%` is only allowed inside `#(…)`.";
    207 DuplicateKey "duplicate_key" "A map or set literal repeats a key.";
    208 UnboundVar "unbound_var" "A name is not defined.";
    209 UnknownTool "unknown_tool" "The program names a tool that was not granted.";
    210 PrivateToolUnauthorized "private_tool_unauthorized" "The tool is private: only preludes may call it, not programs.";
    211 UnknownField "unknown_field" "The program reads a field that none of the records has, but a similar field exists.";
    212 RefusedArguments "refused_arguments" "A tool is called with arguments that it refuses.";
    // Evaluation
    301 ArityError "arity_error" "A builtin was called with the wrong number of arguments.";
    302 TypeError "type_error" "A value of the wrong type reached an operation.";
    303 ArithmeticError "arithmetic_error" "Division by zero, or a number outside the range of an operation.";
    304 ArityMismatch "arity_mismatch" "A function or `recur` got the wrong number of arguments.";
    305 NotCallable "not_callable" "A value that is not a function was called.";
    306 InvalidKeywordCall "invalid_keyword_call" "A keyword can only be called with a map and an optional default.";
    307 InvalidMapCall "invalid_map_call" "A map can only be called with a key and an optional default.";
    308 DestructureError "destructure_error" "A value does not fit the pattern that takes it apart.";
    309 UnsupportedMethod "unsupported_method" "There is no such `.method`.";
    310 RuntimeError "runtime_error" "An operation refused its arguments.";
    311 AssertionFailed "assertion_failed" "An `assert` did not hold.";
    312 InvalidToolArgs "invalid_tool_args" "A tool takes one map, or keywords with values.";
    313 ToolError "tool_error" "A tool returned an error.";
    314 ToolCallLimitExceeded "tool_call_limit_exceeded" "The program made more tool calls than `limits.tool_calls`.";
    315 PrivateToolArgsError "private_tool_args_error" "A private tool refused its arguments.";
    316 PmapError "pmap_error" "A branch of `pmap` failed.";
    317 PcallsError "pcalls_error" "A branch of `pcalls` failed.";
    318 Fail "fail" "The program called `(fail …)`.";
    319 Uncaught "uncaught_exception" "The program threw an exception that nothing caught.";
    320 EffectDiverged "effect_diverged" "The ledger has another call at this place of the run.";
    321 UnknownAnswer "unknown_answer" "The plan ends here: the program looks at the answer of a write that was not sent.";
    322 PlanDiffers "plan_differs" "The run differs from the plan that it was to carry out.";
    325 OutcomeUnknown "outcome_unknown" "A call was sent before, and the ledger does not know what came of it.";
    // Limits
    401 FuelExceeded "fuel_exceeded" "The program did more work than `limits.fuel` allows.";
    402 MemoryExceeded "memory_exceeded" "Live data exceeded `limits.memory_bytes`, or granted data exceeded `limits.granted_bytes`.";
    403 StackExceeded "stack_exceeded" "Calls nested deeper than `limits.stack_bytes` allows.";
    404 Timeout "timeout" "The run took longer than `limits.timeout_ms`.";
    405 Cancelled "cancelled" "The host cancelled the run.";
    406 LoopLimitExceeded "loop_limit_exceeded" "A loop jumped more often than `limits.loop_iterations`.";
    407 OutputExceeded "output_exceeded" "The value or the printed text is larger than the output limits.";
    408 ParallelCapacityExceeded "parallel_capacity_exceeded" "`pmap` was nested deeper than `limits.parallel_depth`.";
    // Boundary and host
    501 ValidationError "validation_error" "Arguments or a result do not match the signature.";
    502 InvalidTool "invalid_tool" "A tool was registered wrongly, or a result was given for a call that does not wait for one.";
    503 InvalidConfig "invalid_config" "A limit or option has an impossible value, or a file cannot be read.";
    504 InvalidData "invalid_data" "Granted data is not valid JSON or cannot be represented.";
    // Artifacts and snapshots
    601 ArtifactInvalid "artifact_invalid" "The artifact cannot be used this way.";
    603 SnapshotInvalid "snapshot_invalid" "The bytes are not a valid snapshot of a run.";
    604 BadMagic "bad_magic" "The file is not an artifact.";
    605 Corrupt "corrupt" "The artifact file is cut off or damaged.";
    606 UnsupportedFormat "unsupported_format" "The artifact file has a layout that this version cannot read.";
    607 AbiMismatch "abi_mismatch" "The artifact was compiled for another instruction set.";
    608 ArtifactTooLarge "artifact_too_large" "The artifact file is larger than allowed.";
    609 ArtifactLimitExceeded "limit_exceeded" "The artifact exceeds one of the limits on its contents.";
    610 NonCanonical "non_canonical" "The artifact file is not in its canonical form.";
    611 BadConstant "bad_constant" "A constant, name or text of the artifact is malformed.";
    612 BadFunction "bad_function" "A function of the artifact is malformed.";
    613 BadInstruction "bad_instruction" "An instruction of the artifact is malformed.";
    614 BadControlFlow "bad_control_flow" "A jump of the artifact has an invalid target.";
    615 UninitialisedRegister "uninitialised_register" "Code of the artifact reads a register before it is written.";
    616 MissingFuelCheck "missing_fuel_check" "Code of the artifact would run without paying fuel.";
    617 BadExport "bad_export" "An export of the artifact is malformed.";
    618 AuthorityMismatch "authority_mismatch" "The code of the artifact may reach more, or less, than its manifest says.";
    619 SourceMismatch "source_mismatch" "The source in the artifact is not the one it was compiled from.";
    620 Untrusted "untrusted" "The artifact has no signature of a trusted key.";
    621 UnresolvedBuiltin "unresolved_builtin" "The artifact needs a builtin this version does not have.";
    622 InterfaceChanged "interface_changed" "A prelude has another interface than the artifact was built with.";
    623 HashMismatch "hash_mismatch" "The artifact is not the build that is pinned by its hash.";
    // Preludes
    701 ReservedNamespace "reserved_namespace" "This namespace belongs to the language.";
    702 InvalidNamespace "invalid_namespace" "The `ns` form is malformed.";
    703 MissingNamespace "missing_namespace" "A prelude must open a namespace first.";
    704 DuplicateRef "duplicate_ref" "A name is defined twice in one namespace.";
    705 InvalidVisibility "invalid_visibility" "Visibility is `:prompt` or `:discoverable`.";
    706 InvalidSignature "invalid_signature" "The signature cannot be read.";
    707 InvalidMetadata "invalid_metadata" "The metadata of a definition is malformed.";
    708 InvalidRequires "invalid_requires" "`:requires` is a vector of capability ids.";
    709 QualifiedSelfReference "qualified_self_reference" "A definition of the same namespace must be called by its bare name.";
    710 UnrecognizedNode "unrecognized_node" "Only definitions are allowed at the top level of a prelude.";
    711 PreludeAttachFailed "prelude_attach_failed" "A prelude needs something this run was not granted.";
    712 SourceTooLarge "source_too_large" "The source of a prelude is longer than allowed.";
    713 ImpureConstant "impure_constant" "A constant of a prelude depends on something besides its source.";
    // The store of preludes
    801 NotFound "not_found" "The store has no such prelude, or no longer has that version.";
    802 InvalidArgument "invalid_argument" "An argument for the store is malformed.";
    803 InvalidRef "invalid_ref" "A reference to a stored prelude is malformed.";
    804 ChecksumMismatch "checksum_mismatch" "The stored source is not the expected one.";
    805 StaleBase "stale_base" "The stored prelude changed since it was read.";
    806 PreludeNamespaceViolation "prelude_namespace_violation" "A stored prelude must declare exactly the namespace it is named after.";
    807 PreludeCompileError "prelude_compile_error" "A source for the store does not compile.";
    808 IdLimitExceeded "id_limit_exceeded" "The store already has the maximum number of preludes.";
    809 StoreBytesExceeded "store_bytes_exceeded" "The store already has the maximum size.";
    810 MetadataTooLarge "metadata_too_large" "The metadata of a version is larger than the store allows.";
    811 StoreCorrupt "store_corrupt" "A file of the store is damaged.";
    812 StoreUnavailable "store_unavailable" "A file of the store cannot be read or written.";
    813 StoreBusy "store_busy" "Another process has held the store for too long.";
    // Ours
    901 Internal "internal_error" "A bug in PTC itself; please report it.";
    // Warnings
    1001 SurplusBracket "surplus_bracket" "A closing bracket outside of any form closes nothing; it is skipped.";
    1002 AbsentField "absent_field" "The program reads a field that none of the records has.";
    1003 NeverEqual "never_equal" "A comparison with a constant is true for none of the values: they are of another kind, or a similar constant was meant.";
    1004 UndeclaredField "undeclared_field" "A tool has no known field or argument of this name, but it has a similar one.";
    1005 MisplacedDoc "misplaced_doc" "A text after the parameters of a function is not its doc string.";
}

impl Code {
    /// True if `try` may catch it: mistakes of the program and errors of tools. Limits, cancellation, `fail` and
    /// actions that are not allowed end the run.
    pub fn is_catchable(self) -> bool {
        matches!(
            self,
            Code::UnboundVar
                | Code::ArityError
                | Code::TypeError
                | Code::ArithmeticError
                | Code::ArityMismatch
                | Code::NotCallable
                | Code::InvalidKeywordCall
                | Code::InvalidMapCall
                | Code::DestructureError
                | Code::UnsupportedMethod
                | Code::RuntimeError
                | Code::AssertionFailed
                | Code::InvalidToolArgs
                | Code::ToolError
                | Code::OutcomeUnknown
                | Code::PmapError
                | Code::PcallsError
                | Code::Uncaught
        )
    }

    /// True if a limit ended the compilation.
    pub fn is_compile_limit(self) -> bool {
        matches!(
            self,
            Code::ProgramTooLarge
                | Code::SymbolLimitExceeded
                | Code::CompileTimeout
                | Code::CompileFuelExceeded
                | Code::CompileMemoryExceeded
        )
    }

    /// True if a limit ended the run.
    pub fn is_run_limit(self) -> bool {
        matches!(
            self,
            Code::ToolCallLimitExceeded
                | Code::FuelExceeded
                | Code::MemoryExceeded
                | Code::StackExceeded
                | Code::Timeout
                | Code::LoopLimitExceeded
                | Code::OutputExceeded
                | Code::ParallelCapacityExceeded
        )
    }

    /// True for a warning: the program still runs, and its result carries the warning.
    pub fn is_warning(self) -> bool {
        self as u16 >= Code::SurplusBracket as u16
    }

    /// Returns the number as texts show it: `E0208` for an error, `W1001` for a warning.
    pub fn label(self) -> String {
        format!("{}{:04}", if self.is_warning() { 'W' } else { 'E' }, self as u16)
    }

    /// Looks up a code by its stable reason.
    pub fn from_reason(reason: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.reason() == reason)
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn reasons_are_unique_and_snake_case() {
        for (i, code) in Code::ALL.iter().enumerate() {
            assert!(code.reason().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            assert!(Code::ALL[..i].iter().all(|other| other.reason() != code.reason()));
            assert_eq!(Code::from_reason(code.reason()), Some(*code));
            assert_eq!(code.is_warning(), *code as u16 > 1000, "warnings have numbers of their own");
        }
    }
}
