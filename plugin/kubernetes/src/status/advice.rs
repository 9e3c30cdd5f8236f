use super::{Observed, Verdict};
/// What would have to change.
#[must_use]
pub fn advice(_observed: &Observed<'_, '_>, _verdict: &Verdict) -> Option<String> {
    None
}
