//! Missions from their first request to their result.

mod turns;
