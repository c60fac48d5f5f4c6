//! Projection of a batch: the parts of its records that the programs can observe, so that readers of tables may leave out columns.

use super::{Batch, Reducer, Rules};
use crate::program::Program;
use ptc_bytecode::{Const, Key, Op};
use ptc_compiler::{Condition, Projection, Projections, conditions, projections};

impl Batch {
    /// Returns the parts of a record that the program can observe. A reader may put nil in place of the others: results
    /// stay the same, as long as every member is there.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let seen = Batch::new(&runtime, &runtime.compile("(* (:price data/row) 2)")?).projection();
    /// assert!(seen.member("price").is_some() && seen.member("name").is_none());
    /// let seen = Batch::new(&runtime, &runtime.compile("(assoc data/row :seen true)")?).projection();
    /// assert!(seen.is_whole());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn projection(&self) -> Projection {
        self.projection_of(&self.work)
    }

    /// Returns conditions that a record has to meet to give a result that is not left out, in the order in which the program
    /// evaluates them; each is evaluated only if those before it hold. A reader may skip a record for which one certainly
    /// does not hold, and those before it certainly do not fail: for it, the program gives nil. Empty unless results that
    /// are nil are left out and all records are taken.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let batch = Batch::new(&runtime, &runtime.compile("(when (> (:n data/row) 5) data/row)")?);
    /// assert!(batch.conditions().is_empty());
    /// assert_eq!(batch.skip_nil(true).conditions().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conditions(&self) -> Vec<Condition> {
        let limits = self.runtime.current_limits();
        // With less fuel, the condition itself could fail.
        if !self.skip_nil || self.take < u64::MAX || limits.fuel < ENOUGH_FUEL {
            return Vec::new();
        }
        let is_member = |name: &str| {
            self.fields && name != self.name && !self.grants.names().any(|granted| granted == name)
        };
        let scope = self.runtime.scope_of(&self.work);
        conditions(self.work.source(), &scope, limits, &self.name, is_member)
    }
}

/// Fuel that is enough for a condition, many times over.
const ENOUGH_FUEL: u64 = 10_000;

impl Batch<Rules> {
    /// Returns the parts of a record that any of the programs can observe, like [`Batch::projection`].
    pub fn projection(&self) -> Projection {
        self.work
            .programs()
            .map(|program| self.projection_of(program))
            .fold(Projection::default(), Projection::and)
    }
}

impl Batch<Reducer> {
    /// Returns the parts of a record that `step` can observe, like [`Batch::projection`].
    pub fn projection(&self) -> Projection {
        self.projections(self.work.program()).step().clone()
    }
}

impl<Work> Batch<Work> {
    fn projection_of(&self, program: &Program) -> Projection {
        let found = self.projections(program);
        let is_member = |name: &str| self.fields && name != self.name;
        if preludes_read(program, |name| name == self.name || is_member(name)) {
            return Projection::whole();
        }
        let record = found.data(&self.name);
        if !self.fields {
            return record;
        }
        let Some(data) = found.all_data() else { return Projection::whole() };
        let members = data.iter().filter(|(name, _)| is_member(name));
        members.fold(record, |all, (name, part)| {
            all.with(Key { name: name.clone(), is_keyword: true }, part.clone())
        })
    }

    fn projections(&self, program: &Program) -> Projections {
        let scope = self.runtime.scope_of(program);
        projections(program.source(), &scope, self.runtime.current_limits())
    }
}

/// True if code of a prelude reads granted data of such a name: its functions are not followed.
fn preludes_read(program: &Program, is_record: impl Fn(&str) -> bool) -> bool {
    let preludes = program.attached().into_iter().flat_map(|attached| attached.preludes());
    preludes.map(|prelude| prelude.artifact()).any(|artifact| {
        artifact.blocks.iter().flat_map(|block| &block.ops).any(|op| match op {
            Op::GetData { key, .. } => match artifact.consts.get(*key as usize) {
                Some(Const::Str(name)) => is_record(name),
                _ => true,
            },
            _ => false,
        })
    })
}
