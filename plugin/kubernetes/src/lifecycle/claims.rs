//! Which workload an id label says that it is. The label proves nothing, but a Manager finds its workloads by it: when
//! two say the same id of a Manager's, nobody can tell which one is meant, and neither is acted on. Whoever carries the id of its
//! own name cannot be mistaken: copies of its label are not acted on, and it is.

use std::collections::{BTreeMap, BTreeSet};

use workload_guest::{Fault, FaultKind, fault};

use crate::id::{Target, claimed_id, is_id_of_another};
use crate::ownership::Claim;

/// How many claimants a message names.
const NAMED: usize = 5;

/// What the workloads of a list claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claims {
    /// Those that are what their name says: nearly all.
    own: Vec<Target>,
    /// The others, by the value of their label.
    others: BTreeMap<String, BTreeSet<Target>>,
}

impl Claims {
    /// One more workload, and what its label says.
    pub fn add(&mut self, target: &Target, claim: &Claim) {
        match claim {
            Claim::Own => self.own.push(target.clone()),
            Claim::Another(value) | Claim::Manager(value) => {
                self.others.entry(value.clone()).or_default().insert(target.clone());
            }
        }
    }

    /// What more than one claims, or one that cannot be it, in all of these lists: the id and why it is in doubt.
    pub fn disputes<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> BTreeMap<String, Fault> {
        let mut claimants: BTreeMap<&str, BTreeSet<&Target>> = BTreeMap::new();
        for (value, targets) in all.clone().flat_map(|claims| &claims.others) {
            claimants.entry(value).or_default().extend(targets);
        }
        let mut disputes = BTreeMap::new();
        for (value, mut targets) in claimants {
            let id = claimed_id(value);
            // Whoever carries the label of its own name is one of them.
            targets.extend(all.clone().flat_map(|claims| &claims.own).filter(|own| Some(*own) == id.as_ref()));
            let fault = match targets.first() {
                Some(target) if targets.len() == 1 && is_id_of_another(value) => mistaken(target, value),
                Some(_) if targets.len() == 1 => continue,
                _ => disputed(value, targets.iter().copied()),
            };
            disputes.insert(id.map_or_else(|| value.to_owned(), |target| target.id()), fault);
        }
        disputes
    }

    /// Who else in this list carries the same id of a Manager's.
    pub fn rivals(&self, target: &Target, claim: &Claim) -> Vec<&Target> {
        let Claim::Manager(value) = claim else { return Vec::new() };
        self.others.get(value).into_iter().flatten().filter(|other| *other != target).collect()
    }
}

/// Two claim to be the same.
pub(super) fn disputed<'a>(value: &str, targets: impl Iterator<Item = &'a Target>) -> Fault {
    let ids: Vec<String> = targets.map(Target::id).collect();
    let named = ids.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = ids.len().saturating_sub(NAMED);
    let named = if more > 0 { format!("{named} and {more} more") } else { named };
    let words =
        format!("{} Deployments carry the id label {value}: {named}; correct the label of all but one", ids.len());
    fault(FaultKind::Conflict, words)
        .with("reason", "duplicate-id")
        .with("id-label", value)
        .with("claimants", ids.join(","))
}

/// One claims to be what another name means.
pub(super) fn mistaken(target: &Target, value: &str) -> Fault {
    let words = format!("{} carries the id label of another workload, {value}; correct or remove it", target.id());
    fault(FaultKind::Conflict, words)
        .with("reason", "duplicate-id")
        .with("id-label", value)
        .with("claimants", target.id())
}

/// What a person who looks at it is told.
pub(super) fn remark(claim: &Claim, rivals: &[&Target]) -> Option<String> {
    let others = || rivals.iter().take(NAMED).map(|other| other.id()).collect::<Vec<_>>().join(", ");
    match claim {
        Claim::Own => None,
        Claim::Another(value) => Some(format!("its id label {value} is that of another workload")),
        Claim::Manager(_) if rivals.is_empty() => None,
        Claim::Manager(value) => Some(format!("its id label {value} is that of {} too", others())),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn claims(of: &[(&str, Claim)]) -> Claims {
        let mut claims = Claims::default();
        for (id, claim) in of {
            claims.add(&Target::parse(id).unwrap(), claim);
        }
        claims
    }

    fn another(value: &str) -> Claim {
        Claim::Another(value.to_owned())
    }

    fn manager(value: &str) -> Claim {
        Claim::Manager(value.to_owned())
    }

    #[rstest]
    #[case::all_their_own(&[("a/web", Claim::Own), ("b/web", Claim::Own)], &[])]
    #[case::a_copy(&[("a/web", Claim::Own), ("a/copy", another("a.web"))], &[("a/web", "a/copy,a/web")])]
    #[case::a_copy_elsewhere(&[("a/web", Claim::Own), ("b/web", another("a.web"))], &[("a/web", "a/web,b/web")])]
    #[case::a_copy_alone(&[("a/copy", another("a.web"))], &[("a/web", "a/copy")])]
    #[case::numbers(&[("a/x", manager("105")), ("a/y", manager("106"))], &[])]
    #[case::one_number(&[("a/x", manager("105")), ("b/y", manager("105"))], &[("105", "a/x,b/y")])]
    fn what_is_in_doubt(#[case] of: &[(&str, Claim)], #[case] want: &[(&str, &str)]) {
        let disputes = Claims::disputes(std::iter::once(&claims(of)));
        let found: Vec<(&str, &str)> = disputes
            .iter()
            .map(|(id, fault)| (&**id, &*fault.detail.iter().find(|(name, _)| name == "claimants").unwrap().1))
            .collect();
        assert_eq!(found, want);
        assert!(disputes.values().all(|fault| fault.kind == FaultKind::Conflict));
    }

    #[test]
    fn many_claimants_are_counted() {
        let ids: Vec<String> = (0..9).map(|index| format!("a/w{index}")).collect();
        let of: Vec<(&str, Claim)> = ids.iter().map(|id| (&**id, manager("7"))).collect();
        let disputes = Claims::disputes(std::iter::once(&claims(&of)));
        assert_eq!(
            disputes["7"].message,
            "9 Deployments carry the id label 7: a/w0, a/w1, a/w2, a/w3, a/w4 and 4 more; correct the label of all but one"
        );
    }
}
