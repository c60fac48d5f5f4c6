//! What a function may reach of the host, read off its bytecode: tools, operations of upstream
//! servers, granted data.
//!
//! Functions are reached by `MakeClosure` alone and tools by the ids of one table, so nothing has to
//! be guessed: the compiler fills the manifest of a prelude from here, and the verifier compares the
//! manifest of any file with it.

use crate::artifact::{Artifact, Const, ToolName};
use crate::isa::{Op, Operand};
use crate::uses::used_export;
use std::collections::BTreeSet;
use std::rc::Rc;

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
    /// Exports of other namespaces it calls, as `ns/name`. Whatever those reach comes on top.
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
    /// What each function and all it leads to may reach; made when first asked for.
    all: Option<Vec<Rc<Authority>>>,
    /// Steps left: a file may be written so that everything leads to everything.
    steps: usize,
}

/// Functions looked at for all exports of a file together.
const MAX_STEPS: usize = 2_000_000;

impl Reach {
    /// Looks at every instruction once.
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

    /// What `function` and everything it leads to may reach. None once the file has proved too tangled to
    /// be checked.
    pub fn whole(&mut self, function: u32) -> Option<Rc<Authority>> {
        if self.all.is_none() {
            self.all = Some(self.close()?);
        }
        let found = self.all.as_ref().and_then(|all| all.get(function as usize)).cloned();
        Some(found.unwrap_or_default())
    }

    /// Adds what functions lead to, each group of functions that lead to each other once, those it leads
    /// to first: so long chains of calls cost no more than their length.
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

    /// What `function` and the functions it leads to may reach; those `enter` refuses are left out.
    /// None once the file has proved too tangled to be checked.
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

    /// The functions that one makes itself.
    pub fn makes(&self, function: u32) -> &[u32] {
        self.makes.get(function as usize).map_or(&[], |makes| makes)
    }

    /// These functions and those they lead to, in rising order.
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

/// Functions that lead to each other, as groups; a group comes behind those it leads to. Tarjan's
/// algorithm with a stack of its own, since chains of functions may be long.
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
