//! Builtins as the walk knows them: the fields they look up in arguments, the functions they call, and their results.
//! Any other builtin gives an unknown value, and may call its arguments with anything.

use super::known::{Known, Role, Uses};
use super::value::{Combination, NIL, Name, Record, Value};
use super::walk::{MAX_FIELDS, Values, Walk};
use super::{Compared, Relation};
use crate::resolved::{Constant, Kind, Node};
use ptc_bytecode::{BuiltinId, Span};
use smallvec::SmallVec;

/// Places of a call and its arguments; a builtin passed as a value has no arguments of its own.
#[derive(Clone, Copy)]
struct Places<'a> {
    call: Span,
    args: &'a [Node<'a>],
}

impl Places<'_> {
    /// Returns the place of an argument.
    fn of(self, at: usize) -> Span {
        self.args.get(at).map_or(self.call, |node| node.span)
    }
}

/// Returns the constant that a value is compared with.
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
        let Some(role) = Role::of(id) else { return Value::Unknown };
        let values = match role.uses {
            Uses::Asks => args.iter().map(|node| self.visit(node, true)).collect(),
            Uses::Equal => {
                let is_nil = |node: &Node<'_>| matches!(node.kind, Kind::Const(Constant::Nil));
                let tested = args.iter().any(is_nil);
                args.iter().map(|node| self.visit(node, tested)).collect::<Values<'a>>()
            }
            _ => self.visit_all(args),
        };
        let by = match role.uses {
            Uses::Equal => Some(Relation::Equal),
            Uses::Order => Some(Relation::Order),
            _ => None,
        };
        // A `case` often has more choices than occur in the present data.
        let is_choice = |node| self.local_name(node).is_some_and(|name| name.starts_with("case·"));
        if let (Some(by), [a, b], false) = (by, args, args.iter().any(is_choice)) {
            for (value, constant, node) in [(values[0], values[1], b), (values[1], values[0], a)] {
                let is_written = matches!(node.kind, Kind::Const(_));
                if let Some(constant) = compared(constant, is_written && by == Relation::Order) {
                    self.compare(span, by, value, constant);
                }
            }
        }
        self.builtin(role, &values, Places { call: span, args }, tested)
    }

    pub(super) fn apply_builtin(
        &mut self,
        id: BuiltinId,
        args: &[Value<'a>],
        place: Span,
        tested: bool,
    ) -> Value<'a> {
        match Role::of(id) {
            Some(role) => self.builtin(role, args, Places { call: place, args: &[] }, tested),
            None => Value::Unknown,
        }
    }

    fn builtin(&mut self, role: Role, args: &[Value<'a>], places: Places<'a>, tested: bool) -> Value<'a> {
        if role.uses == Uses::Computes {
            args.iter().for_each(|arg| self.compute(places.call, role.row.name, *arg));
            return Value::Number;
        }
        self.repeatedly(|walk| match role.known {
            Some(known) => walk.known(known, args, places, tested),
            None => walk.unknown(args),
        })
    }

    fn known(&mut self, known: Known, args: &[Value<'a>], places: Places<'a>, tested: bool) -> Value<'a> {
        match (known, args) {
            (Known::Count | Known::Sum, [_]) => Value::Number,
            (Known::Get, [of, key]) => self.look_up(*of, *key, places.call, tested),
            (Known::Get, [of, key, default]) => self.look_up(*of, *key, places.call, true).or(*default),
            (Known::GetIn, [of, path]) => self.look_up_path(*of, *path, places.call, tested),
            (Known::GetIn, [of, path, default]) => {
                self.look_up_path(*of, *path, places.call, true).or(*default)
            }
            (Known::Find, [of, key]) => {
                self.look_up(*of, *key, places.call, true);
                Value::Unknown
            }
            (Known::Contains, [of, key]) => {
                self.look_up(*of, *key, places.call, true);
                Value::Unknown
            }
            (Known::SelectKeys, [of, keys]) => self.select_keys(*of, *keys, places.call),
            (Known::Assoc, [of, pairs @ ..]) => self.assoc(*of, pairs),
            (Known::Update, [of, key, function, more @ ..]) => {
                let takes_nil = match function {
                    Value::Made(Combination::TakesNil, _) => true,
                    Value::Builtin(id) => Role::of(*id).is_some_and(|role| role.takes_nil),
                    // For a value at a path, its test for nil is already known.
                    Value::Fn(_) => !matches!(of, Value::Path(_)),
                    _ => false,
                };
                let before = self.look_up(*of, *key, places.call, takes_nil);
                let all: Values<'a> = [before].into_iter().chain(more.iter().copied()).collect();
                let after = self.apply(*function, &all, places.of(2), false);
                self.assoc(*of, &[*key, after])
            }
            (Known::Dissoc, [of, keys @ ..]) => {
                for (i, key) in keys.iter().enumerate() {
                    self.remove(*of, *key, places.of(i + 1));
                }
                if let Value::Path(_) = of { *of } else { Value::Unknown }
            }
            (Known::Merge, [first, more @ ..]) => more.iter().fold(*first, |all, map| self.merge(all, *map)),
            (Known::Keys, [_]) => Value::Unknown,
            (Known::Vals, [map]) => self.values_of(*map).list(self.arena),
            (Known::Key, [entry]) => self.nth(*entry, 0),
            (Known::Val, [entry]) => self.nth(*entry, 1),

            (
                Known::First
                | Known::Last
                | Known::Peek
                | Known::Second
                | Known::Nth
                | Known::NthOr
                | Known::Ffirst,
                [coll, ..],
            ) => self.one(known, *coll, args),
            (
                Known::Rest
                | Known::Next
                | Known::Butlast
                | Known::Reverse
                | Known::Rseq
                | Known::Seq
                | Known::Vec
                | Known::Doall
                | Known::Sequence
                | Known::Distinct
                | Known::Dedupe
                | Known::NotEmpty
                | Known::Sort
                | Known::Pop,
                [coll],
            )
            | (Known::Take | Known::Drop | Known::TakeLast | Known::DropLast | Known::TakeNth, [_, coll])
            | (Known::DropFirst | Known::Nthrest | Known::Nthnext | Known::Subvec, [coll, ..]) => {
                self.element(*coll).list(self.arena)
            }
            (Known::Sort, [function, coll]) => {
                self.escape(*function);
                self.element(*coll).list(self.arena)
            }
            (Known::Concat, colls) => {
                let element = colls.iter().fold(Value::Never, |all, coll| {
                    let element = self.element(*coll);
                    all.or(element)
                });
                element.list(self.arena)
            }
            (Known::Into, [to, from]) => self.into(*to, *from),
            (Known::Conj, [coll, items @ ..]) => {
                let element = self.element(*coll);
                items.iter().fold(element, |all, item| all.or(*item)).list(self.arena)
            }
            (Known::Cons, [item, coll]) => {
                let element = self.element(*coll);
                element.or(*item).list(self.arena)
            }
            (Known::List | Known::Vector, items) => Value::Tuple(self.arena.alloc_slice_copy(items)),
            (Known::Partition | Known::PartitionAll, [_, .., coll]) => {
                let element = self.element(*coll);
                element.list(self.arena).list(self.arena)
            }
            (Known::Identity | Known::Bounded | Known::Indexed, [value]) => *value,

            (Known::Map | Known::Mapv | Known::Pmap, [function, colls @ ..]) if !colls.is_empty() => {
                let elements: Values<'a> = colls.iter().map(|coll| self.element(*coll)).collect();
                self.apply(*function, &elements, places.of(0), false).list(self.arena)
            }
            (Known::Keep, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), true).list(self.arena)
            }
            (Known::Mapcat, [function, coll]) => {
                let element = self.element(*coll);
                let lists = self.apply(*function, &[element], places.of(0), false);
                self.element(lists).list(self.arena)
            }
            (Known::MapIndexed, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[Value::Unknown, element], places.of(0), false).list(self.arena)
            }
            (Known::Run, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                NIL
            }
            (
                Known::Filter
                | Known::Filterv
                | Known::Remove
                | Known::TakeWhile
                | Known::DropWhile
                | Known::Some
                | Known::Every
                | Known::NotAny
                | Known::NotEvery,
                [function, coll],
            ) => {
                let element = self.element(*coll);
                let asked = self.apply(*function, &[element], places.of(0), true);
                match known {
                    Known::Some => asked,
                    Known::Every | Known::NotAny | Known::NotEvery => Value::Unknown,
                    _ => element.list(self.arena),
                }
            }
            (Known::SortBy, [function, coll])
            | (Known::SortBy, [function, _, coll])
            | (Known::DistinctBy, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                element.list(self.arena)
            }
            (Known::PartitionBy, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                element.list(self.arena).list(self.arena)
            }
            (Known::GroupBy, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                Value::Index(self.arena.alloc(element.list(self.arena)))
            }
            (Known::Frequencies, [_]) => Value::Index(self.arena.alloc(Value::Unknown)),
            (Known::Zipmap, [_, values]) => {
                let element = self.element(*values);
                Value::Index(self.arena.alloc(element))
            }
            (Known::MinBy | Known::MaxBy, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                element
            }
            (Known::MinKey | Known::MaxKey, [function, items @ ..]) => {
                for item in items {
                    self.apply(*function, &[*item], places.of(0), false);
                }
                items.iter().fold(Value::Never, |all, item| all.or(*item))
            }
            (Known::SumBy | Known::AvgBy, [function, coll]) => {
                let element = self.element(*coll);
                self.apply(*function, &[element], places.of(0), false);
                if known == Known::SumBy { Value::Number } else { Value::Unknown }
            }
            (Known::Reduce, [function, coll]) => {
                let element = self.element(*coll);
                // A single element is the result itself, and nothing is called.
                self.perhaps(|walk| walk.fold(*function, element, element, places.of(0)))
            }
            (Known::Reduce, [function, start, coll]) => {
                let element = self.element(*coll);
                self.fold(*function, *start, element, places.of(0))
            }
            (Known::ReduceKv, [function, start, map]) => {
                let value = self.values_of(*map);
                let anything = |walk: &mut Self, held| {
                    walk.apply(*function, &[held, Value::Unknown, value], places.of(0), false)
                };
                self.folded(*start, anything)
            }
            (Known::UpdateVals, [map, function]) => {
                let value = self.values_of(*map);
                let after = self.apply(*function, &[value], places.of(1), false);
                Value::Index(self.arena.alloc(after))
            }
            (Known::Apply, [function, first @ .., list]) => {
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

            (Known::Juxt, parts) => self.made(Combination::Juxt, parts),
            (Known::Comp, parts) => self.made(Combination::Comp, parts),
            (Known::Partial, parts) => self.made(Combination::Partial, parts),
            (Known::Complement | Known::EveryPred | Known::SomeFn, parts) => {
                self.made(Combination::Asks, parts)
            }
            (Known::Fnil, parts) => self.made(Combination::TakesNil, parts),
            (Known::Constantly, parts) => self.made(Combination::Constantly, parts),

            (Known::Builder, []) => self.new_builder(),
            (Known::Push, [builder, value]) => {
                self.push(*builder, *value);
                NIL
            }
            (Known::Finish, [builder]) => self.built(*builder).list(self.arena),

            (_, args) => self.unknown(args),
        }
    }

    /// Returns the value of a call that may do anything with its arguments.
    fn unknown(&mut self, args: &[Value<'a>]) -> Value<'a> {
        args.iter().for_each(|arg| self.escape(*arg));
        Value::Unknown
    }

    fn made(&mut self, combination: Combination, parts: &[Value<'a>]) -> Value<'a> {
        Value::Made(combination, self.arena.alloc_slice_copy(parts))
    }

    /// Returns one element of a list.
    fn one(&mut self, known: Known, coll: Value<'a>, args: &[Value<'a>]) -> Value<'a> {
        match (known, args.get(1)) {
            (Known::Nth | Known::NthOr, Some(Value::Const(Constant::Int(at)))) => {
                u32::try_from(*at).map_or(NIL, |at| self.nth(coll, at))
            }
            (Known::First | Known::Second, _) => self.nth(coll, u32::from(known == Known::Second)),
            (Known::Ffirst, _) => {
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

    /// Returns a map with more entries.
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
        // Each new key is compared with the existing ones.
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
                // Keys that are data: the earlier entries are known, but may have been replaced.
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
                // The entries of the second win, but they are read from the same place either way.
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

    /// Returns the final accumulator, if every step computes it from the previous one.
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
