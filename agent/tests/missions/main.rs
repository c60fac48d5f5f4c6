//! Missions from their first request to their result.

mod budgets;
mod calls;
mod chains;
mod compiled;
mod contracts;
mod kit;
mod limits;
mod models;
mod nested;
mod outcomes;
mod plans;
mod preludes;
mod resumed;
mod sessions;
mod texts;
mod turns;
mod views;
