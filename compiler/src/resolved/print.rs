//! Printer of core forms as text, for snapshots and for readers.

use super::{Clause, Constant, Kind, Lambda, Name, Node, Resolved};
use ptc_bytecode::ToolName;
use std::fmt::{Display, Formatter, Result};

impl Display for Resolved<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut out = Printer { f, program: self };
        for (name, lambda) in self.exports {
            write!(out.f, "export {name} ")?;
            out.lambda(lambda)?;
            writeln!(out.f)?;
        }
        if let Some(clause) = self.entry.and_then(|entry| entry.clauses.first()) {
            for node in clause.body {
                out.node(node, clause)?;
                writeln!(out.f)?;
            }
        }
        Ok(())
    }
}

impl Display for Constant<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let items = |f: &mut Formatter<'_>, open, items: &[Constant<'_>], close| {
            write!(f, "{open}")?;
            for (i, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if i == 0 { "" } else { " " })?;
            }
            write!(f, "{close}")
        };
        match self {
            Constant::Nil => write!(f, "nil"),
            Constant::Bool(b) => write!(f, "{b}"),
            Constant::Int(n) => write!(f, "{n}"),
            Constant::Big(digits) => write!(f, "{digits}"),
            Constant::Float(x) => write!(f, "{x:?}"),
            Constant::Str(s) => write!(f, "{s:?}"),
            Constant::Keyword(name) => write!(f, ":{name}"),
            Constant::Regex(source) => write!(f, "#\"{source}\""),
            Constant::Instant(micros) => write!(f, "#inst {micros}"),
            Constant::Symbol(name) => write!(f, "'{name}"),
            Constant::Vector(v) => items(f, "[", v, "]"),
            Constant::Map(m) => items(f, "{", m, "}"),
            Constant::Set(s) => items(f, "#{", s, "}"),
        }
    }
}

struct Printer<'f, 'g, 'r, 'a> {
    f: &'f mut Formatter<'g>,
    program: &'r Resolved<'a>,
}

