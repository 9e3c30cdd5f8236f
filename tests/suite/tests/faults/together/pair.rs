//! Two operations, of which one is held up until the other has got so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::watch;
use workload_host::{Report, Run};
use workload_suite::inside::{Asked, Gate, Inside, Point, Setup, word};

const APP: &str = "ns/app";

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    Create,
    Start,
    Stop,
    Delete,
}

impl Does {
    fn begin(self, inside: &Inside) -> Run {
        match self {
            Does::Create => inside.creating(&[(APP, json!({"image": "busybox:1"}))]),
            Does::Start => inside.starting(&[APP]),
            Does::Stop => inside.stopping(&[APP]),
            Does::Delete => inside.deleting(&[APP]),
        }
    }
}

/// Where a request is held up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Before the server gets it.
    There,
    /// After it took effect.
    Back,
}

impl Way {
    fn is_at(self, point: Point) -> bool {
        point == if self == Way::There { Point::Asked } else { Point::Answered }
    }
}

/// Until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The other one has so many answers.
    Answers(usize),
    /// It has ended.
    End,
}

pub const UNTIL: &[Until] = &[Until::Answers(1), Until::Answers(2), Until::Answers(3), Until::Answers(4), Until::End];

/// Two operations on one workload, of which so many replicas are wanted before.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub first: Does,
    pub second: Does,
    pub from: u64,
}

/// How far the two are.
#[derive(Debug, Default, Clone, Copy)]
struct Progress {
    /// The first has come to the request that is meant, or has ended.
    reached: bool,
    /// Answers that the second has.
    answers: usize,
    /// The second has ended.
    ended: bool,
}

/// What came of them.
pub struct Ran {
    pub first: String,
    pub second: String,
    /// Replicas in the end. None: it is gone.
    pub wanted: Option<u64>,
    /// What both sent, in words, with the number of the Manager.
    pub asked: Vec<String>,
    from: u64,
    /// The writes that took effect, in this order.
    effects: Vec<Asked>,
    /// How often the count changed.
    grown: Option<u64>,
    live: Vec<String>,
}

impl Pair {
    async fn cluster(&self) -> (Inside, Value) {
        let inside = Inside::emulated().await;
        if self.first == Does::Create {
            return (inside, Value::Null);
        }
        let script = [("start-after", "500"), ("stop", "500")];
        inside.make("app", json!({"spec": {"replicas": self.from}}), &script).await;
        let before = inside.cluster().until_settled("app").await;
        (inside, before)
    }

    /// How many requests the first one sends when it is alone.
    pub async fn alone(&self) -> usize {
        let (inside, _) = self.cluster().await;
        let report = self.first.begin(&inside).finish().await;
        assert!(report.settled[0].result.is_ok(), "{report:?}");
        inside.requests().len()
    }

    /// Through two Managers: the first is held up at its `held`th request, where the second begins, until that has got so
    /// far.
    pub async fn held(&self, held: usize, way: Way, until: Until) -> Ran {
        let (inside, before) = self.cluster().await;
        let other = inside.beside(Setup::default()).await;
        let progress = Arc::new(watch::Sender::new(Progress::default()));
        let (tell, count) = (Arc::clone(&progress), AtomicUsize::new(0));
        let meant = AtomicUsize::new(usize::MAX);
        inside.gate(move |point, asked| -> Gate {
            if asked.by == 1 {
                if point == Point::Answered {
                    tell.send_modify(|progress| progress.answers += 1);
                }
                return None;
            }
            if point == Point::Asked && count.fetch_add(1, Ordering::Relaxed) == held {
                meant.store(asked.number, Ordering::Relaxed);
            }
            if !way.is_at(point) || meant.load(Ordering::Relaxed) != asked.number {
                return None;
            }
            let mut news = tell.subscribe();
            tell.send_modify(|progress| progress.reached = true);
            Some(Box::pin(async move {
                let far = |progress: &Progress| match until {
                    Until::Answers(number) => progress.ended || progress.answers >= number,
                    Until::End => progress.ended,
                };
                news.wait_for(far).await.expect("the test goes on");
            }))
        });
        let (first, second) = self.both(&inside, &other, &progress).await;
        self.ran(&inside, &before, &first, &second).await
    }

