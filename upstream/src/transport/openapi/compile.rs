//! Compiles an OpenAPI document to the selected operations.

use super::body::{Body, is_json};
use super::params::{self, Described, Param, Part};
use super::refs::Document;
use super::security::Schemes;
use super::{pages, server};
use crate::client::{LateSchema, Tool};
use crate::config::{Method, OpenApiSettings, Override};
use crate::credentials::{Headers, Place};
use crate::glob::{is_pattern, matches};
use crate::size::json_bytes;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use url::Url;

/// Maximum number of reasons that one warning about left out operations gives.
const REASONS: usize = 5;

/// Maximum size of the arguments of all operations together, in bytes of JSON: a few lines that many operations refer to
/// describe more than fits in memory.
const BYTES: u64 = 64 << 20;

/// A selected operation, ready to be called.
pub(super) struct Operation {
    pub tool: Tool,
    pub method: Method,
    /// Path that `path` is added to.
    pub base_path: String,
    /// Path with `{name}` as placeholder for values.
    pub path: String,
    pub params: Vec<Param>,
    pub body: Option<Body>,
    pub defaults: Map<String, Value>,
    /// Security schemes whose credentials are sent.
    pub schemes: Vec<String>,
    /// Media types of its replies.
    pub accept: String,
    /// Schema of its replies.
    pub output: LateSchema,
}

/// The selected operations of a document.
pub(super) struct Compiled {
    pub base: Url,
    pub schemes: Schemes,
    pub operations: Vec<Operation>,
    /// Operations that a pattern selects and that cannot be offered.
    pub warnings: Vec<String>,
}

/// Compiles the selected operations, in the order of the configuration; the error names one that cannot be used.
pub(super) fn compile(
    document: &Arc<Value>,
    settings: &OpenApiSettings,
    headers: &Headers,
) -> Result<Compiled, String> {
    let version = document.get("openapi").and_then(Value::as_str).unwrap_or_default();
    if !version.starts_with("3.0") && !version.starts_with("3.1") {
        return Err("has a document that is not OpenAPI 3.0 or 3.1".to_string());
    }
    let shared = document;
    let document = Document(document);
    let base = server::base(&document, settings)?;
    let schemes = Schemes::read(&document, headers)?;
    let reading = Reading { shared, document: &document, settings, headers, base: &base, schemes: &schemes };
    let all = described(&document);
    let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, operation) in all.iter().enumerate() {
        if let Some(id) = operation.own_id {
            by_id.entry(id).or_insert(n);
        }
    }
    let mut operations: Vec<Operation> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    let (mut chosen, mut left_out): (HashSet<usize>, Vec<String>) = (HashSet::new(), Vec::new());
    let mut bytes = 0;
    let mut fits = |made: &Operation| {
        bytes += json_bytes(&made.tool.input_schema);
        if bytes <= BYTES { Ok(()) } else { Err("the arguments of all operations are too large".to_string()) }
    };
    for id in &settings.include_operations {
        let fail = |problem: String| format!("cannot offer the operation '{id}': {problem}");
        let named = by_id.get(&**id).copied().or_else(|| all.iter().position(|one| one.is_at(id)));
        match named {
            Some(n) => {
                let made = reading.compile(&all[n], id, true).map_err(fail)?;
                fits(&made).map_err(fail)?;
                if names.contains(&made.tool.name) {
                    return Err(fail(format!("another operation has the name '{}', too", made.tool.name)));
                }
                chosen.insert(n);
                names.insert(made.tool.name.clone());
                operations.push(made);
            }
            None if is_pattern(id) => {
                let before = chosen.len();
                for (n, one) in all.iter().enumerate() {
                    if chosen.contains(&n) || !one.fits(id) || !reading.offers(one.method) {
                        continue;
                    }
                    chosen.insert(n);
                    let own = one.id();
                    let made = reading.compile(one, &own, false);
                    let mut made = match made.and_then(|made| fits(&made).map(|()| made)) {
                        Ok(made) => made,
                        Err(problem) => {
                            left_out.push(format!("'{own}': {problem}"));
                            continue;
                        }
                    };
                    if names.contains(&made.tool.name) {
                        made.tool.name = format!("{}-{}", made.tool.name, made.method.name());
                    }
                    match names.insert(made.tool.name.clone()) {
                        true => operations.push(made),
                        false => {
                            left_out.push(format!("'{own}': another operation has its name"));
                        }
                    }
                }
                if chosen.len() == before {
                    return Err(fail("no operation of the document fits the pattern".into()));
                }
            }
            None => return Err(fail("it is not in the document".into())),
        }
    }
    let mut warnings = Vec::new();
    if !left_out.is_empty() {
        let count = left_out.len();
        let more = if count > REASONS { ", …" } else { "" };
        left_out.truncate(REASONS);
        warnings.push(format!("{count} operations were left out: {}{more}", left_out.join(", ")));
    }
    Ok(Compiled { base, schemes, operations, warnings })
}

