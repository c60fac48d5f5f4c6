//! Replies of agents that answer in text: the text itself, or data in it.

use super::state::{Continuation, Mission, TurnOutcome, fail_datum};
use super::step::{Fail, Turn};
use crate::protocol::extract_json;
use ptc_bytecode::calendar::read_instant;
use ptc_bytecode::{Datum, Node};
use ptc_contract::signature::{Style, Type};
use ptc_model::LlmResponse;
use ptc_runtime::bridge::json_to_datum;
use serde_json::Value;

impl Mission {
    /// Handles a reply that should be the answer.
    pub(super) fn text_reply(&mut self, reply: &LlmResponse, turn: &mut Turn) -> Result<TurnOutcome, Fail> {
        self.state.messages.push(reply.to_message());
        let left = self.left_after();
        let is_last = left.work_left == 0 && left.retry_left == 0;
        if reply.text().trim().is_empty() {
            let fail = Fail::new("empty_response", "the reply has no text");
            turn.result = fail_datum(&fail);
            if is_last {
                return Err(fail);
            }
            let feedback = self.feedback(|feedback| feedback.empty_reply().finish(None));
            return Ok(Continuation::failed(feedback).into());
        }
        let returns = self.agent.signature().returns.clone();
        let problem = match answer(&returns, reply.text()) {
            Err(message) => Fail::new("json_parse_error", message),
            Ok(value) => {
                let value = scalar(&returns, value);
                turn.result = Some(value.clone());
                self.place.secrets().learn(&value);
                match self.fits(&value) {
                    Ok(tolerated) => {
                        self.state.warnings.extend(tolerated);
                        let value = dated(&returns, value);
                        turn.result = Some(value.clone());
                        return Ok(TurnOutcome::Done(value));
                    }
                    Err(rejected) => {
                        let lines: Vec<String> = rejected.errors.iter().map(ToString::to_string).collect();
                        Fail::new("validation_error", lines.join("; "))
                    }
                }
            }
        };
        turn.result = fail_datum(&problem);
        if is_last {
            return Err(problem);
        }
        let shape = match returns.required().fields() {
            Some(_) => format!("JSON of the shape {}", returns.render(Style::Public)),
            None => format!("a value of the type {}", returns.render(Style::Public)),
        };
        self.state.last_fail = Some(problem.clone());
        let feedback =
            self.feedback(|feedback| feedback.bad_final(&problem.message, &shape, reply.text()).finish(None));
        Ok(Continuation::failed(feedback).into())
    }
}

/// Converts numbers and truth values in other spellings to the type of the result (`True`, `42.0`, `"42"`), since a
/// final text is not typed. Any other mismatch is left for the contract to refuse.
fn scalar(returns: &Type, value: Datum) -> Datum {
    let base = base(returns);
    let text = match value.nodes() {
        [Node::Str(text)] => text.trim(),
        _ => "",
    };
    let read = match (base, value.nodes()) {
        (Type::Bool, [Node::Str(_)]) if text.eq_ignore_ascii_case("true") => Some(Node::Bool(true)),
        (Type::Bool, [Node::Str(_)]) if text.eq_ignore_ascii_case("false") => Some(Node::Bool(false)),
        (Type::Int, [Node::Float(x)]) => whole(*x),
        (Type::Int, [Node::Str(_)]) => text.parse().ok().map(Node::Int).or_else(|| whole(text.parse().ok()?)),
        (Type::Float, [Node::Int(n)]) => Some(Node::Float(*n as f64)),
        (Type::Float, [Node::Str(_)]) => text.parse().ok().filter(|x: &f64| x.is_finite()).map(Node::Float),
        _ => None,
    };
    read.map_or(value, Datum::scalar)
}

/// Returns the type without its optionality and bounds.
fn base(returns: &Type) -> &Type {
    match returns.required() {
        Type::And(inner, _) => inner.required(),
        other => other,
    }
}

/// Converts text to a point in time, since JSON has none. The contract has been checked already.
fn dated(returns: &Type, value: Datum) -> Datum {
    match (base(returns), value.nodes()) {
        (Type::DateTime, [Node::Str(text)]) => match read_instant(text) {
            Some(micros) => Datum::scalar(Node::Instant(micros)),
            None => value,
        },
        _ => value,
    }
}

/// Returns the integer of a float. Beyond 2^53 floats skip integers, so such numbers are left alone.
fn whole(x: f64) -> Option<Node> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (x.fract() == 0.0 && x.abs() <= EXACT).then_some(Node::Int(x as i64))
}

/// Parses the data that a final text stands for.
fn answer(returns: &Type, text: &str) -> Result<Datum, String> {
    if returns.required().is_text() {
        return Ok(Datum::scalar(Node::Str(text.into())));
    }
    let data = |value: &Value| json_to_datum(value).map_err(|error| error.to_string());
    let base = base(returns);
    let is_scalar = matches!(
        base,
        Type::Int | Type::Float | Type::Bool | Type::DateTime | Type::Keyword | Type::Enum(_) | Type::Nil
    );
    if is_scalar {
        let trimmed = text.trim();
        return match (serde_json::from_str::<Value>(trimmed), extract_json(text)) {
            (Ok(value), _) => data(&value),
            // For these types, a bare word is a value.
            _ if matches!(base, Type::DateTime | Type::Keyword | Type::Enum(_)) => {
                Ok(Datum::scalar(Node::Str(trimmed.trim_start_matches(':').into())))
            }
            // Python's spelling of truth values; `scalar` converts it.
            _ if *base == Type::Bool
                && ["true", "false"].iter().any(|word| trimmed.eq_ignore_ascii_case(word)) =>
            {
                Ok(Datum::scalar(Node::Str(trimmed.into())))
            }
            (_, Ok(value)) => data(&value),
            _ => Err(format!("`{}` is not valid JSON", ptc_contract::data::head(trimmed, 100))),
        };
    }
    let value = extract_json(text).map_err(|error| error.to_string())?;
    // Providers that check answers only accept objects at the top, so lists arrive inside one.
    match (&value, base) {
        (Value::Object(object), Type::List(_)) if object.len() == 1 => match object.get("items") {
            Some(items) => data(items),
            None => data(&value),
        },
        _ => data(&value),
    }
}
