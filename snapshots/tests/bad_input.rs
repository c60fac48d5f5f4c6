//! Hostile input: each program ends with a typed error or the documented signal, in a few seconds, on a small
//! stack, and the session continues.
#![allow(missing_docs)]

mod bad_input {
    mod comparators;
    mod deep;
    mod endless;
    mod numbers;
    mod recursion;
    mod shared;
    mod source;

    use ptc_runtime::{Limits, Runtime, Session, Tools};
    use std::time::{Duration, Instant};

    /// Smallest stack that a host's thread is likely to have, in bytes.
    const STACK: usize = 2 << 20;

    /// Time limit far above what any test needs on a busy machine in a debug build, also when collecting at
    /// every safepoint. It only finds programs that never end.
    const PATIENCE: Duration = Duration::from_secs(600);

    /// Documented reasons for stopping a program that exceeds a limit.
    pub const TOO_MUCH: &[&str] =
        &["fuel_exceeded", "memory_exceeded", "stack_exceeded", "output_exceeded", "timeout"];

    pub fn on_a_small_stack(work: impl FnOnce() + Send) {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            if let Err(panic) = thread.expect("a thread").join() {
                std::panic::resume_unwind(panic);
            }
        });
    }

    /// Returns a runtime with these limits, in this run's mode of the suite.
    pub fn limited(limits: Limits) -> Runtime {
        ptc_snapshots::runtime().limits(limits)
    }

    /// A session with earlier definitions and a tool that returns its `x`.
    pub struct Victim {
        session: Session,
    }

    impl Victim {
        pub fn new(limits: Limits) -> Victim {
            let tools = Tools::new().with_answer("echo", |args| Ok(args.datum().clone().into()));
            let mut session = limited(limits).with_tools(tools).session();
            session.eval("(def kept [1 2])").expect("a definition");
            Victim { session }
        }

        /// Returns the printed value of a program, or the reason of its failure.
        pub fn tell(&mut self, source: &str) -> String {
            let start = Instant::now();
            let told = match self.session.eval(source) {
                Ok(outcome) => outcome.print().unwrap_or_else(|fault| fault.code().reason().to_string()),
                Err(failure) => {
                    assert!(failure.diagnostic().message.len() < 2_000, "{failure}");
                    failure.reason().to_string()
                }
            };
            let brief: String = source.chars().take(200).collect();
            assert!(start.elapsed() < PATIENCE, "{brief} took {:?}", start.elapsed());
            assert_ne!(told, "internal_error", "{brief}");
            let after = self.session.eval("(conj kept 3)").expect("the session goes on");
            assert_eq!(after.print().expect("prints"), "[1 2 3]", "after {brief}");
            told
        }

        /// Asserts that the program gives this value, or fails for this reason.
        pub fn gives(&mut self, source: &str, wanted: &str) {
            let told = self.tell(source);
            assert_eq!(told, wanted, "{}", source.chars().take(200).collect::<String>());
        }

        /// Asserts that the program stops by exceeding a limit.
        pub fn is_too_much(&mut self, source: &str) {
            let told = self.tell(source);
            let brief: String = told.chars().take(100).collect();
            assert!(TOO_MUCH.contains(&told.as_str()), "{source} gave {brief}");
        }
    }
}
