//! What the tests of this crate share, those in `tests/` too.

use std::time::{Duration, Instant};

/// Far more than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lets others run until something has come about. By the real clock: that of a runtime may be paused.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "not after {PATIENCE:?}: {what}");
        tokio::task::yield_now().await;
    }
}
