//! Compiles an OpenAPI document to the selected operations.

use super::refs::Document;
use crate::client::Tool;
use crate::config::{OpenApiSettings, Override};
use serde_json::{Map, Value, json};
use url::Url;

/// A selected operation, ready to be called.
pub(super) struct Operation {
    pub tool: Tool,
    /// Path with `{name}` as placeholder for values.
    pub path: String,
    pub path_params: Vec<String>,
    pub query_params: Vec<String>,
    pub defaults: Map<String, Value>,
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Compiles the selected operations, in the order of the configuration; the error names one that cannot be used.
pub(super) fn compile(document: &Value, settings: &OpenApiSettings) -> Result<Vec<Operation>, String> {
    let version = document.get("openapi").and_then(Value::as_str).unwrap_or_default();
    if !version.starts_with("3.0") && !version.starts_with("3.1") {
        return Err("has a document that is not OpenAPI 3.0 or 3.1".to_string());
    }
    let document = Document(document);
    let mut operations: Vec<Operation> = Vec::new();
    for id in &settings.include_operations {
        let fail = |problem: String| format!("cannot offer the operation '{id}': {problem}");
        let found = find(&document, id).ok_or_else(|| fail("it is not in the document".into()))?;
        let made = found.compile(&document, settings, settings.operation_overrides.get(id)).map_err(fail)?;
        if operations.iter().any(|other| other.tool.name == made.tool.name) {
            return Err(fail(format!("another operation has the name '{}', too", made.tool.name)));
        }
        operations.push(made);
    }
    Ok(operations)
}

/// An operation and its place in the document.
struct DescribedOperation<'d> {
    id: String,
    method: &'static str,
    path: &'d str,
    item: &'d Value,
    operation: &'d Value,
}

fn find<'d>(document: &Document<'d>, id: &str) -> Option<DescribedOperation<'d>> {
    for (path, item) in document.0.get("paths")?.as_object()? {
        let Ok(item) = document.follow(item) else { continue };
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let own = operation.get("operationId").and_then(Value::as_str);
            // Many documents give their operations no ids, so `METHOD /path` works too.
            let is_meant = own == Some(id)
                || id
                    .split_once(' ')
                    .is_some_and(|(verb, at)| verb.eq_ignore_ascii_case(method) && at == path);
            if is_meant {
                return Some(DescribedOperation {
                    id: own.unwrap_or(id).to_string(),
                    method,
                    path,
                    item,
                    operation,
                });
            }
        }
    }
    None
}

impl<'d> DescribedOperation<'d> {
    fn compile(
        &self,
        document: &Document<'d>,
        settings: &OpenApiSettings,
        change: Option<&Override>,
    ) -> Result<Operation, String> {
        if self.method != "get" {
            return Err(format!("it is a {}, and only GET is supported", self.method.to_uppercase()));
        }
        if self.operation.get("deprecated") == Some(&Value::Bool(true)) {
            return Err("it is deprecated".into());
        }
        if self.operation.get("requestBody").is_some() {
            return Err("it has a request body".into());
        }
        self.check_servers(&settings.base_url)?;
        let text = |key: &str| self.operation.get(key).and_then(Value::as_str).map(str::to_string);
        let defaults = match change.and_then(|change| change.default_args.clone()) {
            Some(defaults) => defaults,
            None => match self.operation.get("x-ptc-default-args") {
                None => Map::new(),
                Some(Value::Object(defaults)) => defaults.clone(),
                Some(_) => return Err("its x-ptc-default-args must be an object".into()),
            },
        };
        let params = self.params(document)?;
        if let Some(unknown) = defaults.keys().find(|key| !params.iter().any(|param| param.name == **key)) {
            return Err(format!("it has a default for '{unknown}', which is not one of its parameters"));
        }
        let mut properties = Map::new();
        for param in &params {
            properties.insert(param.name.to_string(), param.schema.clone());
        }
        let is_required = |param: &&Param<'_>| param.is_required && !defaults.contains_key(param.name);
        let required: Vec<&str> = params.iter().filter(is_required).map(|param| param.name).collect();
        let given = change.and_then(|change| change.name.clone()).or_else(|| text("x-ptc-name"));
        let name = tool_name(given.as_deref().unwrap_or(&self.id));
        if name.is_empty() {
            return Err("its name has no letters".into());
        }
        let tool = Tool {
            description: change
                .and_then(|change| change.description.clone())
                .or_else(|| text("description"))
                .or_else(|| text("summary")),
            input_schema: json!({"type": "object", "properties": properties, "required": required}),
            output_schema: Some(self.output(document)?),
            annotations: Some(json!({"readOnlyHint": true})),
            provenance: Some(json!({
                "transport": "openapi", "operationId": self.id, "method": "GET", "path": self.path,
                "defaultArgs": defaults,
            })),
            name,
        };
        let names = |in_path: bool| {
            params
                .iter()
                .filter(|param| param.in_path == in_path)
                .map(|param| param.name.to_string())
                .collect()
        };
        Ok(Operation {
            tool,
            path: self.path.to_string(),
            path_params: names(true),
            query_params: names(false),
            defaults,
        })
    }

