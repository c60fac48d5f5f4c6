//! Arguments of tools: one table of fields gives the schema shown to clients and the reader of their arguments.

use crate::cut;
use crate::settings::Settings;
use ptc_upstream::{JsonSchema, json_kind};
use serde_json::{Map, Value, json};

/// A kind of argument: its schema and its reader. Kinds that only one tool takes are in that tool's file.
pub(crate) trait Argument {
    /// Type of the argument after reading.
    type Value;
    /// True if clients must send the argument.
    const IS_REQUIRED: bool = false;

    /// Returns the JSON Schema of the argument, without description: a string, unless the kind overrides it.
    fn schema() -> Value {
        json!({"type": "string"})
    }

    /// Reads the argument `name`; the error tells the client what to send.
    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<Self::Value, String>;
}

/// One row of a table of arguments.
pub(crate) struct Field {
    pub name: &'static str,
    pub is_required: bool,
    /// Description for clients; empty if the name says enough.
    pub description: &'static str,
    pub schema: fn() -> Value,
}

/// Declares the arguments of a tool: `name: Kind, "description";` for each. They are read in this order.
macro_rules! arguments {
    ($(#[$doc:meta])* $vis:vis struct $args:ident { $($name:ident: $kind:ty $(, $description:literal)?;)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        $vis struct $args {
            $(#[doc = concat!("Argument `", stringify!($name), "`.")] pub(crate) $name: <$kind as $crate::args::Argument>::Value,)*
        }

        impl $args {
            pub(crate) const FIELDS: &[$crate::args::Field] = &[$($crate::args::Field {
                name: stringify!($name),
                is_required: <$kind as $crate::args::Argument>::IS_REQUIRED,
                description: concat!($($description)?),
                schema: <$kind as $crate::args::Argument>::schema,
            },)*];

            /// Reads the arguments; the error tells the client what to send.
            #[allow(unused_mut, unused_variables)]
            $vis fn read(
                mut args: serde_json::Map<String, serde_json::Value>,
                settings: &$crate::settings::Settings,
            ) -> Result<$args, String> {
                $crate::args::refuse_unknown(&args, &[$(stringify!($name),)*])?;
                Ok($args {
                    $($name: <$kind as $crate::args::Argument>::read(
                        stringify!($name),
                        args.remove(stringify!($name)),
                        settings,
                    )?,)*
                })
            }
        }
    };
}
pub(crate) use arguments;

arguments! {
    /// Arguments of a program, for every tool that runs one.
    ///
    /// ```
    /// use ptc_mcp::{Settings, args::EvalArgs};
    /// let args = serde_json::json!({"programm": "(+ 1 2)"});
    /// let error = EvalArgs::read(args.as_object().unwrap().clone(), &Settings::default()).unwrap_err();
    /// assert_eq!(error, "unknown argument `programm`; did you mean `program`?");
    /// ```
    pub struct EvalArgs {
        program: Program, "A PTC-Lisp program.";
        context: Context, "Data for the program: each member `name` is read as `data/name`. Keys keep their spelling, and (:name m) finds them.";
        output_schema: OutputSchema, "What the value must look like, as a JSON Schema.";
    }
}

impl EvalArgs {
    /// Reads the arguments of a program. For `signature`, which other PTC programs take, the error names the
    /// argument to use here.
    pub(crate) fn of_call(args: Map<String, Value>, settings: &Settings) -> Result<EvalArgs, String> {
        match args.contains_key("signature") {
            true => {
                Err("argument `signature` is not supported; describe the result with `output_schema`"
                    .to_string())
            }
            false => EvalArgs::read(args, settings),
        }
    }
}

/// Returns the JSON Schema of an object with the fields of these tables.
pub(crate) fn schema(tables: &[&[Field]]) -> Value {
    let fields = || tables.iter().copied().flatten();
    let properties: Map<String, Value> = fields()
        .map(|field| {
            let mut schema = (field.schema)();
            if !field.description.is_empty() {
                schema["description"] = json!(field.description);
            }
            (field.name.to_string(), schema)
        })
        .collect();
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let required: Vec<&str> = fields().filter(|field| field.is_required).map(|field| field.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Refuses arguments that the tool does not take.
pub(crate) fn refuse_unknown(args: &Map<String, Value>, names: &[&str]) -> Result<(), String> {
    let Some(unknown) = args.keys().find(|key| !names.contains(&key.as_str())) else { return Ok(()) };
    let shown = cut::chars(unknown, 80).0;
    let near = ptc_bytecode::nearest(shown, names.iter().copied());
    Err(match (near, names) {
        (Some(near), _) => format!("unknown argument `{shown}`; did you mean `{near}`?"),
        (None, []) => "this tool takes no arguments".to_string(),
        (None, _) => format!("unknown argument `{shown}`; this tool takes {}", names.join(", ")),
    })
}

/// Returns the argument if it was sent; null counts as missing.
pub(crate) fn given(sent: Option<Value>) -> Option<Value> {
    sent.filter(|value| !value.is_null())
}

/// Reads an optional string.
pub(crate) fn text(name: &str, sent: Option<Value>) -> Result<Option<String>, String> {
    match given(sent) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("argument `{name}` must be a string, got {}", json_kind(&other))),
    }
}

/// Reads a required string that is not blank.
pub(crate) fn needed_text(name: &str, sent: Option<Value>) -> Result<String, String> {
    let text = text(name, sent)?.ok_or_else(|| format!("argument `{name}` is required"))?;
    match text.trim().is_empty() {
        true => Err(format!("argument `{name}` must be a non-empty string")),
        false => Ok(text),
    }
}

/// Returns the text if it is within `max_program_bytes`.
pub(crate) fn within_program_bytes(name: &str, text: String, settings: &Settings) -> Result<String, String> {
    let (size, most) = (text.len() as u64, settings.max_program_bytes);
    match size > most {
        true => Err(format!("argument `{name}` exceeds max_program_bytes ({size} > {most})")),
        false => Ok(text),
    }
}

/// Kind of argument: the text of a program.
pub(crate) struct Program;

impl Argument for Program {
    type Value = String;
    const IS_REQUIRED: bool = true;

    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<String, String> {
        within_program_bytes(name, needed_text(name, sent)?, settings)
    }
}

/// Kind of argument: data by name.
pub(crate) struct Context;

impl Argument for Context {
    type Value = Map<String, Value>;

    fn schema() -> Value {
        json!({"type": ["object", "null"]})
    }

    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<Map<String, Value>, String> {
        let context = match given(sent) {
            None => return Ok(Map::new()),
            Some(Value::Object(context)) => context,
            Some(other) => {
                return Err(format!(
                    "argument `{name}` must be a JSON object whose keys become data/<key>, got {}",
                    json_kind(&other)
                ));
            }
        };
        for key in context.keys() {
            if key.is_empty() {
                return Err(format!("argument `{name}`: keys must be non-empty"));
            }
            if key.contains('/') {
                let key = cut::chars(key, 80).0;
                return Err(format!("argument `{name}`: keys may not contain `/`, got {key:?}"));
            }
        }
        within_context_bytes(name, context, settings)
    }
}

/// Returns the object if it is within `max_context_bytes`.
pub(crate) fn within_context_bytes(
    name: &str,
    object: Map<String, Value>,
    settings: &Settings,
) -> Result<Map<String, Value>, String> {
    let (size, most) = (ptc_upstream::json_bytes(&object), settings.max_context_bytes);
    match size > most {
        true => Err(format!("argument `{name}` exceeds max_context_bytes ({size} > {most})")),
        false => Ok(object),
    }
}

/// Kind of argument: the schema that the result is checked against.
pub(crate) struct OutputSchema;

impl Argument for OutputSchema {
    type Value = Option<JsonSchema>;

    fn schema() -> Value {
        json!({"type": "object"})
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Option<JsonSchema>, String> {
        let schema = sent.map(JsonSchema::strict).transpose();
        schema.map_err(|error| format!("argument `{name}` is invalid: {error}"))
    }
}

/// Formats a value for an error.
pub(crate) fn shown(value: &Value) -> String {
    cut::chars(&value.to_string(), 80).0.to_string()
}
