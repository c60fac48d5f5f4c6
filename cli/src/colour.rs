//! Colours of the output.

use clap::ColorChoice;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// The choice of `--color`, made once at the start.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Chooses for the whole process. The first choice stays.
pub fn choose(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

/// True if a stream has colours: as `--color` says, otherwise on a terminal that can show them, unless $NO_COLOR is set
/// (<https://no-color.org>: to any value but the empty one).
pub fn on(stream: &impl IsTerminal) -> bool {
    match CHOICE.get() {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        Some(ColorChoice::Auto) | None => {
            let is_off = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let is_dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
            stream.is_terminal() && !is_off && !is_dumb
        }
    }
}
