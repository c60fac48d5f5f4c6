//! Input nobody meant well: each ends as a typed error or the documented signal, in a few seconds,
//! on a small stack, and the session goes on.
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

    /// The least stack a host's thread is likely to have.
    const STACK: usize = 2 << 20;

    /// Longer than any of these takes on a busy machine with a debug build; nothing may hang.
    /// Collecting at every safepoint takes a while, and machines are shared: this only finds what never ends.
    const PATIENCE: Duration = Duration::from_secs(600);

    /// Stops that are documented for a program that wants too much.
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

    /// A runtime with these limits, in the mode of this run of the suite.
    pub fn limited(limits: Limits) -> Runtime {
        ptc_snapshots::runtime().limits(limits)
    }

    /// A session that already knows something, with a tool that gives back its `x`.
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

        /// What a program gives: its printed value, or the reason of its failure.
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

        /// The program gives this value, or fails for this reason.
        pub fn gives(&mut self, source: &str, wanted: &str) {
            let told = self.tell(source);
            assert_eq!(told, wanted, "{}", source.chars().take(200).collect::<String>());
        }

        /// The program stops because it wants too much.
        pub fn is_too_much(&mut self, source: &str) {
            let told = self.tell(source);
            let brief: String = told.chars().take(100).collect();
            assert!(TOO_MUCH.contains(&told.as_str()), "{source} gave {brief}");
        }
    }
}
