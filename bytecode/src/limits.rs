//! The catalogue of limits: name, unit, default, ceiling, meaning. Every limit is named here once.

macro_rules! limits {
    ($($(#[doc = $doc:literal])* $name:ident: $unit:ident = $default:expr, max $ceiling:expr;)*) => {
        /// The limits of a run. All are on by default; a host changes fields by name.
        ///
        /// ```
        /// let limits = ptc_bytecode::Limits { fuel: 1_000, ..Default::default() };
        /// assert_eq!(limits.check(), Ok(()));
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Limits {
            $($(#[doc = $doc])* pub $name: u64,)*
        }

        impl Default for Limits {
            fn default() -> Limits {
                Limits::DEFAULT
            }
        }

        /// Every limit, in the order of the reference page.
        pub const LIMITS: &[LimitRow] = &[
            $(LimitRow {
                name: stringify!($name),
                unit: Unit::$unit,
                default: $default,
                ceiling: $ceiling,
                doc: concat!($($doc,)*),
            },)*
        ];

        impl Limits {
            /// The defaults, usable in constants.
            pub const DEFAULT: Limits = Limits { $($name: $default,)* };

            /// Returns the value of the limit called `name`.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name { $(stringify!($name) => Some(self.$name),)* _ => None }
            }

            /// Sets the limit called `name`; false if there is none.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name { $(stringify!($name) => { self.$name = value; true })* _ => false }
            }
        }
    };
}

/// The unit of a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes of memory or text.
    Bytes,
    /// Milliseconds of wall-clock time.
    Millis,
    /// A plain count.
    Count,
}

/// One row of [`LIMITS`].
#[derive(Clone, Copy, Debug)]
pub struct LimitRow {
    /// Field name; users write `limits.<name>`.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Value unless the host sets one.
    pub default: u64,
    /// Largest value a host may set.
    pub ceiling: u64,
    /// Description of what it bounds.
    pub doc: &'static str,
}

limits! {
    /// Work: every instruction, and every builtin by the items it touches.
    fuel: Count = 200_000_000, max u64::MAX / 4;
    /// Live data of a program, all its parallel branches together; garbage does not count.
    memory_bytes: Bytes = 10_000_000, max 64 << 30;
    /// Size of the call stack.
    stack_bytes: Bytes = 32_000_000, max 8 << 30;
    /// Incoming data: granted data of a run and tool results it still refers to, or definitions of a session; measured as data, not as text.
    granted_bytes: Bytes = 64_000_000, max 64 << 30;
    /// Time that one run may take, not counting tool calls.
    timeout_ms: Millis = 1_000, max 86_400_000;
    /// `recur` jumps of one execution of a loop; 0 means no limit.
    loop_iterations: Count = 0, max u64::MAX / 4;
    /// Tool calls of one run; 0 means no limit.
    tool_calls: Count = 0, max u64::MAX / 4;
    /// All text printed by one run, plus 16 bytes for each entry.
    output_bytes: Bytes = 1_000_000, max 1 << 30;
    /// One printed entry, in characters; longer ones are cut, with a note.
    print_chars: Count = 2_000, max 1_000_000;
    /// The result of a run when it is turned into text, JSON or owned data.
    result_bytes: Bytes = 64_000_000, max 8 << 30;
    /// Work to turn the result into text, JSON or owned data: its parts, its text and its digits.
    result_fuel: Count = 20_000_000, max u64::MAX / 4;
    /// Branches of `pmap`/`pcalls` that wait for tool calls at the same time.
    parallel_in_flight: Count = 64, max 10_000;
    /// How deep `pmap`/`pcalls` may nest.
    parallel_depth: Count = 4, max 8;
    /// Length of the source text.
    source_bytes: Bytes = 1_000_000, max 256 << 20;
    /// Distinct names in one program, not counting those of the language.
    symbols: Count = 10_000, max 1_000_000;
    /// How deep forms may nest in the source.
    nesting: Count = 64, max 256;
    /// Digits in the integer part of a number in the source.
    digits: Count = 100, max 10_000;
    /// Work to compile a program or a prelude: its text, its forms and the code they become.
    compile_fuel: Count = 50_000_000, max u64::MAX / 4;
    /// How long compiling may take.
    compile_ms: Millis = 5_000, max 600_000;
}

impl Limits {
    /// Checks every value against its ceiling; the error names the first that is too large.
    pub fn check(&self) -> Result<(), String> {
        for row in LIMITS {
            let value = self.get(row.name).unwrap_or(0);
            if value > row.ceiling {
                return Err(format!("limits.{} is {value}, but may be at most {}", row.name, row.ceiling));
            }
        }
        Ok(())
    }
}
