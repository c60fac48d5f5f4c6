//! The arguments of `lisp_task`.

use crate::args::{context, kind, known};
use crate::settings::Settings;
use serde_json::{Map, Value, json};

/// What is to be done.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskArgs {
    /// The task, in words.
    pub task: String,
    /// Data, by name.
    pub context: Map<String, Value>,
    /// What the answer should keep to.
    pub constraints: Constraints,
}

/// What an answer should keep to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Constraints {
    /// Most items of a list.
    pub max_items: Option<u64>,
    /// Fields that matter most.
    pub preferred_fields: Vec<String>,
    /// Constraints that nobody knows.
    pub unsupported: Vec<String>,
}

impl TaskArgs {
    /// Reads the arguments; the error is for the client, and says what to send.
    ///
    /// ```
    /// use ptc_mcp::{Settings, task::TaskArgs};
    /// let args = serde_json::json!({"task": " ", "context": null});
    /// let error = TaskArgs::read(args.as_object().unwrap().clone(), &Settings::default()).unwrap_err();
    /// assert_eq!(error, "argument `task` must be a non-empty string");
    /// ```
    pub fn read(mut args: Map<String, Value>, settings: &Settings) -> Result<TaskArgs, String> {
        known(&args, &["task", "context", "constraints"])?;
        let task = match args.remove("task") {
            None | Some(Value::Null) => return Err("argument `task` is required".to_string()),
            Some(Value::String(task)) if task.trim().is_empty() => {
                return Err("argument `task` must be a non-empty string".to_string());
            }
            Some(Value::String(task)) => task.trim().to_string(),
            Some(other) => return Err(format!("argument `task` must be a string, got {}", kind(&other))),
        };
        let (size, most) = (task.len() as u64, settings.max_program_bytes);
        if size > most {
            return Err(format!("argument `task` exceeds max_program_bytes ({size} > {most})"));
        }
        let context = context(args.remove("context"), settings)?;
        if context.contains_key("call") {
            return Err(
                "argument `context`: the key `call` is taken: it is how servers are called".to_string()
            );
        }
        Ok(TaskArgs { task, context, constraints: Constraints::read(args.remove("constraints"), settings)? })
    }

    /// What the model is told to do.
    pub(super) fn mission(&self) -> String {
        let Constraints { max_items, preferred_fields, .. } = &self.constraints;
        let mut lines = Vec::new();
        lines.extend(max_items.map(|most| format!("- At most {most} items.")));
        if !preferred_fields.is_empty() {
            lines.push(format!("- Of the fields there are, prefer these: {}.", preferred_fields.join(", ")));
        }
        match lines.is_empty() {
            true => self.task.clone(),
            false => format!("{}\n\nThe answer keeps to this:\n{}", self.task, lines.join("\n")),
        }
    }
}

impl Constraints {
    fn read(given: Option<Value>, settings: &Settings) -> Result<Constraints, String> {
        let given = match given {
            None | Some(Value::Null) => return Ok(Constraints::default()),
            Some(Value::Object(given)) => given,
            Some(other) => {
                return Err(format!("argument `constraints` must be a JSON object, got {}", kind(&other)));
            }
        };
        let (size, most) = (ptc_upstream::json_bytes(&given), settings.max_context_bytes);
        if size > most {
            return Err(format!("argument `constraints` exceeds max_context_bytes ({size} > {most})"));
        }
        let mut constraints = Constraints::default();
        for (name, value) in given {
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

    /// What the client should know of constraints that were passed over.
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
