//! How an operation ends, and what its caller is told.

use std::time::Duration;

use super::Drive;
use crate::engine::Broken;
use crate::model::{Event, Fault, FaultKind, Workload};
use crate::text::span;
use crate::world::StopReason;

/// How an operation ended.
#[derive(Debug)]
pub(super) enum Fate {
    /// By itself.
    Finished,
    /// Every id had its result, and the time to finish ran out.
    Lingered,
    /// The time to wind down ran out.
    Stopped(StopReason),
    /// The provider broke a rule.
    Broken(Broken),
}

impl Drive {
    /// Settles what is open and hands over what was not yet told.
    pub(super) async fn end(mut self, fate: Fate) {
        // Nothing goes on behind the caller's back: requests under way end here.
        self.effects.clear();
        let fault = match fate {
            // A list that was stopped may lack something even when the provider says that it is done.
            Fate::Finished => {
                self.winding.filter(|_| self.lists).map(|winding| self.stopped_fault(winding.reason, None))
            }
            Fate::Lingered => None,
            Fate::Stopped(reason) => {
                for id in self.ids.open() {
                    let fault = self.stopped_fault(reason, self.ids.progress(&id));
                    self.settle_open(id, fault);
                }
                Some(self.stopped_fault(reason, None))
            }
            Fate::Broken(broken) => {
                let fault = broken.fault();
                for id in self.ids.open() {
                    let fault = match self.ids.progress(&id) {
                        Some(progress) => fault.clone().with("progress", progress),
                        None => fault.clone(),
                    };
                    self.settle_open(id, fault);
                }
                Some(fault)
            }
        };
        if let Some(fault) = fault {
            self.outbox.push(Event::Failed(fault));
        }
        self.outbox.flush().await;
    }

    fn settle_open(&mut self, id: String, fault: Fault) {
        if self.ids.take(&id) {
            self.outbox.settled(id, Err(fault), self.began.elapsed());
        }
    }

    pub(super) fn stopped_fault(&self, reason: StopReason, progress: Option<&str>) -> Fault {
        stopped(reason, self.timeout, progress)
    }
}

/// What is said of something that did not end in time, with what it last waited for.
pub(crate) fn stopped(reason: StopReason, timeout: Option<Duration>, progress: Option<&str>) -> Fault {
    let (kind, mut message) = match reason {
        StopReason::Deadline => (FaultKind::Timeout, format!("not done after {}", span(timeout.unwrap_or_default()))),
        StopReason::Cancelled => (FaultKind::Cancelled, "cancelled".to_owned()),
        StopReason::Superseded => (FaultKind::Superseded, "another operation on this workload took over".to_owned()),
    };
    if let Some(progress) = progress {
        message.push_str("; last: ");
        message.push_str(progress);
    }
    Fault::new(kind, message)
}

/// Roughly the bytes that a workload's texts take.
pub(super) fn size(workload: &Workload) -> usize {
    let Workload { id, name, kind, reason, message, image, node, address, created, owner, uid, rule, facts, .. } =
        workload;
    let fixed = [id, name, kind, reason, rule].into_iter().map(String::len).sum::<usize>();
    let optional = [message, image, node, address, created, owner, uid].into_iter().flatten();
    let facts = facts.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<String>());
    fixed + optional.map(String::len).sum::<usize>() + facts.sum::<usize>()
}

/// Roughly the bytes that a fault's texts take.
pub(super) fn fault_size(fault: &Fault) -> usize {
    let detail = fault.detail.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<String>());
    fault.message.len() + detail.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::stopped;
    use crate::model::FaultKind;
    use crate::world::StopReason;

    #[rstest]
    #[case::deadline(StopReason::Deadline, None, FaultKind::Timeout, "not done after 1.5s")]
    #[case::with_progress(
        StopReason::Deadline,
        Some("2 of 3 ready"),
        FaultKind::Timeout,
        "not done after 1.5s; last: 2 of 3 ready"
    )]
    #[case::cancelled(StopReason::Cancelled, Some("a read"), FaultKind::Cancelled, "cancelled; last: a read")]
    #[case::superseded(
        StopReason::Superseded,
        None,
        FaultKind::Superseded,
        "another operation on this workload took over"
    )]
    fn messages(
        #[case] reason: StopReason,
        #[case] progress: Option<&str>,
        #[case] kind: FaultKind,
        #[case] message: &str,
    ) {
        let fault = stopped(reason, Some(Duration::from_millis(1500)), progress);
        assert_eq!((fault.kind, fault.message.as_str()), (kind, message));
    }
}
