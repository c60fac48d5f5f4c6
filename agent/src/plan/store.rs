//! Stores of plans.

use super::{Plan, PlanError};
use std::future::Future;
use std::pin::Pin;

/// A pending result of a plan store.
pub type PlanFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, PlanError>> + Send + 'a>>;

/// Store of plans by name: a folder, or the issues of a repository.
pub trait PlanStore: Send + Sync {
    /// Loads the plan of that name.
    fn load<'a>(&'a self, name: &'a str) -> PlanFuture<'a, Plan>;

    /// Saves the plan. If others may have changed it meanwhile, their changes are taken over into `plan`.
    fn save<'a>(&'a self, name: &'a str, plan: &'a mut Plan) -> PlanFuture<'a, ()>;
}
