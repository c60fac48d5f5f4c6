//! What a function may reach of the host, read off its bytecode: tools, operations of upstream
//! servers, granted data.
//!
//! Functions are reached by `MakeClosure` alone and tools by the ids of one table, so nothing has to
//! be guessed: the compiler fills the manifest of a prelude from here, and the verifier compares the
//! manifest of any file with it.

use crate::artifact::{Artifact, Const, ToolName};
use crate::isa::{Op, Operand};
use std::collections::BTreeSet;

/// The facts on one function and everything it leads to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Authority {
    /// Tools by the names they are granted under.
    pub tools: BTreeSet<Box<str>>,
    /// Operations of upstream servers, as (server, tool).
    pub upstream: BTreeSet<(Box<str>, Box<str>)>,
    /// Whether it may also reach operations that only a run knows.
    pub dynamic: bool,
    /// Granted data it reads.
    pub data: BTreeSet<Box<str>>,
}

impl Authority {
    /// The ids a prelude lists under `requires`, sorted: `tool:search`, `upstream:crm/get_user`.
    pub fn requires(&self) -> Vec<String> {
        let tools = self.tools.iter().filter(|name| &***name != ToolName::CALL);
        let tools = tools.map(|name| format!("tool:{name}"));
        let upstream = self.upstream.iter().map(|(server, tool)| format!("upstream:{server}/{tool}"));
        let mut all: Vec<String> = tools.chain(upstream).collect();
        all.sort_unstable();
        all
    }

    fn add_op(&mut self, artifact: &Artifact, op: &Op) {
        if let Op::GetData { key, .. } = op
            && let Some(Const::Str(name)) = artifact.consts.get(*key as usize)
        {
            self.data.insert(name.clone());
        }
        op.operands(|_, operand| {
            let Operand::Tool(id) = operand else { return };
            let Some(tool) = artifact.tools.get(id as usize) else { return };
            self.tools.insert(tool.granted_as().into());
            match tool {
                ToolName::Upstream { server, tool } => {
                    self.upstream.insert((server.clone(), tool.clone()));
                }
                ToolName::Named(name) => self.dynamic |= &**name == ToolName::CALL,
            }
        });
    }
}

/// Which function of an artifact may reach what, made in one pass over the code.
///
/// ```
/// use ptc_bytecode::{Artifact, Reach};
/// let mut reach = Reach::of(&Artifact::default());
/// assert!(reach.from(0, |_| true).is_some_and(|found| found.tools.is_empty()));
/// ```
pub struct Reach {
    /// What each function does itself.
    own: Vec<Authority>,
    /// The functions it makes.
    makes: Vec<Vec<u32>>,
    /// Steps left: a file may be written so that everything leads to everything.
    steps: usize,
}

/// Functions looked at for all exports of a file together.
const MAX_STEPS: usize = 2_000_000;

impl Reach {
    /// Looks at every instruction once.
    pub fn of(artifact: &Artifact) -> Reach {
        let mut reach = Reach { own: Vec::new(), makes: Vec::new(), steps: MAX_STEPS };
        for function in &artifact.functions {
            let mut own = Authority::default();
            let mut makes = BTreeSet::new();
            let blocks =
                function.arities.iter().filter_map(|arity| artifact.blocks.get(arity.block as usize));
            for op in blocks.flat_map(|block| &block.ops) {
                own.add_op(artifact, op);
                if let Op::MakeClosure { code, .. } = *op {
                    makes.insert(code);
                }
            }
            reach.own.push(own);
            reach.makes.push(makes.into_iter().collect());
        }
        reach
    }

    /// What `function` and the functions it leads to may reach; those `enter` refuses are left out.
    /// None once the file has proved too tangled to be checked.
    pub fn from(&mut self, function: u32, enter: impl Fn(u32) -> bool) -> Option<Authority> {
        let mut found = Authority::default();
        for id in self.functions(function, enter)? {
            let own = self.own.get(id as usize)?;
            self.steps = self.steps.checked_sub(own.tools.len() + own.upstream.len() + own.data.len())?;
            found.tools.extend(own.tools.iter().cloned());
            found.upstream.extend(own.upstream.iter().cloned());
            found.data.extend(own.data.iter().cloned());
            found.dynamic |= own.dynamic;
        }
        Some(found)
    }

    /// The functions that one makes itself.
    pub fn makes(&self, function: u32) -> &[u32] {
        self.makes.get(function as usize).map_or(&[], |makes| makes)
    }

    /// `function` and the functions it leads to, in rising order.
    pub fn functions(&mut self, function: u32, enter: impl Fn(u32) -> bool) -> Option<BTreeSet<u32>> {
        let mut seen = BTreeSet::new();
        let mut queue = vec![function];
        while let Some(id) = queue.pop() {
            self.steps = self.steps.checked_sub(1)?;
            let Some(makes) = self.makes.get(id as usize) else { continue };
            if seen.insert(id) {
                self.steps = self.steps.checked_sub(makes.len())?;
                queue.extend(makes.iter().copied().filter(|next| enter(*next)));
            }
        }
        Some(seen)
    }
}
