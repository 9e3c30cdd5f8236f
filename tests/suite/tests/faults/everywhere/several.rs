//! The same for several workloads that share their reads: what happens to one does not happen to the others.

use kube_emulator::fault::Rule;
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use serde_json::{Value, json};
use workload_host::Report;
use workload_host::model::OutcomeWord;
use workload_suite::inside::{Asked, Inside, outcome, paused};

use super::TIMEOUT;
use crate::class::{CLASSES, Class, End, Role};

const NAMES: [&str; 2] = ["a", "b"];

/// One of each kind: what single workloads end in is known of the others.
const KINDS: [&str; 7] =
    ["connection refused", "reset after it took effect", "no answer", "401", "403", "409", "a page with 200"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Start,
    Stop,
    Delete,
}

struct Ran {
    /// How each ended, and what is wrong with what is left of it.
    each: Vec<(End, Option<String>)>,
    asked: Vec<Asked>,
}

impl Does {
    fn good(self) -> OutcomeWord {
        match self {
            Does::Start => OutcomeWord::Started,
            Does::Stop => OutcomeWord::Stopped,
            Does::Delete => OutcomeWord::Deleted,
        }
    }

    fn end(self, report: &Report, name: &str) -> End {
        match outcome(report, &format!("ns/{name}")) {
            Err(fault) => End::of(fault.kind),
            Ok(outcome) if (outcome.word, outcome.changed) == (self.good(), true) => End::Good,
            Ok(outcome) => End::Other(format!("{} {}", outcome.word, outcome.changed)),
        }
    }

    /// What is wrong with what is left. `good`: it ended well.
    fn wrong_state(self, before: &Value, now: Option<&Value>, good: bool) -> Option<String> {
        let number = |object: &Value, path: &str| object.pointer(path).and_then(Value::as_u64).unwrap_or_default();
        let done = match (self, now) {
            (Does::Delete, None) => true,
            (_, None) => return Some("it is gone".to_owned()),
            (Does::Delete, Some(now)) => now["metadata"]["deletionTimestamp"].is_string(),
            (_, Some(now)) => {
                let changes = number(now, "/metadata/generation") - number(before, "/metadata/generation");
                let changed = number(now, "/spec/replicas") != number(before, "/spec/replicas");
                if changes != u64::from(changed) {
                    return Some(format!("{changes} writes took effect"));
                }
                changed
            }
        };
        (good && !done).then(|| "nothing was done".to_owned())
    }

    async fn run(self, fault: Option<(&Class, usize)>) -> Ran {
        let inside = Inside::emulated().await.within(TIMEOUT);
        let replicas = u64::from(self != Does::Start);
        let mut before = Vec::new();
        for name in NAMES {
            let script = [("start-after", "1s"), ("stop", "1s")];
            inside.make(name, json!({"spec": {"replicas": replicas}}), &script).await;
        }
        for name in NAMES {
            before.push(inside.cluster().until_settled(name).await);
        }
        let faults = inside.cluster().emulator().faults();
        if let Some((class, at)) = fault {
            faults.add(Rule::on(Pattern::any(), class.fault()).skip(at).once());
        }
        let ids = NAMES.map(|name| format!("ns/{name}"));
        let ids = ids.each_ref().map(String::as_str);
        let report = match self {
            Does::Start => inside.start(&ids).await,
            Does::Stop => inside.stop(&ids).await,
            Does::Delete => inside.delete(&ids).await,
        };
        let each = NAMES.iter().zip(&before).map(|(name, before)| {
            let end = self.end(&report, name);
            let now = inside.cluster().deployment(name);
            let wrong = self.wrong_state(before, now.as_ref(), end == End::Good);
            (end, wrong)
        });
        Ran { each: each.collect(), asked: inside.requests() }
    }
}

#[rstest]
#[case::start(Does::Start)]
#[case::stop(Does::Stop)]
#[case::delete(Does::Delete)]
fn one_fault_at_any_request_of_several(#[case] does: Does) {
    paused(async {
        let good = does.run(None).await;
        assert!(good.each.iter().all(|each| *each == (End::Good, None)), "without a fault: {:?}", good.each);
        let kinds: Vec<&Class> = CLASSES.iter().filter(|class| KINDS.contains(&class.name)).collect();
        assert_eq!(kinds.len(), KINDS.len(), "each is known by its name");
        let mut wrong = Vec::new();
        for at in 0..good.asked.len() {
            for &class in &kinds {
                let ran = does.run(Some((class, at))).await;
                let asked = &ran.asked[at];
                let own = |name: &str| asked.path.split('/').any(|part| part == name);
                let shared = !NAMES.iter().any(|name| own(name));
                let role = Role::of(&ran.asked, at);
                let mut say = |name: &str, what: String| {
                    let word = asked.word();
                    wrong.push(format!("{does:?} {name}, request {at} ({word}), {}: {what}", class.name));
                };
                for (name, (end, state)) in NAMES.iter().zip(&ran.each) {
                    // What all share has other ways: a list that is refused is read object by object.
                    let mut expected = if shared || own(name) { class.ends(role, false) } else { vec![End::Good] };
                    if shared {
                        expected.push(End::Good);
                    }
                    if !expected.contains(end) {
                        say(name, format!("ended with {end:?}, not with one of {expected:?}"));
                    }
                    if let Some(state) = state {
                        say(name, state.clone());
                    }
                    let writes =
                        ran.asked.iter().filter(|asked| asked.writes() && asked.word().contains(&format!(" {name}")));
                    let most = if role == Role::Write && own(name) && !class.takes_effect { 2 } else { 1 };
                    if writes.count() > most {
                        say(name, format!("more than {most} writes"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    });
}
