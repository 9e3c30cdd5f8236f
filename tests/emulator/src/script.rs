//! How the containers of a Pod behave: a script for each, read from the Pod's annotations while it runs, so that a test
//! can change it with a patch, or else from the scenario by the name of the image.
//!
//! A key is `kube-emulator/KEY` for all containers of a Pod but its init containers, and `kube-emulator/CONTAINER.KEY`
//! for one of them, which goes before. Where an annotation says nothing, the first entry of the scenario whose image
//! matches does, then the scenario's script for all. A time is a whole number of milliseconds, or a whole number with `ms`,
//! `s` or `m`: there is no `1.5s`, which is `1500ms`.
//!
//! | key | value | what happens |
//! |---|---|---|
//! | `start-after` | time; `100` | so long after its image is there, a container runs |
//! | `ready-after` | time; `0` | it is ready so long after that; more than 0 is what a readiness probe does |
//! | `readiness` | `true`, `false`, `flap`, `flap:TIME` | whether its probe succeeds; flapping, it changes each TIME, or second |
//! | `exit-after` | time | it ends so long after it began; an init container does at once if nothing else is said |
//! | `exit-code` | 0 to 255; `0` | with this code |
//! | `oom` | `true` | it ends for want of memory (137, `OOMKilled`) |
//! | `crashes` | number | it ends so often, then stays up; for ever if not said |
//! | `image` | `missing`, `unauthorized`, `forbidden`, `too-many-requests`, `unavailable`, `refused`, `never`, `invalid`, `ok` | what a pull ends with |
//! | `config-error`, `create-error`, `run-error` | text | it can't be configured, created or run: the text says why |
//! | `stop` | time, `ignored`, `hold`; `0` | so long after TERM it ends; or not before KILL; or not before the annotation is changed |
//! | `stop-code` | 0 to 255; `0` | the code it ends with after TERM |
//! | `unschedulable` | text | of the Pod: no node is good enough; the text says why |
//! | `evict-after`, `evict` | time; text | of the Pod: so long after its start its node drives it away; the text says why |
//! | `node-lost-after` | time | of the Pod: so long after its start its node is lost, until someone takes its annotation `kube-emulator/lost` away |

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::scenario::Scenario;

/// What the keys of scripts begin with.
pub const PREFIX: &str = "kube-emulator/";
/// The annotation of a node that is lost: nothing is heard of it while it is `true`.
pub const LOST: &str = "kube-emulator/lost";
/// How long a container takes to run if nothing is said.
const START: Duration = Duration::from_millis(100);
/// How often readiness changes if nothing is said.
const FLAP: Duration = Duration::from_secs(1);
/// Keys of a Pod, not of one of its containers.
const OF_PODS: [&str; 4] = ["unschedulable", "evict-after", "evict", "node-lost-after"];
/// Keys of containers.
const OF_CONTAINERS: [&str; 13] = [
    "start-after",
    "ready-after",
    "readiness",
    "exit-after",
    "exit-code",
    "oom",
    "crashes",
    "image",
    "config-error",
    "create-error",
    "run-error",
    "stop",
    "stop-code",
];

/// Why a script can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// No such key.
    #[error("{key}: there is no such key; there are {}, and of a Pod {}", OF_CONTAINERS.join(", "), OF_PODS.join(", "))]
    Key {
        /// The key.
        key: String,
    },
    /// A key has a value that it can't have.
    #[error("{key}: {value:?} is no {expected}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What it could be.
        expected: &'static str,
    },
}

/// What a container is in its Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of those that the Pod is for.
    Main,
    /// It has to end before those begin.
    Init,
    /// It begins before those, and runs on.
    Sidecar,
}

/// Whether a container's probe succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It does.
    Yes,
    /// It doesn't.
    No,
    /// It does and doesn't, so long each.
    Flaps(Duration),
}

