//! Missions from their first request to their result.

mod answers;
mod budgets;
mod calls;
mod chains;
mod compiled;
mod contracts;
mod descriptions;
mod kit;
mod limits;
mod models;
mod nested;
mod outcomes;
mod parts;
mod plans;
mod preludes;
mod resumed;
mod sessions;
mod stops;
mod streams;
mod texts;
mod turns;
mod typed;
mod views;
