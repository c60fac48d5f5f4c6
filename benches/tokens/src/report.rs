//! Rows of results, and the tables made of them.

use crate::tasks::Task;
use crate::transcript::Figures;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A way of answering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// Direct calls; the model is shown the tools of the servers that the task needs.
    Direct,
    /// Programs, with `ptc mcp` as it is without settings; it has the servers that the task needs.
    Program,
    /// Programs, with `--catalog-mode inline`.
    ProgramInline,
    /// Direct calls; the model is shown the tools of all servers.
    DirectAll,
    /// Programs; `ptc mcp` has all servers.
    ProgramAll,
}

impl Arm {
    pub const ALL: &[Arm] = &[Arm::Direct, Arm::Program, Arm::ProgramInline, Arm::DirectAll, Arm::ProgramAll];

    pub fn name(self) -> &'static str {
        match self {
            Arm::Direct => "direct",
            Arm::Program => "program",
            Arm::ProgramInline => "program-inline",
            Arm::DirectAll => "direct-all",
            Arm::ProgramAll => "program-all",
        }
    }

    pub fn is_timed(self) -> bool {
        matches!(self, Arm::Direct | Arm::Program)
    }
}

/// One task in one arm.
#[derive(Serialize)]
pub struct Row {
    pub task: &'static str,
    pub arm: Arm,
    pub servers: &'static [&'static str],
    /// What the model does without tools when it calls directly.
    pub head: &'static str,
    #[serde(flatten)]
    pub figures: Figures,
    pub answer: Value,
    /// Of each round.
    pub millis: Vec<f64>,
}

impl Row {
    fn median(&self) -> f64 {
        let mut all = self.millis.clone();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Several questions in one conversation.
#[derive(Serialize)]
pub struct Talk {
    pub servers: &'static [&'static str],
    pub questions: usize,
    pub direct: Figures,
    pub program: Figures,
}

/// The tables; figures of direct calls stand before those of programs.
pub fn markdown(tasks: &[Task], rows: &BTreeMap<(&str, Arm), Row>, talks: &[Talk], about: &str) -> String {
    let mut text = format!("{about}\n\n");
    text += "| Task | Turns | Calls | Results | Written | Once | Processed | Cost | ms | Left to the model |\n";
    text += "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
    for task in tasks {
        let (one, other) = (&rows[&(task.id, Arm::Direct)], &rows[&(task.id, Arm::Program)]);
        let (a, b) = (&one.figures, &other.figures);
        let pair = |of: fn(&Figures) -> usize| format!("{} / {}", thousands(of(a)), thousands(of(b)));
        let cells = [
            pair(|f| f.turns),
            pair(|f| f.calls),
            pair(|f| f.results),
            pair(|f| f.written),
            pair(|f| f.once),
            pair(|f| f.processed),
            pair(|f| f.cost as usize),
            format!("{:.0} / {:.0}", one.median(), other.median()),
            task.head.to_string(),
        ];
        let _ = writeln!(text, "| {} | {} |", task.id, cells.join(" | "));
    }
    text += "\n| All tasks | Turns | Calls | Tools | Results | Written | Once | Processed | Cost | ms |\n";
    text += "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    for arm in Arm::ALL {
        let (mut sum, mut millis) = (Figures::default(), 0.0);
        for task in tasks {
            let row = &rows[&(task.id, *arm)];
            sum.add(&row.figures);
            millis += row.median();
        }
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} |",
            arm.name(),
            sum.turns,
            sum.calls,
            thousands(sum.tools),
            thousands(sum.results),
            thousands(sum.written),
            thousands(sum.once),
            thousands(sum.processed),
            thousands(sum.cost as usize),
            millis
        );
    }
    let wins = |of: fn(&Figures) -> f64, direct: Arm, program: Arm| {
        let is_less =
            |task: &&Task| of(&rows[&(task.id, program)].figures) < of(&rows[&(task.id, direct)].figures);
        tasks.iter().filter(is_less).count()
    };
    let _ = writeln!(
        text,
        "\nOf {} tasks, programs need fewer tokens once in {}, fewer processed in {} ({} with inline, {} with all servers), and cost less in {} ({}, {}).",
        tasks.len(),
        wins(|f| f.once as f64, Arm::Direct, Arm::Program),
        wins(|f| f.processed as f64, Arm::Direct, Arm::Program),
        wins(|f| f.processed as f64, Arm::Direct, Arm::ProgramInline),
        wins(|f| f.processed as f64, Arm::DirectAll, Arm::ProgramAll),
        wins(|f| f.cost, Arm::Direct, Arm::Program),
        wins(|f| f.cost, Arm::Direct, Arm::ProgramInline),
        wins(|f| f.cost, Arm::DirectAll, Arm::ProgramAll)
    );
    text += "\n| One conversation | Questions | Turns | Once | Processed | Cost |\n|---|---:|---:|---:|---:|---:|\n";
    for talk in talks {
        let (a, b) = (&talk.direct, &talk.program);
        let pair = |of: fn(&Figures) -> usize| format!("{} / {}", thousands(of(a)), thousands(of(b)));
        let cells = [
            talk.questions.to_string(),
            pair(|f| f.turns),
            pair(|f| f.once),
            pair(|f| f.processed),
            pair(|f| f.cost as usize),
        ];
        let _ = writeln!(text, "| {} | {} |", talk.servers.join(", "), cells.join(" | "));
    }
    text
}

/// `12,345`.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
