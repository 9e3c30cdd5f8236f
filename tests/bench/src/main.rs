//! Every figure the README quotes. Each is a ratio of two ways to do the same, taken in turn in one run, so that what else
//! the machine does falls on both. Nothing here passes or fails.

mod cluster;
mod host;
mod native;
mod timing;

use std::hint::black_box;
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::core::ObjectList;

use cluster::Cluster;
use host::Host;
use timing::{Rounds, in_turn};

/// A list as long as a busy namespace's.
const MANY: usize = 1_000;

/// A list as long as most.
const FEW: usize = 10;

fn main() -> anyhow::Result<()> {
    anyhow::ensure!(!cfg!(debug_assertions), "run it with `make bench`: without optimisation the figures mean nothing");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let model = runtime.block_on(cluster::model()).context("cannot make the Deployment that is listed")?;
    let (many, few) = (Cluster::of(&model, MANY)?, Cluster::of(&model, FEW)?);
    let host = runtime.block_on(Host::new(&[&many, &few])).context("cannot load the provider")?;
    println!("{MANY} Deployments are {} in {} pages\n", timing::bytes(many.size()), many.pages().len());
    println!("id  {:<74} {:>9}   ratio", "what", "median");

    let sandboxed = |cluster: &'static str| {
        let (host, runtime) = (&host, &runtime);
        move || runtime.block_on(host.list(cluster))
    };
    let (plugin, native) = in_turn(Rounds(25), sandboxed("many"), || native::list(&many));
    figure("B1", "list 1,000 Deployments: in the sandbox / the same provider native", &plugin, &native);

    let (plugin, typed) = in_turn(Rounds(25), sandboxed("many"), || decode_typed(&many));
    figure("B2", "list 1,000 Deployments: in the sandbox / decoded with kube and k8s-openapi", &plugin, &typed);

    let (plugin, native) = in_turn(Rounds(2_000), sandboxed("few"), || native::list(&few));
    figure("B4", "list 10 Deployments: in the sandbox / native", &plugin, &native);
    for (name, percent) in [("half of them", 50), ("all but a hundredth", 99)] {
        let (plugin, native) = (plugin.at(percent), native.at(percent));
        println!("    {name:<74} {:>9} more", timing::span(plugin.saturating_sub(native)));
    }

    let (plugin, native) = in_turn(Rounds(2_000), || runtime.block_on(host.nothing()), native::nothing);
    figure("B5", "an operation that ends in its first step: fresh instance / native", &plugin, &native);
    Ok(())
}

fn figure(id: &str, what: &str, left: &timing::Taken, right: &timing::Taken) {
    let (left, right) = (left.at(50), right.at(50));
    println!("{id}  {what:<74} {:>9}   {:>5.2}", timing::span(left), ratio(left, right));
}

fn ratio(left: Duration, right: Duration) -> f64 {
    left.as_secs_f64() / right.as_secs_f64()
}

/// What a client of typed objects does with the same pages.
fn decode_typed(cluster: &Cluster) -> usize {
    let pages = cluster.pages().iter();
    pages
        .map(|page| match serde_json::from_slice::<ObjectList<Deployment>>(page) {
            Ok(list) => black_box(list).items.len(),
            Err(_) => 0,
        })
        .sum()
}
