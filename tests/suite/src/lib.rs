//! What the end-to-end tests share: the released command as a user runs it, and a Kubernetes with an independent witness of
//! what is in it: the emulator, or the real cluster.
//!
//! A test for both is written once and takes a [`Server`]. Its case on the real cluster is `#[ignore]`d so that a plain
//! `cargo test` works without one; `make test` brings the cluster up and runs it.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "code of tests: a failure here is a failed test"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod command;
pub mod inside;
mod role;
mod server;

pub use command::{Cli, Ran, wait};
pub use role::TESTER;
pub use server::{Namespace, Server};

/// How long a condition may take before a test gives up. Generous: two cores run a whole cluster beside the tests.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The folder the workspace is in.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/suite is two below the root").to_owned()
}

/// A finished component by name, e.g. `kubernetes` or `hostile-script`.
pub fn component(name: &str) -> PathBuf {
    let path = Path::new(env!("WORKLOAD_COMPONENTS")).join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing: run `make components`", path.display());
    path
}

/// The image that the cluster has without any registry.
pub const IMAGE: &str = "localhost/busybox:1";

/// Runs until it gets SIGTERM.
pub const SLEEPER: &str = "trap exit TERM; while :; do sleep 0.2; done";

/// Waits until `condition` holds, asking again and again; a test's failure when it takes longer than [`PATIENCE`].
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
