//! Finds the finished Kubernetes component, which the command line embeds. It never builds one: a build script that
//! calls cargo waits for itself.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed=WORKLOAD_COMPONENTS");
    let Some(folder) = env::var_os("WORKLOAD_COMPONENTS") else {
        println!(
            "cargo::error=WORKLOAD_COMPONENTS is not set: build inside the repository, whose .cargo/config.toml sets it"
        );
        return;
    };
    let component = PathBuf::from(folder).join("kubernetes.wasm");
    println!("cargo::rerun-if-changed={}", component.display());
    if fs::metadata(&component).is_ok_and(|found| found.is_file()) {
        println!("cargo::rustc-env=WORKLOAD_KUBERNETES_COMPONENT={}", component.display());
    } else {
        println!("cargo::error={} is not there: run `make components` first", component.display());
    }
}
