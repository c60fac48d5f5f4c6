//! Joins several artifacts into one: the chosen functions and all they lead to, numbered in the order they are met.
//!
//! Dropping unreachable parts and numbering by first use make the result depend on the code only, not on the way it was
//! compiled. Artifacts are joined without their sources.

use crate::artifact::{Artifact, Function, ToolName};
use crate::isa::Operand;
use std::collections::HashMap;

/// An artifact under construction from parts of others.
///
/// ```
/// use ptc_bytecode::{Arity, Artifact, CodeBlock, Function, Join, Op};
/// let function = |name: &str, block| Function {
///     name: Some(name.into()),
///     doc: None,
///     captures: 0,
///     arities: vec![Arity { required: 0, rest: false, block, params: "".into() }],
/// };
/// let block = |value| CodeBlock {
///     regs: 2,
///     params: 0,
///     ops: vec![Op::Enter { fuel: 2 }, Op::LoadInt { dst: 1, value }, Op::Return { src: 1 }],
///     spans: vec![],
/// };
/// let two = Artifact {
///     functions: vec![function("a", 0), function("b", 1)],
///     blocks: vec![block(1), block(2)],
///     ..Artifact::default()
/// };
/// let mut join = Join::default();
/// assert_eq!(join.add(&two, [1]), [0]);
/// let one = join.finish();
/// assert_eq!(one.functions[0].name.as_deref(), Some("b"));
/// assert_eq!(one.blocks, [block(2)]);
/// ```
#[derive(Default)]
pub struct Join {
    whole: Artifact,
    imports: HashMap<Box<str>, u32>,
    tools: HashMap<ToolName, u32>,
    defs: HashMap<Box<str>, u32>,
}

impl Join {
    /// Adds these functions of `part` and all they lead to; returns their new numbers. Ids that do not exist stay
    /// as they are, for the verifier to find.
    pub fn add(&mut self, part: &Artifact, roots: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut moved = Moved { part, functions: HashMap::new(), consts: HashMap::new(), queue: Vec::new() };
        let roots = roots.into_iter().map(|root| moved.function(&mut self.whole, root)).collect();
        let mut next = 0;
        while let Some((old, new)) = moved.queue.get(next).copied() {
            next += 1;
            let Some(function) = part.functions.get(old as usize) else { continue };
            let mut function = function.clone();
            for arity in &mut function.arities {
                let Some(block) = part.blocks.get(arity.block as usize) else { continue };
                let mut block = block.clone();
                for op in &mut block.ops {
                    *op = op.with_ids(|operand| self.id(&mut moved, operand));
                }
                arity.block = self.whole.blocks.len() as u32;
                self.whole.blocks.push(block);
            }
            self.whole.functions[new as usize] = function;
        }
        roots
    }

    fn id(&mut self, moved: &mut Moved<'_>, operand: Operand) -> u32 {
        match operand {
            Operand::Code(id) => moved.function(&mut self.whole, id),
            Operand::Const(id) => match (moved.consts.get(&id), moved.part.consts.get(id as usize)) {
                (Some(known), _) => *known,
                (None, None) => id,
                (None, Some(constant)) => {
                    self.whole.consts.push(constant.clone());
                    let new = self.whole.consts.len() as u32 - 1;
                    moved.consts.insert(id, new);
                    new
                }
            },
            Operand::Import(id) => match moved.part.imports.get(id as usize) {
                None => id,
                Some(name) => *self.imports.entry(name.clone()).or_insert_with(|| {
                    self.whole.imports.push(name.clone());
                    self.whole.imports.len() as u32 - 1
                }),
            },
            Operand::Tool(id) => match moved.part.tools.get(id as usize) {
                None => id,
                Some(name) => *self.tools.entry(name.clone()).or_insert_with(|| {
                    self.whole.tools.push(name.clone());
                    self.whole.tools.len() as u32 - 1
                }),
            },
            Operand::Def(id) => match moved.part.defs.get(id as usize) {
                None => id,
                Some(name) => *self.defs.entry(name.clone()).or_insert_with(|| {
                    self.whole.defs.push(name.clone());
                    self.whole.defs.len() as u32 - 1
                }),
            },
            _ => 0,
        }
    }

    /// Adds a constant that no code refers to; returns its number.
    pub fn constant(&mut self, constant: crate::Const) -> u32 {
        self.whole.consts.push(constant);
        self.whole.consts.len() as u32 - 1
    }

    /// Returns the joined artifact. The caller sets its exports and source hash.
    pub fn finish(self) -> Artifact {
        self.whole
    }
}

/// The new numbers given so far to items of one part.
struct Moved<'a> {
    part: &'a Artifact,
    functions: HashMap<u32, u32>,
    consts: HashMap<u32, u32>,
    queue: Vec<(u32, u32)>,
}

impl Moved<'_> {
    fn function(&mut self, whole: &mut Artifact, id: u32) -> u32 {
        if self.part.functions.get(id as usize).is_none() {
            return id;
        }
        *self.functions.entry(id).or_insert_with(|| {
            let new = whole.functions.len() as u32;
            whole.functions.push(Function { name: None, doc: None, captures: 0, arities: Vec::new() });
            self.queue.push((id, new));
            new
        })
    }
}
