//! The operands of an instruction in words: arithmetic as an equation, literals as literals, names and constants in
//! place of their ids. Other instructions are shown by operand roles, so a new one is listed without a change here.

use super::text;
use crate::artifact::{Artifact, Const};
use crate::isa::{Op, Operand};

/// Formats the operands of one instruction.
pub fn show(artifact: &Artifact, op: &Op) -> String {
    let names = Names(artifact);
    match *op {
        Op::Again { count, dst, src, to } if dst == src => format!("→ {to}  count=r{count}"),
        Op::Again { count, dst, src, to } => format!("→ {to}  r{dst} ← r{src}  count=r{count}"),
        Op::JumpUnlessLess { a, b, fuel, to } => jump(format!("r{a} < r{b}"), to, fuel),
        Op::JumpUnlessLessEq { a, b, fuel, to } => jump(format!("r{a} <= r{b}"), to, fuel),
        Op::JumpUnlessEq { a, b, fuel, to } => jump(format!("r{a} = r{b}"), to, fuel),
        Op::JumpUnlessLessInt { a, imm, fuel, to } => jump(format!("r{a} < {imm}"), to, fuel),
        Op::JumpUnlessGreaterInt { a, imm, fuel, to } => jump(format!("r{a} > {imm}"), to, fuel),
        Op::JumpUnlessEqInt { a, imm, fuel, to } => jump(format!("r{a} = {imm}"), to, fuel),
        Op::LoadNil { dst } => format!("r{dst} ← nil"),
        Op::StoreWide { slot, src } => format!("#{slot} ← r{src}"),
        Op::SetDef { def, src } => format!("{} ← r{src}", names.def(def)),
        Op::LoadVar { dst, def } => format!("r{dst} ← #'{}", names.def(def)),
        Op::GetData { dst, key } => match artifact.consts.get(key as usize) {
            Some(Const::Str(key)) => format!("r{dst} ← data/{}", text::name(key)),
            _ => format!("r{dst} ← data/{}", names.constant(key)),
        },
        Op::GetHistory { dst, nth } => format!("r{dst} ← *{nth}"),
        Op::MakeClosure { dst, first, n, code } => {
            format!("r{dst} ← {} [{}]", names.function(code), run(first, n))
        }
        Op::Call { base, n } => format!("r{base} ← (r{base}{})", arguments(base, n)),
        Op::CallDef { base, n, def } => format!("r{base} ← ({}{})", names.def(def), arguments(base, n)),
        Op::CallBuiltin { base, n, import } => {
            format!("r{base} ← ({}{})", names.import(import), arguments(base, n))
        }
        Op::CallTool { base, n, tool } => format!("r{base} ← ({}{})", names.tool(tool), arguments(base, n)),
        Op::Apply { base, n } => {
            let before = arguments(base, n.saturating_sub(1));
            format!("r{base} ← (r{base}{before} & r{})", u16::from(base) + u16::from(n))
        }
        Op::Add { dst, a, b } => infix(dst, a, "+", b),
        Op::Sub { dst, a, b } => infix(dst, a, "-", b),
        Op::Mul { dst, a, b } => infix(dst, a, "*", b),
        Op::Div { dst, a, b } => infix(dst, a, "/", b),
        Op::Quot { dst, a, b } => infix(dst, a, "quot", b),
        Op::Rem { dst, a, b } => infix(dst, a, "rem", b),
        Op::Mod { dst, a, b } => infix(dst, a, "mod", b),
        Op::Less { dst, a, b } => infix(dst, a, "<", b),
        Op::LessEq { dst, a, b } => infix(dst, a, "<=", b),
        Op::Eq { dst, a, b } => infix(dst, a, "=", b),
        Op::AddInt { dst, a, imm, .. } if imm < 0 => format!("r{dst} ← r{a} - {}", imm.unsigned_abs()),
        Op::AddInt { dst, a, imm, .. } => format!("r{dst} ← r{a} + {imm}"),
        Op::NewVector { dst, first, n } => format!("r{dst} ← [{}]", run(first, n)),
        Op::NewMap { dst, first, n } => format!("r{dst} ← {{{}}}", run(first, n)),
        Op::NewSet { dst, first, n } => format!("r{dst} ← #{{{}}}", run(first, n)),
        Op::NewRecord { dst, first, n, id } => format!("r{dst} ← {{{}}}", record(artifact, first, n, id)),
        _ => by_role(&names, op),
    }
}

