//! What an instance may grow to.

use wasmtime::ResourceLimiter;

use crate::limits::{self, Limits};

/// The data of a store: how much its instance holds, and the first limit that it broke.
///
/// Growth beyond a limit is an error, so a trap, instead of the -1 that a guest may ignore: a provider out of memory
/// has no good way on, and the caller is told what happened.
#[derive(Debug)]
pub(crate) struct Guest {
    memory_limit: usize,
    memory: usize,
    exceeded: Option<String>,
}

impl Guest {
    pub(crate) fn new(limits: &Limits) -> Guest {
        Guest { memory_limit: limits.memory, memory: 0, exceeded: None }
    }

    /// The limit that was broken, in words.
    pub(crate) fn exceeded(&self) -> Option<&str> {
        self.exceeded.as_deref()
    }

    fn refuse(&mut self, what: String) -> wasmtime::Error {
        let error = wasmtime::Error::msg(what.clone());
        self.exceeded.get_or_insert(what);
        error
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        // Over all memories of the instance: a component may have several.
        let total = self.memory.saturating_sub(current).saturating_add(desired);
        if total > self.memory_limit {
            let limit = self.memory_limit >> 20;
            return Err(self.refuse(format!("the provider needs more than {limit} MiB of memory")));
        }
        self.memory = total;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.exceeded.get_or_insert_with(|| "the provider's memory cannot grow".to_owned());
        Err(error)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > limits::TABLE_ELEMENTS {
            let limit = limits::TABLE_ELEMENTS;
            return Err(self.refuse(format!("the provider needs a table of more than {limit} elements")));
        }
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.exceeded.get_or_insert_with(|| "the provider's table cannot grow".to_owned());
        Err(error)
    }

    fn instances(&self) -> usize {
        limits::CORE_INSTANCES
    }

    fn tables(&self) -> usize {
        limits::TABLES
    }

    fn memories(&self) -> usize {
        limits::MEMORIES
    }
}
