//! The same for what is followed: a fault hides no change for long, and one that stays is told.

use std::time::Duration;

use kube_emulator::fault::Rule;
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use serde_json::json;
use tokio::time::timeout;
use workload_host::model::{Event, FaultKind, Status};
use workload_host::{Options, Run};
use workload_suite::inside::{Asked, Inside, paused};

use super::MORE;
use crate::class::{CLASSES, Class, End};

/// Until somebody else stops it. Most of what comes before is read by then.
const CHANGED: Duration = Duration::from_secs(8);

/// Until when a fault may begin.
const LATEST: Duration = Duration::from_secs(14);

/// For how long it is followed: after the latest fault a request without an answer takes 30 s, and so long it also takes until
/// what was refused is asked for again.
const FOLLOWED: Duration = Duration::from_secs(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    One,
    All,
}

/// What was told, and what was asked for.
struct Ran {
    /// Of the workload, each once in a row.
    told: Vec<String>,
    /// Of the place, which is asked for again.
    faults: Vec<FaultKind>,
    /// What ended it.
    ended: Option<FaultKind>,
    asked: Vec<Asked>,
}

impl Follows {
    fn begin(self, inside: &Inside) -> Run {
        let inside = inside.with(Options { follow: true, ..Options::default() });
        match self {
            Follows::One => inside.reading(&["ns/app"]),
            Follows::All => inside.listing(&["ns"]),
        }
    }

    async fn run(self, fault: Option<(&Class, usize, bool)>) -> Ran {
        let inside = Inside::emulated().await;
        inside.make("app", json!({}), &[("start-after", "1s"), ("stop", "1s")]).await;
        inside.cluster().until_settled("app").await;
        let rules = inside.cluster().emulator().faults();
        if let Some((class, at, once)) = fault {
            let rule = Rule::on(Pattern::path("GET", "*"), class.fault()).skip(at);
            rules.add(if once { rule.once() } else { rule });
        }
        let mut run = self.begin(&inside);
        let (mut told, mut faults, mut ended) = (Vec::new(), Vec::new(), None);
        let listening = async {
            while let Some(event) = run.next().await {
                match event {
                    Event::Emitted(workload) => told.push(format!("{} {}", workload.status, workload.reason)),
                    Event::Incomplete { fault, .. } => faults.push(fault.kind),
                    Event::Settled(settled) => ended = settled.result.err().map(|fault| fault.kind),
                    _ => {}
                }
            }
        };
        let changing = async {
            tokio::time::sleep(CHANGED).await;
            inside.cluster().change("app", &json!({"spec": {"replicas": 0}})).await;
        };
        let _ = timeout(FOLLOWED, async { tokio::join!(listening, changing) }).await;
        run.cancel();
        run.finish().await;
        told.dedup();
        Ran { told, faults, ended, asked: inside.requests() }
    }
}

/// What is wrong with it.
fn complaints(good: &Ran, ran: &Ran, class: &Class, once: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let missing = Status::Missing.to_string();
    if ran.told.iter().any(|told| told.starts_with(&missing)) {
        wrong.push("it was told to be missing".to_owned());
    }
    let last = ran.told.last().map(String::as_str);
    if once && last != Some("offline stopped") && ran.ended.is_none() {
        wrong.push(format!("a fault that passed hid how it is now: {last:?}"));
    }
    let unknown = last.and_then(|last| last.strip_prefix("unknown ")).map(End::unknown);
    // A watch that fails for ever hides nothing, nor do Pods that must not be seen.
    let seen = last.is_some_and(|last| last.starts_with("offline stopped"));
    if !once && !seen && unknown.is_none() && ran.faults.is_empty() && ran.ended.is_none() {
        wrong.push(format!("nothing says that it is not read any more: {last:?}"));
    }
    // Without a watch one is read every two seconds.
    let bound = 2 * good.asked.len() + MORE;
    if ran.asked.len() > bound {
        wrong.push(format!("sent {} requests, more than {bound}", ran.asked.len()));
    }
    if !once && class.ends_connections() && ran.told.iter().any(|told| told == "unknown malformed") {
        wrong.push("no connection is no answer that cannot be understood".to_owned());
    }
    wrong
}

#[rstest]
#[case::one(Follows::One)]
#[case::all(Follows::All)]
fn any_fault_while_it_is_followed(#[case] follows: Follows) {
    paused(async {
        let good = follows.run(None).await;
        assert_eq!(good.told, ["running available", "offline stopping", "offline stopped"], "without a fault");
        assert_eq!(good.faults, []);
        let begun = good.asked[0].at;
        let mut wrong = Vec::new();
        for at in 0..good.asked.iter().filter(|asked| asked.at < begun + LATEST).count() {
            for class in CLASSES {
                for once in [true, false] {
                    let ran = follows.run(Some((class, at, once))).await;
                    for complaint in complaints(&good, &ran, class, once) {
                        let word = ran.asked.get(at).map(Asked::word);
                        wrong.push(format!(
                            "{follows:?}, request {at} ({word:?}), {} once: {once}: {complaint}; {:?} {:?}",
                            class.name, ran.told, ran.faults
                        ));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    });
}
