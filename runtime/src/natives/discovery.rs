//! `doc` and its variants: the catalogue for programs.
//!
//! The compiler turns bare symbols into text and passes definitions of the program with their value (`%doc-def`,
//! `%meta-def`), since a native cannot see them.

use super::args::{arg, refuse, to_whole};
use crate::catalog::{Catalog, Entry, Origin, search_alike, search_words, search_work};
use crate::prelude::{Attached, Lookup, Surroundings, Upstream};
use ptc_bytecode::{BuiltinId, Code, Subject};
use ptc_vm::{Call, Fault, Stop, Value};

/// Maximum bytes of JSON in one result, unless a host with servers sets another limit.
const MAX_BYTES: usize = 262_144;

/// Returns the name in an argument: text, a quoted symbol, a var or a builtin.
fn named(call: &Call<'_>, n: usize) -> Option<String> {
    match arg(call, n) {
        Value::Str(r) | Value::Symbol(r) | Value::Var(r) => Some(call.heap.str(r).to_string()),
        Value::Builtin(id) => BuiltinId(id as u32).row().map(|row| row.name.to_string()),
        _ => None,
    }
}

/// Returns argument 1 as a reference.
fn reference(call: &Call<'_>) -> Result<String, Stop> {
    named(call, 1).ok_or_else(|| {
        Fault::new(
            Code::RuntimeError,
            format!("`{}` needs a name, but it is {}", call.name(), arg(call, 1).type_phrase()),
        )
        .hint(format!("`({} map)` or `({} \"map\")`", call.name(), call.name()))
        .into()
    })
}

/// Pays for searching all names, and for finding the nearest if none matches.
fn pay_catalog(call: &mut Call<'_>) -> Result<(), Stop> {
    call.pay_items(Catalog::language().entries().len() * NAME_UNITS)
}

/// Units for measuring the similarity of a name.
const NAME_UNITS: usize = 8;

/// Returns the preludes attached to the run.
fn attached<'c>(call: &'c Call<'_>) -> Option<&'c Attached> {
    call.output.context::<Surroundings>()?.attached.as_deref()
}

/// Returns the upstream servers of the run.
fn upstream(call: &Call<'_>) -> Option<std::sync::Arc<dyn Upstream>> {
    call.output.context::<Surroundings>()?.upstream.clone()
}

/// True if a prelude or the language has this name; both take precedence over upstream servers.
fn is_known_here(call: &Call<'_>, reference: &str) -> bool {
    attached(call).is_some_and(|attached| attached.has(reference))
        || Catalog::language().find(reference).is_some()
}

#[cold]
fn unknown(call: &Call<'_>, what: &str, reference: &str) -> Stop {
    let shown: String = reference.chars().take(60).collect();
    let fault = Fault::new(Code::RuntimeError, format!("`{}` knows no {what} `{shown}`", call.name()));
    match Catalog::language().near(reference) {
        Some(near) if what == "name" => fault.hint(format!("did you mean `{near}`?")),
        _ if what == "name" => fault.hint(format!("`(apropos \"{shown}\")` searches")),
        _ => fault.hint(format!("namespaces: {}", namespaces(call).join(" "))),
    }
    .into()
}

