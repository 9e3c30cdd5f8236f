//! The loop of a run: step, answer, and when nothing can go on, let time pass.

use std::collections::{BTreeMap, VecDeque};

use super::{Asked, CLEANING_GRACE_MS, End, GRACE_MS, MOST_STEPS, Options, Reply, Run, Stepper, Stop, When};
use crate::{Answer, Effect, Event, Response, StopNotice, StopReason, Turn};

pub(super) fn drive(stepper: &Stepper, options: Options, reply: &mut dyn FnMut(&Asked) -> Reply) -> Run {
    let mut world = World::new(options);
    for step in 0..MOST_STEPS {
        let events = world.events(step);
        let turn = stepper.step(world.run.now, events);
        let cleaning = turn.cleaning;
        let finished = turn.finished;
        world.take(turn, reply);
        if finished {
            world.run.end = End::Finished;
            return world.run;
        }
        if let Err(end) = world.advance(step + 1, cleaning) {
            world.run.end = end;
            return world.run;
        }
    }
    world.run
}

struct World {
    run: Run,
    /// What is still to come of each effect that is outstanding, and when.
    outstanding: BTreeMap<u32, VecDeque<(u64, Answer)>>,
    /// Stops that wait for their time.
    stops: Vec<Stop>,
    /// Stops for the next step.
    due: Vec<StopNotice>,
    /// When the first stop for all was given.
    stopped_at: Option<u64>,
}

impl World {
    fn new(options: Options) -> Self {
        let mut stops = options.stops;
        if let Some(deadline) = options.deadline {
            stops.push(Stop { when: When::At(deadline), id: None, reason: StopReason::Deadline });
        }
        Self {
            run: Run {
                end: End::Endless,
                now: 0,
                settled: Vec::new(),
                emitted: Vec::new(),
                incomplete: Vec::new(),
                progress: Vec::new(),
                asked: Vec::new(),
                dropped: Vec::new(),
                turns: Vec::new(),
            },
            outstanding: BTreeMap::new(),
            stops,
            due: Vec::new(),
            stopped_at: None,
        }
    }

    /// What happened until now: stops first, so that they are not outrun, then one answer to each effect.
    fn events(&mut self, step: usize) -> Vec<Event> {
        let now = self.run.now;
        self.release(|when| match when {
            When::Step(at) => *at <= step,
            When::At(at) => *at <= now,
            When::Asked(_) => false,
        });
        let notices = std::mem::take(&mut self.due);
        if notices.iter().any(|notice| notice.id.is_none()) {
            self.stopped_at.get_or_insert(now);
        }
        let mut events: Vec<Event> = notices.into_iter().map(Event::Stop).collect();
        self.outstanding.retain(|id, coming| {
            let Some((_, answer)) = coming.pop_front_if(|(at, _)| *at <= now) else { return true };
            let last = !matches!(&answer, Answer::Response(Response { last: false, .. }));
            events.push(Event::Answer((*id, answer)));
            !last
        });
        events
    }

    /// Moves the stops whose time has come to those of the next step.
    fn release(&mut self, is_due: impl Fn(&When) -> bool) {
        for stop in self.stops.extract_if(.., |stop| is_due(&stop.when)) {
            self.due.push(StopNotice { id: stop.id, reason: stop.reason });
        }
    }

    fn take(&mut self, turn: Turn, reply: &mut dyn FnMut(&Asked) -> Reply) {
        for id in &turn.dropped {
            self.outstanding.remove(id);
        }
        for pending in turn.need.iter().cloned() {
            let asked = Asked { id: pending.id, for_id: pending.for_, now: self.run.now, effect: pending.effect };
            let coming = match &asked.effect {
                Effect::Sleep(ms) => VecDeque::from([(self.run.now.saturating_add(*ms), Answer::Elapsed)]),
                _ => script(reply(&asked), self.run.now),
            };
            self.outstanding.insert(asked.id, coming);
            self.release(|when| matches!(when, When::Asked(test) if test(&asked)));
            self.run.asked.push(asked);
        }
        self.run.settled.extend(turn.settled.iter().cloned());
        self.run.emitted.extend(turn.emitted.iter().cloned());
        self.run.incomplete.extend(turn.incomplete.iter().cloned());
        self.run.progress.extend(turn.progress.iter().cloned());
        self.run.dropped.extend(turn.dropped.iter().copied());
        self.run.turns.push(turn);
    }

    /// Lets time pass until there is something to tell in the next step.
    fn advance(&mut self, next: usize, cleaning: bool) -> Result<(), End> {
        let stop_now =
            !self.due.is_empty() || self.stops.iter().any(|s| matches!(s.when, When::Step(at) if at <= next));
        if stop_now {
            return Ok(());
        }
        if self.outstanding.is_empty() {
            return Err(End::Stalled);
        }
        let answers = self.outstanding.values().filter_map(|coming| coming.front()).map(|(at, _)| *at);
        let stops = self.stops.iter().filter_map(|stop| match stop.when {
            When::At(at) => Some(at),
            When::Step(_) | When::Asked(_) => None,
        });
        let soonest = answers.chain(stops).min();
        let grace = if cleaning { CLEANING_GRACE_MS } else { GRACE_MS };
        let patience = self.stopped_at.map(|at| at.saturating_add(grace));
        match (soonest, patience) {
            (Some(at), Some(until)) if at > until => Err(self.give_up(until)),
            (None, Some(until)) => Err(self.give_up(until)),
            (Some(at), _) => {
                self.run.now = self.run.now.max(at);
                Ok(())
            }
            (None, None) => Err(End::Waiting),
        }
    }

    fn give_up(&mut self, at: u64) -> End {
        self.run.now = self.run.now.max(at);
        End::Dropped
    }
}

/// When which answer comes.
fn script(reply: Reply, now: u64) -> VecDeque<(u64, Answer)> {
    let parts = |parts: Vec<Response>, closed: bool| {
        let count = parts.len();
        let mark = move |(index, mut part): (usize, Response)| {
            part.last = closed && index + 1 == count;
            (now, Answer::Response(part))
        };
        parts.into_iter().enumerate().map(mark).collect()
    };
    let once = |answer| VecDeque::from([(now, answer)]);
    match reply {
        Reply::Respond(mut response) => {
            response.last = true;
            once(Answer::Response(response))
        }
        Reply::Parts(list) => parts(list, true),
        Reply::Open(list) => parts(list, false),
        Reply::Fail(failure) => once(Answer::Failed(failure)),
        Reply::Never => VecDeque::new(),
        Reply::Exec(result) => once(Answer::Exec(result)),
        Reply::Forward(handle) => once(Answer::Forward(handle)),
        Reply::Done => once(Answer::Done),
        Reply::After(ms, reply) => script(*reply, now.saturating_add(ms)),
        Reply::Script(answers) => answers.into_iter().map(|(ms, answer)| (now.saturating_add(ms), answer)).collect(),
    }
}
