//! The types of the served kinds, as tables: what the server reads, checks, completes, merges and writes.
//!
//! `schema/*.txt` is made by `schema/generate.py` from the Go source of Kubernetes. A line `type NAME` begins a struct,
//! with `atomic` if server-side apply takes it as one value. Its fields follow in Go's order: the name in JSON, Go's
//! type, and flags: `?` and `zero` are Go's `omitempty` and `omitzero`; `patch=` and `key=` say how a strategic merge
//! patch merges a list; `list=` says what a list is to apply (`set`, `atomic` or its keys); `default=` is the value that
//! apply puts for a key that is not said. A line `name NAME TYPE` declares another name for a type.

use std::collections::HashMap;
use std::sync::LazyLock;

pub mod decode;
pub mod node;
pub mod ordered;

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// True or false.
    Bool,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A time, in whole seconds.
    Time,
    /// A time, in microseconds.
    MicroTime,
    /// An amount such as `500m` or `1Gi`.
    Quantity,
    /// A number or a text.
    IntOrString,
    /// Anything.
    Any,
    /// A struct.
    Struct(&'static str),
    /// A list.
    List(Box<Shape>),
    /// A map from text.
    Map(Box<Shape>),
}

/// What a field holds, and how Go names it in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// What it holds.
    pub kind: Kind,
    /// Go's name of the type.
    pub go: String,
    /// Go's type is a pointer: not being there differs from being zero.
    pub pointer: bool,
}

/// How server-side apply takes a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum List {
    /// As one value.
    Atomic,
    /// As a set of its values.
    Set,
    /// As a map of its items by these fields.
    Keys(Vec<&'static str>),
}

/// A field of a struct.
#[derive(Debug)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Left out when it is empty.
    pub omit_empty: bool,
    /// Left out when it is zero, also a struct.
    pub omit_zero: bool,
    /// A strategic merge patch merges the list instead of replacing it.
    pub merge: bool,
    /// A strategic merge patch can say which keys are kept.
    pub retain_keys: bool,
    /// The field by which a strategic merge patch finds items.
    pub merge_key: Option<&'static str>,
    /// How apply takes the list.
    pub list: List,
    /// Apply takes it as one value.
    pub atomic: bool,
    /// What apply takes a key for that is not said.
    pub default: Option<&'static str>,
}

/// A struct.
#[derive(Debug)]
pub struct Type {
    /// Its name.
    pub name: &'static str,
    /// Apply takes it as one value.
    pub atomic: bool,
    /// Its fields, in Go's order.
    pub fields: Vec<Field>,
    by_name: HashMap<&'static str, usize>,
}

impl Type {
    /// The field of this name in JSON.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.by_name.get(name).and_then(|&at| self.fields.get(at))
    }
}

const TABLES: [&str; 6] = [
    include_str!("schema/meta.txt"),
    include_str!("schema/core.txt"),
    include_str!("schema/apps.txt"),
    include_str!("schema/rbac.txt"),
    include_str!("schema/autoscaling.txt"),
    include_str!("schema/authorization.txt"),
];

static TYPES: LazyLock<HashMap<&'static str, Type>> = LazyLock::new(|| read(&TABLES));

/// What is found when a name is not in the tables: nothing in it.
static NOTHING: LazyLock<Type> =
    LazyLock::new(|| Type { name: "", atomic: false, fields: Vec::new(), by_name: HashMap::new() });

/// The struct of this name; one without fields if there is none.
pub fn of(name: &str) -> &'static Type {
    TYPES.get(name).unwrap_or(&NOTHING)
}

/// All structs, by name: for those who describe the API.
pub fn all() -> &'static HashMap<&'static str, Type> {
    &TYPES
}

fn read(tables: &[&'static str]) -> HashMap<&'static str, Type> {
    let lines = || tables.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#'));
    let names: HashMap<&'static str, &'static str> =
        lines().filter_map(|line| line.strip_prefix("name ")?.split_once(' ')).collect();
    let mut types = HashMap::new();
    let mut current: Option<Type> = None;
    for line in lines() {
        if let Some(declared) = line.strip_prefix("type ") {
            types.extend(current.take().map(|done| (done.name, done)));
            let (name, atomic) = declared.strip_suffix(" atomic").map_or((declared, false), |name| (name, true));
            current = Some(Type { name, atomic, fields: Vec::new(), by_name: HashMap::new() });
        } else if let (Some(field), Some(current)) = (line.strip_prefix("  "), &mut current) {
            let field = field_of(field, &names);
            current.by_name.insert(field.name, current.fields.len());
            current.fields.push(field);
        }
    }
    types.extend(current.map(|done| (done.name, done)));
    types
}

fn field_of(line: &'static str, names: &HashMap<&'static str, &'static str>) -> Field {
    let mut words = line.split(' ');
    let (name, go) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut field = Field {
        name,
        shape: shape_of(go, names),
        omit_empty: false,
        omit_zero: false,
        merge: false,
        retain_keys: false,
        merge_key: None,
        list: List::Atomic,
        atomic: false,
        default: None,
    };
    for flag in words {
        match flag.split_once('=').unwrap_or((flag, "")) {
            ("?", _) => field.omit_empty = true,
            ("zero", _) => field.omit_zero = true,
            ("atomic", _) => field.atomic = true,
            ("key", key) => field.merge_key = Some(key),
            ("default", value) => field.default = Some(value),
            ("patch", how) => {
                field.merge = how.split(',').any(|word| word == "merge");
                field.retain_keys = how.split(',').any(|word| word == "retainKeys");
            }
            ("list", "set") => field.list = List::Set,
            ("list", "atomic") => field.list = List::Atomic,
            ("list", keys) => field.list = List::Keys(keys.split(',').collect()),
            _ => {}
        }
    }
    field
}

fn shape_of(go: &'static str, names: &HashMap<&'static str, &'static str>) -> Shape {
    let (pointer, bare) = go.strip_prefix('*').map_or((false, go), |bare| (true, bare));
    let shape = |kind, go: String| Shape { kind, go, pointer };
    if let Some(item) = bare.strip_prefix("[]") {
        let item = shape_of(item, names);
        let go = format!("[]{}{}", if item.pointer { "*" } else { "" }, item.go);
        return shape(Kind::List(Box::new(item)), go);
    }
    if let Some((key, item)) = bare.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        let item = shape_of(item, names);
        let go = format!("map[{}]{}", shape_of(key, names).go, item.go);
        return shape(Kind::Map(Box::new(item)), go);
    }
    let kind = match bare {
        "string" => Kind::Text,
        "bool" => Kind::Bool,
        "int32" => Kind::Int32,
        "int64" | "int" => Kind::Int64,
        "FieldsV1" | "RawExtension" => Kind::Any,
        "Time" => Kind::Time,
        "MicroTime" => Kind::MicroTime,
        "Quantity" => return shape(Kind::Quantity, "resource.Quantity".to_owned()),
        "IntOrString" => return shape(Kind::IntOrString, "intstr.IntOrString".to_owned()),
        "UID" => return shape(Kind::Text, "types.UID".to_owned()),
        named => match names.get(named) {
            Some(base) => shape_of(base, names).kind,
            None => Kind::Struct(named),
        },
    };
    let builtin = matches!(bare, "string" | "bool" | "int32" | "int64" | "int");
    shape(kind, if builtin { bare.to_owned() } else { format!("v1.{bare}") })
}

#[cfg(test)]
mod tests;
