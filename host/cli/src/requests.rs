//! What `-v` tells of each request: what was asked, what came of it, and after how long. No host, header or body is told.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use workload_host::model::Failure;
use workload_host::text::span;
use workload_host::upstream::{Incoming, Outgoing, Upstream};

/// Sends what another sends, and tells of it.
pub struct Told<U>(Arc<U>);

impl<U> Told<U> {
    /// Tells of what this sends.
    pub fn new(upstream: U) -> Told<U> {
        Told(Arc::new(upstream))
    }
}

impl<U: Upstream> Upstream for Told<U> {
    fn send(&self, request: Outgoing) -> Pin<Box<dyn Future<Output = Result<Incoming, Failure>> + Send>> {
        let asked = format!("{} {}", request.method.as_str(), request.target);
        let began = Instant::now();
        let upstream = Arc::clone(&self.0);
        let sent = upstream.send(request);
        Box::pin(async move {
            let answer = sent.await;
            let came = match &answer {
                Ok(incoming) => incoming.status.to_string(),
                Err(_) => upstream.trouble().unwrap_or_else(|| "no answer".to_owned()),
            };
            tracing::info!("{asked}: {came} ({})", span(began.elapsed()));
            answer
        })
    }

    fn trouble(&self) -> Option<String> {
        self.0.trouble()
    }
}