/// Returns all operations of a document, in its order.
fn described<'d>(document: &Document<'d>) -> Vec<DescribedOperation<'d>> {
    let mut all = Vec::new();
    for (path, item) in document.0.get("paths").and_then(Value::as_object).into_iter().flatten() {
        let Ok(item) = document.follow(item) else { continue };
        for method in Method::ALL {
            let Some(operation) = item.get(method.name()) else { continue };
            let own_id = operation.get("operationId").and_then(Value::as_str);
            all.push(DescribedOperation { own_id, method, path, item, operation });
        }
    }
    all
}

/// An operation and its place in the document.
struct DescribedOperation<'d> {
    own_id: Option<&'d str>,
    method: Method,
    path: &'d str,
    item: &'d Value,
    operation: &'d Value,
}

impl DescribedOperation<'_> {
    /// Returns whether it is `METHOD /path`: many documents give their operations no ids.
    fn is_at(&self, id: &str) -> bool {
        id.split_once(' ')
            .is_some_and(|(verb, at)| verb.eq_ignore_ascii_case(self.method.name()) && at == self.path)
    }

    fn place(&self) -> String {
        format!("{} {}", self.method.name().to_uppercase(), self.path)
    }

    fn id(&self) -> String {
        let own = self.own_id.filter(|id| !id.trim().is_empty());
        own.map_or_else(|| self.place(), str::to_string)
    }

    /// Returns whether a pattern selects it.
    fn fits(&self, pattern: &str) -> bool {
        self.own_id.is_some_and(|id| matches(pattern, id)) || matches(pattern, &self.place())
    }

    fn is_deprecated(&self) -> bool {
        self.operation.get("deprecated") == Some(&Value::Bool(true))
    }
}

/// Context for compiling operations.
struct Reading<'r, 'd> {
    shared: &'r Arc<Value>,
    document: &'r Document<'d>,
    settings: &'r OpenApiSettings,
    headers: &'r Headers,
    base: &'r Url,
    schemes: &'r Schemes,
}

