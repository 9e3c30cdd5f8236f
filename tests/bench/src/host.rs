//! The provider as a component in the host, with an upstream that has every answer at hand.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use workload_host::model::{Failure, Media, Ownership};
use workload_host::upstream::{Incoming, Outgoing, Upstream};
use workload_host::{Manager, Options, Places, Provider, Settings, Source};

use crate::cluster::{Cluster, NAMESPACE};

/// A Manager with the provider once for each cluster.
pub struct Host {
    manager: Manager,
}

impl Host {
    /// `many` and `few` are the names of the clusters.
    pub async fn new([many, few]: &[&Cluster; 2]) -> anyhow::Result<Host> {
        let manager = Manager::new(Settings::default())?;
        let component = Path::new(env!("WORKLOAD_COMPONENTS")).join("kubernetes.wasm");
        for (name, cluster) in [("many", many), ("few", few)] {
            let provider = Provider {
                upstream: Arc::new(Memory::of(cluster)),
                given: vec!["*".to_owned()],
                places: Places::only([NAMESPACE]),
                ownership: Ownership::new("workload-provider", "default"),
                settings: Vec::new(),
            };
            manager.load(name, Source::File(component.clone()), provider).await?;
        }
        Ok(Host { manager })
    }

    /// Lists what is in a cluster, and says how many there are.
    pub async fn list(&self, cluster: &str) -> usize {
        let run = self.manager.discover(cluster, vec![NAMESPACE.to_owned()], Options::default());
        run.finish().await.emitted.len()
    }

    /// The state of what cannot be a workload: a fresh instance, one step, the end.
    pub async fn nothing(&self) -> usize {
        let run = self.manager.status("few", vec!["a/b/c".to_owned()], Options::default());
        run.finish().await.settled.len()
    }
}

/// Answers from memory.
struct Memory {
    /// By `continue` token; empty for the first.
    pages: BTreeMap<String, Bytes>,
}

impl Memory {
    fn of(cluster: &Cluster) -> Memory {
        let token = |number: usize| if number == 0 { String::new() } else { number.to_string() };
        Memory {
            pages: cluster.pages().iter().enumerate().map(|(number, page)| (token(number), page.clone())).collect(),
        }
    }
}

impl Upstream for Memory {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        let token = request.target.split(['?', '&']).find_map(|pair| pair.strip_prefix("continue=")).unwrap_or("");
        let page = self.pages.get(token).cloned();
        async move {
            Ok(Incoming {
                status: 200,
                retry_after_ms: None,
                date_ms: None,
                headers: Vec::new(),
                media: Some(Media::Json),
                body: stream::once(async { Ok(page.unwrap_or_default()) }).boxed(),
            })
        }
        .boxed()
    }
}
