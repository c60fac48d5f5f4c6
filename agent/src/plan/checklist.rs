//! Plans as checklists in the text of an issue. Pure: text in, text out.
//!
//! People edit such texts at any time, so everything that we did not write stays unchanged, to the byte. We write the tick
//! of a line, a hidden comment after it with the step's id, and one section with the history. A line without that
//! comment is identified by its place until it gets one.

use super::history::{self, HistoryBlock};
use super::{MAX_STEPS, Plan, PlanError, PlanErrorKind, PlanStep, SeenStep, StepState};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Content of the hidden comment that identifies a step.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Label {
    id: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<String>,
}

const LABEL_START: &str = "<!-- ptc {";
const COMMENT_END: &str = "-->";

/// A checklist line, `- [x] text`.
struct Item<'b> {
    raw: &'b str,
    /// Part of the line before the bracket.
    head: &'b str,
    done: bool,
    text: String,
    label: Option<Label>,
}

enum Piece<'b> {
    Other(&'b str),
    Item(Item<'b>),
    History(HistoryBlock<'b>),
}

/// Reads the plan in a text: its checklist, whatever is around it. Steps without an id get the number of their place.
///
/// ```
/// let plan = ptc_agent::plan::read("Report", "For the board.\n\n- [x] Load the orders\n- [ ] Sum them\n")?;
/// assert_eq!(plan.goal.as_deref(), Some("For the board."));
/// assert_eq!(plan.step("2").unwrap().text, "Sum them");
/// assert_eq!(plan.remaining().count(), 1);
/// # Ok::<(), ptc_agent::plan::PlanError>(())
/// ```
pub fn read(title: &str, body: &str) -> Result<Plan, PlanError> {
    let pieces = parse(body);
    let items: Vec<&Item<'_>> = items(&pieces).collect();
    if items.is_empty() {
        let message = "the text has no checklist; write steps as lines such as `- [ ] Load the orders`";
        return Err(PlanError::new(PlanErrorKind::Invalid, message));
    }
    check_len(&items)?;
    let ids = name(&items, &[], &[]);
    let history = recorded(&pieces);
    let steps = items.iter().zip(ids).map(|(item, id)| {
        let reports = history.iter().rev().flat_map(|execution| execution.steps.iter().rev());
        let last = reports.into_iter().find(|report| report.id == id);
        let state = match (item.done, last) {
            (true, _) => StepState::Done,
            (false, Some(report)) if report.failed => StepState::Failed,
            (false, _) => StepState::Pending,
        };
        let result = last.filter(|_| state != StepState::Pending).map(|report| report.summary.clone());
        let tools = item.label.as_ref().map(|label| label.tools.clone()).unwrap_or_default();
        PlanStep { id, text: item.text.clone(), state, result, tools }
    });
    let steps = steps.collect();
    let plan = Plan { title: title.trim().to_string(), goal: goal(&pieces), steps, history, issue: None };
    plan.check()?;
    Ok(plan)
}

/// Merges a plan into the text it came from, which may have changed since it was as in `seen`. Changes by people
/// (ticks, words, added or removed lines) are taken over into the plan; changes of the plan are written; in conflicts,
/// people win. Returns the new text; the steps of `plan` then match its lines.
///
/// ```
/// use ptc_agent::plan::{Execution, merge, read, seen};
/// let mut plan = read("Report", "- [ ] Load\n- [ ] Sum\n")?;
/// let before = seen(&plan);
/// plan.record(Execution::new("2031-04-02T08:00:01Z", "ok").step("1", "44 rows"));
/// // Meanwhile somebody wrote a line of their own.
/// let body = merge("Hello!\n- [ ] Load\n- [ ] Sum\n- [ ] Print\n", &mut plan, &before)?;
/// assert!(body.starts_with("Hello!\n- [x] Load <!-- ptc {\"id\":\"1\"} -->\n"));
/// assert!(body.contains("`1`: `44 rows`"));
/// assert_eq!(plan.step("3").unwrap().text, "Print");
/// # Ok::<(), ptc_agent::plan::PlanError>(())
/// ```
pub fn merge(body: &str, plan: &mut Plan, seen: &[SeenStep]) -> Result<String, PlanError> {
    let pieces = parse(body);
    let eol = if body.contains("\r\n") { "\r\n" } else { "\n" };
    let items: Vec<&Item<'_>> = items(&pieces).collect();
    check_len(&items)?;
    let ids = name(&items, seen, &plan.steps);
    let was = |id: &str| seen.iter().find(|step| step.id == id);

    let mut steps: Vec<PlanStep> = Vec::with_capacity(items.len());
    let mut lines: Vec<String> = Vec::with_capacity(items.len());
    for (item, id) in items.iter().zip(&ids) {
        let step = merged(item, id, plan.step(id), was(id));
        lines.push(rewritten(item, &step));
        steps.push(step);
    }
    // A step in neither text is new; a step that was seen and is gone was removed by somebody.
    let fresh: Vec<PlanStep> = plan
        .steps
        .iter()
        .filter(|step| !ids.contains(&step.id) && was(&step.id).is_none())
        .cloned()
        .collect();
    let head = items.last().map_or("- [", |item| item.head);
    let added: String = fresh.iter().map(|step| line(head, step, &clean(&step.text), eol)).collect();
    steps.extend(fresh);
    plan.steps = steps;
    plan.history = history::union(recorded(&pieces), std::mem::take(&mut plan.history));

    let (mut text, mut tail) = (String::with_capacity(body.len() + added.len()), String::new());
    let (mut next, mut before_tail) = (lines.into_iter(), true);
    let last = pieces.iter().rposition(|piece| matches!(piece, Piece::Item(_)));
    for (i, piece) in pieces.iter().enumerate() {
        let part = if before_tail { &mut text } else { &mut tail };
        match piece {
            Piece::Other(raw) => part.push_str(raw),
            Piece::Item(_) => part.push_str(&next.next().unwrap_or_default()),
            Piece::History(_) => before_tail = false,
        }
        if Some(i) == last {
            append(part, &added, eol);
        }
    }
    if last.is_none() && !added.is_empty() {
        blank_line(&mut text, eol);
        text.push_str(&added);
    }
    let found = pieces.iter().find_map(|piece| match piece {
        Piece::History(block) => Some(block.raw),
        _ => None,
    });
    history::render(text, found, &tail, &plan.history, eol)
}

/// Returns the current checklist of a plan, to tell later changes by others.
pub fn seen(plan: &Plan) -> Vec<SeenStep> {
    let seen = |step: &PlanStep| SeenStep {
        id: step.id.clone(),
        text: flat(&step.text),
        done: step.state == StepState::Done,
    };
    plan.steps.iter().map(seen).collect()
}

fn items<'p, 'b>(pieces: &'p [Piece<'b>]) -> impl Iterator<Item = &'p Item<'b>> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Item(item) => Some(item),
        _ => None,
    })
}

