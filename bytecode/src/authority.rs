//! Authority of functions: the tools, operations of upstream servers and granted data that each may reach on the host,
//! read off its bytecode.
//!
//! Functions are reached by `MakeClosure` alone and tools by the ids of one table, so nothing has to be guessed: the
//! compiler fills the manifest of a prelude from here, and the verifier compares every file's manifest with it.

use crate::artifact::{Artifact, Const, ToolName};
use crate::isa::{Op, Operand};
use crate::uses::used_export;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Authority of one function and everything it leads to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Authority {
    /// Tools, by the names they are granted under.
    pub tools: BTreeSet<Box<str>>,
    /// Operations of upstream servers, as (server, tool).
    pub upstream: BTreeSet<(Box<str>, Box<str>)>,
    /// True if it may also reach operations that are only known at run time.
    pub dynamic: bool,
    /// Granted data that is read.
    pub data: BTreeSet<Box<str>>,
    /// Exports of other namespaces that are called, as `ns/name`. The authority of those exports comes on top.
    pub uses: BTreeSet<Box<str>>,
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

    fn add(&mut self, other: &Authority) {
        self.tools.extend(other.tools.iter().cloned());
        self.upstream.extend(other.upstream.iter().cloned());
        self.data.extend(other.data.iter().cloned());
        self.uses.extend(other.uses.iter().cloned());
        self.dynamic |= other.dynamic;
    }

    fn add_op(&mut self, artifact: &Artifact, op: &Op) {
        if let Op::GetData { key, .. } = op
            && let Some(Const::Str(name)) = artifact.consts.get(*key as usize)
        {
            self.data.insert(name.clone());
        }
        op.operands(|_, operand| {
            if let Operand::Def(id) = operand
                && let Some(export) = artifact.defs.get(id as usize).and_then(|name| used_export(name))
            {
                self.uses.insert(export.into());
            }
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

/// The authority of each function of an artifact, found in one pass over the code.
///
/// ```
/// use ptc_bytecode::{Artifact, Reach};
/// let mut reach = Reach::of(&Artifact::default());
/// assert!(reach.from(0, |_| true).is_some_and(|found| found.tools.is_empty()));
/// ```
pub struct Reach {
    /// Authority of each function alone, without the functions it makes.
    own: Vec<Authority>,
    /// Functions each function makes directly.
    makes: Vec<Vec<u32>>,
    /// Authority of each function with everything it leads to; computed on first use.
    all: Option<Vec<Rc<Authority>>>,
    /// Steps left: a file may be written so that everything leads to everything.
    steps: usize,
}

/// Maximum steps for all exports of a file together.
const MAX_STEPS: usize = 2_000_000;

impl Reach {
    /// Collects the authority of every function in one pass over the instructions.
    pub fn of(artifact: &Artifact) -> Reach {
        let mut reach = Reach { own: Vec::new(), makes: Vec::new(), all: None, steps: MAX_STEPS };
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

    /// Returns the authority of `function` and everything it leads to; None if the file is too tangled to check.
    pub fn whole(&mut self, function: u32) -> Option<Rc<Authority>> {
        if self.all.is_none() {
            self.all = Some(self.close()?);
        }
        let found = self.all.as_ref().and_then(|all| all.get(function as usize)).cloned();
        Some(found.unwrap_or_default())
    }

    /// Adds the authority of the functions each function leads to, callees first and mutually recursive functions
    /// as one group, so long chains of calls cost no more than their length.
    fn close(&mut self) -> Option<Vec<Rc<Authority>>> {
        let groups = groups(&self.makes);
        let mut all: Vec<Rc<Authority>> = vec![Rc::default(); self.own.len()];
        for group in groups {
            let mut found = Authority::default();
            for id in &group {
                let parts = self.makes[*id as usize]
                    .iter()
                    .filter_map(|next| all.get(*next as usize))
                    .map(|part| &**part)
                    .chain([&self.own[*id as usize]]);
                for part in parts {
                    let size = 1 + part.tools.len() + part.upstream.len() + part.data.len() + part.uses.len();
                    self.steps = self.steps.checked_sub(size)?;
                    found.add(part);
                }
            }
            let found = Rc::new(found);
            for id in group {
                all[id as usize] = found.clone();
            }
        }
        Some(all)
    }

    /// Returns the authority of `function` and the functions it leads to, except those `enter` refuses; None if the
    /// file is too tangled to check.
    pub fn from(&mut self, function: u32, enter: impl Fn(u32) -> bool) -> Option<Authority> {
        let mut found = Authority::default();
        for id in self.functions([function], enter)? {
            let own = self.own.get(id as usize)?;
            let size = own.tools.len() + own.upstream.len() + own.data.len() + own.uses.len();
            self.steps = self.steps.checked_sub(size)?;
            found.add(own);
        }
        Some(found)
    }

    /// Returns the functions that `function` makes directly.
    pub fn makes(&self, function: u32) -> &[u32] {
        self.makes.get(function as usize).map_or(&[], |makes| makes)
    }

    /// Returns `roots` and the functions they lead to, in rising order.
    pub fn functions(
        &mut self,
        roots: impl IntoIterator<Item = u32>,
        enter: impl Fn(u32) -> bool,
    ) -> Option<BTreeSet<u32>> {
        let mut seen = BTreeSet::new();
        let mut queue: Vec<u32> = roots.into_iter().collect();
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

/// Groups functions that lead to each other; a group comes after those it leads to. Tarjan's algorithm with an
/// explicit stack, since chains of functions may be long.
fn groups(makes: &[Vec<u32>]) -> Vec<Vec<u32>> {
    const NEW: u32 = u32::MAX;
    let n = makes.len();
    let (mut order, mut low, mut open) = (vec![NEW; n], vec![0_u32; n], vec![false; n]);
    let (mut groups, mut waiting, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..n {
        if order[root] != NEW {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((at, edge)) = path.last_mut() {
            let id = *at;
            if *edge == 0 {
                (order[id], low[id], open[id]) = (next, next, true);
                next += 1;
                waiting.push(id as u32);
            }
            let to = makes[id].get(*edge).map(|to| *to as usize);
            *edge += 1;
            match to {
                Some(to) if to >= n => {}
                Some(to) if order[to] == NEW => path.push((to, 0)),
                Some(to) if open[to] => low[id] = low[id].min(order[to]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((caller, _)) = path.last() {
                        low[*caller] = low[*caller].min(low[id]);
                    }
                    if low[id] == order[id] {
                        let start = waiting.iter().rposition(|other| *other as usize == id).unwrap_or(0);
                        let group = waiting.split_off(start);
                        group.iter().for_each(|member| open[*member as usize] = false);
                        groups.push(group);
                    }
                }
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn groups_come_behind_what_they_lead_to() {
        let sorted = |makes: &[Vec<u32>]| {
            groups(makes)
                .into_iter()
                .map(|mut group| {
                    group.sort_unstable();
                    group
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(sorted(&[vec![1], vec![2], vec![]]), [vec![2], vec![1], vec![0]]);
        assert_eq!(sorted(&[vec![1], vec![0, 2], vec![2]]), [vec![2], vec![0, 1]]);
        assert_eq!(sorted(&[vec![7], vec![0]]), [vec![0], vec![1]]);
        assert_eq!(sorted(&[vec![1], vec![2], vec![0], vec![1]]), [vec![0, 1, 2], vec![3]]);
        let chain: Vec<Vec<u32>> = (0..100_000).map(|i| vec![i + 1]).collect();
        assert_eq!(groups(&chain).len(), 100_000);
    }
}
