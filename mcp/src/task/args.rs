//! Arguments of `lisp_task`.

use crate::args::{
    Argument, Context, arguments, given, needed_text, within_context_bytes, within_program_bytes,
};
use crate::settings::Settings;
use ptc_upstream::json_kind;
use serde_json::{Map, Value, json};

arguments! {
    /// Arguments of `lisp_task`.
    ///
    /// ```
    /// use ptc_mcp::{Settings, task::TaskArgs};
    /// let args = serde_json::json!({"task": " ", "context": null});
    /// let error = TaskArgs::read(args.as_object().unwrap().clone(), &Settings::default()).unwrap_err();
    /// assert_eq!(error, "argument `task` must be a non-empty string");
    /// ```
    pub struct TaskArgs {
        task: TaskText, "The task, in plain language.";
        context: TaskContext, "Data for the program: each member `name` is read as `data/name`. Keys keep their spelling, and (:name m) finds them.";
        constraints: Constraints, "Constraints on the answer.";
    }
}

/// Constraints on the answer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Constraints {
    /// Maximum number of items in a list.
    pub max_items: Option<u64>,
    /// Preferred fields.
    pub preferred_fields: Vec<String>,
    /// Names of unknown constraints.
    pub unsupported: Vec<String>,
}

impl TaskArgs {
    /// Returns the model's mission text.
    pub(super) fn mission(&self) -> String {
        let Constraints { max_items, preferred_fields, .. } = &self.constraints;
        let mut lines = Vec::new();
        lines.extend(max_items.map(|most| format!("- At most {most} items.")));
        if !preferred_fields.is_empty() {
            lines.push(format!("- Prefer these fields: {}.", preferred_fields.join(", ")));
        }
        match lines.is_empty() {
            true => self.task.clone(),
            false => format!("{}\n\nConstraints on the answer:\n{}", self.task, lines.join("\n")),
        }
    }
}

/// Kind of argument: a task in plain language.
pub(crate) struct TaskText;

impl Argument for TaskText {
    type Value = String;
    const IS_REQUIRED: bool = true;

    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<String, String> {
        let task = needed_text(name, sent)?.trim().to_string();
        within_program_bytes(name, task, settings)
    }
}

/// Kind of argument: data by name, in addition to the tool that calls servers.
pub(crate) struct TaskContext;

impl Argument for TaskContext {
    type Value = Map<String, Value>;

    fn schema() -> Value {
        Context::schema()
    }

    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<Map<String, Value>, String> {
        let context = Context::read(name, sent, settings)?;
        match context.contains_key("call") {
            true => Err(format!("argument `{name}`: the key `call` is reserved for calling servers")),
            false => Ok(context),
        }
    }
}

impl Argument for Constraints {
    type Value = Constraints;

    fn schema() -> Value {
        json!({
            "type": ["object", "null"],
            "properties": {
                "max_items": {"type": "integer", "minimum": 1},
                "preferred_fields": {"type": "array", "items": {"type": "string"}},
            },
        })
    }

    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<Constraints, String> {
        let sent = match given(sent) {
            None => return Ok(Constraints::default()),
            Some(Value::Object(sent)) => within_context_bytes(name, sent, settings)?,
            Some(other) => {
                return Err(format!("argument `{name}` must be a JSON object, got {}", json_kind(&other)));
            }
        };
        let mut constraints = Constraints::default();
        for (name, value) in sent {
            match name.as_str() {
                "max_items" => {
                    let wrong = || "argument `constraints`: `max_items` must be a whole number above zero";
                    constraints.max_items = Some(value.as_u64().filter(|most| *most > 0).ok_or_else(wrong)?);
                }
                "preferred_fields" => constraints.preferred_fields = fields(&value)?,
                _ => constraints.unsupported.push(crate::cut::chars(&name, 80).0.to_string()),
            }
        }
        Ok(constraints)
    }
}

impl Constraints {
    /// Returns warnings about ignored constraints, for the client.
    pub(super) fn warnings(&self) -> impl Iterator<Item = Value> + '_ {
        self.unsupported.iter().map(|name| json!({"code": "unsupported_constraint", "detail": name}))
    }
}

fn fields(value: &Value) -> Result<Vec<String>, String> {
    let texts = value.as_array().and_then(|items| {
        let text =
            |item: &Value| item.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_string);
        items.iter().map(text).collect::<Option<Vec<String>>>()
    });
    texts.ok_or_else(|| "argument `constraints`: `preferred_fields` must be a list of names".to_string())
}
