//! Programs over several vectors, or rows of them.

use super::random::{checksum, randoms};
use serde_json::{Value, json};

pub fn edit_distance() -> Value {
    let text =
        |seed, length| -> Vec<u8> { randoms(seed).take(length).map(|x| b"acgt"[x as usize % 4]).collect() };
    let (a, b) = (text(1, 250), text(2, 300));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, one) in a.iter().enumerate() {
        let mut new_row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = row[j] + usize::from(one != other);
            new_row.push(replaced.min(row[j + 1] + 1).min(new_row[j] + 1));
        }
        row = new_row;
    }
    json!(row.last())
}

pub fn matrix_product() -> Value {
    const SIZE: usize = 72;
    let matrix = |seed| -> Vec<i64> { randoms(seed).map(|x| x % 101).take(SIZE * SIZE).collect() };
    let (a, b) = (matrix(1), matrix(2));
    let mut product = Vec::with_capacity(SIZE * SIZE);
    for row in a.chunks(SIZE) {
        for column in 0..SIZE {
            product.push(row.iter().zip(b[column..].iter().step_by(SIZE)).map(|(x, y)| x * y).sum());
        }
    }
    json!(checksum(product))
}

/// Disjoint sets of nodes, joined by size.
struct Forest {
    parents: Vec<usize>,
    sizes: Vec<usize>,
    groups: usize,
}

impl Forest {
    fn root(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    fn connect(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (child, root) = if self.sizes[a] < self.sizes[b] { (a, b) } else { (b, a) };
        self.parents[child] = root;
        self.sizes[root] += self.sizes[child];
        self.groups -= 1;
    }
}

pub fn union_find() -> Value {
    const NODES: usize = 20_011;
    const EDGES: usize = 24_000;
    let mut forest = Forest { parents: (0..NODES).collect(), sizes: vec![1; NODES], groups: NODES };
    let mut ends = randoms(1).map(|x| x as usize % NODES);
    for _ in 0..EDGES {
        let (Some(a), Some(b)) = (ends.next(), ends.next()) else { unreachable!("an endless generator") };
        forest.connect(a, b);
    }
    json!({"groups": forest.groups, "largest": forest.sizes.iter().max()})
}