impl<'d> Reading<'_, 'd> {
    /// Returns whether only GET operations with JSON replies are offered.
    fn is_narrow(&self) -> bool {
        self.settings.methods.is_none()
    }

    fn offers(&self, method: Method) -> bool {
        self.settings.methods.as_ref().map_or(method == Method::Get, |methods| methods.contains(&method))
    }

    /// Compiles one operation. `is_named` tells that the configuration names it, rather than selecting it by a pattern.
    fn compile(&self, found: &DescribedOperation<'d>, id: &str, is_named: bool) -> Result<Operation, String> {
        let (narrow, operation) = (self.is_narrow(), found.operation);
        if !self.offers(found.method) {
            let method = found.method.name().to_uppercase();
            return Err(match narrow {
                true => format!(
                    "it is a {method}, and only GET is supported unless `methods` lists \"{}\"",
                    found.method.name()
                ),
                false => format!("it is a {method}, which `methods` does not list"),
            });
        }
        if found.is_deprecated() && (narrow || !is_named) {
            return Err("it is deprecated".into());
        }
        if narrow && operation.get("requestBody").is_some() {
            return Err("it has a request body, which needs the setting `methods`".into());
        }
        let own_path = server::own_path(self.base, [found.item, operation])?;
        let change = self.settings.operation_overrides.get(found.own_id.unwrap_or(id));
        let change = change.or_else(|| self.settings.operation_overrides.get(id));
        let defaults = defaults(operation, change)?;
        let mut params =
            params::read(self.document, [found.item, operation], found.path, narrow, self.headers)?;
        params.retain(|described| !self.is_credential(&described.param));
        let mut arguments: Vec<(String, Value, bool)> = Vec::new();
        for Described { param, is_required, schema } in &params {
            arguments.push((param.arg.clone(), schema.clone(), *is_required));
        }
        let taken: HashSet<String> = arguments.iter().map(|(name, ..)| name.clone()).collect();
        let request = match operation.get("requestBody").filter(|_| !narrow) {
            Some(body) => Body::read(self.document, self.document.follow(body)?, &taken)?,
            None => None,
        };
        let body = request.map(|(body, fields)| {
            arguments.extend(fields.into_iter().map(|field| (field.name, field.schema, field.is_required)));
            body
        });
        let is_known = |key: &String| {
            arguments.iter().any(|(name, ..)| name == key)
                || body.as_ref().is_some_and(|body| body.takes(key))
        };
        if let Some(unknown) = defaults.keys().find(|key| !is_known(key)) {
            return Err(format!("it has a default for '{unknown}', which is not one of its parameters"));
        }
        let text = |key: &str| operation.get(key).and_then(Value::as_str);
        let given = change.and_then(|change| change.name.as_deref()).or_else(|| text("x-ptc-name"));
        let name = tool_name(given.unwrap_or(found.own_id.filter(|id| !id.trim().is_empty()).unwrap_or(id)));
        if name.is_empty() {
            return Err("its name has no letters".into());
        }
        let accept = self.accept(operation)?;
        let mut provenance = json!({
            "transport": "openapi", "operationId": found.own_id.unwrap_or(id),
            "method": found.method.name().to_uppercase(), "path": found.path, "defaultArgs": defaults,
        });
        if let Some(pages) = pages::hint(arguments.iter().map(|(name, ..)| &**name))
            && found.method == Method::Get
        {
            provenance["pages"] = pages;
        }
        let required: Vec<&str> = arguments
            .iter()
            .filter(|(name, _, is_required)| *is_required && !defaults.contains_key(name))
            .map(|(name, ..)| &**name)
            .collect();
        let mut input = json!({"type": "object", "required": required});
        input["properties"] = arguments
            .iter()
            .map(|(name, schema, _)| (name.clone(), schema.clone()))
            .collect::<Map<_, _>>()
            .into();
        let (shared, responses) = (self.shared.clone(), operation.get("responses").cloned());
        let output = move || output(&Document(&shared), responses.as_ref(), narrow);
        let tool = Tool {
            description: change.and_then(|change| change.description.clone()).or_else(|| about(operation)),
            input_schema: input,
            output_schema: None,
            annotations: Some(annotations(found.method)),
            provenance: Some(provenance),
            name,
        };
        Ok(Operation {
            tool,
            method: found.method,
            base_path: own_path.filter(|_| !narrow).unwrap_or_else(|| self.base.path().to_string()),
            path: found.path.to_string(),
            params: params.into_iter().map(|described| described.param).collect(),
            body,
            defaults,
            schemes: self.schemes.required(self.document, operation),
            output: LateSchema::new(output),
            accept,
        })
    }

    /// Returns whether a parameter is the place of a credential: it is then none of the program's arguments.
    fn is_credential(&self, param: &Param) -> bool {
        self.schemes.holds(&match param.part {
            Part::Path => return false,
            Part::Query => Place::Query(param.name.clone()),
            Part::Header => Place::Header(param.name.to_lowercase()),
            Part::Cookie => Place::Cookie(param.name.clone()),
        })
    }

    /// Returns the media types of its successful replies, as `Accept` lists them.
    fn accept(&self, operation: &Value) -> Result<String, String> {
        let mut others: Vec<&str> = Vec::new();
        let (mut successes, mut has_json) = (0, false);
        let responses = operation.get("responses").and_then(Value::as_object);
        for (status, response) in responses.into_iter().flatten().filter(|(status, _)| is_success(status)) {
            successes += 1;
            let content = self.document.follow(response)?.get("content").and_then(Value::as_object);
            let Some(content) = content.filter(|content| !content.is_empty()) else { continue };
            if content.keys().any(|media| is_json(media)) {
                has_json = true;
                continue;
            }
            if self.is_narrow() {
                return Err(format!("its reply {status} is not JSON, which needs the setting `methods`"));
            }
            others.extend(
                content.keys().map(String::as_str).filter(|media| crate::config::is_header_value(media)),
            );
        }
        if successes == 0 && self.is_narrow() {
            return Err("it describes no successful reply".into());
        }
        others.truncate(8);
        Ok(match (has_json || others.is_empty(), self.is_narrow()) {
            (_, true) => "application/json".to_string(),
            (true, _) => "application/json, */*;q=0.1".to_string(),
            (false, _) => format!("{}, */*;q=0.1", others.join(", ")),
        })
    }
}

