//! A look at a provider's memory when its instance ends, for those who want to see that no secret came in.
//!
//! wasmtime's component API gives no access to the memories of an instance, and those of its pool are not to be told
//! from others. With a probe the engine gives up the pool and takes memories from here instead: they cost a fresh
//! allocation and a bounds check for each access, so it is for audits and tests.

use std::ptr::NonNull;
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
    /// The first whole page of `allocation`, from the pointer that owns it: whatever reads or writes goes through it.
    base: NonNull<u8>,
    size: usize,
    capacity: usize,
    /// All of it, owned: made by `Box::leak` and given back when this is dropped.
    allocation: NonNull<[u8]>,
    probe: MemoryProbe,
}

#[allow(unsafe_code, reason = "the contract of wasmtime's host memory, kept as said at each place")]
mod contract {
    use super::{LinearMemory, Memory, MemoryCreator, MemoryType, PAGE, Probed};
    use std::ptr::NonNull;
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
            Ok(Box::new(Memory::new(minimum, capacity, Arc::clone(&self.probe))))
        }
    }

    impl Memory {
        fn new(size: usize, capacity: usize, probe: super::MemoryProbe) -> Memory {
            let bytes: Box<[u8]> = vec![0; capacity + PAGE].into_boxed_slice();
            let allocation = NonNull::from(Box::leak(bytes));
            let first = allocation.cast::<u8>();
            let offset = first.addr().get().wrapping_neg() % PAGE;
            // SAFETY: the allocation is a page longer than its capacity, and `offset` is less than a page.
            let base = unsafe { first.add(offset) };
            Memory { base, size, capacity, allocation, probe }
        }
    }

    // SAFETY: it owns its allocation, as a Box would, and hands it to one user: wasmtime.
    unsafe impl Send for Memory {}
    // SAFETY: through a shared reference nothing but the pointer is read.
    unsafe impl Sync for Memory {}

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: `size` bytes after `base` are within the allocation, and wasmtime is done with them.
            (self.probe)(unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.size) });
            // SAFETY: from `Box::leak`, and nowhere given back before.
            drop(unsafe { Box::from_raw(self.allocation.as_ptr()) });
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
            self.base.as_ptr()
        }
    }
}
