#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ptc_runtime_fuzz::prelude_load(bytes));
