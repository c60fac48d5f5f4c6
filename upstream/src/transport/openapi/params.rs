//! Parameters of operations: in the path, the query, headers and cookies.

use super::refs::Document;
use super::style::{How, Style};
use crate::config::{is_ours, is_token};
use crate::credentials::{Headers, Place};
use serde_json::{Value, json};

/// Part of a request that holds a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Part {
    Path,
    Query,
    Header,
    Cookie,
}

impl Part {
    fn named(name: Option<&str>) -> Option<Part> {
        Some(match name? {
            "path" => Part::Path,
            "query" => Part::Query,
            "header" => Part::Header,
            "cookie" => Part::Cookie,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Part::Path => "path",
            Part::Query => "query",
            Part::Header => "header",
            Part::Cookie => "cookie",
        }
    }
}

/// A parameter, ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Param {
    /// Name of the argument that holds its value.
    pub arg: String,
    /// Name in the request.
    pub name: String,
    pub part: Part,
    pub how: How,
}

/// A parameter as the document describes it.
pub(super) struct Described {
    pub param: Param,
    pub is_required: bool,
    pub schema: Value,
}

/// Reads the parameters of an operation, those of the path first. With `narrow`, only scalars and lists in path and query are
/// allowed. Parameters that hold a credential of ours are left out: programs neither see nor replace it.
pub(super) fn read<'d>(
    document: &Document<'d>,
    holders: [&'d Value; 2],
    path: &str,
    narrow: bool,
    own: &Headers,
) -> Result<Vec<Described>, String> {
    let mut params: Vec<Described> = Vec::new();
    for holder in holders {
        for value in holder.get("parameters").and_then(Value::as_array).into_iter().flatten() {
            let Some(found) = one(document, document.follow(value)?, narrow)? else { continue };
            // Parameters of the operation come after those of the path, and override them.
            params.retain(|known| {
                (&known.param.name, known.param.part) != (&found.param.name, found.param.part)
            });
            if narrow && params.iter().any(|known| known.param.name == found.param.name) {
                return Err(format!("it has two parameters '{}'", found.param.name));
            }
            params.push(found);
        }
    }
    for name in placeholders(path) {
        if !params.iter().any(|known| known.param.part == Part::Path && known.param.name == name) {
            return Err(format!("its path has {{{name}}}, which is not declared"));
        }
    }
    params.retain(|known| {
        let Param { name, part, .. } = &known.param;
        match part {
            Part::Path => placeholders(path).any(|placeholder| placeholder == name),
            Part::Query => !own.places().any(|place| *place == Place::Query(name.clone())),
            Part::Header => !own.places().any(|place| *place == Place::Header(name.to_ascii_lowercase())),
            Part::Cookie => !own.places().any(|place| *place == Place::Cookie(name.clone())),
        }
    });
    // Arguments have one name each.
    for n in 1..params.len() {
        let (before, after) = params.split_at_mut(n);
        let param = &mut after[0].param;
        if before.iter().any(|known| known.param.arg == param.arg) {
            param.arg = format!("{}_{}", param.arg, param.part.name());
        }
    }
    Ok(params)
}

/// Reads one parameter; None if it is not a program's to set.
fn one(document: &Document<'_>, value: &Value, narrow: bool) -> Result<Option<Described>, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let name = text("name").filter(|name| !name.is_empty()).ok_or("it has a parameter without a name")?;
    let part = match Part::named(text("in")) {
        Some(part @ (Part::Header | Part::Cookie)) if narrow => {
            let place = part.name();
            return Err(format!(
                "its parameter '{name}' is in the {place}, which needs the setting `methods`"
            ));
        }
        Some(part) => part,
        None if narrow => {
            return Err(format!("its parameter '{name}' is neither in the path nor in the query"));
        }
        None => {
            return Err(format!("its parameter '{name}' is in no part of a request that is known"));
        }
    };
    match part {
        // OpenAPI ignores these three, and the others are not for programs.
        Part::Header
            if matches!(&*name.to_ascii_lowercase(), "accept" | "content-type" | "authorization") =>
        {
            return Ok(None);
        }
        Part::Header if is_ours(name) => return Ok(None),
        Part::Header | Part::Cookie if !is_token(name) => {
            return Err(format!("its parameter '{name}' has no valid name for a {}", part.name()));
        }
        _ => {}
    }
    let content = value.get("content").and_then(Value::as_object).and_then(|all| all.iter().next());
    let (how, schema) = match content {
        Some(_) if narrow => {
            return Err(format!("its parameter '{name}' has `content`, which needs the setting `methods`"));
        }
        Some((_, media)) => {
            (How { style: Style::Json, explode: false, keeps_reserved: false }, media.get("schema"))
        }
        None => {
            let default = match part {
                Part::Path | Part::Header => Style::Simple,
                Part::Query | Part::Cookie => Style::Form,
            };
            let how = How::read(value, default).map_err(|why| format!("its parameter '{name}' {why}"))?;
            (how, value.get("schema"))
        }
    };
    let mut schema = document.schema(schema.unwrap_or(&json!({})));
    if let (Some(map), Some(about)) = (schema.as_object_mut(), text("description")) {
        map.entry("description").or_insert_with(|| about.into());
    }
    let is_required = part == Part::Path || value.get("required") == Some(&Value::Bool(true));
    let param = Param { arg: name.to_string(), name: name.to_string(), part, how };
    Ok(Some(Described { param, is_required, schema }))
}

/// Returns the placeholder names of a path.
pub(super) fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name)
}
