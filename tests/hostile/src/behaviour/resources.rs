//! Time, stack, memory, and what is copied out.

use workload_guest::Turn;

use super::Step;
use crate::given::{Given, asking, turn};

/// 1 MiB: by so much memory grows at a time, and so long are the texts of a huge turn.
const CHUNK: usize = 1 << 20;

/// Never returns.
pub(super) fn endless() -> ! {
    loop {
        // Kept by the optimiser, or the loop would be one without a body.
        std::hint::black_box(0);
    }
}

/// Uses the stack up.
pub(super) fn recurse(depth: u64) -> Turn {
    #[allow(unconditional_recursion, reason = "that is what it is for")]
    fn deeper(depth: u64) -> u64 {
        let frame = [depth; 64];
        let below = deeper(std::hint::black_box(depth.wrapping_add(1)));
        below.wrapping_add(std::hint::black_box(frame).iter().sum())
    }
    let mut turn = turn();
    turn.progress.push(("default/probe".to_owned(), deeper(depth).to_string()));
    turn
}

/// Uses memory up, and touches all of it.
pub(super) fn grow() -> ! {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        held.push(vec![1; CHUNK]);
        std::hint::black_box(&held);
    }
}

/// A turn of 9 MiB: a little more than may be copied in a call.
pub(super) fn huge_return() -> Turn {
    let mut turn = turn();
    turn.progress = (0..9).map(|_| ("default/probe".to_owned(), "x".repeat(CHUNK))).collect();
    turn
}

/// A turn of 100 MiB, more than the memory it comes from: 100 texts that are all the same bytes.
#[allow(unsafe_code, reason = "safe Rust has no two Strings of one buffer; the canonical ABI cannot tell")]
pub(super) fn huge_return_shared() -> Turn {
    let bytes = vec![b'x'; CHUNK].leak().as_mut_ptr();
    // SAFETY: not sound, on purpose. Only pointer and length of each are read, to make the turn; they would be freed
    // once it was copied, but the host gives up before that.
    let shared = || unsafe { String::from_raw_parts(bytes, CHUNK, CHUNK) };
    let mut turn = turn();
    turn.progress = (0..100).map(|_| ("default/probe".to_owned(), shared())).collect();
    turn
}

/// Asks first, traps when the answer is there.
pub(super) fn trap_later(given: Given) -> Step {
    let mut asked = false;
    Box::new(move |_, _| {
        if asked {
            std::process::abort();
        }
        asked = true;
        asking(vec![given.ask(1, given.get())])
    })
}
