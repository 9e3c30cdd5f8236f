//! The records that one operation leaves.

use std::sync::Arc;

use crate::audit::{AuditAction, AuditEvent, AuditSink, WriteResult};
use crate::model::{Failure, Method};

/// Who is recorded, and where.
#[derive(Clone)]
pub(crate) struct Audit {
    pub(crate) sink: Arc<dyn AuditSink>,
    pub(crate) provider: String,
    pub(crate) generation: u64,
    pub(crate) call: &'static str,
}

impl Audit {
    pub(super) fn record(&self, id: Option<String>, action: AuditAction) {
        let Audit { sink, provider, generation, call } = self;
        sink.record(AuditEvent { provider: provider.clone(), generation: *generation, call, id, action });
    }
}

/// The record of one write, made when its result is known, or when it is given up.
pub(super) struct WriteRecord {
    audit: Audit,
    id: Option<String>,
    operation: String,
    method: Method,
    target: String,
    begun: bool,
    done: bool,
}

impl WriteRecord {
    pub(super) fn new(audit: Audit, id: Option<String>, operation: String, method: Method, target: String) -> Self {
        WriteRecord { audit, id, operation, method, target, begun: false, done: false }
    }

    /// From here on it may take effect.
    pub(super) fn begun(&mut self) {
        self.begun = true;
    }

    pub(super) fn done(mut self, result: WriteResult) {
        self.record(result);
    }

    fn record(&mut self, result: WriteResult) {
        self.done = true;
        let action = AuditAction::Write {
            operation: std::mem::take(&mut self.operation),
            method: self.method,
            target: std::mem::take(&mut self.target),
            result,
        };
        self.audit.record(self.id.take(), action);
    }
}

impl Drop for WriteRecord {
    fn drop(&mut self) {
        if !self.done {
            let nothing_sent = WriteResult::Failed(Failure::Cancelled);
            self.record(if self.begun { WriteResult::Dropped } else { nothing_sent });
        }
    }
}
