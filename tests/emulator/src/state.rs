//! What all parts of the emulator share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use sha2::{Digest, Sha256};

use crate::clock::Clock;
use crate::scenario::{Scenario, ScenarioError};
use crate::store::Store;

/// The objects, the clock, and where names and uids come from.
#[derive(Debug)]
pub struct State {
    /// The objects.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// What the cluster held at the start, and how images behave.
    pub scenario: Scenario,
    seed: u64,
    drawn: AtomicU64,
    /// Ranges of versions that objects were made with in a state that no controller has anything to do for.
    settled: RwLock<Vec<(u64, u64)>>,
}

/// The letters of generated names: no vowels, so that no words come out.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl State {
    /// With no object yet. With the same seed and the same requests the same names and uids come out.
    pub fn new(clock: Clock, seed: u64, scenario: Scenario) -> State {
        let (drawn, settled) = (AtomicU64::new(0), RwLock::default());
        State { store: Store::new(), clock, scenario, seed, drawn, settled }
    }

    /// With the nodes and namespaces of the scenario.
    pub fn prepared(clock: Clock, seed: u64, scenario: Scenario) -> State {
        let state = State::new(clock, seed, scenario);
        state.scenario.prepare(&state);
        // Nobody can have seen it come about.
        state.store.compact();
        state
    }

    /// With everything that the scenario has, its objects too.
    ///
    /// # Errors
    /// When an object is refused.
    pub fn start(clock: Clock, seed: u64, scenario: Scenario) -> Result<State, ScenarioError> {
        let state = State::prepared(clock, seed, scenario);
        state.scenario.make_objects(&state)?;
        state.store.compact();
        Ok(state)
    }

    /// Says that what was made with this version needs no controller.
    pub(crate) fn settle(&self, version: u64) {
        let mut settled = self.settled.write().unwrap_or_else(PoisonError::into_inner);
        match settled.last_mut() {
            Some((_, last)) if *last + 1 == version => *last = version,
            _ => settled.push((version, version)),
        }
    }

    /// Whether what was made with this version needs no controller.
    pub(crate) fn settled(&self, version: u64) -> bool {
        let settled = self.settled.read().unwrap_or_else(PoisonError::into_inner);
        let after = settled.partition_point(|(first, _)| *first <= version);
        after.checked_sub(1).and_then(|place| settled.get(place)).is_some_and(|(_, last)| version <= *last)
    }

    fn draw(&self) -> [u8; 32] {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update(number.to_be_bytes()).finalize().into()
    }

    /// A new uid, in the form of a random UUID.
    pub fn uid(&self) -> String {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = self.draw();
        let bytes = [a, b, c, d, e, f, (g & 0x0f) | 0x40, h, (i & 0x3f) | 0x80, j, k, l, m, n, o, p];
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [hex.get(..8), hex.get(8..12), hex.get(12..16), hex.get(16..20), hex.get(20..)];
        parts.into_iter().flatten().collect::<Vec<_>>().join("-")
    }

    /// A suffix for a generated name: five letters and digits.
    pub fn suffix(&self) -> String {
        self.draw().iter().take(5).map(|&byte| letter(u64::from(byte))).collect()
    }
}

/// The letter of a number, in the alphabet of generated names.
pub fn letter(number: u64) -> char {
    let index = usize::try_from(number % 27).unwrap_or_default();
    LETTERS.get(index).map_or('b', |&byte| char::from(byte))
}
