//! The managers of a workload as those of its scale, and back.
//!
//! A manager by update has another version on a scale than on the workload, so after the first write of a scale the
//! count has an entry of its own, without a time. That is how the real one does it, and clients see it.

use super::fields::{Element, Fields};
use super::{Managers, Owned};

/// The version of scales.
const VERSION: &str = "autoscaling/v1";

fn replicas() -> [Element; 2] {
    ["spec", "replicas"].map(|name| Element::Field(name.to_owned()))
}

fn only_replicas() -> Fields {
    let mut fields = Fields::default();
    fields.insert(&replicas());
    fields
}

/// Those who own the count, as managers of the scale.
pub fn of_scale(parent: &Managers) -> Managers {
    let owners = parent.iter().filter(|(_, owned)| owned.fields.has(&replicas()));
    owners
        .map(|(id, owned)| {
            let owned = Owned { version: VERSION.to_owned(), fields: only_replicas(), time: owned.time.clone() };
            (id.clone(), owned)
        })
        .collect()
}

/// The managers of the workload after a write of its scale. They come as the scale's entries would be read.
pub fn of_parent(parent: &Managers, scale: &Managers, version: &str) -> Managers {
    let mut left = scale.clone();
    let mut managers = Managers::new();
    for (id, owned) in parent {
        if owned.fields.has(&replicas()) && left.remove(id).is_none() {
            let fields = owned.fields.difference(&only_replicas());
            if !fields.is_empty() {
                managers.insert(id.clone(), Owned { fields, ..owned.clone() });
            }
        } else {
            managers.insert(id.clone(), owned.clone());
        }
    }
    for (id, owned) in left {
        if owned.fields.has(&replicas()) {
            let time = parent.get(&id).and_then(|owned| owned.time.clone());
            let owned = Owned { version: version.to_owned(), fields: only_replicas(), time };
            managers.insert(id, owned);
        }
    }
    managers
}
