//! The operations. Each is one workload's story: look, write at most once, wait.

mod case;
mod claims;
mod create;
mod delete;
mod discover;
mod explain;
mod nudge;
mod settle;
mod start;
mod status;
mod stop;

use workload_guest::{Cx, Descriptor, Fault, Operation, Outcome, Provider, Scope, Spec, StopIntent};

use crate::create::SCHEMA;
use crate::read::Reads;

/// The provider of Deployments.
pub struct Kubernetes {
    reads: Reads,
}

/// What it would like to be allowed: what the operations below ask for, and nothing else.
const ASKS: [&str; 10] = [
    "deployments:get",
    "deployments:list",
    "deployments:watch",
    "deployments:create",
    "deployments:delete",
    // To wake a controller that has given up: an annotation of our own, and nothing else.
    "deployments:patch",
    "deployments/scale:patch",
    "replicasets:list",
    "pods:list",
    "events:list",
];

impl Provider for Kubernetes {
    fn describe() -> Descriptor {
        Descriptor {
            name: "kubernetes".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: "kubernetes".to_owned(),
            asks: ASKS.map(str::to_owned).to_vec(),
            spec_schema: SCHEMA.to_owned(),
        }
    }

    fn new(operation: Operation) -> Self {
        Self { reads: Reads::new(operation) }
    }

    async fn discover(&self, cx: Cx, scope: Scope, follow: bool) {
        discover::discover(&self.reads, &cx, scope, follow).await;
    }

    async fn status(&self, cx: Cx, id: String, follow: bool) -> Result<Outcome, Fault> {
        status::status(&self.reads, cx, &id, follow).await
    }

    async fn create(&self, cx: Cx, spec: Spec) -> Result<Outcome, Fault> {
        create::create(cx, spec).await
    }

    async fn start(&self, cx: Cx, id: String) -> Result<Outcome, Fault> {
        start::start(&self.reads, cx, &id).await
    }

    /// Every intent stops: a Deployment keeps nothing that one of them could lose.
    async fn stop(&self, cx: Cx, id: String, _intent: StopIntent) -> Result<Outcome, Fault> {
        stop::stop(&self.reads, cx, &id).await
    }

    /// Every intent deletes.
    async fn delete(&self, cx: Cx, id: String, _intent: StopIntent) -> Result<Outcome, Fault> {
        delete::delete(&self.reads, cx, &id).await
    }
}

#[cfg(test)]
mod tests;
