//! The prompt that asks a person about calls of a program.

use crate::quantity::counted;
use ptc_bytecode::text::visible;
use ptc_runtime::effects::{Answer, Answers, Approver, Earlier, Question};
use serde_json::{Map, Value};
use std::io::{self, BufRead, Write};

/// Number of earlier calls that are shown.
const EARLIER: usize = 5;

/// Asks on standard error, and reads answers from standard input, a line each. The end of the input denies.
pub struct Prompt;

impl Approver for Prompt {
    fn ask<'a>(&'a self, questions: &'a [Question], earlier: &'a [Earlier]) -> Answers<'a> {
        let answers = ask(questions, earlier, &mut io::stdin().lock(), &mut io::stderr().lock());
        // Whoever cannot be asked has not agreed.
        Box::pin(std::future::ready(answers.unwrap_or_default()))
    }
}

/// Asks about each of these, unless an answer is for all.
fn ask(
    questions: &[Question],
    earlier: &[Earlier],
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Vec<Answer>> {
    let mut answers = Vec::new();
    if !earlier.is_empty() {
        let start = earlier.len().saturating_sub(EARLIER);
        writeln!(output, "so far: {}", counted(earlier.len() as u64, "call"))?;
        for Earlier { tool, args, outcome } in &earlier[start..] {
            writeln!(output, "  {outcome:<7} {} {}", visible(tool), visible(args))?;
        }
    }
    for (n, question) in questions.iter().enumerate() {
        show(question, (n + 1, questions.len()), output)?;
        match read(question, questions.len() - n, input, output)? {
            Reply::One(answer) => answers.push(answer),
            Reply::All => {
                answers.resize(questions.len(), Answer::Once);
                return Ok(answers);
            }
        }
    }
    Ok(answers)
}

fn show(question: &Question, (n, of): (usize, usize), output: &mut impl Write) -> io::Result<()> {
    let count = if of > 1 { format!(" ({n} of {of})") } else { String::new() };
    let args = question.shown_args();
    let gap = if args.contains('\n') { "\n" } else { " " };
    writeln!(output, "the program wants to call {}{count}:{gap}{args}", visible(&question.tool))?;
    if let (Some(line), Some(code)) = (question.line, &question.code) {
        writeln!(output, "  line {line}: {}", visible(code))?;
    }
    Ok(())
}

enum Reply {
    One(Answer),
    All,
}

fn read(
    question: &Question,
    waiting: usize,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Reply> {
    let edit = if question.editable.is_empty() { "" } else { ", [e]dit" };
    let all = if waiting > 1 { format!(", [A]ll {waiting} that wait") } else { String::new() };
    loop {
        write!(output, "[y]es, [a]ll equal calls{all}{edit}, [n]o: ")?;
        output.flush()?;
        let Some(line) = next_line(input)? else {
            writeln!(output)?;
            return Ok(Reply::One(Answer::Denied(
                "nobody answered the question whether the call may be made".into(),
            )));
        };
        let answer = match line.trim() {
            "y" | "yes" => Answer::Once,
            "a" => Answer::Equal,
            "A" if waiting > 1 => return Ok(Reply::All),
            "e" if !question.editable.is_empty() => match edited(question, input, output)? {
                Some(args) => Answer::Edited(args),
                None => continue,
            },
            "n" | "no" => {
                write!(output, "reason, for the program: ")?;
                output.flush()?;
                let reason = next_line(input)?.unwrap_or_default();
                match reason.trim() {
                    "" => Answer::Denied("a person declined the call".to_string()),
                    reason => Answer::Denied(format!("a person declined the call: {reason}")),
                }
            }
            _ => continue,
        };
        return Ok(Reply::One(answer));
    }
}

/// Asks for new values of the arguments that may be changed; None if there is no change.
fn edited(
    question: &Question,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<Map<String, Value>>> {
    let mut args = question.args.as_object().cloned().unwrap_or_default();
    for name in &question.editable {
        let before = args.get(name).cloned().unwrap_or(Value::Null);
        write!(output, "{} [{before}]: ", visible(name))?;
        output.flush()?;
        let Some(line) = next_line(input)? else { return Ok(None) };
        match line.trim() {
            "" => {}
            text => match serde_json::from_str(text) {
                Ok(value) => {
                    args.insert(name.clone(), value);
                }
                Err(error) => {
                    writeln!(output, "this is not JSON: {error}; texts need quotes")?;
                    return Ok(None);
                }
            },
        }
    }
    Ok(Some(args))
}

fn next_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    Ok((input.read_line(&mut line)? > 0).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn question(n: u64, editable: &[&str]) -> Question {
        let editable: Vec<&str> = editable.to_vec();
        let question = json!({
            "id": format!("run/{n}"), "tool": "bank.pay", "args": {"eur": n, "to": "a\u{202e}b"}, "effect": "write",
            "line": 3, "code": "(tool/pay …)", "editable": editable, "is_firewalled": false,
        });
        Question::of(&question).unwrap()
    }

    fn asked(questions: &[Question], typed: &str) -> (Vec<Answer>, String) {
        let earlier = [Earlier { tool: "bank.pay".into(), args: "{\"eur\":4}".into(), outcome: "done" }];
        let mut output = Vec::new();
        let answers = ask(questions, &earlier, &mut typed.as_bytes(), &mut output).unwrap();
        (answers, String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_person_sees_everything_and_answers() {
        let (answers, shown) = asked(&[question(5, &[])], "what\ny\n");
        assert_eq!(answers, [Answer::Once]);
        assert!(shown.contains(r#"call bank.pay: {"eur":5,"to":"a\u202eb"}"#), "{shown}");
        assert!(
            shown.contains("line 3: (tool/pay …)") && shown.contains(r#"done    bank.pay {"eur":4}"#),
            "{shown}"
        );
        assert_eq!(asked(&[question(5, &[])], "a\n").0, [Answer::Equal]);
        let denied = asked(&[question(5, &[])], "n\ntoo much\n").0;
        assert_eq!(denied, [Answer::Denied("a person declined the call: too much".into())]);
        assert!(matches!(asked(&[question(5, &[])], "").0[..], [Answer::Denied(_)]), "no answer is no");
        assert!(
            matches!(asked(&[question(5, &[])], "e\n").0[..], [Answer::Denied(_)]),
            "nothing may be edited"
        );
        let args = json!({"eur": 7, "to": "a\u{202e}b"}).as_object().cloned().unwrap();
        assert_eq!(asked(&[question(5, &["eur"])], "e\n7\n").0, [Answer::Edited(args)]);
        let all = [question(1, &[]), question(2, &[]), question(3, &[])];
        assert_eq!(asked(&all, "y\nA\n").0, [Answer::Once, Answer::Once, Answer::Once]);
        assert_eq!(asked(&all, "y\ny\ny\n").0.len(), 3);
    }
}
