//! Entries in JSON files, whose comments, order and layout stay.

use super::entry::Members;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

/// Maximum nesting of a file: the parser recurses.
const MAX_DEPTH: usize = 100;

/// Returns the file with the entry under `servers`.
pub fn merged(old: &str, servers: &str, entry: &Members<'_>) -> Result<String, String> {
    if depth(old) > MAX_DEPTH {
        return Err(format!("it nests deeper than {MAX_DEPTH} levels"));
    }
    // Byte order marks come from editors on Windows.
    let (mark, text) = match old.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", old),
    };
    let root = CstRootNode::parse(text, &options()).map_err(|error| format!("this is not JSON: {error}"))?;
    let file = match root.value() {
        None => root.object_value_or_set(),
        Some(value) => value.as_object().ok_or("the file does not hold a JSON object")?,
    };
    let members = || {
        CstInputValue::Object(
            entry.members.iter().map(|(name, value)| (name.to_string(), input(value))).collect(),
        )
    };
    match file.get(servers) {
        None => {
            file.append(servers, CstInputValue::Object(vec![(entry.name.to_string(), members())]));
        }
        Some(known) => {
            let known = known.object_value().ok_or_else(|| format!("`{servers}` is not an object"))?;
            match known.get(entry.name) {
                None => {
                    known.append(entry.name, members());
                }
                Some(known) => {
                    let known = known
                        .object_value()
                        .ok_or_else(|| format!("`{servers}.{}` is not an object", entry.name))?;
                    update(&known, entry);
                }
            }
        }
    }
    if let Some(asked) = &entry.input {
        add_input(&file, asked)?;
    }
    let mut new = root.to_string();
    if !new.ends_with('\n') {
        new.push('\n');
    }
    // The closing newline alone is no reason to write.
    Ok(if new.trim_end() == text.trim_end() { old.to_string() } else { format!("{mark}{new}") })
}

fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Sets the members of an entry that exists. Others, such as `env`, were written by its user and are kept.
fn update(known: &CstObject, entry: &Members<'_>) {
    for member in entry.outdated() {
        if let Some(member) = known.get(member) {
            member.remove();
        }
    }
    for (name, value) in &entry.members {
        match known.get(name) {
            None => {
                known.append(name, input(value));
            }
            Some(member) => {
                let is_same = member.value().and_then(|known| known.to_serde_value()).as_ref() == Some(value);
                if !is_same {
                    member.set_value(input(value));
                }
            }
        }
    }
}

/// Adds a value that the client asks its user for, unless one with this id is there.
fn add_input(file: &CstObject, asked: &Value) -> Result<(), String> {
    let inputs: CstArray = match file.get("inputs") {
        None => {
            file.append("inputs", CstInputValue::Array(vec![input(asked)]));
            return Ok(());
        }
        Some(inputs) => inputs.array_value().ok_or("`inputs` is not an array")?,
    };
    let has_id = |element: &CstNode| element.to_serde_value().is_some_and(|known| known["id"] == asked["id"]);
    if !inputs.elements().iter().any(has_id) {
        inputs.append(input(asked));
    }
    Ok(())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Returns an upper bound of the nesting: brackets in comments and strings count, too.
fn depth(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry() -> Members<'static> {
        let members = vec![("command", json!("/bin/ptc")), ("args", json!(["mcp", "--sessions"]))];
        Members { name: "ptc", members, input: None }
    }

    fn add(old: &str) -> String {
        merged(old, "mcpServers", &entry()).unwrap()
    }

    #[test]
    fn a_new_file_is_readable() {
        let new = "{\n  \"mcpServers\": {\n    \"ptc\": {\n      \"command\": \"/bin/ptc\",\n      \"args\": [\"mcp\", \"--sessions\"]\n    }\n  }\n}\n";
        assert_eq!(add(""), new);
        assert_eq!(add(new), new, "it is added once");
    }

    #[test]
    fn comments_order_and_layout_stay() {
        let old = "// mine\n{\n\t\"theme\": \"dark\", // at night\n\t\"mcpServers\": {\n\t\t/* files */\n\t\t\"z\": {\"command\": \"npx\"},\n\t\t\"a\": {\"command\": \"uvx\"},\n\t},\n\t\"last\": 1.50,\n}\n";
        let new = add(old);
        let kept: Vec<&str> = old.lines().collect();
        assert_eq!(new.lines().filter(|line| kept.contains(line)).count(), kept.len(), "{new}");
        assert!(new.find("\"z\"") < new.find("\"a\"") && new.find("\"a\"") < new.find("\"ptc\""), "{new}");
        assert_eq!(add(&new), new);
    }

    #[test]
    fn what_else_an_entry_has_is_kept_and_an_address_gives_way_to_a_command() {
        let old = "{\"mcpServers\": {\"ptc\": {\"url\": \"http://x\", \"env\": {\"T\": \"x\"}, \"command\": \"old\"}}}";
        let new: Value = serde_json::from_str(&add(old)).unwrap();
        let wanted = json!({"env": {"T": "x"}, "command": "/bin/ptc", "args": ["mcp", "--sessions"]});
        assert_eq!(new["mcpServers"]["ptc"], wanted);
    }

    #[test]
    fn files_that_are_something_else_are_refused() {
        for (old, told) in [
            ("{", "this is not JSON"),
            ("[]", "does not hold a JSON object"),
            ("{\"mcpServers\": []}", "`mcpServers` is not an object"),
            ("{\"mcpServers\": {\"ptc\": 1}}", "`mcpServers.ptc` is not an object"),
            ("{a: 1}", "this is not JSON"),
        ] {
            let error = merged(old, "mcpServers", &entry()).unwrap_err();
            assert!(error.contains(told), "{old}: {error}");
        }
        assert!(merged(&"[".repeat(200_000), "mcpServers", &entry()).unwrap_err().contains("deeper"));
    }
}
