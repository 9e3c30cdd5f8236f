//! A look at a provider's memory when its instance ends, for those who want to see that no secret came in.
//!
//! wasmtime's component API gives no access to the memories of an instance, and those of its pool are not to be told
//! from others. With a probe the engine gives up the pool and takes memories from here instead: they cost a fresh
//! allocation and a bounds check for each access, so it is for audits and tests.

use std::sync::Arc;

use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

use crate::limits::Limits;

/// Called with the whole linear memory of an instance when it ends, on the thread that ends it.
pub type MemoryProbe = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// No processor that wasmtime supports has larger pages by default.
const PAGE: usize = 64 << 10;

/// Hands out memories and shows each to the probe at its end.
pub(super) struct Probed {
    probe: MemoryProbe,
    limit: usize,
}

impl Probed {
    pub(super) fn new(probe: MemoryProbe, limits: &Limits) -> Probed {
        Probed { probe, limit: limits.memory }
    }
}

/// Allocated at its full size from the beginning, so that its base never moves. The system gives zeroed pages only as
/// they are touched.
struct Memory {
    allocation: Vec<u8>,
    /// From the allocation's beginning to the first whole page.
    offset: usize,
    size: usize,
    capacity: usize,
    probe: MemoryProbe,
}

#[allow(unsafe_code, reason = "the contract of wasmtime's host memory, kept as said at each place")]
mod contract {
    use super::{LinearMemory, Memory, MemoryCreator, MemoryType, PAGE, Probed};
    use std::sync::Arc;

    // SAFETY: what it makes is zeroed, page aligned, never moves, and is only touched by wasmtime until it is dropped.
    // The engine is configured with no guard and no reservation, so code checks each access against `byte_size`.
    unsafe impl MemoryCreator for Probed {
        fn new_memory(
            &self,
            _type: MemoryType,
            minimum: usize,
            maximum: Option<usize>,
            reserved: Option<usize>,
            guard: usize,
        ) -> Result<Box<dyn LinearMemory>, String> {
            if reserved.unwrap_or(0) > 0 || guard > 0 {
                return Err("guarded memory is not supported with a probe".to_owned());
            }
            let capacity = maximum.unwrap_or(self.limit).min(self.limit);
            if minimum > capacity {
                return Err("the memory is larger than its limit".to_owned());
            }
            let allocation = vec![0; capacity + PAGE];
            let offset = allocation.as_ptr().align_offset(PAGE);
            if offset > PAGE {
                return Err("the memory cannot be aligned".to_owned());
            }
            Ok(Box::new(Memory { allocation, offset, size: minimum, capacity, probe: Arc::clone(&self.probe) }))
        }
    }

    // SAFETY: see above; `as_ptr` is the same address for the whole life, and `byte_size` bytes after it are
    // allocated.
    unsafe impl LinearMemory for Memory {
        fn byte_size(&self) -> usize {
            self.size
        }

        fn byte_capacity(&self) -> usize {
            self.capacity
        }

        fn grow_to(&mut self, new_size: usize) -> wasmtime::Result<()> {
            if new_size > self.capacity {
                return Err(wasmtime::Error::msg("the memory is at its limit"));
            }
            self.size = new_size;
            Ok(())
        }

        fn as_ptr(&self) -> *mut u8 {
            // wasmtime writes through it; the Vec is not touched from here until it is dropped.
            self.allocation.as_ptr().wrapping_add(self.offset).cast_mut()
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(bytes) = self.allocation.get(self.offset..self.offset + self.size) {
            (self.probe)(bytes);
        }
    }
}
