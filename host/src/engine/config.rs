//! How the engine is configured: everything off that a provider does not need.

use std::sync::Arc;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, WasmFeatures};

use super::probe::{MemoryProbe, Probed};
use crate::error::Error;
use crate::limits::{self, Limits};

/// Where instances get their memory from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// A pool with 4 GiB of address space for each memory: no bounds checks, a few microseconds for an instance.
    Pool,
    /// A pool with as much address space as a memory may use: for machines that limit it.
    SmallPool,
    /// From the system, for each instance anew: where not even that is allowed.
    OnDemand,
    /// From the host, for each instance anew, with a [`MemoryProbe`].
    Probed,
}

/// Instructions and types that compilers of ordinary providers use. Whatever is not listed is refused when a component
/// is loaded: most of wasmtime's advisories are about the rest.
const FEATURES: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::CALL_INDIRECT_OVERLONG)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::BULK_MEMORY_OPT)
    .union(WasmFeatures::SIMD)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::EXTENDED_CONST)
    .union(WasmFeatures::COMPONENT_MODEL);

/// Address space that makes bounds checks needless: all that 32 bits reach.
const FULL_RESERVATION: u64 = 4 << 30;

/// What a pool's slot keeps resident of a table, in bytes: those of ordinary providers fit whole.
const KEEP_RESIDENT_TABLE: usize = 64 << 10;

/// Tries what is fastest first; each step down needs less address space.
pub(super) fn engine(limits: &Limits, probe: Option<MemoryProbe>) -> Result<(Engine, Allocation), Error> {
    if let Some(probe) = probe {
        let mut config = base();
        config.memory_reservation(0).memory_guard_size(0).memory_reservation_for_growth(0);
        config.memory_init_cow(false);
        config.with_host_memory(Arc::new(Probed::new(probe, limits)));
        config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
        let engine = Engine::new(&config).map_err(|error| sandbox(&error))?;
        return Ok((engine, Allocation::Probed));
    }
    let small = limits.memory as u64;
    for (allocation, reservation) in [(Allocation::Pool, FULL_RESERVATION), (Allocation::SmallPool, small)] {
        let mut config = base();
        config.memory_reservation(reservation);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
        match Engine::new(&config) {
            Ok(engine) => return Ok((engine, allocation)),
            Err(error) => tracing::debug!(?allocation, error = format!("{error:#}"), "no such pool on this machine"),
        }
    }
    let mut config = base();
    config.memory_reservation(small);
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    let engine = Engine::new(&config).map_err(|error| sandbox(&error))?;
    Ok((engine, Allocation::OnDemand))
}

fn sandbox(error: &wasmtime::Error) -> Error {
    Error::Sandbox { what: format!("{error:#}") }
}

/// What is the same for every way to allocate.
fn base() -> Config {
    let mut config = Config::new();
    config.strategy(wasmtime::Strategy::Cranelift);
    config.wasm_features(WasmFeatures::all().difference(FEATURES), false);
    config.wasm_features(FEATURES, true);
    config.concurrency_support(false);
    config.epoch_interruption(true);
    config.max_wasm_stack(limits::GUEST_STACK);
    // Nothing of the guest in messages, and less to keep in memory.
    config.wasm_backtrace_max_frames(None);
    config.generate_address_map(false);
    // The same inputs give the same outputs, bit for bit, on every processor.
    config.cranelift_nan_canonicalization(true);
    config
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let instances = limits.instances;
    let core_instances = u32::try_from(limits::CORE_INSTANCES).unwrap_or(u32::MAX);
    let memories = u32::try_from(limits::MEMORIES).unwrap_or(u32::MAX);
    let tables = u32::try_from(limits::TABLES).unwrap_or(u32::MAX);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances);
    // Only counted, nothing is set aside for them.
    pool.total_core_instances(instances.saturating_mul(core_instances));
    pool.max_core_instances_per_component(core_instances);
    // Set aside in address space. A component with a second memory or table is rare.
    pool.total_memories(instances.saturating_add(memories));
    pool.max_memories_per_component(memories);
    pool.max_memory_size(limits.memory);
    pool.total_tables(instances.saturating_mul(2).saturating_add(tables));
    pool.max_tables_per_component(tables);
    pool.table_elements(limits::TABLE_ELEMENTS);
    pool.linear_memory_keep_resident(limits::KEEP_RESIDENT);
    pool.table_keep_resident(KEEP_RESIDENT_TABLE);
    // Where the system can tell which pages were touched, only those are put back.
    pool.pagemap_scan(wasmtime::Enabled::Auto);
    pool.max_unused_warm_slots(limits::WARM_SLOTS);
    pool
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Instance, Module, Store};

    use super::{Allocation, engine};
    use crate::limits::Limits;

    /// Fills 4 MiB, most of it beyond what a slot keeps resident.
    const WRITES: &str = r#"(module (memory 1)
      (func (export "run") (result i32)
        (drop (memory.grow (i32.const 63)))
        (memory.fill (i32.const 0) (i32.const 0xaa) (i32.const 0x400000))
        i32.const 0))"#;

    /// Gives all of its 4 MiB together, grown or there from the beginning.
    const READS: &str = r#"(module (memory INITIAL)
      (func (export "run") (result i32) (local $at i32) (local $all i32)
        (drop (memory.grow (i32.sub (i32.const 64) (memory.size))))
        (loop $next
          (local.set $all (i32.or (local.get $all) (i32.load (local.get $at))))
          (local.set $at (i32.add (local.get $at) (i32.const 4)))
          (br_if $next (i32.lt_u (local.get $at) (i32.const 0x400000))))
        local.get $all))"#;

    fn run(engine: &Engine, module: &Module) -> (Store<()>, i32) {
        let mut store = Store::new(engine, ());
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = Instance::new(&mut store, module, &[]).unwrap();
        let run = instance.get_typed_func::<(), i32>(&mut store, "run").unwrap();
        let result = run.call(&mut store, ()).unwrap();
        (store, result)
    }

    #[test]
    fn nothing_of_one_instance_is_seen_by_the_next() {
        let (engine, allocation) = engine(&Limits { instances: 1, ..Limits::default() }, None).unwrap();
        assert!(matches!(allocation, Allocation::Pool | Allocation::SmallPool), "{allocation:?}");
        let module = |text: &str| Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        let writes = module(WRITES);
        // All memories that the pool has, so that each is used again.
        let memories = 1 + crate::limits::MEMORIES;
        for initial in ["1", "64"] {
            let reads = module(&READS.replace("INITIAL", initial));
            let written: Vec<_> = (0..memories).map(|_| run(&engine, &writes)).collect();
            assert!(Instance::new(&mut Store::new(&engine, ()), &writes, &[]).is_err(), "there is one more");
            drop(written);
            let read: Vec<_> = (0..memories).map(|_| run(&engine, &reads)).collect();
            assert!(read.iter().all(|(_, all)| *all == 0));
        }
    }
}
