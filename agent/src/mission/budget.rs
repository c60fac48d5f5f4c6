//! Budgets of turns, tokens and money, for a mission and everything it delegates.

use super::step::TreeUsage;
use crate::definition::{AgentOptions, RunOptions};
use ptc_model::Tokens;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Budget of one mission, inside the budget of the mission above it. Spending counts against all missions above.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicI64,
    spent: Mutex<TreeUsage>,
    most: Most,
    above: Option<Arc<Budget>>,
    /// Flag: the turns have been paid for already; missions above count only the other costs.
    has_paid: bool,
}

/// Limits besides turns.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Most {
    /// Value of `max_cost_usd`.
    pub cost_usd: Option<f64>,
    /// Value of `token_limit`.
    pub tokens: Option<u64>,
}

/// An exceeded limit, and by how much.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Over {
    Cost(f64, f64),
    Tokens(u64, u64),
}

impl Most {
    /// Returns the limits of an agent and its run together.
    pub fn of(options: &AgentOptions, run: &RunOptions) -> Most {
        let tokens = [options.token_limit, run.token_limit].into_iter().flatten().min();
        Most { cost_usd: options.max_cost_usd, tokens }
    }
}

impl Budget {
    /// Returns the budget of the root mission, or of one below `above`.
    pub fn new(turns: u32, most: Most, above: Option<Arc<Budget>>) -> Arc<Budget> {
        Arc::new(Budget {
            left: AtomicI64::new(i64::from(turns)),
            spent: Mutex::new(TreeUsage::default()),
            most,
            above,
            has_paid: false,
        })
    }

    /// Returns the budget of a question whose turn has been taken for a group of questions. Model costs still count
    /// against all missions above.
    pub fn paid(above: Arc<Budget>) -> Arc<Budget> {
        let budget = Budget {
            left: AtomicI64::new(1),
            spent: Mutex::new(TreeUsage::default()),
            most: Most::default(),
            above: Some(above),
            has_paid: true,
        };
        Arc::new(budget)
    }

    fn chain(&self) -> impl Iterator<Item = &Budget> {
        std::iter::successors(Some(self), |budget| budget.above.as_deref())
    }

    /// Returns the budgets that count its turns: itself and those above, up to one whose turns have been paid for.
    fn payers(&self) -> impl Iterator<Item = &Budget> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let budget = next?;
            next = budget.above.as_deref().filter(|_| !budget.has_paid);
            Some(budget)
        })
    }

    /// Takes one turn here and from all missions above; takes nothing if one of them has none left.
    pub fn take(&self) -> bool {
        let mut taken: Vec<&Budget> = Vec::new();
        for budget in self.payers() {
            let took = budget
                .left
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| (left > 0).then_some(left - 1));
            if took.is_err() {
                for budget in taken {
                    budget.left.fetch_add(1, Ordering::AcqRel);
                }
                return false;
            }
            taken.push(budget);
        }
        for budget in taken {
            budget.spent.lock().unwrap_or_else(PoisonError::into_inner).turns += 1;
        }
        true
    }

    /// Returns the number of turns left.
    pub fn left(&self) -> u64 {
        let least = self.payers().map(|budget| budget.left.load(Ordering::Acquire)).min().unwrap_or(0);
        u64::try_from(least).unwrap_or(0)
    }

    /// Counts requests and their costs.
    pub fn spend(&self, requests: u64, tokens: Option<&Tokens>) {
        self.each(|spent| {
            spent.llm_requests = spent.llm_requests.saturating_add(requests);
            if let Some(tokens) = tokens {
                spent.total_tokens = spent.total_tokens.saturating_add(tokens.total());
                // A refund from a provider does not raise a limit.
                spent.cost_usd += tokens.total_cost.unwrap_or(0.0).max(0.0);
            }
        });
    }

    /// Returns whether dollars are the only bound on model calls: then every reply needs a cost.
    pub fn needs_costs(&self) -> bool {
        let has = |is_set: fn(&Most) -> bool| self.chain().any(|budget| is_set(&budget.most));
        has(|most| most.cost_usd.is_some()) && !has(|most| most.tokens.is_some())
    }

    /// Returns the first exceeded limit, here or above.
    pub fn over(&self) -> Option<Over> {
        self.chain().find_map(|budget| {
            let (spent, most) = (budget.spent(), budget.most);
            let cost = most.cost_usd.filter(|most| spent.cost_usd > *most);
            let tokens = most.tokens.filter(|most| spent.total_tokens > *most);
            cost.map(|most| Over::Cost(spent.cost_usd, most))
                .or(tokens.map(|most| Over::Tokens(spent.total_tokens, most)))
        })
    }

    /// Restores the usage of a resumed mission from before it was stopped.
    pub fn resume(&self, before: TreeUsage) {
        let turns = i64::try_from(before.turns).unwrap_or(i64::MAX);
        for budget in self.chain() {
            let _ = budget
                .left
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| Some(left.saturating_sub(turns)));
        }
        self.each(|spent| {
            spent.turns = spent.turns.saturating_add(before.turns);
            spent.llm_requests = spent.llm_requests.saturating_add(before.llm_requests);
            spent.total_tokens = spent.total_tokens.saturating_add(before.total_tokens);
            spent.cost_usd += before.cost_usd;
        });
    }

    /// Returns the usage of this mission and everything it delegates.
    pub fn spent(&self) -> TreeUsage {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self, change: impl Fn(&mut TreeUsage)) {
        for budget in self.chain() {
            change(&mut budget.spent.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_is_paid_for_takes_no_turn_and_costs_as_much() {
        let root = Budget::new(1, Most { tokens: Some(5), ..Most::default() }, None);
        assert!(root.take());
        let paid = Budget::paid(root.clone());
        let question = Budget::new(20, Most::default(), Some(paid.clone()));
        assert!(question.take());
        assert!(!question.take(), "one turn was paid for");
        question.spend(1, Some(&Tokens::new(5, 1)));
        assert_eq!((root.spent().turns, root.spent().llm_requests), (1, 1));
        assert_eq!(root.over(), Some(Over::Tokens(6, 5)));
    }

    #[test]
    fn a_provider_cannot_raise_the_limit_by_a_negative_cost() {
        let root = Budget::new(1, Most { cost_usd: Some(1.0), ..Most::default() }, None);
        for cost in [-100.0, 0.75, 0.75] {
            root.spend(1, Some(&Tokens { total_cost: Some(cost), ..Tokens::default() }));
        }
        assert_eq!(root.over(), Some(Over::Cost(1.5, 1.0)));
    }

    #[test]
    fn everybody_counts_against_everybody_above() {
        let most = Most { tokens: Some(5), ..Most::default() };
        let root = Budget::new(3, most, None);
        let child = Budget::new(2, Most::default(), Some(root.clone()));
        assert!(child.take() && child.take());
        assert!(!child.take());
        assert_eq!((root.left(), child.left()), (1, 0));
        assert!(root.take() && !root.take());
        child.spend(2, Some(&Tokens::new(5, 1)));
        assert_eq!((root.over(), child.over()), (Some(Over::Tokens(6, 5)), Some(Over::Tokens(6, 5))));
        assert_eq!((root.spent().turns, root.spent().total_tokens, child.spent().turns), (3, 6, 2));
    }
}
