//! What `-v` tells of each request: what was asked, what came of it, and after how long. No host, header or body is told.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use workload_host::model::Failure;
use workload_host::text::span;
use workload_host::upstream::{Incoming, Outgoing, Upstream};

/// Names the next page of a list, and is long and of use to nobody.
const TOKEN: &str = "continue=";

fn without_token(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let parts = query.split('&').map(|part| if part.starts_with(TOKEN) { "continue=..." } else { part });
    format!("{path}?{}", parts.collect::<Vec<_>>().join("&"))
}

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
        if !tracing::enabled!(tracing::Level::INFO) {
            return self.0.send(request);
        }
        let asked = format!("{} {}", request.method.as_str(), without_token(&request.target));
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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::one("/apis/apps/v1/namespaces/a/deployments/b", "/apis/apps/v1/namespaces/a/deployments/b")]
    #[case::first_page("/a?limit=500&labelSelector=x", "/a?limit=500&labelSelector=x")]
    #[case::next_page("/a?limit=500&continue=eyJ2&x=y", "/a?limit=500&continue=...&x=y")]
    fn a_token_is_not_told(#[case] target: &str, #[case] told: &str) {
        assert_eq!(without_token(target), told);
    }
}
