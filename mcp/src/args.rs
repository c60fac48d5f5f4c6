//! The arguments of `lisp_eval`, checked before anything is run.

use crate::schema::OutputSchema;
use crate::settings::Settings;
use serde_json::{Map, Value};

/// What is to be run.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalArgs {
    /// The program.
    pub program: String,
    /// Data, by name.
    pub context: Map<String, Value>,
    /// What the value must look like.
    pub schema: Option<OutputSchema>,
}

impl EvalArgs {
    /// Reads the arguments; the error is for the client, and says what to send.
    ///
    /// ```
    /// use ptc_mcp::{Settings, args::EvalArgs};
    /// let settings = Settings::default();
    /// let args = serde_json::json!({"programm": "(+ 1 2)"});
    /// let error = EvalArgs::read(args.as_object().unwrap().clone(), &settings).unwrap_err();
    /// assert_eq!(error, "unknown argument `programm`; did you mean `program`?");
    /// ```
    pub fn read(mut args: Map<String, Value>, settings: &Settings) -> Result<EvalArgs, String> {
        if args.contains_key("signature") {
            return Err(
                "argument `signature` is not taken; describe the result with `output_schema`".to_string()
            );
        }
        known(&args, &["program", "context", "output_schema"])?;
        Ok(EvalArgs {
            program: program(args.remove("program"), settings)?,
            context: context(args.remove("context"), settings)?,
            schema: schema(args.get("output_schema"))?,
        })
    }
}

/// Refuses arguments that nobody takes.
pub(crate) fn known(args: &Map<String, Value>, names: &[&str]) -> Result<(), String> {
    let Some(unknown) = args.keys().find(|key| !names.contains(&key.as_str())) else { return Ok(()) };
    // Comparing takes as much memory as both are long.
    let shown = crate::cut::chars(unknown, 80).0;
    let near = names.iter().copied().find(|name| strsim::damerau_levenshtein(name, shown) <= 2);
    Err(match near {
        Some(near) => format!("unknown argument `{shown}`; did you mean `{near}`?"),
        None => format!("unknown argument `{shown}`; this tool takes {}", names.join(", ")),
    })
}

fn program(given: Option<Value>, settings: &Settings) -> Result<String, String> {
    let program = match given {
        None | Some(Value::Null) => return Err("argument `program` is required".to_string()),
        Some(Value::String(program)) => program,
        Some(other) => return Err(format!("argument `program` must be a string, got {}", kind(&other))),
    };
    if program.trim().is_empty() {
        return Err("argument `program` must be a non-empty string".to_string());
    }
    let most = settings.max_program_bytes;
    if program.len() as u64 > most {
        return Err(format!("argument `program` exceeds max_program_bytes ({} > {most})", program.len()));
    }
    Ok(program)
}

pub(crate) fn context(given: Option<Value>, settings: &Settings) -> Result<Map<String, Value>, String> {
    let context = match given {
        None | Some(Value::Null) => return Ok(Map::new()),
        Some(Value::Object(context)) => context,
        Some(other) => {
            return Err(format!(
                "argument `context` must be a JSON object whose keys become data/<key>, got {}",
                kind(&other)
            ));
        }
    };
    for key in context.keys() {
        if key.is_empty() {
            return Err("argument `context`: keys must be non-empty".to_string());
        }
        if key.contains('/') {
            let key = crate::cut::chars(key, 80).0;
            return Err(format!("argument `context`: keys may not contain `/`, got {key:?}"));
        }
    }
    let (size, most) = (ptc_upstream::json_bytes(&context), settings.max_context_bytes);
    if size > most {
        return Err(format!("argument `context` exceeds max_context_bytes ({size} > {most})"));
    }
    Ok(context)
}

fn schema(given: Option<&Value>) -> Result<Option<OutputSchema>, String> {
    let Some(schema) = given else { return Ok(None) };
    OutputSchema::read(schema)
        .map(Some)
        .map_err(|error| format!("argument `output_schema` is invalid: {error}"))
}

/// What a JSON value is, in a word.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
