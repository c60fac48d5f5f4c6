//! What builtins do with the values they are given: which of them they look up fields of, call functions with, and
//! give back. Those that are not here give something unknown, and may call their arguments with anything.

use super::value::{Combination, NIL, Name, Record, Value};
use super::walk::{MAX_FIELDS, Values, Walk};
use super::{Compared, Relation};
use crate::resolved::{Constant, Kind, Node};
use ptc_bytecode::{BuiltinId, Span};
use smallvec::SmallVec;

/// Where a call and its arguments stand; a builtin that is passed around has no arguments of its own.
#[derive(Clone, Copy)]
struct Places<'a> {
    call: Span,
    args: &'a [Node<'a>],
}

impl Places<'_> {
    /// Where an argument stands.
    fn of(self, at: usize) -> Span {
        self.args.get(at).map_or(self.call, |node| node.span)
    }
}

/// Builtins that take nil for a beginning: whoever updates a field with them need not have it yet.
const TAKES_NIL: &[&str] = &[
    "conj",
    "concat",
    "into",
    "cons",
    "str",
    "merge",
    "merge-with",
    "assoc",
    "assoc-in",
    "union",
    "vec",
    "set",
    "boolean",
    "not",
];

/// A constant that a value is compared with.
fn compared(value: Value<'_>, counts_nil: bool) -> Option<Compared> {
    match value {
        Value::Const(Constant::Nil) if counts_nil => Some(Compared::Nil),
        Value::Const(Constant::Int(_) | Constant::Big(_) | Constant::Float(_)) => Some(Compared::Number),
        value => Name::of(value).map(|name| Compared::Text(name.key())),
    }
}

