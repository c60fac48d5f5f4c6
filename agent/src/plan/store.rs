//! Where plans are kept.

use super::{Plan, PlanError};
use std::future::Future;
use std::pin::Pin;

/// A plan that is on its way.
pub type PlanFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, PlanError>> + Send + 'a>>;

/// A place that keeps plans by name: a folder, the issues of a repository.
pub trait PlanStore: Send + Sync {
    /// The plan of that name.
    fn load<'a>(&'a self, name: &'a str) -> PlanFuture<'a, Plan>;

    /// Keeps the plan. Where others may have changed it meanwhile, their changes are taken over into
    /// `plan`.
    fn save<'a>(&'a self, name: &'a str, plan: &'a mut Plan) -> PlanFuture<'a, ()>;
}
