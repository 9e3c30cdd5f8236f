//! A write that is told instead of sent.

use workload_policy::Allowed;

use crate::model::{Method, PlannedRequest};

/// The first write of a workload under `plan`.
pub(in crate::drive) struct PlannedWrite {
    pub(in crate::drive) id: String,
    pub(in crate::drive) request: PlannedRequest,
}

impl PlannedWrite {
    pub(super) fn new(id: String, method: Method, allowed: Allowed) -> PlannedWrite {
        let body = allowed.body.as_deref().map(|body| {
            // Policy wrote it, so it is JSON; anything else is shown as text.
            serde_json::from_slice(body)
                .unwrap_or_else(|_| serde_json::Value::String(String::from_utf8_lossy(body).into_owned()))
        });
        PlannedWrite { id, request: PlannedRequest { method, target: allowed.target, body } }
    }
}
