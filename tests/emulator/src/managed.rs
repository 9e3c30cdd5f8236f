//! Who manages which fields of an object: `metadata.managedFields`, and server-side apply.
//!
//! This follows the server's own layers closely, with their oddities: what a manager owns is seen by clients, and
//! decides whether an apply conflicts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::schema::Type;
use crate::value::{list, put, text};

mod apply;
mod complaints;
mod fields;
mod merge;
mod scale;
mod typed;

pub use apply::{Application, apply};
pub use fields::{Element, Fields};
pub use scale::{of_parent, of_scale};

/// How many managers by update an object remembers; the oldest become one.
const UPDATERS: usize = 10;

/// What the server knows of a manager besides its fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// Its name.
    pub manager: String,
    /// It applied, instead of updating.
    pub applied: bool,
    /// The version in which it updated. Appliers are the same in every version.
    pub version: String,
    /// The subresource that it wrote.
    pub subresource: String,
}

/// What a manager owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// The version that the fields are of.
    pub version: String,
    /// The fields.
    pub fields: Fields,
    /// When they changed last.
    pub time: Option<String>,
}

/// All managers of an object.
pub type Managers = BTreeMap<Id, Owned>;

/// Reads `metadata.managedFields`; nothing if they make no sense.
pub fn read(value: &Value) -> Option<Managers> {
    let mut managers = Managers::new();
    for entry in list(value, "/metadata/managedFields") {
        let applied = match text(entry, "/operation") {
            "Apply" => true,
            "Update" => false,
            _ => return None,
        };
        let version = text(entry, "/apiVersion");
        if version.is_empty() || text(entry, "/fieldsType") != "FieldsV1" {
            return None;
        }
        let id = Id {
            manager: text(entry, "/manager").to_owned(),
            applied,
            version: if applied { String::new() } else { version.to_owned() },
            subresource: text(entry, "/subresource").to_owned(),
        };
        let owned = Owned {
            version: version.to_owned(),
            fields: Fields::read(entry.get("fieldsV1").unwrap_or(&Value::Null))?,
            time: entry.get("time").and_then(Value::as_str).map(str::to_owned),
        };
        managers.insert(id, owned);
    }
    Some(managers)
}

/// Writes `metadata.managedFields`.
pub fn write(value: &mut Value, managers: &Managers) {
    let mut entries: Vec<_> = managers.iter().collect();
    entries.sort_by(|(one, owned), (other, owned_too)| {
        let key = |id: &Id, owned: &Owned| {
            let operation = if id.applied { "Apply" } else { "Update" };
            (operation, owned.time.clone(), id.manager.clone(), owned.version.clone(), id.subresource.clone())
        };
        key(one, owned).cmp(&key(other, owned_too))
    });
    let entries: Vec<Value> = entries
        .into_iter()
        .map(|(id, owned)| {
            let mut entry = json!({
                "manager": id.manager, "operation": if id.applied { "Apply" } else { "Update" },
                "apiVersion": owned.version, "fieldsType": "FieldsV1", "fieldsV1": owned.fields.write(),
            });
            if let Some(time) = &owned.time {
                put(&mut entry, "time", Some(&time.as_str().into()));
            }
            if !id.subresource.is_empty() {
                put(&mut entry, "subresource", Some(&id.subresource.as_str().into()));
            }
            entry
        })
        .collect();
    if let Some(metadata) = value.get_mut("metadata") {
        let entries = Value::from(entries);
        put(metadata, "managedFields", Some(&entries).filter(|_| !managers.is_empty()));
    }
}

/// Takes `metadata.managedFields` away.
pub fn strip(value: &mut Value) {
    if let Some(metadata) = value.get_mut("metadata") {
        put(metadata, "managedFields", None);
    }
}

/// Who writes, and how.
#[derive(Debug, Clone, Copy)]
pub struct Writer<'a> {
    /// The name of the manager.
    pub manager: &'a str,
    /// The version in which it writes.
    pub version: &'a str,
    /// The subresource.
    pub subresource: &'a str,
    /// The time.
    pub now: &'a str,
    /// Fields that this request cannot set anyway, as paths like `metadata.labels`.
    pub reset: &'a [&'a str],
}