/// Limits the number of lines. Checked first, because later steps compare lines with lines.
fn check_len(items: &[&Item<'_>]) -> Result<(), PlanError> {
    if items.len() <= MAX_STEPS {
        return Ok(());
    }
    let message = format!("the checklist has {} lines, more than {MAX_STEPS}", items.len());
    Err(PlanError::new(PlanErrorKind::TooLarge, message))
}

fn recorded(pieces: &[Piece<'_>]) -> Vec<super::Execution> {
    let block = pieces.iter().find_map(|piece| match piece {
        Piece::History(block) => Some(block.read()),
        _ => None,
    });
    block.unwrap_or_default()
}

/// Merges one step from the changes of people and of the plan.
fn merged(item: &Item<'_>, id: &str, ours: Option<&PlanStep>, was: Option<&SeenStep>) -> PlanStep {
    let Some(ours) = ours else {
        let state = if item.done { StepState::Done } else { StepState::Pending };
        let tools = item.label.as_ref().map(|label| label.tools.clone()).unwrap_or_default();
        return PlanStep { id: id.to_string(), text: item.text.clone(), state, result: None, tools };
    };
    let mut step = ours.clone();
    if was.is_none_or(|was| was.text != item.text) {
        step.text = item.text.clone();
    }
    // Without an earlier state, a step is done if either side says so.
    match (item.done, ours.state) {
        (true, _) if was.is_none_or(|was| !was.done) => step.state = StepState::Done,
        (false, StepState::Done) if was.is_some_and(|was| was.done) => {
            // Somebody reopened the step, so its outcome no longer counts.
            step.state = StepState::Pending;
            step.result = None;
        }
        _ => {}
    }
    step
}

/// Returns the line of an item for this step; the same line if nothing changed.
fn rewritten(item: &Item<'_>, step: &PlanStep) -> String {
    let label = Label { id: step.id.clone(), tools: step.tools.clone() };
    let done = step.state == StepState::Done;
    let same_text = flat(&step.text) == item.text;
    if done == item.done && same_text && item.label.as_ref() == Some(&label) {
        return item.raw.to_string();
    }
    let text = if same_text { own_text(item.raw, item.head) } else { clean(&step.text) };
    line(item.head, step, &text, end_of_line(item.raw))
}

fn line(head: &str, step: &PlanStep, text: &str, eol: &str) -> String {
    let mark = if step.state == StepState::Done { 'x' } else { ' ' };
    let label = Label { id: step.id.clone(), tools: step.tools.clone() };
    let label = serde_json::to_string(&label).unwrap_or_default().replace('>', "\\u003e");
    format!("{head}{mark}] {text} <!-- ptc {label} {COMMENT_END}{eol}")
}

/// Returns an id for every line: its own, that of the line it used to be, or a new number.
fn name(items: &[&Item<'_>], seen: &[SeenStep], ours: &[PlanStep]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut ids: Vec<Option<String>> = Vec::with_capacity(items.len());
    for item in items {
        // A line that was copied with its comment is a new step.
        let id = item.label.as_ref().map(|label| label.id.clone()).filter(|id| taken.insert(id.clone()));
        ids.push(id);
    }
    let mut free: Vec<&SeenStep> = seen.iter().filter(|step| !taken.contains(&step.id)).collect();
    for (item, id) in items.iter().zip(&mut ids).filter(|(_, id)| id.is_none()) {
        if let Some(at) = free.iter().position(|step| step.text == item.text) {
            *id = Some(free.remove(at).id.clone());
        }
    }
    // Before lines have comments: if as many lines changed as are missing, they are the same steps reworded.
    let unnamed = ids.iter().filter(|id| id.is_none()).count();
    if items.iter().all(|item| item.label.is_none()) && unnamed == free.len() {
        let mut free = free.iter();
        for id in ids.iter_mut().filter(|id| id.is_none()) {
            *id = free.next().map(|step| step.id.clone());
        }
    }
    taken.extend(ids.iter().flatten().cloned());
    taken.extend(seen.iter().map(|step| step.id.clone()));
    taken.extend(ours.iter().map(|step| step.id.clone()));
    let mut number = 0;
    let named = ids.into_iter().enumerate().map(|(i, id)| {
        id.unwrap_or_else(|| {
            number = std::cmp::max(number, i);
            loop {
                number += 1;
                if taken.insert(number.to_string()) {
                    return number.to_string();
                }
            }
        })
    });
    named.collect()
}

/// Returns the first paragraph of a text that is neither a heading nor a list.
fn goal(pieces: &[Piece<'_>]) -> Option<String> {
    let lines = pieces.iter().map_while(|piece| match piece {
        Piece::Other(line) => Some(line.trim()),
        _ => None,
    });
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(['#', '<', '-', '*', '`', '~', '|']);
    let words: Vec<&str> = lines.skip_while(|line| !is_prose(line)).take_while(is_prose).collect();
    (!words.is_empty()).then(|| super::cut(&words.join(" ")))
}

/// Splits the text into pieces, one per line; joined they are the text again.
fn parse(body: &str) -> Vec<Piece<'_>> {
    let block = history::find(body);
    let (before, after) = match &block {
        Some(block) => (&body[..block.start], &body[block.start + block.raw.len()..]),
        None => (body, ""),
    };
    let mut reader = Reader::default();
    let mut pieces: Vec<Piece<'_>> = before.split_inclusive('\n').map(|line| reader.line(line)).collect();
    pieces.extend(block.map(Piece::History));
    pieces.extend(after.split_inclusive('\n').map(|line| reader.line(line)));
    pieces
}

/// Tracks whether a line is in a code block or a comment, where checklists do not count.
#[derive(Default)]
struct Reader {
    fence: Option<(char, usize)>,
    comment: bool,
}

impl Reader {
    fn line<'b>(&mut self, raw: &'b str) -> Piece<'b> {
        if self.comment {
            self.comment = !raw.contains(COMMENT_END);
            return Piece::Other(raw);
        }
        let mark = fence(raw);
        match (self.fence, mark) {
            (Some((open, most)), Some((c, n, is_bare))) if c == open && n >= most && is_bare => {
                self.fence = None
            }
            (None, Some((c, n, _))) => self.fence = Some((c, n)),
            (None, None) => {
                let opened = raw.rfind("<!--");
                self.comment = opened.is_some_and(|at| !raw[at..].contains(COMMENT_END));
                if !self.comment {
                    return item(raw).map_or(Piece::Other(raw), Piece::Item);
                }
            }
            _ => {}
        }
        Piece::Other(raw)
    }
}

/// Returns the fence of a code block: its character, its length, and whether nothing follows.
fn fence(raw: &str) -> Option<(char, usize, bool)> {
    let line = raw.trim_start_matches(' ');
    let c = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(c);
    let n = line.len() - rest.len();
    (n >= 3 && raw.len() - line.len() <= 3).then(|| (c, n, rest.trim().is_empty()))
}

fn item(raw: &str) -> Option<Item<'_>> {
    let line = raw.trim_start();
    let bullet = match line.chars().next()? {
        '-' | '*' | '+' => 1,
        '0'..='9' => {
            let digits = line.find(|c: char| !c.is_ascii_digit())?;
            (digits <= 9 && line[digits..].starts_with(['.', ')'])).then_some(digits + 1)?
        }
        _ => return None,
    };
    let after = line[bullet..].trim_start_matches([' ', '\t']);
    let open = raw.len() - after.len() + 1;
    let inside = after.strip_prefix('[').filter(|_| after.len() < line.len() - bullet)?;
    let mark = inside.chars().next().filter(|c| matches!(c, ' ' | 'x' | 'X'))?;
    inside[1..].strip_prefix("] ").or_else(|| inside[1..].strip_prefix("]\t"))?;
    let head = &raw[..open];
    let text = flat(&own_text(raw, head));
    let label = label(raw).and_then(|(at, end)| {
        let json = raw[at..end].strip_prefix("<!-- ptc ")?.strip_suffix(COMMENT_END)?;
        serde_json::from_str::<Label>(json.trim()).ok().filter(|label| super::is_id(&label.id))
    });
    (!text.is_empty()).then_some(Item { raw, head, done: mark != ' ', text, label })
}

