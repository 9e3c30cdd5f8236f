//! Wants a socket: imports a function, which no provider may.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, missing_docs, reason = "the exports of a component are functions without names of Rust")]
mod exports {
    use workload_guest::Descriptor;
    use workload_hostile::{Describe, Hostile, descriptor};

    wit_bindgen::generate!({
        inline: "
            package evil:net@1.0.0;

            interface sockets {
                connect: func(address: string) -> u32;
            }

            world wants-a-socket {
                import sockets;
            }
        ",
    });

    struct Connects;

    impl Describe for Connects {
        fn describe() -> Descriptor {
            let socket = evil::net::sockets::connect("169.254.169.254:80");
            Descriptor { version: format!("0.0.{socket}"), ..descriptor() }
        }
    }

    type Component = Hostile<Connects>;
    workload_guest::bindings::export_component!(Component with_types_in workload_guest::bindings);
}