impl<'a> Walk<'_, 'a> {
    pub(super) fn call_builtin(
        &mut self,
        span: Span,
        id: BuiltinId,
        args: &'a [Node<'a>],
        tested: bool,
    ) -> Value<'a> {
        let Some(row) = id.row() else { return Value::Unknown };
        let values = match row.name {
            // They ask whether something is there, or take nil as well as anything else.
            "nil?" | "some?" | "not" | "boolean" | "true?" | "false?" | "any?" | "empty?" | "seq"
            | "not-empty" | "contains?" | "string?" | "number?" | "int?" | "integer?" | "float?"
            | "double?" | "keyword?" | "map?" | "vector?" | "coll?" | "sequential?" | "boolean?" | "set?"
            | "list?" | "seq?" | "fn?" | "type" | "describe" => {
                args.iter().map(|node| self.visit(node, true)).collect()
            }
            "=" | "not=" => {
                let is_nil = |node: &Node<'_>| matches!(node.kind, Kind::Const(Constant::Nil));
                let tested = args.iter().any(is_nil);
                args.iter().map(|node| self.visit(node, tested)).collect::<Values<'a>>()
            }
            _ => self.visit_all(args),
        };
        let by = match row.name {
            "=" | "not=" => Some(Relation::Equal),
            "<" | ">" | "<=" | ">=" => Some(Relation::Order),
            _ => None,
        };
        // The choices of a `case` are often more than there are in the data at hand.
        let is_choice = |node| self.local_name(node).is_some_and(|name| name.starts_with("case·"));
        if let (Some(by), [a, b], false) = (by, args, args.iter().any(is_choice)) {
            for (value, constant, node) in [(values[0], values[1], b), (values[1], values[0], a)] {
                let is_written = matches!(node.kind, Kind::Const(_));
                if let Some(constant) = compared(constant, is_written && by == Relation::Order) {
                    self.compare(span, by, value, constant);
                }
            }
        }
        self.builtin(row.name, &values, Places { call: span, args }, tested)
    }

    pub(super) fn apply_builtin(
        &mut self,
        id: BuiltinId,
        args: &[Value<'a>],
        place: Span,
        tested: bool,
    ) -> Value<'a> {
        match id.row() {
            Some(row) => self.builtin(row.name, args, Places { call: place, args: &[] }, tested),
            None => Value::Unknown,
        }
    }

    fn builtin(
        &mut self,
        name: &'static str,
        args: &[Value<'a>],
        places: Places<'a>,
        tested: bool,
    ) -> Value<'a> {
        if matches!(name, "+" | "-" | "*" | "/" | "inc" | "dec" | "quot" | "rem" | "mod") {
            args.iter().for_each(|arg| self.compute(places.call, name, *arg));
            return Value::Number;
        }
        self.repeatedly(|walk| walk.general(name, args, places, tested))
    }

    fn general(&mut self, name: &str, args: &[Value<'a>], places: Places<'a>, tested: bool) -> Value<'a> {
        match (name, args) {
            ("count" | "sum", [_]) => Value::Number,
            ("get", [of, key]) => self.look_up(*of, *key, places.call, tested),
            ("get", [of, key, default]) => self.look_up(*of, *key, places.call, true).or(*default),
            ("get-in", [of, path]) => self.look_up_path(*of, *path, places.call, tested),
            ("get-in", [of, path, default]) => self.look_up_path(*of, *path, places.call, true).or(*default),
            ("find", [of, key]) => {
                self.look_up(*of, *key, places.call, true);
                Value::Unknown
            }
            ("contains?", [of, key]) => {
                self.look_up(*of, *key, places.call, true);
                Value::Unknown
            }
            ("select-keys", [of, keys]) => self.select_keys(*of, *keys, places.call),
            ("assoc", [of, pairs @ ..]) => self.assoc(*of, pairs),
            ("update", [of, key, function, more @ ..]) => {
                let takes_nil = match function {
                    Value::Made(Combination::TakesNil, _) => true,
                    Value::Builtin(id) => id.row().is_some_and(|row| TAKES_NIL.contains(&row.name)),
                    // Of one at a path it is known whether it tests for nil.
                    Value::Fn(_) => !matches!(of, Value::Path(_)),
                    _ => false,
                };
                let before = self.look_up(*of, *key, places.call, takes_nil);
                let all: Values<'a> = [before].into_iter().chain(more.iter().copied()).collect();
                let after = self.apply(*function, &all, places.of(2), false);
                self.assoc(*of, &[*key, after])
            }
            ("dissoc", [of, keys @ ..]) => {
                for (i, key) in keys.iter().enumerate() {
                    self.remove(*of, *key, places.of(i + 1));
                }
                if let Value::Path(_) = of { *of } else { Value::Unknown }
            }
            ("merge", [first, more @ ..]) => more.iter().fold(*first, |all, map| self.merge(all, *map)),
            ("keys", [_]) => Value::Unknown,
            ("vals", [map]) => self.values_of(*map).list(self.arena),
            ("key", [entry]) => self.nth(*entry, 0),
            ("val", [entry]) => self.nth(*entry, 1),

            ("first" | "last" | "peek" | "second" | "nth" | "%nth" | "ffirst", [coll, ..]) => {
                self.one(name, *coll, args)
            }
            (
                "rest" | "next" | "butlast" | "reverse" | "rseq" | "seq" | "vec" | "doall" | "sequence"
                | "distinct" | "dedupe" | "not-empty" | "sort" | "pop",
                [coll],
            )
            | ("take" | "drop" | "take-last" | "drop-last" | "take-nth", [_, coll])
            | ("%drop" | "nthrest" | "nthnext" | "subvec", [coll, ..]) => {
                self.element(*coll).list(self.arena)
            }
            ("sort", [function, coll]) => {
                self.escape(*function);
                self.element(*coll).list(self.arena)
            }
            ("concat", colls) => {
                let element = colls.iter().fold(Value::Never, |all, coll| {
                    let element = self.element(*coll);
                    all.or(element)
                });
                element.list(self.arena)
            }
            ("into", [to, from]) => self.into(*to, *from),
            ("conj", [coll, items @ ..]) => {
                let element = self.element(*coll);
                items.iter().fold(element, |all, item| all.or(*item)).list(self.arena)
            }
            ("cons", [item, coll]) => {
                let element = self.element(*coll);
                element.or(*item).list(self.arena)
            }
            ("list" | "vector", items) => Value::Tuple(self.arena.alloc_slice_copy(items)),
            ("partition" | "partition-all", [_, .., coll]) => {
                let element = self.element(*coll);
                element.list(self.arena).list(self.arena)
            }
            ("identity" | "%bounded" | "%indexed", [value]) => *value,

            ("map" | "mapv" | "pmap", [function, colls @ ..]) if !colls.is_empty() => {
                let elements: Values<'a> = colls.iter().map(|coll| self.element(*coll)).collect();
                self.apply(*function, &elements, places.of(0), false).list(self.arena)
            }
            ("keep", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), true).list(self.arena)
            }
            ("mapcat", [function, coll]) => {
                let element = self.element(*coll);
                let lists = self.apply(*function, &[element], places.of(0), false);
                self.element(lists).list(self.arena)
            }
            ("map-indexed", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[Value::Unknown, element], places.of(0), false).list(self.arena)
            }
            ("run!", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                NIL
            }
            (
                "filter" | "filterv" | "remove" | "take-while" | "drop-while" | "some" | "every?"
                | "not-any?" | "not-every?",
                [function, coll],
            ) => {
                let element = self.element(*coll);
                let asked = self.apply(*function, &[element], places.of(0), true);
                match name {
                    "some" => asked,
                    "every?" | "not-any?" | "not-every?" => Value::Unknown,
                    _ => element.list(self.arena),
                }
            }
            ("sort-by", [function, coll])
            | ("sort-by", [function, _, coll])
            | ("distinct-by", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                element.list(self.arena)
            }
            ("partition-by", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                element.list(self.arena).list(self.arena)
            }
            ("group-by", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                Value::Index(self.arena.alloc(element.list(self.arena)))
            }
            ("frequencies", [_]) => Value::Index(self.arena.alloc(Value::Unknown)),
            ("zipmap", [_, values]) => {
                let element = self.element(*values);
                Value::Index(self.arena.alloc(element))
            }
            ("min-by" | "max-by", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                element
            }
            ("min-key" | "max-key", [function, items @ ..]) => {
                for item in items {
                    self.apply(*function, &[*item], places.of(0), false);
                }
                items.iter().fold(Value::Never, |all, item| all.or(*item))
            }
            ("sum-by" | "avg-by", [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                if name == "sum-by" { Value::Number } else { Value::Unknown }
            }
            ("reduce", [function, coll]) => {
                let element = self.element(*coll);
                // One element alone is the answer, and nothing is called.
                self.perhaps(|walk| walk.fold(*function, element, element, places.of(0)))
            }
            ("reduce", [function, start, coll]) => {
                let element = self.element(*coll);
                self.fold(*function, *start, element, places.of(0))
            }
            ("reduce-kv", [function, start, map]) => {
                let value = self.values_of(*map);
                let anything = |walk: &mut Self, held| {
                    walk.apply(*function, &[held, Value::Unknown, value], places.of(0), false)
                };
                self.folded(*start, anything)
            }
            ("update-vals", [map, function]) => {
                let value = self.values_of(*map);
                let after = self.apply(*function, &[value], places.of(1), false);
                Value::Index(self.arena.alloc(after))
            }
            ("apply", [function, first @ .., list]) => {
                let list = match list {
                    Value::Tuple(items) => items,
                    _ => {
                        self.escape(*function);
                        return Value::Unknown;
                    }
                };
                let all: Values<'a> = first.iter().chain(list.iter()).copied().collect();
                self.apply(*function, &all, places.of(0), tested)
            }

            ("juxt", parts) => self.made(Combination::Juxt, parts),
            ("comp", parts) => self.made(Combination::Comp, parts),
            ("partial", parts) => self.made(Combination::Partial, parts),
            ("complement" | "every-pred" | "some-fn", parts) => self.made(Combination::Asks, parts),
            ("fnil", parts) => self.made(Combination::TakesNil, parts),
            ("constantly", parts) => self.made(Combination::Constantly, parts),

            ("%builder", []) => self.new_builder(),
            ("%push", [builder, value]) => {
                self.push(*builder, *value);
                NIL
            }
            ("%finish", [builder]) => self.built(*builder).list(self.arena),

            (_, args) => {
                args.iter().for_each(|arg| self.escape(*arg));
                Value::Unknown
            }
        }
    }

    fn made(&mut self, combination: Combination, parts: &[Value<'a>]) -> Value<'a> {
        Value::Made(combination, self.arena.alloc_slice_copy(parts))
    }

    /// One element of a list.
    fn one(&mut self, name: &str, coll: Value<'a>, args: &[Value<'a>]) -> Value<'a> {
        match (name, args.get(1)) {
            ("nth" | "%nth", Some(Value::Const(Constant::Int(at)))) => {
                u32::try_from(*at).map_or(NIL, |at| self.nth(coll, at))
            }
            ("first" | "second", _) => self.nth(coll, u32::from(name == "second")),
            ("ffirst", _) => {
                let first = self.nth(coll, 0);
                self.nth(first, 0)
            }
            _ => self.element(coll),
        }
    }

    fn look_up_path(&mut self, of: Value<'a>, path: Value<'a>, place: Span, tested: bool) -> Value<'a> {
        let keys: Values<'a> = match path {
            Value::Tuple(keys) => keys.iter().copied().collect(),
            Value::Const(Constant::Vector(keys)) => keys.iter().map(|key| Value::Const(*key)).collect(),
            _ => return Value::Unknown,
        };
        keys.iter().fold(of, |of, key| self.look_up(of, *key, place, tested))
    }

    fn select_keys(&mut self, of: Value<'a>, keys: Value<'a>, place: Span) -> Value<'a> {
        let keys: Values<'a> = match keys {
            Value::Tuple(keys) => keys.iter().copied().collect(),
            Value::Const(Constant::Vector(keys)) => keys.iter().map(|key| Value::Const(*key)).collect(),
            _ => return Value::Unknown,
        };
        if keys.len() > MAX_FIELDS {
            return Value::Unknown;
        }
        let mut fields: SmallVec<[(Name<'a>, Value<'a>); 8]> = SmallVec::new();
        for key in keys {
            let value = self.look_up(of, key, place, false);
            let Some(name) = Name::of(key) else { return Value::Unknown };
            fields.push((name, value));
        }
        Value::Record(self.arena.alloc(Record {
            base: None,
            fields: self.arena.alloc_slice_copy(&fields),
            by: None,
        }))
    }

    /// A map with more entries.
    pub(super) fn assoc(&mut self, of: Value<'a>, pairs: &[Value<'a>]) -> Value<'a> {
        let (base, before): (_, &[_]) = match of {
            Value::Path(path) => (Some(path), &[]),
            Value::Record(record) => (record.base, record.fields),
            Value::Const(Constant::Nil) => (None, &[]),
            Value::Const(Constant::Map([])) => (None, &[]),
            Value::Index(value) => {
                let all = pairs.iter().skip(1).step_by(2).fold(*value, |all, value| all.or(*value));
                return Value::Index(self.arena.alloc(all));
            }
            _ => return Value::Unknown,
        };
        // Each new key is looked for among those that are there.
        let made = before.len() + pairs.len() / 2;
        self.pay_items(made.saturating_mul(1 + pairs.len() / 2));
        if made > MAX_FIELDS {
            return Value::Unknown;
        }
        let mut fields: SmallVec<[(Name<'a>, Value<'a>); 8]> = before.iter().copied().collect();
        for [key, value] in pairs.as_chunks::<2>().0 {
            match Name::of(*key) {
                Some(name) => {
                    fields.retain(|(known, _)| known.text != name.text);
                    fields.push((name, *value));
                }
                // Keys that are data: only what was there is known, and not that it still is.
                None => {
                    return if base.is_none() {
                        Value::Index(self.arena.alloc(*value))
                    } else {
                        Value::Unknown
                    };
                }
            }
        }
        Value::Record(self.arena.alloc(Record {
            base,
            fields: self.arena.alloc_slice_copy(&fields),
            by: None,
        }))
    }

    fn merge(&mut self, first: Value<'a>, second: Value<'a>) -> Value<'a> {
        match (first, second) {
            (Value::Const(Constant::Nil), map) | (map, Value::Const(Constant::Nil)) => map,
            (_, Value::Record(Record { base: None, fields, .. })) => {
                let pairs: Values<'a> = fields
                    .iter()
                    .flat_map(|(name, value)| {
                        let key = match name.is_keyword {
                            true => Constant::Keyword(name.text),
                            false => Constant::Str(name.text),
                        };
                        [Value::Const(key), *value]
                    })
                    .collect();
                self.assoc(first, &pairs)
            }
            (Value::Record(record), Value::Path(path)) if record.base.is_none() => {
                // Those of the second win, but they are read from the same place either way.
                Value::Record(self.arena.alloc(Record {
                    base: Some(path),
                    fields: record.fields,
                    by: record.by,
                }))
            }
            _ => Value::Unknown,
        }
    }

    fn into(&mut self, to: Value<'a>, from: Value<'a>) -> Value<'a> {
        let element = self.element(from);
        match to {
            Value::Record(Record { base: None, fields: [], .. }) | Value::Const(Constant::Map([])) => {
                match element {
                    Value::Tuple([_, value]) => Value::Index(value),
                    _ => Value::Unknown,
                }
            }
            Value::Tuple(_) | Value::List(_) | Value::Path(_) | Value::Const(Constant::Vector(_)) => {
                let before = self.element(to);
                before.or(element).list(self.arena)
            }
            _ => Value::Unknown,
        }
    }

    fn fold(&mut self, function: Value<'a>, start: Value<'a>, element: Value<'a>, place: Span) -> Value<'a> {
        self.folded(start, |walk, held| walk.apply(function, &[held, element], place, false))
    }

    /// What is held at last, if every step makes it of what was held before.
    fn folded(
        &mut self,
        start: Value<'a>,
        mut step: impl FnMut(&mut Self, Value<'a>) -> Value<'a>,
    ) -> Value<'a> {
        let after = self.quietly(|walk| step(walk, start));
        let held = start.or(after);
        step(self, held).or(held)
    }
}
