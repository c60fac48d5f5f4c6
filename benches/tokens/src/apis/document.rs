//! An OpenAPI document as a client turns it into tools for a model: one tool per operation.

use super::http::encode;
use serde_json::{Map, Value, json};

/// A service, by its document.
pub struct Service {
    document: Value,
    pub port: u16,
}

impl Service {
    pub fn new(text: &str, port: u16) -> Service {
        Service { document: serde_json::from_str(text).expect("a document"), port }
    }

    fn operations(&self) -> impl Iterator<Item = (&str, &Value)> {
        let paths = self.document["paths"].as_object().expect("paths");
        paths.iter().map(|(path, item)| (path.as_str(), &item["get"]))
    }

    /// The ids of all operations.
    pub fn ids(&self) -> Vec<&str> {
        self.operations().filter_map(|(_, operation)| operation["operationId"].as_str()).collect()
    }

    /// Names, descriptions and parameters, and no more: no API for models takes schemas of results.
    pub fn tools(&self) -> Vec<Value> {
        let tool = |(_, operation): (&str, &Value)| {
            let (mut properties, mut required) = (Map::new(), Vec::new());
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().expect("a name");
                let mut schema = parameter["schema"].clone();
                if let Some(text) = parameter.get("description") {
                    schema["description"] = text.clone();
                }
                properties.insert(name.to_string(), schema);
                if parameter["required"] == true {
                    required.push(name);
                }
            }
            let mut input = json!({"type": "object", "properties": properties});
            if !required.is_empty() {
                input["required"] = json!(required);
            }
            json!({"name": operation["operationId"], "description": operation["summary"], "inputSchema": input})
        };
        self.operations().map(tool).collect()
    }

    /// The address of an operation with these arguments.
    pub fn target(&self, id: &str, args: &Value) -> Option<String> {
        let (path, _) = self.operations().find(|(_, operation)| operation["operationId"] == id)?;
        let mut path = path.to_string();
        let mut query = Vec::new();
        for (name, value) in args.as_object()? {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            let place = format!("{{{name}}}");
            match path.contains(&place) {
                true => path = path.replace(&place, &encode(&text)),
                false => query.push(format!("{name}={}", encode(&text))),
            }
        }
        Some(if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) })
    }
}
