//! The one table of exit codes.

use std::process::ExitCode;

use workload_host::model::{Fault, FaultKind, Status, Workload};

/// How the process ends. Several are summed up by their highest number, so the order here is the order of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Everything went well.
    Ok = 0,
    /// What has no code of its own, answers that make no sense included.
    Other = 1,
    /// The command line, a configuration or a spec is wrong: nothing was tried.
    Usage = 2,
    /// No such workload.
    NotFound = 3,
    /// The engine does not know who we are.
    Unauthorized = 4,
    /// The engine knows and says no.
    Forbidden = 5,
    /// Unreachable or throttled.
    Unavailable = 6,
    /// The time ran out.
    Timeout = 7,
    /// It can not come to run by itself.
    RolloutFailed = 8,
    /// Not an id.
    InvalidId = 9,
    /// Somebody else changed it meanwhile, or it exists already.
    Conflict = 10,
    /// A stop or delete of the same workload took over.
    Superseded = 11,
    /// There is one, but it is not ours.
    NotOwned = 12,
    /// Our own policy said no.
    Denied = 13,
    /// The provider broke a rule of the sandbox.
    ProviderFault = 14,
    /// The provider or the host does not do that.
    Unsupported = 15,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<FaultKind> for Exit {
    fn from(kind: FaultKind) -> Exit {
        match kind {
            FaultKind::NotFound => Exit::NotFound,
            FaultKind::Unauthorized => Exit::Unauthorized,
            FaultKind::Forbidden => Exit::Forbidden,
            FaultKind::Unavailable => Exit::Unavailable,
            FaultKind::Timeout => Exit::Timeout,
            FaultKind::RolloutFailed => Exit::RolloutFailed,
            FaultKind::InvalidId => Exit::InvalidId,
            FaultKind::InvalidSpec | FaultKind::Configuration => Exit::Usage,
            FaultKind::Conflict => Exit::Conflict,
            FaultKind::Superseded => Exit::Superseded,
            FaultKind::NotOwned => Exit::NotOwned,
            FaultKind::Denied => Exit::Denied,
            FaultKind::Malformed | FaultKind::Internal => Exit::Other,
            FaultKind::Unsupported => Exit::Unsupported,
            // Nothing but the user's interrupt cancels an operation of the command line.
            FaultKind::Cancelled => Exit::Interrupted,
            FaultKind::ProviderFault => Exit::ProviderFault,
        }
    }
}

impl From<&Fault> for Exit {
    fn from(fault: &Fault) -> Exit {
        fault.kind.into()
    }
}

impl Exit {
    /// For a status that was asked for: every known one is an answer, also `missing` and `failed`; `unknown` ends as
    /// the fault behind its reason would.
    pub fn of_status(workload: &Workload) -> Exit {
        if workload.status != Status::Unknown {
            return Exit::Ok;
        }
        match workload.reason.as_str() {
            "unauthorized" => Exit::Unauthorized,
            "forbidden" => Exit::Forbidden,
            "unreachable" | "throttled" => Exit::Unavailable,
            _ => Exit::Other,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::workload;
    use rstest::rstest;

    #[rstest]
    #[case(FaultKind::Malformed, 1)]
    #[case(FaultKind::Internal, 1)]
    #[case(FaultKind::InvalidSpec, 2)]
    #[case(FaultKind::Configuration, 2)]
    #[case(FaultKind::NotFound, 3)]
    #[case(FaultKind::Unauthorized, 4)]
    #[case(FaultKind::Forbidden, 5)]
    #[case(FaultKind::Unavailable, 6)]
    #[case(FaultKind::Timeout, 7)]
    #[case(FaultKind::RolloutFailed, 8)]
    #[case(FaultKind::InvalidId, 9)]
    #[case(FaultKind::Conflict, 10)]
    #[case(FaultKind::Superseded, 11)]
    #[case(FaultKind::NotOwned, 12)]
    #[case(FaultKind::Denied, 13)]
    #[case(FaultKind::ProviderFault, 14)]
    #[case(FaultKind::Unsupported, 15)]
    #[case(FaultKind::Cancelled, 130)]
    fn of_a_fault(#[case] kind: FaultKind, #[case] code: u8) {
        assert_eq!(Exit::from(&Fault::new(kind, "x")) as u8, code);
    }

    #[rstest]
    #[case::running(Status::Running, "available", 0)]
    #[case::missing(Status::Missing, "not-found", 0)]
    #[case::not_ours(Status::Missing, "not-owned", 0)]
    #[case::failed(Status::Failed, "crash-loop", 0)]
    #[case::unreachable(Status::Unknown, "unreachable", 6)]
    #[case::throttled(Status::Unknown, "throttled", 6)]
    #[case::unauthorized(Status::Unknown, "unauthorized", 4)]
    #[case::forbidden(Status::Unknown, "forbidden", 5)]
    #[case::malformed(Status::Unknown, "malformed", 1)]
    #[case::new_word(Status::Unknown, "something-else", 1)]
    fn of_a_status(#[case] status: Status, #[case] reason: &str, #[case] code: u8) {
        let workload = Workload { status, reason: reason.to_owned(), ..workload("default/web") };
        assert_eq!(Exit::of_status(&workload) as u8, code);
    }

    #[test]
    fn the_worst_is_the_highest() {
        let several = [Exit::Ok, Exit::Unsupported, Exit::NotFound];
        assert_eq!(several.into_iter().max(), Some(Exit::Unsupported));
        assert!(Exit::Interrupted > Exit::Unsupported);
    }
}