    /// Refuses an operation that names other servers: requests would leave the configured origin.
    fn check_servers(&self, base: &Url) -> Result<(), String> {
        for holder in [self.item, self.operation] {
            for server in holder.get("servers").and_then(Value::as_array).into_iter().flatten() {
                let url = server.get("url").and_then(Value::as_str).unwrap_or_default();
                let is_elsewhere = match base.join(url) {
                    Ok(url) => url.origin() != base.origin(),
                    Err(_) => true,
                };
                if is_elsewhere {
                    return Err("it has its own server, whose origin is not that of base_url".into());
                }
            }
        }
        Ok(())
    }

    fn params(&self, document: &Document<'d>) -> Result<Vec<Param<'d>>, String> {
        let mut params: Vec<Param<'d>> = Vec::new();
        for holder in [self.item, self.operation] {
            for param in holder.get("parameters").and_then(Value::as_array).into_iter().flatten() {
                let param = Param::read(document, document.follow(param)?)?;
                // Parameters of the operation come after those of the path, and override them.
                params.retain(|known| (known.name, known.in_path) != (param.name, param.in_path));
                if params.iter().any(|known| known.name == param.name) {
                    return Err(format!("it has two parameters '{}'", param.name));
                }
                params.push(param);
            }
        }
        for name in placeholders(self.path) {
            if !params.iter().any(|param| param.in_path && param.name == name) {
                return Err(format!("its path has {{{name}}}, which is not declared"));
            }
        }
        params.retain(|param| !param.in_path || placeholders(self.path).any(|name| name == param.name));
        Ok(params)
    }

    /// Builds the schema of its responses.
    fn output(&self, document: &Document<'d>) -> Result<Value, String> {
        let responses = self.operation.get("responses").and_then(Value::as_object);
        let mut output = None;
        let mut successes = 0;
        for (status, response) in
            responses.into_iter().flatten().filter(|(status, _)| status.starts_with('2'))
        {
            successes += 1;
            let content = document.follow(response)?.get("content").and_then(Value::as_object);
            let Some(content) = content.filter(|content| !content.is_empty()) else { continue };
            let Some((_, media)) = content.iter().find(|(kind, _)| is_json(kind)) else {
                return Err(format!("its reply {status} is not JSON"));
            };
            let schema = media.get("schema").map_or(json!({}), |schema| document.schema(schema));
            output = output.or(Some(schema));
        }
        match successes {
            0 => Err("it describes no successful reply".into()),
            _ => Ok(output.unwrap_or_else(|| json!({"type": "null"}))),
        }
    }
}

struct Param<'d> {
    name: &'d str,
    in_path: bool,
    is_required: bool,
    schema: Value,
}

impl<'d> Param<'d> {
    fn read(document: &Document<'d>, value: &'d Value) -> Result<Param<'d>, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let name = text("name").filter(|name| !name.is_empty()).ok_or("it has a parameter without a name")?;
        let in_path = match text("in") {
            Some("path") => true,
            Some("query") => false,
            Some(place @ ("header" | "cookie")) => {
                return Err(format!("its parameter '{name}' is in the {place}"));
            }
            _ => return Err(format!("its parameter '{name}' is neither in the path nor in the query")),
        };
        if value.get("content").is_some() {
            return Err(format!("its parameter '{name}' has `content`, which is not supported"));
        }
        let mut schema = document.schema(value.get("schema").unwrap_or(&json!({})));
        if let (Some(map), Some(about)) = (schema.as_object_mut(), text("description")) {
            map.entry("description").or_insert_with(|| about.into());
        }
        let is_required = in_path || value.get("required") == Some(&Value::Bool(true));
        Ok(Param { name, in_path, is_required, schema })
    }
}

/// Returns the placeholder names of a path.
pub(super) fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name)
}

fn is_json(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media == "application/json" || media.ends_with("+json") || media == "*/*"
}

/// Returns the tool's name for an operation: `listTraces` and `list_traces` become `list-traces`.
fn tool_name(given: &str) -> String {
    let mut name = String::new();
    let mut after_small = false;
    for c in given.trim().chars() {
        if after_small && c.is_uppercase() {
            name.push('-');
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
        match c.is_alphanumeric() || c == '.' {
            true => name.extend(c.to_lowercase()),
            false if !name.ends_with('-') => name.push('-'),
            false => {}
        }
    }
    name.trim_matches('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_with_hyphens() {
        for (given, wanted) in [
            ("listTraces", "list-traces"),
            ("list_traces", "list-traces"),
            (" getV2 ", "get-v2"),
            ("repos/get", "repos-get"),
            ("--", ""),
        ] {
            assert_eq!(tool_name(given), wanted);
        }
        assert_eq!(placeholders("/a/{b}/c/{d-e}").collect::<Vec<_>>(), ["b", "d-e"]);
    }
}