/// What a pull of an image ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image {
    /// It is there.
    Ok,
    /// The registry has no such image.
    Missing,
    /// The registry wants to know who asks.
    Unauthorized,
    /// The registry refuses who asks.
    Forbidden,
    /// The registry is asked too often.
    TooManyRequests,
    /// The registry is down, something before it answers.
    Unavailable,
    /// Nobody answers.
    Refused,
    /// It is not on the node, and may not be pulled.
    Never,
    /// Its name is none.
    Invalid,
}

/// What a container does on TERM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It ends so long after it.
    After(Duration),
    /// It goes on until KILL.
    Ignored,
    /// It goes on whatever happens, as one does that waits for a disk.
    Hold,
}

/// How one container behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// From its image to its start.
    pub start_after: Duration,
    /// From its start to its readiness.
    pub ready_after: Duration,
    /// Whether its probe succeeds.
    pub readiness: Readiness,
    /// When it ends by itself; none for never.
    pub exit_after: Option<Duration>,
    /// The code it ends with by itself.
    pub exit_code: i64,
    /// It ends for want of memory.
    pub oom: bool,
    /// How often it ends by itself; none for always.
    pub crashes: Option<i64>,
    /// What a pull of its image ends with.
    pub image: Image,
    /// Why it can't be configured.
    pub config_error: Option<String>,
    /// Why it can't be created.
    pub create_error: Option<String>,
    /// Why it can't be run.
    pub run_error: Option<String>,
    /// What it does on TERM.
    pub stop: Stop,
    /// The code it ends with after TERM.
    pub stop_code: i64,
}

impl Script {
    /// Whether it has a readiness probe: then it is not ready in the moment it runs.
    pub fn is_probed(&self) -> bool {
        !self.ready_after.is_zero() || self.readiness != Readiness::Yes
    }
}

/// How a Pod behaves apart from its containers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodScript {
    /// Why no node is good enough.
    pub unschedulable: Option<String>,
    /// When its node drives it away, and why.
    pub evict: Option<(Duration, String)>,
    /// When its node is lost.
    pub node_lost_after: Option<Duration>,
}

/// Pairs of a key, without its prefix, and its value.
pub(crate) type Pairs = BTreeMap<String, String>;

/// The script of a container of a Pod.
///
/// # Errors
/// When an annotation can't be read.
pub fn container(scenario: &Scenario, pod: &Value, name: &str, image: &str, kind: Kind) -> Result<Script, ScriptError> {
    let mut pairs: Pairs = scenario.script_of(image).cloned().unwrap_or_default();
    let annotations = pod.pointer("/metadata/annotations").and_then(Value::as_object).into_iter().flatten();
    let (mut of_all, mut of_one) = (Pairs::new(), Pairs::new());
    for (key, value) in annotations {
        let (Some(key), Some(value)) = (key.strip_prefix(PREFIX), value.as_str()) else { continue };
        match key.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')) {
            Some(own) => of_one.insert(own.to_owned(), value.to_owned()),
            None if !key.contains('.') && kind == Kind::Main => of_all.insert(key.to_owned(), value.to_owned()),
            None => None,
        };
    }
    pairs.extend(of_all);
    pairs.extend(of_one);
    read(&pairs, kind)
}

/// The script of a Pod.
///
/// # Errors
/// When an annotation can't be read.
pub fn pod(scenario: &Scenario, pod: &Value) -> Result<PodScript, ScriptError> {
    let image = pod.pointer("/spec/containers/0/image").and_then(Value::as_str).unwrap_or_default();
    let mut pairs: Pairs = scenario.script_of(image).cloned().unwrap_or_default();
    let annotations = pod.pointer("/metadata/annotations").and_then(Value::as_object).into_iter().flatten();
    for (key, value) in annotations {
        if let (Some(key), Some(value)) = (key.strip_prefix(PREFIX), value.as_str()) {
            pairs.insert(key.to_owned(), value.to_owned());
        }
    }
    let script = Reader(&pairs);
    let why = script.text("evict").unwrap_or_else(|| "The node was low on resource: memory.".to_owned());
    Ok(PodScript {
        unschedulable: script.text("unschedulable"),
        evict: script.time("evict-after")?.map(|after| (after, why)),
        node_lost_after: script.time("node-lost-after")?,
    })
}

