//! Pages about errors and warnings, one for each [`Code`]. They are part of the binary that shows them, because help must
//! not depend on a network or on files; and a crate, because a package holds only files of its own folder.
//!
//! ```
//! assert!(ptc_errors::page(ptc_bytecode::Code::ParseError).starts_with("# E0101 parse_error\n"));
//! ```
#![forbid(unsafe_code)]

use ptc_bytecode::Code;

/// A `match` over all codes, so that a code without a page does not compile.
macro_rules! pages {
    ($($name:ident $label:literal;)*) => {
        /// Returns the page of a code, as Markdown.
        pub fn page(code: Code) -> &'static str {
            match code {
                $(Code::$name => include_str!(concat!("../", $label, ".md")),)*
            }
        }
    };
}

pages! {
    ParseError "E0101";
    ProgramTooLarge "E0102";
    SymbolLimitExceeded "E0103";
    CompileTimeout "E0104";
    CompileMemoryExceeded "E0105";
    CompileError "E0106";
    CompileFuelExceeded "E0107";
    InvalidForm "E0201";
    InvalidArity "E0202";
    InvalidCondForm "E0203";
    InvalidThreadForm "E0204";
    UnsupportedPattern "E0205";
    InvalidPlaceholder "E0206";
    DuplicateKey "E0207";
    UnboundVar "E0208";
    UnknownTool "E0209";
    PrivateToolUnauthorized "E0210";
    UnknownField "E0211";
    RefusedArguments "E0212";
    ArityError "E0301";
    TypeError "E0302";
    ArithmeticError "E0303";
    ArityMismatch "E0304";
    NotCallable "E0305";
    InvalidKeywordCall "E0306";
    InvalidMapCall "E0307";
    DestructureError "E0308";
    UnsupportedMethod "E0309";
    RuntimeError "E0310";
    AssertionFailed "E0311";
    InvalidToolArgs "E0312";
    ToolError "E0313";
    ToolCallLimitExceeded "E0314";
    PrivateToolArgsError "E0315";
    PmapError "E0316";
    PcallsError "E0317";
    Fail "E0318";
    Uncaught "E0319";
    EffectDiverged "E0320";
    UnknownAnswer "E0321";
    PlanDiffers "E0322";
    OutcomeUnknown "E0325";
    FuelExceeded "E0401";
    MemoryExceeded "E0402";
    StackExceeded "E0403";
    Timeout "E0404";
    Cancelled "E0405";
    LoopLimitExceeded "E0406";
    OutputExceeded "E0407";
    ParallelCapacityExceeded "E0408";
    ValidationError "E0501";
    InvalidTool "E0502";
    InvalidConfig "E0503";
    InvalidData "E0504";
    ArtifactInvalid "E0601";
    SnapshotInvalid "E0603";
    BadMagic "E0604";
    Corrupt "E0605";
    UnsupportedFormat "E0606";
    AbiMismatch "E0607";
    ArtifactTooLarge "E0608";
    ArtifactLimitExceeded "E0609";
    NonCanonical "E0610";
    BadConstant "E0611";
    BadFunction "E0612";
    BadInstruction "E0613";
    BadControlFlow "E0614";
    UninitialisedRegister "E0615";
    MissingFuelCheck "E0616";
    BadExport "E0617";
    AuthorityMismatch "E0618";
    SourceMismatch "E0619";
    Untrusted "E0620";
    UnresolvedBuiltin "E0621";
    InterfaceChanged "E0622";
    HashMismatch "E0623";
    ReservedNamespace "E0701";
    InvalidNamespace "E0702";
    MissingNamespace "E0703";
    DuplicateRef "E0704";
    InvalidVisibility "E0705";
    InvalidSignature "E0706";
    InvalidMetadata "E0707";
    InvalidRequires "E0708";
    QualifiedSelfReference "E0709";
    UnrecognizedNode "E0710";
    PreludeAttachFailed "E0711";
    SourceTooLarge "E0712";
    ImpureConstant "E0713";
    NotFound "E0801";
    InvalidArgument "E0802";
    InvalidRef "E0803";
    ChecksumMismatch "E0804";
    StaleBase "E0805";
    PreludeNamespaceViolation "E0806";
    PreludeCompileError "E0807";
    IdLimitExceeded "E0808";
    StoreBytesExceeded "E0809";
    MetadataTooLarge "E0810";
    StoreCorrupt "E0811";
    StoreUnavailable "E0812";
    StoreBusy "E0813";
    Internal "E0901";
    SurplusBracket "W1001";
    AbsentField "W1002";
    NeverEqual "W1003";
    UndeclaredField "W1004";
    MisplacedDoc "W1005";
}

#[cfg(test)]
mod tests {
    use super::page;
    use ptc_bytecode::Code;

    #[test]
    fn each_code_has_its_own_page() {
        for code in Code::ALL {
            let title = format!("# {} {}\n", code.label(), code.reason());
            assert!(page(*code).starts_with(&title), "{code:?}: {title}");
        }
    }
}