    /// Through one Manager: the second begins when the first has come to its `after`th request.
    pub async fn after(&self, after: usize, way: Way) -> Ran {
        let (inside, before) = self.cluster().await;
        let progress = Arc::new(watch::Sender::new(Progress::default()));
        let tell = Arc::clone(&progress);
        inside.gate(move |point, asked| -> Gate {
            if asked.number == after && way.is_at(point) {
                tell.send_modify(|progress| progress.reached = true);
            }
            None
        });
        let (first, second) = self.both(&inside, &inside, &progress).await;
        self.ran(&inside, &before, &first, &second).await
    }

    async fn both(&self, one: &Inside, other: &Inside, progress: &watch::Sender<Progress>) -> (Report, Report) {
        let first = async {
            let report = self.first.begin(one).finish().await;
            progress.send_modify(|progress| progress.reached = true);
            report
        };
        let second = async {
            progress.subscribe().wait_for(|progress| progress.reached).await.expect("the test goes on");
            let report = self.second.begin(other).finish().await;
            progress.send_modify(|progress| progress.ended = true);
            report
        };
        tokio::join!(first, second)
    }

    async fn ran(&self, inside: &Inside, before: &Value, first: &Report, second: &Report) -> Ran {
        let took_effect = |(asked, code): (Asked, u16)| (asked.writes() && code < 300).then_some(asked);
        let effects: Vec<Asked> = inside.answered().into_iter().filter_map(took_effect).collect();
        let words = |asked: &Asked| format!("{}: {}", asked.by, asked.word());
        let now = inside.cluster().deployment("app");
        let generation = |object: &Value| object["metadata"]["generation"].as_u64();
        let grown = now.as_ref().and_then(|now| Some(generation(now)? - generation(before)?));
        let ended = |pod: &Value| matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let pods = inside.cluster().all("pods");
        let live = pods.iter().filter(|pod| !ended(pod)).map(|pod| pod["metadata"]["name"].to_string());
        Ran {
            first: word(first, APP),
            second: word(second, APP),
            wanted: now.as_ref().map(|now| now["spec"]["replicas"].as_u64().unwrap_or_default()),
            asked: inside.requests().iter().map(words).collect(),
            from: self.from,
            effects,
            grown,
            live: live.collect(),
        }
    }
}

impl Ran {
    /// What was written is not what is there, or was written twice.
    pub fn lost_update(&self) -> Option<String> {
        let of = |verb: &'static str| self.effects.iter().filter(move |asked| asked.verb == verb);
        if of("POST").count() > 1 {
            return Some("two were made".to_owned());
        }
        for manager in 0..2 {
            if of("DELETE").filter(|asked| asked.by == manager).count() > 1 {
                return Some(format!("manager {manager} deleted it twice"));
            }
        }
        if self.wanted.unwrap_or(0) == 0 && !self.live.is_empty() {
            return Some(format!("nothing is wanted, and {:?} may run", self.live));
        }
        let Some(grown) = self.grown else {
            let deleted = of("DELETE").next().is_some();
            return (self.wanted.is_none() && !deleted).then(|| "it is gone, and nobody deleted it".to_owned());
        };
        let counts: Vec<u64> = of("PATCH").filter_map(|asked| asked.body["spec"]["replicas"].as_u64()).collect();
        let mut now = self.from;
        let mut changes = 0;
        for count in counts {
            changes += u64::from(count != now);
            now = count;
        }
        if self.wanted != Some(now) || grown != changes {
            return Some(format!(
                "{now} was written last, in {changes} changes; {:?} is wanted after {grown}",
                self.wanted
            ));
        }
        None
    }
}