fn is_success(status: &str) -> bool {
    status.starts_with('2') || status == "default"
}

/// Builds the schema of an operation's successful replies; None if they may be anything.
fn output(document: &Document<'_>, responses: Option<&Value>, narrow: bool) -> Option<Value> {
    let responses = responses.and_then(Value::as_object).into_iter().flatten();
    // What other statuses say may be an error.
    for (_, response) in responses.filter(|(status, _)| status.starts_with('2')) {
        let content = document.follow_copy(response)?;
        let Some(content) = content.get("content").and_then(Value::as_object).filter(|all| !all.is_empty())
        else {
            continue;
        };
        let Some((_, media)) = content.iter().find(|(kind, _)| is_json(kind)) else {
            let is_text = content.keys().all(|media| media.starts_with("text/"));
            return is_text.then(|| json!({"type": "string"}));
        };
        return Some(media.get("schema").map_or(json!({}), |schema| document.schema(schema)));
    }
    narrow.then(|| json!({"type": "null"}))
}

fn defaults(operation: &Value, change: Option<&Override>) -> Result<Map<String, Value>, String> {
    match change.and_then(|change| change.default_args.clone()) {
        Some(defaults) => Ok(defaults),
        None => match operation.get("x-ptc-default-args") {
            None => Ok(Map::new()),
            Some(Value::Object(defaults)) => Ok(defaults.clone()),
            Some(_) => Err("its x-ptc-default-args must be an object".into()),
        },
    }
}

/// Returns what an operation does: its summary, and its description if that says more.
fn about(operation: &Value) -> Option<String> {
    let text =
        |key: &str| operation.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    match (text("summary"), text("description")) {
        (Some(summary), Some(more)) if more.starts_with(summary.trim_end_matches('.')) => {
            Some(more.to_string())
        }
        (Some(summary), Some(more)) => Some(format!("{}. {more}", summary.trim_end_matches('.'))),
        (one, other) => one.or(other).map(str::to_string),
    }
}

/// Returns what the method says about the effect of a call.
fn annotations(method: Method) -> Value {
    match method {
        _ if method.is_read_only() => json!({"readOnlyHint": true}),
        Method::Delete => json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true}),
        Method::Put => json!({"readOnlyHint": false, "idempotentHint": true}),
        _ => json!({"readOnlyHint": false}),
    }
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
            ("GET /pets/{petId}", "get-pets-pet-id"),
            ("--", ""),
        ] {
            assert_eq!(tool_name(given), wanted);
        }
        assert_eq!(params::placeholders("/a/{b}/c/{d-e}").collect::<Vec<_>>(), ["b", "d-e"]);
    }
}
