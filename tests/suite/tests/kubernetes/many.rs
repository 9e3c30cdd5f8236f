//! More workloads than a test cluster would hold.

use std::collections::{BTreeMap, BTreeSet};

use kube_emulator::pattern::Pattern;
use kube_emulator::scenario::{Fill, fill};
use rstest::rstest;
use workload_suite::{Cli, Server};

/// The labels that make a Deployment ours.
fn ours() -> BTreeMap<String, String> {
    let labels = [("workload-provider/managed", "true"), ("workload-provider/owner", "default")];
    labels.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// An emulator with so many Deployments of ours, all up.
fn filled(count: usize) -> Server {
    let server = Server::emulator();
    let what = Fill { namespace: "many".to_owned(), count, labels: ours(), ..Fill::default() };
    fill(server.emulated().state(), &what).unwrap();
    server
}

#[rstest]
#[case::three_pages(1_200, 3)]
#[case::more_than_one_turn_can_tell(10_000, 20)]
fn a_list_comes_in_pages(#[case] count: usize, #[case] pages: usize) {
    let server = filled(count);
    let list = Cli::new(&server.file("kubeconfig")).json(&["list", "--all-namespaces"]).exits(0).json();
    let workloads = list["workloads"].as_array().unwrap();
    assert!(workloads.iter().all(|workload| workload["status"] == "running"), "they are up");
    let ids: BTreeSet<_> = workloads.iter().map(|workload| workload["id"].as_str()).collect();
    assert_eq!((workloads.len(), ids.len()), (count, count), "each once");
    let asked = server.emulated().record().matching(&Pattern::resource("list", "deployments")).len();
    assert_eq!(asked, pages);
}

#[test]
fn a_list_that_is_too_large_says_that_it_is_not_whole() {
    let server = filled(100_000);
    let list = Cli::new(&server.file("kubeconfig")).json(&["list", "--all-namespaces"]).exits(1).json();
    assert_eq!(list["incomplete"][0]["place"], "all namespaces", "{}", list["incomplete"]);
    assert!(!list["workloads"].as_array().unwrap().is_empty(), "what was read is shown");
    // The emulator has them all, and something happens to one of them as if it were the only one.
    let cli = Cli::new(&server.file("kubeconfig")).with(&["--namespace", "many"]);
    assert_eq!(cli.json(&["status", "app-99999"]).exits(0).json()["status"], "running");
    assert_eq!(cli.json(&["stop", "app-99999"]).exits(0).json()["outcome"], "stopped");
}