impl Writer<'_> {
    fn id(&self, applied: bool) -> Id {
        Id {
            manager: if self.manager.is_empty() { "unknown".to_owned() } else { self.manager.to_owned() },
            applied,
            version: if applied { String::new() } else { self.version.to_owned() },
            subresource: self.subresource.to_owned(),
        }
    }

    fn reset(&self) -> Fields {
        let mut fields = Fields::default();
        for path in self.reset {
            fields.insert(&path.split('.').map(|name| Element::Field(name.to_owned())).collect::<Vec<_>>());
        }
        fields
    }
}

/// What no manager owns.
fn unowned() -> Fields {
    let mut fields = Fields::default();
    for path in ["apiVersion", "kind", "metadata"] {
        fields.insert(&[Element::Field(path.to_owned())]);
    }
    let inside = ["name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation"];
    for name in inside.into_iter().chain(["managedFields", "resourceVersion"]) {
        fields.insert(&[Element::Field("metadata".to_owned()), Element::Field(name.to_owned())]);
    }
    fields
}

/// Gives the fields that a write changed to its writer. Before is the object as it was, or an empty one.
pub fn update(before: &Value, after: &mut Value, kind: &'static Type, writer: Writer<'_>) {
    let said = list(after, "/metadata/managedFields");
    // One empty entry is how a client asks to forget them.
    let forget = matches!(said, [entry] if entry.as_object().is_some_and(|entry| entry.values().all(Value::is_null)));
    let of_live = || read(before).unwrap_or_default();
    let managers = match read(after) {
        _ if !writer.subresource.is_empty() => of_live(),
        _ if forget => Managers::new(),
        Some(managers) if !managers.is_empty() => managers,
        _ => of_live(),
    };
    let mut live = before.clone();
    strip(&mut live);
    strip(after);
    let made = text(before, "/metadata/uid").is_empty();
    if managers.is_empty() && !made {
        return;
    }
    let managers = cap(changed(&live, after, kind, writer, managers), writer);
    write(after, &managers);
}

/// The managers after a change.
fn changed(before: &Value, after: &Value, kind: &'static Type, writer: Writer<'_>, mut managers: Managers) -> Managers {
    let (reset, comparison) = (writer.reset(), typed::compare(before, after, kind));
    let comparison = comparison.without(&reset);
    let touched = comparison.modified.union(&comparison.added);
    for owned in managers.values_mut() {
        owned.fields = owned.fields.difference(&touched).difference(&comparison.removed);
    }
    managers.retain(|_, owned| !owned.fields.is_empty());
    let own = touched.without(&reset).difference(&unowned());
    if !own.is_empty() {
        let id = writer.id(false);
        let before = managers.get(&id).map(|owned| owned.fields.clone()).unwrap_or_default();
        let fields = own.union(&before);
        let owned = Owned { version: writer.version.to_owned(), fields, time: Some(writer.now.to_owned()) };
        managers.insert(id, owned);
    }
    managers
}

/// Makes one of the oldest managers by update when there are too many.
fn cap(mut managers: Managers, writer: Writer<'_>) -> Managers {
    let mut updaters: Vec<(Option<String>, Id)> =
        managers.iter().filter(|(id, _)| !id.applied).map(|(id, owned)| (owned.time.clone(), id.clone())).collect();
    if updaters.len() <= UPDATERS {
        return managers;
    }
    updaters.sort();
    // One more than is too many: they become one.
    let old = updaters.len() - UPDATERS + 1;
    let bucket = Id {
        manager: "ancient-changes".to_owned(),
        applied: false,
        version: writer.version.to_owned(),
        subresource: String::new(),
    };
    for (time, id) in updaters.into_iter().take(old) {
        let Some(owned) = managers.remove(&id) else { continue };
        let fields = managers.get(&bucket).map(|owned| owned.fields.clone()).unwrap_or_default();
        let fields = fields.union(&owned.fields);
        managers.insert(bucket.clone(), Owned { version: owned.version, fields, time });
    }
    managers
}

/// A write that changed nothing but the times of managers changes nothing at all.
pub fn ignore_times(before: &Value, after: &mut Value) {
    let bare = |value: &Value| {
        let mut value = value.clone();
        let managers = read(&value).unwrap_or_default();
        let managers: Managers = managers.into_iter().map(|(id, owned)| (id, Owned { time: None, ..owned })).collect();
        write(&mut value, &managers);
        value
    };
    let entries = |value: &Value| list(value, "/metadata/managedFields").len();
    if entries(before) > 0 && entries(before) == entries(after) && before != after && bare(before) == bare(after) {
        *after = before.clone();
    }
}

#[cfg(test)]
mod tests;