/// Checks a script that isn't of a Pod yet.
pub(crate) fn check(pairs: &Pairs) -> Result<(), ScriptError> {
    read(pairs, Kind::Main)?;
    let script = Reader(pairs);
    script.time("evict-after")?;
    script.time("node-lost-after")?;
    Ok(())
}

fn read(pairs: &Pairs, kind: Kind) -> Result<Script, ScriptError> {
    let known = |key: &String| OF_CONTAINERS.contains(&key.as_str()) || OF_PODS.contains(&key.as_str());
    if let Some(key) = pairs.keys().find(|key| !known(key)) {
        return Err(ScriptError::Key { key: key.clone() });
    }
    let script = Reader(pairs);
    let oom = script.choice("oom", "true or false", &[("true", true), ("false", false)])?.unwrap_or_default();
    let code = script.code("exit-code")?;
    let crashes = script.number("crashes", i64::from(u32::MAX), "number")?;
    // Who says how it ends means that it ends.
    let ends = kind == Kind::Init || oom || code.is_some() || crashes.is_some();
    let image = script.choice(
        "image",
        "missing, unauthorized, forbidden, too-many-requests, unavailable, refused, never, invalid or ok",
        &[
            ("ok", Image::Ok),
            ("missing", Image::Missing),
            ("unauthorized", Image::Unauthorized),
            ("forbidden", Image::Forbidden),
            ("too-many-requests", Image::TooManyRequests),
            ("unavailable", Image::Unavailable),
            ("refused", Image::Refused),
            ("never", Image::Never),
            ("invalid", Image::Invalid),
        ],
    )?;
    Ok(Script {
        start_after: script.time("start-after")?.unwrap_or(START),
        ready_after: script.time("ready-after")?.unwrap_or_default(),
        readiness: script.readiness()?,
        exit_after: script.time("exit-after")?.or(ends.then_some(Duration::ZERO)),
        exit_code: code.unwrap_or(if oom { 137 } else { 0 }),
        oom,
        crashes,
        image: image.unwrap_or(Image::Ok),
        config_error: script.text("config-error"),
        create_error: script.text("create-error"),
        run_error: script.text("run-error"),
        stop: script.stop()?,
        stop_code: script.code("stop-code")?.unwrap_or_default(),
    })
}

struct Reader<'a>(&'a Pairs);

impl Reader<'_> {
    fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).filter(|text| !text.is_empty()).cloned()
    }

    fn wrong<T>(&self, key: &str, expected: &'static str) -> Result<T, ScriptError> {
        let value = self.0.get(key).cloned().unwrap_or_default();
        Err(ScriptError::Value { key: key.to_owned(), value, expected })
    }

    fn time(&self, key: &str) -> Result<Option<Duration>, ScriptError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(text) => match time(text) {
                Some(time) => Ok(Some(time)),
                None => self.wrong(key, "time such as 250, 250ms, 3s or 2m"),
            },
        }
    }

    fn number(&self, key: &str, most: i64, expected: &'static str) -> Result<Option<i64>, ScriptError> {
        match self.0.get(key).map(|text| text.parse::<i64>()) {
            None => Ok(None),
            Some(Ok(number)) if (0..=most).contains(&number) => Ok(Some(number)),
            Some(_) => self.wrong(key, expected),
        }
    }

    fn code(&self, key: &str) -> Result<Option<i64>, ScriptError> {
        self.number(key, 255, "exit code from 0 to 255")
    }

    fn choice<T: Copy>(&self, key: &str, expected: &'static str, of: &[(&str, T)]) -> Result<Option<T>, ScriptError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(text) => match of.iter().find(|(name, _)| name == text) {
                Some((_, choice)) => Ok(Some(*choice)),
                None => self.wrong(key, expected),
            },
        }
    }

    fn readiness(&self) -> Result<Readiness, ScriptError> {
        match self.0.get("readiness").map(String::as_str) {
            None | Some("true") => Ok(Readiness::Yes),
            Some("false") => Ok(Readiness::No),
            Some("flap") => Ok(Readiness::Flaps(FLAP)),
            Some(text) => match text.strip_prefix("flap:").and_then(time).filter(|each| !each.is_zero()) {
                Some(each) => Ok(Readiness::Flaps(each)),
                None => self.wrong("readiness", "readiness: true, false, flap or flap:TIME"),
            },
        }
    }

    fn stop(&self) -> Result<Stop, ScriptError> {
        match self.0.get("stop").map(String::as_str) {
            None => Ok(Stop::After(Duration::ZERO)),
            Some("ignored") => Ok(Stop::Ignored),
            Some("hold") => Ok(Stop::Hold),
            Some(text) => match time(text) {
                Some(after) => Ok(Stop::After(after)),
                None => self.wrong("stop", "time, and neither ignored nor hold"),
            },
        }
    }
}

