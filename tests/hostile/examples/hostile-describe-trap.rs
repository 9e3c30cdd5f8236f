//! Traps when asked who it is.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, missing_docs, reason = "the exports of a component are functions without names of Rust")]
mod exports {
    use workload_guest::Descriptor;
    use workload_hostile::{Describe, Hostile};

    struct Trap;

    impl Describe for Trap {
        fn describe() -> Descriptor {
            std::process::abort()
        }
    }

    type Component = Hostile<Trap>;
    workload_guest::bindings::export_component!(Component with_types_in workload_guest::bindings);
}