impl<'a> Printer<'_, '_, '_, 'a> {
    fn node(&mut self, node: &Node<'a>, of: &Clause<'a>) -> Result {
        match node.kind {
            Kind::Const(constant) => write!(self.f, "{constant}"),
            Kind::Name(name) => self.name(name, of),
            Kind::Call(callee, args) => {
                write!(self.f, "(")?;
                self.node(callee, of)?;
                self.rest(args, of)
            }
            Kind::Vector(items) => self.items("[", items, "]", of),
            Kind::Map(items) => self.items("{", items, "}", of),
            Kind::Set(items) => self.items("#{", items, "}", of),
            Kind::Cond(items) if items.len() == 3 => self.list("if", items, of),
            Kind::Cond(items) => self.list("cond", items, of),
            Kind::And(items) => self.list("and", items, of),
            Kind::Or(items) => self.list("or", items, of),
            Kind::Do(items) => self.list("do", items, of),
            Kind::Let(bindings, body) => self.binding("let", bindings, body, of),
            Kind::Loop(bindings, body) => self.binding("loop", bindings, body, of),
            Kind::Recur(args) => self.list("recur", args, of),
            Kind::Fn(lambda) => self.lambda_in(lambda, Some(of)),
            Kind::Define(def, once, value) => {
                let head = if once { "defonce" } else { "def" };
                write!(self.f, "({head} {} ", self.program.defs[def.0 as usize])?;
                self.node(value, of)?;
                write!(self.f, ")")
            }
            Kind::Finish(value) => self.list("return", std::slice::from_ref(value), of),
            Kind::Fail(value) => self.list("fail", std::slice::from_ref(value), of),
            Kind::Try(parts) => self.list("try*", parts, of),
            Kind::Throw(value) => self.list("throw", std::slice::from_ref(value), of),
            Kind::Deliver(value) => self.list("%deliver", std::slice::from_ref(value), of),
            Kind::Exit(value) => self.list("%exit", std::slice::from_ref(value), of),
            Kind::Break => write!(self.f, "(%break)"),
            Kind::Assign(local, value) => {
                write!(self.f, "(%set! ")?;
                self.name(Name::Local(local), of)?;
                write!(self.f, " ")?;
                self.node(value, of)?;
                write!(self.f, ")")
            }
            Kind::Each(local, coll, body) => {
                write!(self.f, "(%for [")?;
                self.name(Name::Local(local), of)?;
                write!(self.f, " ")?;
                self.node(coll, of)?;
                write!(self.f, "]")?;
                self.rest(body, of)
            }
        }
    }

    fn name(&mut self, name: Name<'a>, of: &Clause<'a>) -> Result {
        match name {
            Name::Local(id) => {
                let spelled = of.locals.get(id.0 as usize).map_or("?", |local| local.name);
                write!(self.f, "{spelled}.{}", id.0)
            }
            Name::Capture(index) => write!(self.f, "^{index}"),
            Name::This => write!(self.f, "^this"),
            Name::Def(def) => write!(self.f, "user/{}", self.program.defs[def.0 as usize]),
            Name::DefOrNil(def) => write!(self.f, "user/{}?", self.program.defs[def.0 as usize]),
            Name::Var(def) => write!(self.f, "#'{}", self.program.defs[def.0 as usize]),
            Name::Builtin(id) => write!(self.f, "{}", id.row().map_or("?", |row| row.name)),
            Name::Tool(tool) => {
                write!(self.f, "tool/{}", ToolName::from(self.program.tools[tool.0 as usize]))
            }
            Name::Sibling(index) => write!(self.f, "sibling.{index}"),
            Name::Fixed(index) => write!(self.f, "constant.{index}"),
            Name::Data(key) => write!(self.f, "data/{key}"),
            Name::History(nth) => write!(self.f, "*{nth}"),
        }
    }

    fn lambda(&mut self, lambda: &Lambda<'a>) -> Result {
        self.lambda_in(lambda, None)
    }

    fn lambda_in(&mut self, lambda: &Lambda<'a>, outer: Option<&Clause<'a>>) -> Result {
        write!(self.f, "(fn")?;
        if let Some(name) = lambda.name {
            write!(self.f, " {name}")?;
        }
        if let (Some(outer), false) = (outer, lambda.captures.is_empty()) {
            write!(self.f, " ^[")?;
            for (i, name) in lambda.captures.iter().enumerate() {
                write!(self.f, "{}", if i == 0 { "" } else { " " })?;
                self.name(*name, outer)?;
            }
            write!(self.f, "]")?;
        }
        for clause in lambda.clauses {
            write!(self.f, " ([")?;
            for (i, local) in clause.locals.iter().take(clause.params()).enumerate() {
                let rest = clause.rest && i == usize::from(clause.required);
                let gap = if i == 0 { "" } else { " " };
                write!(self.f, "{gap}{}{}.{i}", if rest { "& " } else { "" }, local.name)?;
            }
            write!(self.f, "]")?;
            self.rest(clause.body, clause)?;
        }
        write!(self.f, ")")
    }

    fn list(&mut self, head: &str, items: &[Node<'a>], of: &Clause<'a>) -> Result {
        write!(self.f, "({head}")?;
        self.rest(items, of)
    }

    fn rest(&mut self, items: &[Node<'a>], of: &Clause<'a>) -> Result {
        for item in items {
            write!(self.f, " ")?;
            self.node(item, of)?;
        }
        write!(self.f, ")")
    }

    fn items(&mut self, open: &str, items: &[Node<'a>], close: &str, of: &Clause<'a>) -> Result {
        write!(self.f, "{open}")?;
        for (i, item) in items.iter().enumerate() {
            write!(self.f, "{}", if i == 0 { "" } else { " " })?;
            self.node(item, of)?;
        }
        write!(self.f, "{close}")
    }

    fn binding(
        &mut self,
        head: &str,
        bindings: &[(super::LocalId, Node<'a>)],
        body: &[Node<'a>],
        of: &Clause<'a>,
    ) -> Result {
        write!(self.f, "({head} [")?;
        for (i, (local, value)) in bindings.iter().enumerate() {
            write!(self.f, "{}", if i == 0 { "" } else { " " })?;
            self.name(Name::Local(*local), of)?;
            write!(self.f, " ")?;
            self.node(value, of)?;
        }
        write!(self.f, "]")?;
        self.rest(body, of)
    }
}
