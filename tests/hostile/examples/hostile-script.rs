//! Does what its setting `behaviour` says.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, missing_docs, reason = "the exports of a component are functions without names of Rust")]
mod exports {
    use workload_guest::Descriptor;
    use workload_hostile::{Describe, Hostile, descriptor};

    struct Proper;

    impl Describe for Proper {
        fn describe() -> Descriptor {
            descriptor()
        }
    }

    type Component = Hostile<Proper>;
    workload_guest::bindings::export_component!(Component with_types_in workload_guest::bindings);
}
