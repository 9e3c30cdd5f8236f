//! Which workload an id label says that it is. The label proves nothing, but a Manager finds its workloads by it, and what
//! two share they may fight for: when two claim the same id, both are told of, and neither is acted on. Whoever has no label
//! claims the id of its name.

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
    pub fn disputes<'a>(key: &str, all: impl Iterator<Item = &'a Self> + Clone) -> BTreeMap<String, Fault> {
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
                Some(target) if targets.len() == 1 && is_id_of_another(value) => mistaken(key, target, value),
                Some(_) if targets.len() == 1 => continue,
                _ => disputed(key, value, targets.iter().copied()),
            };
            disputes.insert(id.map_or_else(|| value.to_owned(), |target| target.id()), fault);
        }
        disputes
    }

    /// Those whose id another one in this list claims too, each with who does.
    pub fn rivals(&self) -> impl Iterator<Item = (&Target, Vec<&Target>)> {
        let own = self.own.iter().filter(|_| !self.others.is_empty());
        let own = own.filter_map(|own| Some((own, self.others.get(&own.label_value())?)));
        let others = self.others.iter().filter(|(value, _)| !is_id_of_another(value));
        let others = others.flat_map(|(_, all)| all.iter().map(move |target| (target, all)));
        others.chain(own).map(|(target, all)| (target, all.iter().filter(|other| *other != target).collect()))
    }
}

/// Two claim to be the same.
pub(super) fn disputed<'a>(key: &str, value: &str, targets: impl Iterator<Item = &'a Target> + Clone) -> Fault {
    let ids: Vec<String> = targets.clone().map(Target::id).collect();
    let named = ids.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = ids.len().saturating_sub(NAMED);
    let named = if more > 0 { format!("{named} and {more} more") } else { named };
    // Whose name says otherwise is the copy. Of several with an id of a Manager's nobody can tell.
    let copy = is_id_of_another(value).then(|| targets.clone().find(|target| target.label_value() != value)).flatten();
    let how = match copy {
        Some(copy) => removal(copy, key),
        None => "correct the label of all but one".to_owned(),
    };
    let words = format!("{} Deployments claim the id label {key}={value}: {named}; {how}", ids.len());
    fault(FaultKind::Conflict, words)
        .with("reason", "duplicate-id")
        .with("id-label", value)
        .with("claimants", ids.join(","))
}

/// One claims to be what another name means.
pub(super) fn mistaken(key: &str, target: &Target, value: &str) -> Fault {
    let how = removal(target, key);
    let words = format!("{} carries the id label of another workload, {key}={value}; {how}", target.id());
    fault(FaultKind::Conflict, words)
        .with("reason", "duplicate-id")
        .with("id-label", value)
        .with("claimants", target.id())
}

/// How a copy is told apart again. What it selects by cannot be changed, and need not be.
fn removal(copy: &Target, key: &str) -> String {
    format!("remove that label: `kubectl label deployment -n {} {} {key}-`", copy.namespace, copy.name)
}

/// What has to change before one that claims this id with others is acted on.
pub(super) fn advice(fault: &Fault) -> String {
    format!("start, stop and delete are refused until only one claims its id: {}", fault.message)
}

/// What a person who looks at one is told of its label.
pub(super) fn remark(claim: &Claim) -> Option<String> {
    match claim {
        Claim::Another(value) => Some(format!("its id label {value} is that of another workload")),
        Claim::Own | Claim::Manager(_) => None,
    }
}

/// What a person is told of one whose id others claim too.
pub(super) fn shared(rivals: &[&Target]) -> Option<String> {
    let others = rivals.iter().take(NAMED).map(|other| other.id()).collect::<Vec<_>>().join(", ");
    (!rivals.is_empty()).then(|| format!("its id is claimed by {others} too"))
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
        let disputes = Claims::disputes("w/id", std::iter::once(&claims(of)));
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
        let disputes = Claims::disputes("w/id", std::iter::once(&claims(&of)));
        assert_eq!(
            disputes["7"].message,
            "9 Deployments claim the id label w/id=7: a/w0, a/w1, a/w2, a/w3, a/w4 and 4 more; correct the label of all but one"
        );
    }
}
