//! What a round does after it told what it found: it starts what should run and doesn't.

use tokio::time::Instant;

use super::container::{Container, Ended, Role, Run};
use super::{AGAIN_AFTER, NOTICED_AFTER, RETRY_AFTER, Round, Worker, prolonged};
use crate::controllers::fields::text;
use crate::script::{Image, Script};

/// Why a container doesn't run, as its status and Events say.
struct Trouble {
    word: &'static str,
    message: String,
}

impl Round<'_> {
    /// Starts what is to be started. Returns the times at which something happens.
    pub(super) fn act(&mut self, worker: &mut Worker, scripts: &[Result<Script, String>]) -> Vec<Instant> {
        let mut next = Vec::new();
        if worker.address.is_none() {
            worker.address = Some(self.cluster.kubelet.next_address());
            // That the sandbox is there is seen soon after.
            next.push(self.now + NOTICED_AFTER);
        }
        let policy = text(&self.pod.value, "/spec/restartPolicy").to_owned();
        for place in 0..worker.containers.len() {
            let begins = begins(worker, place);
            let (Some(container), Some(script)) = (worker.containers.get_mut(place), scripts.get(place)) else {
                continue;
            };
            if begins && wants_to_run(container, &policy) {
                next.extend(self.start(&worker.node, container, script));
            }
        }
        for (container, script) in worker.containers.iter().zip(scripts) {
            next.extend(script.as_ref().ok().and_then(|script| container.next(script, None, self.now)));
        }
        next
    }

    /// Tries to start a container. Returns when to look again if it can't be.
    fn start(&mut self, node: &str, container: &mut Container, script: &Result<Script, String>) -> Option<Instant> {
        if let Some(ended) = container.ended() {
            let (at, out_of_memory) = (ended.at, ended.reason == "OOMKilled");
            if container.back_off.holds(at, self.now) {
                // The end of a probe, or of memory, makes one more round soon after.
                let again = script.as_ref().is_ok_and(Script::is_probed) || out_of_memory;
                let first = container.waiting.is_none();
                self.back_off(node, container);
                let left = (at + container.back_off.pause()).duration_since(self.now);
                return Some(self.now + if first && again { AGAIN_AFTER } else { prolonged(left) });
            }
            container.back_off.grow();
        }
        let script = match script {
            Ok(script) => script.clone(),
            Err(why) => {
                self.fails(node, container, Trouble { word: "CreateContainerConfigError", message: why.clone() });
                return Some(self.now + prolonged(RETRY_AFTER));
            }
        };
        if let Err(trouble) = self.pull(node, container, &script) {
            let message = trouble.message.clone();
            let (word, told) = (trouble.word, format!("Error: {}", trouble.word));
            container.waiting = Some((word, message));
            self.say(node, true, "Failed", &told, Some(container));
            return Some(self.now + prolonged(RETRY_AFTER));
        }
        let trouble = match (&script.config_error, &script.create_error) {
            (Some(why), _) => Some(Trouble { word: "CreateContainerConfigError", message: why.clone() }),
            (None, Some(why)) => Some(Trouble { word: "CreateContainerError", message: why.clone() }),
            (None, None) => None,
        };
        if let Some(trouble) = trouble {
            self.fails(node, container, trouble);
            return Some(self.now + prolonged(RETRY_AFTER));
        }
        self.say(node, false, "Created", "Container created", Some(container));
        Self::keep_last(container);
        if let Some(why) = &script.run_error {
            self.fails_to_run(node, container, why.clone());
            return Some(self.now + NOTICED_AFTER);
        }
        self.say(node, false, "Started", "Container started", Some(container));
        container.waiting = None;
        container.run = Run::Starting(self.now + script.start_after);
        None
    }

    fn back_off(&mut self, node: &str, container: &mut Container) {
        let full = format!("{}_{}({})", self.pod.name(), self.pod.namespace(), self.pod.uid());
        let pause = match container.back_off.pause().as_secs() {
            seconds @ ..60 => format!("{seconds}s"),
            seconds => format!("{}m{}s", seconds / 60, seconds % 60),
        };
        let message = format!("back-off {pause} restarting failed container={} pod={full}", container.name);
        let said = format!("Back-off restarting failed container {} in pod {full}", container.name);
        self.say(node, true, "BackOff", &said, Some(container));
        container.waiting = Some(("CrashLoopBackOff", message));
    }

    fn keep_last(container: &mut Container) {
        if let Run::Ended(ended) = std::mem::replace(&mut container.run, Run::Nothing) {
            container.last = Some(ended);
            container.restarts += 1;
        }
    }

    fn fails(&mut self, node: &str, container: &mut Container, trouble: Trouble) {
        self.say(node, true, "Failed", &format!("Error: {}", trouble.message), Some(container));
        container.waiting = Some((trouble.word, trouble.message));
    }

    fn fails_to_run(&mut self, node: &str, container: &mut Container, why: String) {
        self.say(node, true, "Failed", &format!("Error: {why}"), Some(container));
        let ended = Ended {
            code: 128,
            reason: "StartError",
            message: Some(why.clone()),
            times: Some(("1970-01-01T00:00:00Z".to_owned(), self.stamp.clone())),
            run: container.restarts,
            at: self.now,
        };
        container.run = Run::Ended(ended);
        container.waiting = Some(("RunContainerError", why));
    }

    /// Sees to it that the image is there.
    fn pull(&mut self, node: &str, container: &mut Container, script: &Script) -> Result<(), Trouble> {
        let image = container.image.clone();
        if script.image == Image::Invalid {
            let message = format!(
                "Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": invalid \
                 reference format"
            );
            self.say(node, true, "InspectFailed", &message, Some(container));
            return Err(Trouble { word: "InvalidImageName", message });
        }
        if script.image == Image::Ok {
            let said = if container.pulled || container.never_pull {
                format!("Container image \"{image}\" already present on machine and can be accessed by the pod")
            } else {
                self.say(node, false, "Pulling", &format!("Pulling image \"{image}\""), Some(container));
                format!(
                    "Successfully pulled image \"{image}\" in 100ms (100ms including waiting). Image size: 2167089 \
                     bytes."
                )
            };
            container.pulled = true;
            self.say(node, false, "Pulled", &said, Some(container));
            return Ok(());
        }
        if script.image == Image::Never || container.never_pull {
            let message = format!("Container image \"{image}\" is not present with pull policy of Never");
            self.say(node, true, "ErrImageNeverPull", &message, Some(container));
            return Err(Trouble { word: "ErrImageNeverPull", message });
        }
        if container.pull_failed.is_some_and(|at| container.pull.holds(at, self.now)) {
            self.say(node, false, "BackOff", &format!("Back-off pulling image \"{image}\""), Some(container));
            let error = &container.pull_error;
            let message = format!("Back-off pulling image \"{image}\": ErrImagePull: {error}");
            return Err(Trouble { word: "ImagePullBackOff", message });
        }
        self.say(node, false, "Pulling", &format!("Pulling image \"{image}\""), Some(container));
        let message = pull_error(&image, script.image);
        self.say(node, true, "Failed", &format!("Failed to pull image \"{image}\": {message}"), Some(container));
        container.pull.grow();
        container.pull_failed = Some(self.now);
        container.pull_error.clone_from(&message);
        Err(Trouble { word: "ErrImagePull", message })
    }
}

