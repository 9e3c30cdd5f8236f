//! One record for each denial and for each write.

use crate::model::Method;

/// Who did what, and what the host did with it. Holds no body, header or credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// The provider's name, as it was loaded.
    pub provider: String,
    /// Counts up with each `swap` of this provider, from 0.
    pub generation: u64,
    /// The call: `start`, `stop`, …
    pub call: &'static str,
    /// The workload it was for; none for a read that several share.
    pub id: Option<String>,
    /// What happened.
    pub action: AuditAction,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditAction {
    /// Policy said no; nothing was sent.
    Denied {
        /// The rule in words, for the operator. Never shown to the provider.
        reason: String,
    },
    /// A quota said no; nothing was sent. Recorded once for each workload and operation.
    OverQuota,
    /// Something was sent that can change something.
    Write {
        /// The word of the catalogue, e.g. `deployments/scale:patch`.
        operation: String,
        /// The verb.
        method: Method,
        /// Path and query, without scheme and host.
        target: String,
        /// How it ended.
        result: WriteResult,
    },
}

/// How a write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteResult {
    /// The engine answered with this HTTP status.
    Status(u16),
    /// Nothing was sent, or no proper answer came.
    Failed(crate::model::Failure),
    /// It was given up while under way: it may have taken effect.
    Dropped,
}

/// Where records go. Called in line: it must not block.
pub trait AuditSink: Send + Sync + 'static {
    /// Takes one record.
    fn record(&self, event: AuditEvent);
}

/// The default: an event of `tracing` with target `workload::audit`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traced;

impl AuditSink for Traced {
    fn record(&self, event: AuditEvent) {
        let AuditEvent { provider, generation, call, id, action } = event;
        let id = id.unwrap_or_default();
        match action {
            AuditAction::Denied { reason } => {
                tracing::warn!(target: "workload::audit", provider, generation, call, id, reason, "denied");
            }
            AuditAction::OverQuota => {
                tracing::warn!(target: "workload::audit", provider, generation, call, id, "over quota");
            }
            AuditAction::Write { operation, method, target, result } => {
                tracing::info!(
                    target: "workload::audit", provider, generation, call, id, operation, method = method.as_str(), path = target, ?result, "write"
                );
            }
        }
    }
}
