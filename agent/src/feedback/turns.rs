//! Texts on the remaining turns.

/// The budget of a mission before its next turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turns {
    /// Number of the next turn, from 1.
    pub next: u32,
    /// Value of the option `max_turns`.
    pub max_turns: u32,
    /// Value of the option `retry_turns`.
    pub retry_turns: u32,
    /// Work turns left.
    pub work_left: u32,
    /// Retries left.
    pub retry_left: u32,
}

impl Turns {
    /// Returns the line at the end of a message; None for an agent of one turn, or with nothing left.
    ///
    /// ```
    /// use ptc_agent::feedback::Turns;
    /// let turns = Turns { next: 2, max_turns: 5, retry_turns: 1, work_left: 4, retry_left: 1 };
    /// assert_eq!(turns.line(false).unwrap(), "Turn 2 of 5. Turns left: 4. Retries left: 1.");
    /// ```
    pub fn line(&self, is_minimal: bool) -> Option<String> {
        if self.max_turns == 1 {
            return None;
        }
        let retries = match self.retry_left {
            0 => String::new(),
            n => format!(" Retries left: {n}."),
        };
        match (self.work_left, self.retry_left) {
            (0, 0) => None,
            (0, left) => {
                let attempt = self.retry_turns.saturating_sub(left) + 1;
                let last = if left == 1 { " This is the final one." } else { "" };
                Some(format!(
                    "Retry {attempt} of {}.{last} Call `(return value)` or `(fail …)` now.",
                    self.retry_turns
                ))
            }
            (1, _) => {
                Some(format!("This is the final turn: call `(return value)` or `(fail …)` in it.{retries}"))
            }
            (2, _) => Some(format!("Two turns are left: prepare to return after the next one.{retries}")),
            _ if is_minimal => None,
            (left, _) => {
                Some(format!("Turn {} of {}. Turns left: {left}.{retries}", self.next, self.max_turns))
            }
        }
    }
}