/// Formats the written operands, an arrow, the read ones, then the jump target and the fuel.
fn by_role(names: &Names<'_>, op: &Op) -> String {
    let mut length = 0;
    op.operands(|name, operand| {
        if let ("n", Operand::Small(n)) = (name, operand) {
            length = n;
        }
    });
    let (mut written, mut read, mut tail) = (Vec::new(), Vec::new(), Vec::new());
    op.operands(|name, operand| match operand {
        Operand::Write(r) => written.push(format!("r{r}")),
        Operand::WritePair(r) => written.push(run(r, 2)),
        Operand::Read(r) | Operand::ReadWrite(r) => read.push(format!("r{r}")),
        Operand::ReadPair(r) | Operand::ReadWritePair(r) => read.push(run(r, 2)),
        Operand::ReadRun(r) => read.push(run(r, length)),
        Operand::Callee(r) | Operand::Args(r) => {
            written.push(format!("r{r}"));
            read.push(arguments(r, length).trim_start().into());
        }
        Operand::Small(_) if name == "n" => {}
        Operand::Small(n) => tail.push(format!("{name}={n}")),
        Operand::Fuel(n) => tail.push(format!("{name}={n}")),
        Operand::Flag(flag) => read.push(flag.to_string()),
        Operand::Int(n) => read.push(n.to_string()),
        Operand::Slot(slot) => read.push(format!("#{slot}")),
        Operand::Target(to) => read.push(format!("→ {to}")),
        Operand::Const(id) => read.push(names.constant(id)),
        Operand::Code(id) => read.push(names.function(id)),
        Operand::Def(id) => read.push(names.def(id)),
        Operand::Import(id) => read.push(names.import(id)),
        Operand::Tool(id) => read.push(names.tool(id)),
    });
    let arrow = if written.is_empty() || read.is_empty() { "" } else { " ← " };
    let gap = if (written.is_empty() && read.is_empty()) || tail.is_empty() { "" } else { "  " };
    format!("{}{arrow}{}{gap}{}", written.join(" "), read.join(" "), tail.join(" "))
}

fn jump(test: String, to: u32, fuel: u8) -> String {
    format!("{test} → {to}  fuel={fuel}")
}

fn infix(dst: u8, a: u8, sign: &str, b: u8) -> String {
    format!("r{dst} ← r{a} {sign} r{b}")
}

/// Formats a run of registers; long runs by their ends.
fn run(first: u8, n: u8) -> String {
    let reg = |i: u8| format!("r{}", u16::from(first) + u16::from(i));
    match n {
        0..=6 => (0..n).map(reg).collect::<Vec<_>>().join(" "),
        _ => format!("{}…{}", reg(0), reg(n - 1)),
    }
}

/// Formats the arguments after a base register, each with a space before it.
fn arguments(base: u8, n: u8) -> String {
    match base.checked_add(1) {
        Some(first) if n > 0 => format!(" {}", run(first, n)),
        _ if n > 0 => format!(" +{n}"),
        _ => String::new(),
    }
}

/// Formats constant keys, each with the register of its value.
fn record(artifact: &Artifact, first: u8, n: u8, id: u32) -> String {
    const SHOWN: usize = 6;
    let Some(Const::Keys(keys)) = artifact.consts.get(id as usize) else {
        return format!("keys={id}? {}", run(first, n));
    };
    let pairs = keys.nodes().iter().zip(0..n).map(|(key, i)| {
        let reg = u16::from(first) + u16::from(i);
        format!("{} r{reg}", text::node_text(key))
    });
    let mut shown = pairs.take(SHOWN).collect::<Vec<_>>().join(" ");
    if usize::from(n) > SHOWN {
        shown.push_str(&format!(" …(+{} keys)", usize::from(n) - SHOWN));
    }
    shown
}

/// Lookup of the names behind ids; an id outside its table gets a question mark.
struct Names<'a>(&'a Artifact);

impl Names<'_> {
    fn constant(&self, id: u32) -> String {
        self.0.consts.get(id as usize).map_or_else(|| format!("const#{id}?"), text::constant)
    }

    fn function(&self, id: u32) -> String {
        match self.0.functions.get(id as usize) {
            None => format!("fn#{id}?"),
            Some(function) => match &function.name {
                None => format!("fn#{id}"),
                Some(name) => format!("fn#{id} {}", text::name(name)),
            },
        }
    }

    fn def(&self, id: u32) -> String {
        self.0.defs.get(id as usize).map_or_else(|| format!("def#{id}?"), |name| text::name(name))
    }

    fn import(&self, id: u32) -> String {
        self.0.imports.get(id as usize).map_or_else(|| format!("import#{id}?"), |name| text::name(name))
    }

    fn tool(&self, id: u32) -> String {
        let name = self.0.tools.get(id as usize);
        name.map_or_else(|| format!("tool#{id}?"), |name| format!("tool/{}", text::name(&name.to_string())))
    }
}
