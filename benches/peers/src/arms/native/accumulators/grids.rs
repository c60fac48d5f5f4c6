//! Programs on a grid or board.

use super::random::{MODULUS, randoms};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Counts with maps and sets of cells, although vectors would be faster: the program is about maps.
pub fn grid_paths() -> Value {
    const SIZE: i64 = 220;
    let cells = || (0..SIZE).flat_map(|row| (0..SIZE).map(move |column| (row, column)));
    let walls: HashSet<(i64, i64)> =
        cells().zip(randoms(1)).filter(|(_, x)| x % 11 == 0).map(|(cell, _)| cell).collect();
    let mut paths: HashMap<(i64, i64), i64> = HashMap::new();
    for (row, column) in cells() {
        let before = |cell| paths.get(&cell).copied().unwrap_or(0);
        let count = match (row, column) {
            (0, 0) => 1,
            cell if walls.contains(&cell) => 0,
            _ => (before((row - 1, column)) + before((row, column - 1))) % MODULUS,
        };
        paths.insert((row, column), count);
    }
    let reached = paths.values().filter(|count| **count > 0).count();
    json!({"paths": paths[&(SIZE - 1, SIZE - 1)], "reached": reached})
}

pub fn bfs_grid() -> Value {
    const SIZE: usize = 120;
    let open: Vec<bool> = randoms(1).map(|x| x % 4 > 0).take(SIZE * SIZE).collect();
    let mut distances: Vec<Option<u64>> = vec![None; SIZE * SIZE];
    distances[0] = Some(0);
    let mut frontier: Vec<(usize, usize)> = vec![(0, 0)];
    for distance in 1.. {
        let mut found = Vec::new();
        for (row, column) in frontier {
            // Less than zero wraps round to a number that is not below SIZE either.
            let around = [
                (row.wrapping_sub(1), column),
                (row + 1, column),
                (row, column.wrapping_sub(1)),
                (row, column + 1),
            ];
            for (row, column) in around.into_iter().filter(|(row, column)| *row < SIZE && *column < SIZE) {
                let at = row * SIZE + column;
                if open[at] && distances[at].is_none() {
                    distances[at] = Some(distance);
                    found.push((row, column));
                }
            }
        }
        if found.is_empty() {
            break;
        }
        frontier = found;
    }
    let reached = || distances.iter().flatten();
    json!({"reached": reached().count(), "farthest": reached().max(), "total": reached().sum::<u64>()})
}

const QUEENS: usize = 9;

/// Columns and diagonals that are taken.
#[derive(Default)]
struct Board {
    columns: [bool; QUEENS],
    rising: [bool; 2 * QUEENS],
    falling: [bool; 2 * QUEENS],
}

impl Board {
    fn solutions(&mut self, row: usize) -> u64 {
        if row == QUEENS {
            return 1;
        }
        let mut count = 0;
        for column in 0..QUEENS {
            let (up, down) = (row + column, row + QUEENS - column);
            if !(self.columns[column] || self.rising[up] || self.falling[down]) {
                self.set(column, up, down, true);
                count += self.solutions(row + 1);
                self.set(column, up, down, false);
            }
        }
        count
    }

    fn set(&mut self, column: usize, up: usize, down: usize, taken: bool) {
        self.columns[column] = taken;
        self.rising[up] = taken;
        self.falling[down] = taken;
    }
}

pub fn n_queens() -> Value {
    json!(Board::default().solutions(0))
}
