//! The entry of a client's file that names this server.

use super::clients::{Client, OWN_MEMBERS, Token};
use serde_json::{Value, json};

/// The server as clients write it down.
pub struct Entry<'a> {
    /// Name of the server in the client.
    pub name: &'a str,
    pub launch: Launch,
}

/// How a client reaches the server.
pub enum Launch {
    /// The client starts it.
    Command { command: String, args: Vec<String> },
    /// It listens at an address.
    Http {
        url: String,
        /// Variable with the token.
        token_env: Option<String>,
    },
}

/// Members of an entry, and what else the file needs.
pub struct Members<'a> {
    pub name: &'a str,
    /// Members in the order of a new entry.
    pub members: Vec<(&'static str, Value)>,
    /// A value that the client asks its user for.
    pub input: Option<Value>,
}

/// Id of the input that asks for the token.
fn input_id(name: &str) -> String {
    format!("{name}-token")
}

impl<'a> Entry<'a> {
    /// Returns the members as this client names them.
    pub fn members(&self, client: &Client) -> Result<Members<'a>, String> {
        let mut members = Vec::new();
        let mut input = None;
        match &self.launch {
            Launch::Command { command, args } => {
                members.extend(client.command_type.map(|kind| ("type", json!(kind))));
                members.push(("command", json!(command)));
                members.push(("args", json!(args)));
            }
            Launch::Http { url, token_env } => {
                let Some(http) = &client.http else {
                    return Err(format!(
                        "the file of {} takes no addresses: leave out --url, so that it starts a server of its own",
                        client.name
                    ));
                };
                members.extend(http.kind.map(|kind| ("type", json!(kind))));
                members.push((http.url, json!(url)));
                if let Some(name) = token_env {
                    let header = |token: String| json!({"Authorization": format!("Bearer {token}")});
                    match http.token {
                        Token::Header(before, after) => {
                            members.push(("headers", header(format!("{before}{name}{after}"))));
                        }
                        Token::Input => {
                            let id = input_id(self.name);
                            members.push(("headers", header(format!("${{input:{id}}}"))));
                            let asks = format!("Token of {}", self.name);
                            input = Some(
                                json!({"type": "promptString", "id": id, "description": asks, "password": true}),
                            );
                        }
                        Token::Member(member) => members.push((member, json!(name))),
                        Token::None => {
                            return Err(format!(
                                "{} reads no variables in its file: leave out --token-env, and add to the entry \
                                 \"headers\": {{\"Authorization\": \"Bearer …\"}}",
                                client.name
                            ));
                        }
                    }
                }
            }
        }
        Ok(Members { name: self.name, members, input })
    }

    /// Returns what else to do for a client, to be added to a sentence.
    pub fn advice(&self, client: &Client) -> String {
        let command = match client.name {
            "Claude Code" => "claude mcp add --scope user",
            "Codex" => "codex mcp add",
            _ => return String::new(),
        };
        match &self.launch {
            Launch::Command { command: program, args } => {
                let words: Vec<String> =
                    std::iter::once(program).chain(args).map(|word| quoted(word)).collect();
                format!("; or run: {command} {} -- {}", self.name, words.join(" "))
            }
            Launch::Http { .. } => String::new(),
        }
    }
}

impl Members<'_> {
    /// Returns the members of an older entry that this one must not have: a server has a command or an address.
    pub fn outdated(&self) -> impl Iterator<Item = &'static str> {
        let is_kept = |member: &&str| self.members.iter().any(|(known, _)| known == member);
        OWN_MEMBERS.into_iter().filter(move |member| !is_kept(member))
    }
}

/// Quotes a word for a shell if it needs that.
fn quoted(word: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | '@' | ',' | '+');
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Returns an address if clients can use it.
pub fn checked_url(url: &str) -> Result<String, String> {
    let wrong = |why: &str| Err(format!("--url: {why}; write e.g. http://127.0.0.1:7332/mcp"));
    let Some((scheme, rest)) = url.split_once("://") else {
        return wrong("it does not begin with https:// or http://");
    };
    if !matches!(scheme, "http" | "https") {
        return wrong("it does not begin with https:// or http://");
    }
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || host.starts_with(':') {
        return wrong("it names no host");
    }
    if host.contains('@') {
        return wrong("it contains a password, which belongs into --token-env");
    }
    if url.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\\' | '<' | '>')) {
        return wrong("it contains characters that an address cannot have");
    }
    Ok(url.to_string())
}
