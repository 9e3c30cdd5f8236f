//! Never says who it is.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, missing_docs, reason = "the exports of a component are functions without names of Rust")]
mod exports {
    use workload_guest::Descriptor;
    use workload_hostile::{Describe, Hostile};

    struct Endless;

    impl Describe for Endless {
        fn describe() -> Descriptor {
            loop {
                // Kept by the optimiser, or the loop would be one without a body.
                std::hint::black_box(0);
            }
        }
    }

    type Component = Hostile<Endless>;
    workload_guest::bindings::export_component!(Component with_types_in workload_guest::bindings);
}
