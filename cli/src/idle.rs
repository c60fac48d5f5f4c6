//! Memory goes back to the system when a server has nothing to do.
//!
//! The allocator looks for memory to give back when some is freed, and not before it has been free for a while: what
//! the last request of a burst frees would stay resident for as long as nobody asks for anything.

use std::hint::black_box;
use std::time::Duration;

/// As often, while a server runs.
const EVERY: Duration = Duration::from_secs(2);

/// More than the allocator keeps in pages, so that it is taken from the system and given back at once. It is never
/// touched, so that it costs no memory.
const UNTOUCHED: usize = 64 << 20;

/// Makes the allocator look again and again.
pub async fn give_memory_back() {
    loop {
        tokio::time::sleep(EVERY).await;
        drop(black_box(Vec::<u8>::with_capacity(UNTOUCHED)));
    }
}