/// Returns the range of the hidden comment in a line.
fn label(raw: &str) -> Option<(usize, usize)> {
    let at = raw.rfind(LABEL_START)?;
    Some((at, at + raw[at..].find(COMMENT_END)? + COMMENT_END.len()))
}

/// Returns the text that people wrote in a line: without bullet, tick and hidden comment.
fn own_text(raw: &str, head: &str) -> String {
    let start = (head.len() + 2).min(raw.len());
    match label(raw).filter(|(at, _)| *at >= start) {
        Some((at, end)) => format!("{} {}", raw[start..at].trim(), raw[end..].trim()).trim().to_string(),
        None => raw[start..].trim().to_string(),
    }
}

/// Joins a text to one line, as plans have it.
fn flat(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("@\u{200b}", "@")
}

/// Prepares text from a plan for an issue: one line that opens no comment and mentions nobody.
fn clean(text: &str) -> String {
    flat(text).replace("<!--", "&lt;!--").replace(COMMENT_END, "--&gt;").replace('@', "@\u{200b}")
}

fn end_of_line(raw: &str) -> &str {
    &raw[raw.trim_end_matches(['\r', '\n']).len()..]
}

/// Appends whole lines to a text whose last line may lack its end.
fn append(text: &mut String, lines: &str, eol: &str) {
    if !lines.is_empty() && !text.is_empty() && !text.ends_with('\n') {
        text.push_str(eol);
    }
    text.push_str(lines);
}

pub(super) fn blank_line(text: &mut String, eol: &str) {
    if !text.is_empty() {
        let ends = text.ends_with("\n\n") || text.ends_with("\n\r\n");
        let lines = if ends {
            0
        } else if text.ends_with('\n') {
            1
        } else {
            2
        };
        text.push_str(&eol.repeat(lines));
    }
}
