//! A small provider: it shows a Deployment by its counts alone and changes nothing. `make demo` puts it in place of the
//! Kubernetes provider while a Manager runs; as a start for a provider of your own it is about as short as one can be.

use serde_json::Value;
use workload_guest::*;

/// Looks, and does nothing else.
pub struct Glance;

async fn look(cx: &Cx, id: &str) -> Result<Workload, Fault> {
    let (namespace, name) =
        id.split_once('/').ok_or_else(|| Fault::new(FaultKind::InvalidId, "an id is NAMESPACE/NAME"))?;
    let path = ["apis", "apps", "v1", "namespaces", namespace, "deployments", name];
    let answer = cx.http(Request::get(path)).await?;
    match answer.status {
        200 => {}
        404 => return Ok(Workload { settled: true, ..Workload::named(id, Status::Missing, "not-found") }),
        other => return Err(Fault::new(FaultKind::Unavailable, "no usable answer").with("code", other)),
    }
    let object: Value = serde_json::from_slice(&answer.bytes)
        .map_err(|_| Fault::new(FaultKind::Malformed, "the answer is not JSON"))?;
    let count = |pointer: &str, absent: u32| {
        let number = object.pointer(pointer).and_then(Value::as_u64);
        number.map_or(absent, |number| u32::try_from(number).unwrap_or(u32::MAX))
    };
    let (desired, available) = (count("/spec/replicas", 1), count("/status/availableReplicas", 0));
    let (status, reason) = match (desired, available) {
        (0, _) => (Status::Offline, "stopped"),
        (_, 0) => (Status::Creating, "starting"),
        (wanted, some) if some < wanted => (Status::Running, "partial"),
        _ => (Status::Running, "available"),
    };
    Ok(Workload {
        kind: "Deployment".into(),
        desired,
        available,
        settled: available == desired,
        message: Some(format!("at a glance: {available} of {desired}")),
        ..Workload::named(id, status, reason)
    })
}

impl Provider for Glance {
    fn describe() -> Descriptor {
        Descriptor {
            name: "glance".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            engine: "kubernetes".into(),
            asks: vec!["deployments:get".into()],
            spec_schema: "{}".into(),
        }
    }

    fn new(_operation: Operation) -> Self {
        Glance
    }

    async fn discover(&self, cx: Cx, _scope: Scope, _follow: bool) {
        cx.incomplete("everywhere", Fault::new(FaultKind::Unsupported, "this provider does not list"));
    }

    async fn status(&self, cx: Cx, id: String, _follow: bool) -> Result<Outcome, Fault> {
        let workload = look(&cx, &id).await?;
        Ok(Outcome { word: OutcomeWord::Read, changed: false, workload: Some(workload) })
    }
}

#[cfg(target_arch = "wasm32")]
workload_guest::export!(Glance);

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use workload_guest::testing::{Asked, Call, Options, json, run};

    fn read(code: u16, answer: &str) -> Workload {
        let call = Call::Status(vec!["shop/web".into()], false);
        let run = run::<Glance>(call, Options::default(), |asked: &Asked| {
            assert_eq!(asked.path(), "apis/apps/v1/namespaces/shop/deployments/web");
            json(code, answer)
        });
        run.outcome("shop/web").and_then(|outcome| outcome.workload.clone()).expect("it was read")
    }

    #[test]
    fn counts_decide() {
        for (answer, status, reason) in [
            (r#"{"spec":{"replicas":0}}"#, Status::Offline, "stopped"),
            (r#"{"spec":{}}"#, Status::Creating, "starting"),
            (r#"{"spec":{"replicas":2},"status":{"availableReplicas":1}}"#, Status::Running, "partial"),
            (r#"{"spec":{"replicas":2},"status":{"availableReplicas":2}}"#, Status::Running, "available"),
        ] {
            let workload = read(200, answer);
            assert_eq!((workload.status, workload.reason.as_str()), (status, reason), "{answer}");
        }
        assert_eq!(read(404, "{}").status, Status::Missing);
    }
}
