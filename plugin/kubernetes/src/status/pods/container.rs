//! What one container says.

use super::{Finding, Role, Signal};
use crate::api::{ContainerStatus, Ended, Pod};

/// From this many restarts on, a container that ended is in a crash loop. The kubelet itself shows `CrashLoopBackOff`
/// only for the last moments of a pause, and for the first time after one restart, when it can still be harmless.
const CRASH_LOOP_RESTARTS: i64 = 2;

/// Words of an image that will not be there by waiting.
const NO_IMAGE: [&str; 6] =
    ["not found", "manifest unknown", "unauthorized", "forbidden", "denied", "invalid reference"];

/// Codes of a registry that say the same.
const REFUSED: [&str; 2] = ["401", "403"];

/// Words of a process that cannot be started by trying again. The exit code tells nothing: it is 128 for all of them.
const NO_PROCESS: [&str; 4] =
    ["no such file or directory", "permission denied", "not found in $path", "exec format error"];

/// What a container says. None: nothing is wrong with it, and it waits for nothing.
pub(super) fn finding<'b>(pod: &'b Pod<'_>, status: &'b ContainerStatus<'_>, role: Role) -> Option<Finding<'b>> {
    if status.ready {
        return None;
    }
    let last = status.last_state.terminated.as_ref();
    let finding = Finding {
        container: Some((role, &status.name)),
        restarts: status.restart_count,
        ..Finding::of_pod(pod, Signal::Starting)
    };
    let mut finding = match (&status.state.waiting, &status.state.terminated) {
        (Some(waiting), _) => finding.waiting(status, waiting, last),
        (None, Some(ended)) if role == Role::Init && ended.exit_code == 0 => return None,
        (None, Some(ended)) => {
            let signal = if is_start_error(&ended.reason) { starts(ended, ended, status) } else { crash(status) };
            Finding { signal, printed: true, ..finding.because(&ended.reason, &ended.message) }.ended(Some(ended))
        }
        // It runs, and is not ready.
        (None, None) => finding.ended(last),
    };
    // A sidecar that was started no longer holds the others up.
    let holds_up = role == Role::Init || role == Role::Sidecar && !status.started;
    if holds_up && matches!(finding.signal, Signal::CrashLoop | Signal::ConfigError) {
        finding.signal = Signal::InitError;
    }
    Some(finding)
}

impl<'b> Finding<'b> {
    fn ended(mut self, last: Option<&'b Ended<'_>>) -> Self {
        self.exit_code = last.map(|last| last.exit_code);
        self.ended = last.map(|last| &*last.reason).unwrap_or_default();
        self
    }

    fn waiting(mut self, status: &'b ContainerStatus<'_>, waiting: &'b Ended<'_>, last: Option<&'b Ended<'_>>) -> Self {
        let reason = &*waiting.reason;
        let mut message = &*waiting.message;
        self.signal = match reason {
            "ImagePullBackOff" | "ErrImagePull" => image(status, message),
            "InvalidImageName" | "ErrImageNeverPull" => Signal::ImageError,
            "CreateContainerConfigError" | "CreateContainerError" => {
                let lower = message.to_ascii_lowercase();
                // The kubelet has not read what is there yet.
                let unsynced = lower.contains("failed to sync") && lower.contains("cache");
                if unsynced { Signal::Starting } else { Signal::ConfigError }
            }
            _ if is_start_error(reason) => starts(waiting, last.unwrap_or(waiting), status),
            "CrashLoopBackOff" => {
                // It says how long the pause is, which nobody asked.
                message = last.map(|last| &*last.message).unwrap_or_default();
                self.printed = true;
                match last.filter(|last| is_start_error(&last.reason)) {
                    Some(last) => starts(last, last, status),
                    None => crash(status),
                }
            }
            _ if is_error(reason) => crash(status),
            _ => {
                self.idle = true;
                Signal::Starting
            }
        };
        self.printed |= is_runtime_error(reason);
        self.because(reason, message).ended(last)
    }
}

/// Whether it is a crash loop yet.
fn crash(status: &ContainerStatus<'_>) -> Signal {
    if status.restart_count >= CRASH_LOOP_RESTARTS { Signal::CrashLoop } else { Signal::PodError }
}

/// What is said of it comes from the runtime and may hold the command line.
pub(in crate::status) fn is_runtime_error(reason: &str) -> bool {
    is_start_error(reason) || reason == "CreateContainerError"
}

/// The kubelet's words for a process that could not be started.
pub(in crate::status) fn is_start_error(reason: &str) -> bool {
    matches!(reason, "RunContainerError" | "StartError" | "ContainerCannotRun")
}

/// A reason that this table does not know, of something that went wrong.
fn is_error(reason: &str) -> bool {
    reason.ends_with("Error") || reason.ends_with("BackOff") || reason.starts_with("Err")
}

/// A process that could not be started.
fn starts(now: &Ended<'_>, last: &Ended<'_>, status: &ContainerStatus<'_>) -> Signal {
    let says = |ended: &Ended<'_>| {
        let message = ended.message.to_ascii_lowercase();
        NO_PROCESS.iter().any(|words| message.contains(words))
    };
    if says(now) || is_start_error(&last.reason) && says(last) { Signal::ConfigError } else { crash(status) }
}

/// An image that could not be pulled. What it is called says nothing about why.
fn image(status: &ContainerStatus<'_>, message: &str) -> Signal {
    let image = status.image.to_ascii_lowercase();
    let mut message = message.to_ascii_lowercase();
    // A bare word may be part of what is said.
    if image.contains(['/', ':']) {
        message = message.replace(&image, "");
    }
    let refused = message.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| REFUSED.contains(&word));
    let missing = NO_IMAGE.iter().any(|words| message.contains(words));
    if refused || missing { Signal::ImageError } else { Signal::ImagePull }
}