fn find(call: &mut Call<'_>) -> Result<&'static Entry, Stop> {
    let reference = reference(call)?;
    pay_catalog(call)?;
    Catalog::language().find(&reference).ok_or_else(|| unknown(call, "name", &reference))
}

/// `(doc ref)`
pub fn doc(call: &mut Call<'_>) -> Result<Value, Stop> {
    let text = match arg(call, 1) {
        Value::Closure(_) => function_text(call, "fn", arg(call, 1)),
        _ => {
            let reference = reference(call)?;
            match attached(call).and_then(|attached| attached.doc(&reference)) {
                Some(text) => text,
                None if is_known_here(call, &reference) => find(call)?.text(),
                None => match upstream(call).map(|upstream| upstream.doc(&reference)) {
                    Some(Lookup::Found(text)) => text,
                    Some(Lookup::Unavailable) => return Ok(Value::Nil),
                    Some(Lookup::Refused(why)) => return Err(refuse(why)),
                    Some(Lookup::Unknown) | None => find(call)?.text(),
                },
            }
        }
    };
    capped_text(call, &text)
}

/// `(%doc-def name value)`: returns the text of a definition of the program.
pub fn doc_def(call: &mut Call<'_>) -> Result<Value, Stop> {
    let name = named(call, 1).unwrap_or_default();
    let text = match arg(call, 2) {
        // Not defined after all; a builtin may have the name.
        Value::Nil if Catalog::language().find(&name).is_some() => find(call)?.text(),
        value => function_text(call, &name, value),
    };
    capped_text(call, &text)
}

/// Formats a definition: its doc string, and its calls if it is a function.
fn function_text(call: &Call<'_>, name: &str, value: Value) -> String {
    let function = match value {
        Value::Closure(r) => call.heap.closure_function(r),
        _ => None,
    };
    let doc = function.and_then(|function| function.doc.as_deref()).unwrap_or("no doc string");
    let kind = if let Value::Closure(_) = value { "function" } else { "value" };
    let mut text = format!("{name}\nDescription: {doc}\nKind: {kind}\nNamespace: user");
    for arity in function.map_or(&[][..], |function| &function.arities) {
        text.push_str(&format!("\nSignature: {}", signature(name, &arity.params)));
    }
    text
}

fn signature(name: &str, params: &str) -> String {
    if params.is_empty() { format!("({name})") } else { format!("({name} {params})") }
}

/// Returns text that is not too long for a result; else nil.
fn capped_text(call: &mut Call<'_>, text: &str) -> Result<Value, Stop> {
    if json_len(text) > max_bytes(call) { Ok(Value::Nil) } else { super::text::finish(call, text) }
}

/// `(meta ref)`: returns nil unless it is a reference, since values carry no metadata.
pub fn meta(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Some(reference) = named(call, 1) else { return Ok(Value::Nil) };
    if let Some(facts) = attached(call).and_then(|attached| attached.meta(&reference)) {
        return call.heap.from_datum(&facts);
    }
    if !is_known_here(call, &reference) {
        match upstream(call).map(|upstream| upstream.meta(&reference)) {
            Some(Lookup::Found(facts)) => {
                // The upstream has bounded its size; the work is paid for.
                call.pay_items(facts.nodes().len())?;
                return call.heap.from_datum(&facts);
            }
            Some(Lookup::Unavailable) => return Ok(Value::Nil),
            Some(Lookup::Refused(why)) => return Err(refuse(why)),
            Some(Lookup::Unknown) | None => {}
        }
    }
    let entry = find(call)?;
    let texts = [
        ("kind", entry.kind),
        ("source", entry.origin.name()),
        ("namespace", &entry.namespace),
        ("name", &entry.name),
        ("ref", &entry.reference),
        ("description", &entry.description),
    ];
    let mut pairs = text_pairs(call, &texts)?;
    pairs.push(call.heap.new_keyword("signatures")?);
    pairs.push(lines(call, &entry.signatures)?);
    pairs.extend(text_pairs(call, &[("section", &entry.section)])?);
    call.heap.new_map(&pairs)
}

/// `(%meta-def name value)`
pub fn meta_def(call: &mut Call<'_>) -> Result<Value, Stop> {
    let name = named(call, 1).unwrap_or_default();
    let value = arg(call, 2);
    if let Value::Nil = value
        && Catalog::language().find(&name).is_some()
    {
        return meta(call);
    }
    let function = match value {
        Value::Closure(r) => call.heap.closure_function(r),
        _ => None,
    };
    let doc = function.and_then(|function| function.doc.as_deref()).unwrap_or("").to_string();
    let arities = function.map_or(&[][..], |function| &function.arities);
    let signatures: Vec<String> = arities.iter().map(|arity| signature(&name, &arity.params)).collect();
    let kind = if let Value::Closure(_) = value { "function" } else { "value" };
    let texts = [
        ("kind", kind),
        ("source", "user"),
        ("namespace", "user"),
        ("name", &*name),
        ("ref", &name),
        ("description", &doc),
    ];
    let mut pairs = text_pairs(call, &texts)?;
    pairs.push(call.heap.new_keyword("signatures")?);
    pairs.push(lines(call, &signatures)?);
    call.heap.new_map(&pairs)
}

/// Makes keywords and texts in turn.
fn text_pairs(call: &mut Call<'_>, texts: &[(&str, &str)]) -> Result<Vec<Value>, Stop> {
    let mut pairs = Vec::with_capacity(texts.len() * 2);
    for (key, text) in texts {
        pairs.push(call.heap.new_keyword(key)?);
        pairs.push(call.heap.new_str(text)?);
    }
    Ok(pairs)
}

/// Makes a vector of texts.
fn lines(call: &mut Call<'_>, lines: &[String]) -> Result<Value, Stop> {
    let values = lines.iter().map(|line| call.heap.new_str(line)).collect::<Result<Vec<Value>, Stop>>()?;
    call.heap.new_vec(&values)
}

/// Returns the length of a text as JSON in bytes.
fn json_len(text: &str) -> usize {
    let escaped = |b: u8| match b {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

/// Returns the maximum bytes of a result here.
fn max_bytes(call: &Call<'_>) -> usize {
    upstream(call).map_or(MAX_BYTES, |upstream| upstream.max_result_bytes())
}

/// Makes a vector of texts, shortened from the end until it fits a result.
fn capped_lines(call: &mut Call<'_>, mut found: Vec<String>) -> Result<Value, Stop> {
    let most = max_bytes(call);
    // One comma per line but the first, and the brackets.
    let mut bytes = 1;
    found.retain(|line| {
        bytes += json_len(line) + 1;
        bytes <= most
    });
    call.pay_items(bytes / 8)?;
    lines(call, &found)
}

/// `(apropos query)`, `(apropos query {:limit n :load b})`
pub fn apropos(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Value::Str(query) = arg(call, 1) else {
        return Err(Fault::new(
            Code::RuntimeError,
            format!("`apropos` needs a text to search for, but it is {}", arg(call, 1).type_phrase()),
        )
        .hint("`(apropos \"sort\")`")
        .into());
    };
    let query = call.heap.str(query).to_string();
    if query.trim().is_empty() {
        return Err(refuse("`apropos` needs a text to search for, but it is blank"));
    }
    let limit = option(call, "limit", 1..=50, 8)?;
    let load = match given(call, "load")? {
        None => false,
        Some(load @ (Value::True | Value::False)) => load.truthy(),
        Some(other) => {
            let found = other.type_phrase();
            return Err(refuse(format!("`apropos`: :load must be true or false, but it is {found}")));
        }
    };
    call.pay_items(query.len())?;
    let remote = match upstream(call).map(|upstream| upstream.entries(load)) {
        Some(Lookup::Found(entries)) => entries,
        Some(Lookup::Refused(why)) => return Err(refuse(why)),
        Some(Lookup::Unavailable) => return Ok(Value::Nil),
        Some(Lookup::Unknown) | None => Vec::new(),
    };
    let index = upstream(call).and_then(|upstream| upstream.index());
    let all = || {
        let exports = attached(call).into_iter().flat_map(|attached| attached.entries());
        exports.chain(&remote).chain(Catalog::language().entries())
    };
    let indexed = index.as_ref().map_or(0, |index| index.work(&query));
    let work = search_work(all(), &query).saturating_add(indexed);
    if work as u64 > call.budget.remaining() {
        return Err(
            Fault::new(Code::FuelExceeded, "the search needs more fuel than is left (limits.fuel)").into()
        );
    }
    let mut tools = index.as_ref().map_or_else(Vec::new, |index| index.search(&query, limit));
    let mut others = search_words(all(), &query, limit);
    if tools.is_empty() && others.is_empty() {
        tools = index.as_ref().map_or_else(Vec::new, |index| index.alike(&query, limit));
        others = search_alike(all(), &query, limit);
    }
    // Tools come after preludes, and before servers that are not loaded and the language.
    let (first, last): (Vec<&Entry>, Vec<&Entry>) =
        others.into_iter().partition(|entry| entry.origin <= Origin::Upstream);
    let found = first.into_iter().chain(&tools).chain(last).take(limit).map(Entry::found_line).collect();
    call.pay_items(work)?;
    capped_lines(call, found)
}

/// `(dir ref)`, `(dir ref {:limit n :offset n})`
pub fn dir(call: &mut Call<'_>) -> Result<Value, Stop> {
    let name = reference(call)?;
    let limit = option(call, "limit", 1..=200, 50)?;
    let offset = option(call, "offset", 0..=i64::MAX, 0)?;
    pay_catalog(call)?;
    let lines = match attached(call).and_then(|attached| attached.dir(&name)) {
        Some(lines) => lines,
        None => {
            let members = Catalog::language().members(&name);
            match upstream(call).filter(|_| members.is_empty()).map(|upstream| upstream.dir(&name)) {
                Some(Lookup::Found(entries)) => entries.iter().map(Entry::member_line).collect(),
                Some(Lookup::Unavailable) => return Ok(Value::Nil),
                Some(Lookup::Refused(why)) => return Err(refuse(why)),
                Some(Lookup::Unknown) | None if members.is_empty() => {
                    return Err(unknown(call, "namespace", &name));
                }
                _ => members.into_iter().map(Entry::member_line).collect::<Vec<_>>(),
            }
        }
    };
    capped_lines(call, lines.into_iter().skip(offset).take(limit).collect())
}

/// Steps charged per entry of a map of options. Few maps have more than two; one with thousands pays for them.
const OPTION_STEPS: usize = 8;

/// Returns an option of argument 2, a map; None if it is not given.
fn given(call: &Call<'_>, key: &str) -> Result<Option<Value>, Stop> {
    let options = match arg(call, 2) {
        Value::Nil => return Ok(None),
        Value::Map(options) => options,
        other => {
            let found = other.type_phrase();
            return Err(refuse(format!("`{}` takes its options in a map, but got {found}", call.name())));
        }
    };
    let mut cursor = 0;
    while let Some((known, value, next)) = call.heap.map_next(options, cursor) {
        call.heap.charge(OPTION_STEPS);
        if let Value::Keyword(r) | Value::Str(r) = known
            && call.heap.str(r) == key
        {
            return Ok(Some(value));
        }
        cursor = next;
    }
    Ok(None)
}

/// Returns an option that is a whole number.
fn option(
    call: &Call<'_>,
    key: &str,
    range: std::ops::RangeInclusive<i64>,
    default: usize,
) -> Result<usize, Stop> {
    let Some(value) = given(call, key)? else { return Ok(default) };
    match to_whole(call.heap, value).filter(|n| range.contains(n)) {
        Some(n) => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
        None => {
            let (least, most) = (range.start(), range.end());
            let bounds =
                if *most == i64::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
            Err(refuse(format!("`{}`: :{key} must be a number, {bounds}", call.name())))
        }
    }
}

/// `(source ref)`: prints the source of prelude functions and their helpers; builtins have no source that a program
/// could read.
pub fn source(call: &mut Call<'_>) -> Result<Value, Stop> {
    let name = reference(call)?;
    if let Some(text) = attached(call).and_then(|attached| attached.source(&name)) {
        let text = text.to_string();
        call.pay_items(text.len() / 8)?;
        call.output.print(text)?;
        return Ok(Value::Nil);
    }
    let shown: String = name.chars().take(200).collect();
    call.output.print(format!("no source available for {shown}"))?;
    Ok(Value::Nil)
}

/// `(ns-publics ns)`
pub fn ns_publics(call: &mut Call<'_>) -> Result<Value, Stop> {
    let name = reference(call)?;
    if let Some(members) = attached(call).and_then(|attached| attached.publics(&name)) {
        call.pay_items(members.nodes().len())?;
        return call.heap.from_datum(&members);
    }
    let Some(full) = Catalog::language().namespace(&name) else {
        return Err(unknown(call, "namespace", &name));
    };
    let members = Catalog::language().members(full);
    call.pay_items(members.len() * 16)?;
    let mut pairs = Vec::with_capacity(members.len() * 2);
    for entry in members {
        let mut facts = text_pairs(call, &[("name", &entry.name), ("doc", &entry.description)])?;
        facts.push(call.heap.new_keyword("arglists")?);
        facts.push(lines(call, &entry.arglists())?);
        facts.extend(text_pairs(call, &[("section", &entry.section), ("source", entry.origin.name())])?);
        pairs.push(call.heap.new_str(&entry.name)?);
        pairs.push(call.heap.new_map(&facts)?);
    }
    call.heap.new_map(&pairs)
}

/// `(all-ns)`
pub fn all_ns(call: &mut Call<'_>) -> Result<Value, Stop> {
    pay_catalog(call)?;
    let names = namespaces(call);
    lines(call, &names)
}

/// Returns all namespaces, sorted.
fn namespaces(call: &Call<'_>) -> Vec<String> {
    let mut names: Vec<String> = Catalog::language().namespaces().into_iter().map(str::to_string).collect();
    names.extend(attached(call).into_iter().flat_map(|attached| attached.namespaces()).map(str::to_string));
    names.sort_unstable();
    names
}

/// `(ns-name ns)`
pub fn ns_name(call: &mut Call<'_>) -> Result<Value, Stop> {
    let name = reference(call)?;
    pay_catalog(call)?;
    let own = attached(call).into_iter().flat_map(|attached| attached.namespaces()).any(|own| own == name);
    match Catalog::language().namespace(&name) {
        _ if own => call.heap.new_str(&name),
        Some(full) => call.heap.new_str(full),
        None => Err(unknown(call, "namespace", &name)),
    }
}

/// `(tool/servers)`, `(tool/call …)`: lists the upstream servers of the host; a fault if there are none.
pub fn no_servers(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Some(upstream) = upstream(call).filter(|_| call.name() == "tool/servers") {
        return match upstream.servers() {
            Lookup::Found(servers) => call.heap.from_datum(&servers),
            Lookup::Refused(why) => Err(refuse(why)),
            Lookup::Unknown | Lookup::Unavailable => Ok(Value::Nil),
        };
    }
    Err(Fault::new(
        Code::RuntimeError,
        format!("`{}` needs upstream servers, but this run has none", call.name()),
    )
    .about(Subject::Servers)
    .hint("granted tools are called as `(tool/name {:key value})`")
    .into())
}

/// `(budget/remaining)`: returns the budget of the mission; an empty map outside an agent.
pub fn budget_remaining(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Some(host) = super::agent::turn_host(call) else { return Ok(call.heap.empty_map()) };
    let budget = host.budget();
    call.pay_items(budget.nodes().len())?;
    call.heap.from_datum(&budget)
}
