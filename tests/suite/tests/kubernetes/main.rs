//! The main job on a real Kubernetes and on the emulated one, through the released command: what is right is what happens here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod broken;
mod explain;
mod faults;
mod kubeconfig;
mod life;
mod manager;
mod many;
mod role;
mod sandbox;
mod scripts;
mod watch;