/// What containerd says of a pull that failed.
fn pull_error(image: &str, how: Image) -> String {
    let begin = format!("failed to pull and unpack image \"{image}\": failed to resolve reference \"{image}\": ");
    let (host, path) = image.split_once('/').unwrap_or(("registry-1.docker.io", image));
    let answered = |status: &str| {
        format!("{begin}pulling from host {host} failed with status code [manifests {}]: {status}", tag(path))
    };
    match how {
        Image::Unauthorized => answered("401 Unauthorized"),
        Image::Forbidden => answered("403 Forbidden"),
        Image::TooManyRequests => answered("429 Too Many Requests"),
        Image::Unavailable => answered("503 Service Unavailable"),
        Image::Refused => {
            let name = path.split(':').next().unwrap_or_default();
            let port = host.rsplit_once(':').map_or("443", |(_, port)| port);
            format!(
                "{begin}failed to do request: Head \"http://{host}/v2/{name}/manifests/{}\": dial tcp 127.0.0.1:{port}: \
                 connect: connection refused",
                tag(path)
            )
        }
        _ => format!("rpc error: code = NotFound desc = {begin}{image}: not found"),
    }
}

fn tag(path: &str) -> &str {
    path.rsplit_once(':').map_or("latest", |(_, tag)| tag)
}

/// Whether it is the turn of a container: init containers begin one after the other, and the others after them. Once one
/// of those has begun, it is everybody's turn.
fn begins(worker: &Worker, place: usize) -> bool {
    if worker.main().any(|container| container.runs() || container.ended().is_some()) {
        return worker.containers.get(place).is_some_and(|container| container.role != Role::Init);
    }
    let before = worker.containers.iter().take(place);
    let mut init = before.filter(|container| container.role != Role::Main);
    init.all(|container| match container.role {
        Role::Init => container.is_done(),
        _ => container.runs(),
    })
}

fn wants_to_run(container: &Container, policy: &str) -> bool {
    match (&container.run, container.role) {
        (Run::Nothing, _) => true,
        (Run::Ended(_), Role::Sidecar) => true,
        (Run::Ended(ended), Role::Init) => ended.code != 0 && policy != "Never",
        (Run::Ended(ended), Role::Main) => match policy {
            "Never" => false,
            "OnFailure" => ended.code != 0,
            _ => true,
        },
        _ => false,
    }
}