fn time(text: &str) -> Option<Duration> {
    let (number, unit) = match text.find(|letter: char| !letter.is_ascii_digit()) {
        Some(place) => text.split_at_checked(place)?,
        None => (text, "ms"),
    };
    let number: u64 = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn of(annotations: Value, name: &str, kind: Kind) -> Result<Script, ScriptError> {
        let pod = json!({"metadata": {"annotations": annotations}});
        container(&Scenario::default(), &pod, name, "image", kind)
    }

    #[test]
    fn what_is_said_of_one_container_goes_before_what_is_said_of_all() {
        let annotations = json!({
            "kube-emulator/start-after": "2s", "kube-emulator/side.start-after": "10", "other/start-after": "9",
        });
        assert_eq!(of(annotations.clone(), "main", Kind::Main).unwrap().start_after, Duration::from_secs(2));
        assert_eq!(of(annotations.clone(), "side", Kind::Main).unwrap().start_after, Duration::from_millis(10));
        assert_eq!(
            of(annotations, "init", Kind::Init).unwrap().start_after,
            START,
            "init containers are only meant by name"
        );
    }

    #[rstest]
    #[case::nothing(json!({}), None, 0)]
    #[case::code(json!({"kube-emulator/exit-code": "3"}), Some(0), 3)]
    #[case::time(json!({"kube-emulator/exit-after": "1m"}), Some(60_000), 0)]
    #[case::memory(json!({"kube-emulator/oom": "true"}), Some(0), 137)]
    #[case::some_crashes(json!({"kube-emulator/crashes": "2"}), Some(0), 0)]
    fn who_says_how_it_ends_means_that_it_does(
        #[case] annotations: Value,
        #[case] after: Option<u64>,
        #[case] code: i64,
    ) {
        let script = of(annotations, "main", Kind::Main).unwrap();
        assert_eq!((script.exit_after, script.exit_code), (after.map(Duration::from_millis), code));
    }

    #[rstest]
    #[case::key(json!({"kube-emulator/exit-kode": "1"}), "exit-kode: there is no such key; there are start-after")]
    #[case::code(json!({"kube-emulator/exit-code": "256"}), "exit-code: \"256\" is no exit code from 0 to 255")]
    #[case::time(json!({"kube-emulator/stop": "soon"}), "stop: \"soon\" is no time, and neither ignored nor hold")]
    #[case::part_of_a_second(json!({"kube-emulator/stop": "1.5s"}), "stop: \"1.5s\" is no time, and neither")]
    #[case::image(json!({"kube-emulator/main.image": "lost"}), "image: \"lost\" is no missing, unauthorized,")]
    #[case::flap(json!({"kube-emulator/readiness": "flap:0"}), "readiness: \"flap:0\" is no readiness")]
    fn what_is_wrong_is_told(#[case] annotations: Value, #[case] told: &str) {
        let error = of(annotations, "main", Kind::Main).unwrap_err().to_string();
        assert!(error.starts_with(told), "{error}");
    }
}
