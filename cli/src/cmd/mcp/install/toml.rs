//! Entries in TOML files, whose comments and order stay.

use super::entry::Members;
use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

/// Returns the file with the entry under `servers`.
pub fn merged(old: &str, servers: &str, entry: &Members<'_>) -> Result<String, String> {
    let mut config: DocumentMut = old.parse().map_err(|error| format!("this is not valid TOML: {error}"))?;
    let mut parent = Table::new();
    parent.set_implicit(true);
    let known = config.entry(servers).or_insert(Item::Table(parent));
    let known = known.as_table_like_mut().ok_or_else(|| format!("`{servers}` is not a table"))?;
    match known.get_mut(entry.name) {
        Some(known) => {
            let known = known
                .as_table_like_mut()
                .ok_or_else(|| format!("`{servers}.{}` is not a table", entry.name))?;
            for member in entry.outdated() {
                known.remove(member);
            }
            set(known, entry);
        }
        None => {
            let mut own = Table::new();
            set(&mut own, entry);
            known.insert(entry.name, Item::Table(own));
        }
    }
    Ok(config.to_string())
}

/// Sets the members of the entry. Others, such as `env`, were written by its user and are kept.
fn set(known: &mut dyn TableLike, entry: &Members<'_>) {
    for (name, wanted) in &entry.members {
        let new = item(wanted);
        match known.get_mut(name) {
            None => {
                known.insert(name, new);
            }
            Some(old) if old.to_string().trim() == new.to_string().trim() => {}
            // The comment behind the old value stays.
            Some(Item::Value(old)) => {
                if let Item::Value(mut new) = new {
                    *new.decor_mut() = old.decor().clone();
                    *old = new;
                }
            }
            Some(old) => *old = new,
        }
    }
}

fn item(member: &Value) -> Item {
    match member {
        Value::Array(items) => value(items.iter().filter_map(Value::as_str).collect::<Array>()),
        Value::String(text) => value(text),
        Value::Bool(flag) => value(*flag),
        other => value(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn add(old: &str) -> Result<String, String> {
        let members = vec![("command", json!("ptc")), ("args", json!(["mcp", "--sessions"]))];
        merged(old, "mcp_servers", &Members { name: "ptc", members, input: None })
    }

    #[test]
    fn a_file_keeps_its_comments() {
        let old = "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.fs]\ncommand = \"npx\"\n";
        let new = add(old).unwrap();
        assert!(new.starts_with(old), "{new}");
        assert!(
            new.ends_with("[mcp_servers.ptc]\ncommand = \"ptc\"\nargs = [\"mcp\", \"--sessions\"]\n"),
            "{new}"
        );
        assert_eq!(add(&new).unwrap(), new);
    }

    #[test]
    fn what_else_an_entry_has_is_kept() {
        let old = "[mcp_servers.ptc]\ncommand = \"old\" # here\nurl = \"http://x\"\nargs = []\n\n[mcp_servers.ptc.env]\nTOKEN = \"x\"\n";
        let new = add(old).unwrap();
        assert!(new.contains("command = \"ptc\" # here\nargs = [\"mcp\", \"--sessions\"]\n"), "{new}");
        assert!(new.contains("[mcp_servers.ptc.env]\nTOKEN = \"x\"") && !new.contains("url"), "{new}");
        let inline = add("mcp_servers = { fs = { command = \"npx\" } }\n").unwrap();
        assert!(inline.contains("fs = ") && inline.contains("--sessions"), "{inline}");
        assert!(inline.parse::<DocumentMut>().is_ok(), "{inline}");
    }

    #[test]
    fn files_that_are_something_else_are_refused() {
        assert!(add("[[").unwrap_err().contains("not valid TOML"));
        assert!(add("mcp_servers = 1").unwrap_err().contains("`mcp_servers` is not a table"));
        assert!(add("[mcp_servers]\nptc = 1").unwrap_err().contains("`mcp_servers.ptc` is not a table"));
    }
}
