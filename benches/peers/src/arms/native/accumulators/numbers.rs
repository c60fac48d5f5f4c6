//! Programs that fill one vector of numbers.

use super::random::{MODULUS, checksum, randoms};
use serde_json::{Value, json};

pub fn sieve() -> Value {
    const LIMIT: usize = 200_000;
    let mut prime = vec![true; LIMIT + 1];
    prime[..2].fill(false);
    for n in 2..=LIMIT.isqrt() {
        if prime[n] {
            for multiple in (n * n..=LIMIT).step_by(n) {
                prime[multiple] = false;
            }
        }
    }
    let primes: Vec<usize> = (0..=LIMIT).filter(|n| prime[*n]).collect();
    json!({"count": primes.len(), "last": primes.last()})
}

pub fn counting_sort() -> Value {
    const SIZE: usize = 50_000;
    const SPAN: usize = 997;
    let mut counts = [0; SPAN];
    for x in randoms(1).take(SIZE) {
        counts[x as usize % SPAN] += 1;
    }
    let mut sorted = Vec::with_capacity(SIZE);
    for (x, n) in counts.into_iter().enumerate() {
        sorted.extend(std::iter::repeat_n(x as i64, n));
    }
    json!(checksum(sorted))
}

pub fn coin_change() -> Value {
    const AMOUNT: usize = 50_000;
    let mut ways = vec![0; AMOUNT + 1];
    ways[0] = 1;
    for coin in [1, 2, 5, 10, 20, 50, 100, 200] {
        for total in coin..=AMOUNT {
            ways[total] = (ways[total] + ways[total - coin]) % MODULUS;
        }
    }
    json!(ways[AMOUNT])
}

pub fn collatz() -> Value {
    const LIMIT: usize = 30_000;
    let mut lengths = vec![None; LIMIT + 1];
    lengths[1] = Some(1);
    for start in 2..=LIMIT {
        let (mut n, mut steps) = (start, 0);
        let known = loop {
            if let Some(&Some(known)) = lengths.get(n) {
                break known;
            }
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        };
        lengths[start] = Some(steps + known);
    }
    let known = || lengths.iter().flatten();
    json!({"longest": known().max(), "total": known().sum::<u64>()})
}
