//! Stopping a Pod: TERM, KILL after its grace, and its end.

use std::time::Duration;

use tokio::time::Instant;

use super::container::{Container, Ended, Role, Run};
use super::{CLEANED_AFTER, Round, Step, Stopping, Worker, status};
use crate::controllers::fields::number;
use crate::registry::Deletion;
use crate::script::Script;

/// How long after the first word of a stop the kubelet says the next.
const NEXT_WORD_AFTER: Duration = Duration::from_millis(50);
/// How long it looks for containers that never ran.
const GIVEN_UP_AFTER: Duration = Duration::from_millis(200);
/// How long a Pod has that its node drives away.
const EVICTION_GRACE: Duration = Duration::from_secs(1);

impl Stopping {
    fn begin(now: Instant, grace: Duration) -> Stopping {
        Stopping { term: now, kill: now + grace, step: Step::Told, sidecars: None }
    }

    /// What it means for a container: sidecars go on until the others have ended.
    pub(super) fn of(self, role: Role) -> Option<Stopping> {
        match role {
            Role::Sidecar => self.sidecars.map(|term| Stopping { term, ..self }),
            _ => Some(self),
        }
    }
}

impl Round<'_> {
    /// Begins to stop a Pod that is being deleted, or that its node drives away.
    pub(super) fn maybe_stop(&mut self, worker: &mut Worker, scripts: &[Result<Script, String>]) {
        let evicted = self.script.evict.clone().filter(|(after, _)| worker.since + *after <= self.now);
        if self.pod.deleting() {
            worker.stopping = Some(Stopping::begin(self.now, self.grace()));
        } else if let Some((_, why)) = evicted {
            self.say(&worker.node, true, "Evicted", &why, None);
            worker.evicted = Some(why);
            worker.stopping = Some(Stopping::begin(self.now, EVICTION_GRACE));
        } else {
            return;
        }
        for container in &mut worker.containers {
            let running = container.runs();
            match container.run {
                Run::Starting(_) => container.run = Run::Nothing,
                Run::Ended(_) => container.last = None,
                _ => {}
            }
            container.waiting = None;
            if running {
                let message = format!("Stopping container {}", container.name);
                self.say(&worker.node, false, "Killing", &message, Some(container));
            }
        }
        // What is there is told before any of it ends.
        if worker.evicted.is_none() {
            self.write(worker, scripts);
        }
    }

    fn grace(&self) -> Duration {
        let seconds = number(&self.pod.value, "/metadata/deletionGracePeriodSeconds");
        Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
    }

    /// The next step of a stop. Returns when the one after it is due; the Pod is let go of if there is none.
    #[expect(clippy::option_option, reason = "as of the round that it is a part of")]
    pub(super) fn stop(&mut self, worker: &mut Worker, scripts: &[Result<Script, String>]) -> Option<Option<Instant>> {
        let mut stopping = worker.stopping?;
        if worker.evicted.is_none() {
            // A second deletion can make it shorter.
            stopping.kill = stopping.term + self.grace();
        }
        if stopping.sidecars.is_none() && worker.containers.iter().all(|one| one.role == Role::Sidecar || !one.runs()) {
            stopping.sidecars = Some(self.now);
        }
        worker.stopping = Some(stopping);
        self.advance(worker, scripts);
        match stopping.step {
            Step::Told if self.now < stopping.term + NEXT_WORD_AFTER => Some(Some(stopping.term + NEXT_WORD_AFTER)),
            Step::Told if worker.containers.iter().any(Container::runs) => Some(self.next_end(worker, scripts)),
            Step::Told if worker.containers.iter().all(|one| matches!(one.run, Run::Nothing)) => {
                self.step(worker, Step::NoSandbox);
                self.write(worker, scripts);
                Some(Some(self.now + GIVEN_UP_AFTER))
            }
            Step::Told | Step::NoSandbox => self.end(worker, scripts, stopping.step == Step::NoSandbox),
            Step::Ended => {
                self.let_go();
                None
            }
        }
    }

    fn step(&self, worker: &mut Worker, step: Step) {
        if let Some(stopping) = &mut worker.stopping {
            stopping.step = step;
        }
    }

    /// When the next container ends; a container that nothing ends is looked at when its Pod changes.
    fn next_end(&self, worker: &Worker, scripts: &[Result<Script, String>]) -> Option<Instant> {
        let ends = worker.containers.iter().zip(scripts).filter_map(|(container, script)| {
            let stopping = worker.stopping.and_then(|stopping| stopping.of(container.role));
            container.next(script.as_ref().ok()?, stopping.as_ref(), self.now)
        });
        ends.filter(|end| *end > self.now).min()
    }

    #[expect(clippy::option_option, reason = "as of the round that it is a part of")]
    fn end(
        &mut self,
        worker: &mut Worker,
        scripts: &[Result<Script, String>],
        never_ran: bool,
    ) -> Option<Option<Instant>> {
        for container in worker.containers.iter_mut().filter(|one| matches!(one.run, Run::Nothing)) {
            container.run = Run::Ended(unknown(self.now));
        }
        self.step(worker, Step::Ended);
        let status = status::of(self, worker, scripts);
        self.put(status);
        if worker.evicted.is_some() && !self.pod.deleting() {
            return None;
        }
        if never_ran {
            self.let_go();
            return None;
        }
        Some(Some(self.now + CLEANED_AFTER))
    }

    /// Nothing is left of it on the node: it may go from the API.
    fn let_go(&self) {
        let how = Deletion { grace: Some(0), ..Deletion::default() };
        // Somebody else may have been quicker.
        let _ = self.cluster.delete(self.pod.key(), self.pod.uid(), how);
    }
}

/// How a container ended that nobody found.
fn unknown(now: Instant) -> Ended {
    Ended {
        code: 137,
        reason: "ContainerStatusUnknown",
        message: Some("The container could not be located when the pod was terminated".to_owned()),
        times: None,
        run: 0,
        at: now,
    }
}
