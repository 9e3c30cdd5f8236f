//! What `-v` shows: the project's own events on standard error.

use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The prefix of our crates. Others' events stay out: nobody here has checked that they hold no secret.
const OURS: &str = "workload";

/// Starts it. Without `-v` nothing is shown, denials included: the command's own answer tells them.
pub fn start(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => Level::INFO,
        2 => Level::DEBUG,
        _ => Level::TRACE,
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines).with(Targets::new().with_target(OURS, level)).init();
}
