//! The provider as a library, stepped by hand.

use workload_guest::testing::{Call, Options, Stepper};
use workload_guest::{Answer, Effect, Event, Media, Response, Scope};
use workload_kubernetes::Kubernetes;

use crate::cluster::{Cluster, NAMESPACE};

/// Lists what is in a cluster, and says how many there are.
pub fn list(cluster: &Cluster) -> usize {
    drive(Call::Discover(Scope { places: vec![NAMESPACE.to_owned()] }, false), Some(cluster))
}

/// The state of what cannot be a workload: ends in the first step.
pub fn nothing() -> usize {
    drive(Call::Status(vec!["a/b/c".to_owned()], false), None)
}

fn drive(call: Call, cluster: Option<&Cluster>) -> usize {
    let stepper = Stepper::new::<Kubernetes>(call, &Options::default());
    let (mut told, mut events) = (0, Vec::new());
    loop {
        let turn = stepper.step(0, std::mem::take(&mut events));
        told += turn.emitted.len() + turn.settled.len();
        if turn.finished {
            return told;
        }
        for pending in turn.need {
            let answer = match &pending.effect {
                Effect::Http(request) => {
                    let token =
                        request.query.iter().find(|(key, _)| key == "continue").map(|(_, value)| value.as_str());
                    let page = cluster.and_then(|cluster| cluster.page(token)).unwrap_or_default();
                    Answer::Response(Response {
                        status: 200,
                        retry_after_ms: None,
                        date_ms: None,
                        headers: Vec::new(),
                        media: Some(Media::Json),
                        bytes: page.to_vec(),
                        last: true,
                    })
                }
                _ => Answer::Elapsed,
            };
            events.push(Event::Answer((pending.id, answer)));
        }
        if events.is_empty() {
            return 0;
        }
    }
}
