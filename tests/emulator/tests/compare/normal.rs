//! Makes a JSON answer of one run comparable with that of another.

use serde_json::{Map, Value, json};

use crate::names::Names;
use crate::served::SERVED;
use crate::step::Shown;

/// The subresources among them: what runs in a Pod is not emulated.
const SUBRESOURCES: [&str; 2] = ["scale", "status"];
const GROUPS: [&str; 4] = ["apps", "authentication.k8s.io", "authorization.k8s.io", "rbac.authorization.k8s.io"];

/// Learns from an answer which uid belongs to whom and which hash came first.
pub fn learn(names: &mut Names, value: &Value) {
    if let Some(items) = value.get("items").and_then(Value::as_array) {
        let mut items: Vec<&Value> = items.iter().collect();
        // Of ReplicaSets, the earlier template first, whatever its hash is.
        items.sort_by_key(|item| revision(item));
        return items.into_iter().for_each(|item| learn(names, item));
    }
    match value {
        Value::Object(object) => {
            if let Some(hash) = object.get("pod-template-hash").and_then(Value::as_str) {
                names.hash(hash);
            }
            object.values().for_each(|child| learn(names, child));
            if let (Some(uid), Some(name)) = (text(object, "uid"), text(object, "name")) {
                names.uid(uid, name);
            }
        }
        Value::Array(list) => list.iter().for_each(|child| learn(names, child)),
        _ => {}
    }
}

fn revision(item: &Value) -> u64 {
    let annotation = item.pointer("/metadata/annotations/deployment.kubernetes.io~1revision");
    annotation.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// The body of an answer with this status code as it is compared.
pub fn body(names: &mut Names, code: u16, value: &Value, shown: &Shown) -> Value {
    learn(names, value);
    if !shown.only.is_empty() && code < 400 {
        let part = |pointer: &&str| ((*pointer).to_owned(), value.pointer(pointer).cloned().unwrap_or_default());
        let parts: Map<String, Value> = shown.only.iter().map(part).collect();
        return plain(names, "", &Value::Object(parts), shown);
    }
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "Status" => status(names, code, value, shown),
        "APIResourceList" | "APIGroupList" | "APIGroupDiscoveryList" => plain(names, "", &served(value), shown),
        _ if value.get("items").is_some_and(Value::is_array) && !shown.whole => list(names, value, shown),
        _ => plain(names, "", value, shown),
    }
}

/// A Status without what is the same in each.
fn status(names: &mut Names, code: u16, value: &Value, shown: &Shown) -> Value {
    let mut rest = value.clone();
    if let Some(object) = rest.as_object_mut() {
        let usual = [
            ("kind", json!("Status")),
            ("apiVersion", json!("v1")),
            ("metadata", json!({})),
            ("status", json!("Failure")),
            ("code", json!(code)),
        ];
        for (key, value) in usual {
            if object.get(key) == Some(&value) {
                object.remove(key);
            }
        }
        if shown.no_message.is_some() {
            object.remove("message");
            cut_causes(object);
        }
    }
    json!({ "Status": plain(names, "", &rest, shown) })
}

/// The messages of causes up to the end of their first line.
fn cut_causes(status: &mut Map<String, Value>) {
    let causes = status.get_mut("details").and_then(|details| details.get_mut("causes")).and_then(Value::as_array_mut);
    for cause in causes.into_iter().flatten() {
        if let Some(message) = cause.get_mut("message") {
            let first = message.as_str().and_then(|text| text.lines().next()).map(str::to_owned);
            *message = json!(first);
        }
    }
}

/// A list as the names of its items.
fn list(names: &mut Names, value: &Value, shown: &Shown) -> Value {
    let mut head = value.clone();
    let mut items: Vec<String> = Vec::new();
    for item in value["items"].as_array().into_iter().flatten() {
        let name = names.text(item["metadata"]["name"].as_str().unwrap_or("?"));
        // Typed lists say the kind once, for all.
        let kind = item["kind"].as_str().map(|kind| format!("{kind} ")).unwrap_or_default();
        items.push(format!("{kind}{name}"));
    }
    if items.iter().any(|name| name.contains("{random}") || name.contains("{hash") || name.contains("{event}")) {
        items.sort();
    }
    head["items"] = json!(items);
    plain(names, "", &head, shown)
}

/// Discovery without what only one of the two serves.
fn served(value: &Value) -> Value {
    let mut value = value.clone();
    let is_served = |name: &str| match name.split_once('/') {
        Some((name, sub)) => SERVED.contains(&name) && SUBRESOURCES.contains(&sub),
        None => SERVED.contains(&name),
    };
    if let Some(resources) = value.get_mut("resources").and_then(Value::as_array_mut) {
        resources.retain(|one| one["name"].as_str().is_some_and(is_served));
        resources.sort_by_key(|one| one["name"].to_string());
    }
    if let Some(groups) = value.get_mut("groups").and_then(Value::as_array_mut) {
        groups.retain(|one| one["name"].as_str().is_some_and(|name| GROUPS.contains(&name)));
        groups.sort_by_key(|one| one["name"].to_string());
    }
    if let Some(items) = value.get_mut("items").and_then(Value::as_array_mut) {
        items.retain(|one| one["metadata"]["name"].as_str().is_none_or(|name| GROUPS.contains(&name)));
        items.sort_by_key(|one| one["metadata"]["name"].to_string());
        for version in items.iter_mut().filter_map(|item| item["versions"].as_array_mut()).flatten() {
            if let Some(resources) = version["resources"].as_array_mut() {
                resources.retain(|one| one["resource"].as_str().is_some_and(is_served));
                resources.sort_by_key(|one| one["resource"].to_string());
                for sub in resources.iter_mut().filter_map(|one| one["subresources"].as_array_mut()) {
                    sub.retain(|one| one["subresource"].as_str().is_some_and(|name| SUBRESOURCES.contains(&name)));
                }
            }
        }
    }
    value
}

fn plain(names: &mut Names, key: &str, value: &Value, shown: &Shown) -> Value {
    match value {
        Value::Object(object) => {
            let mut out = Map::new();
            for (key, value) in object {
                if (key == "managedFields" && !shown.managed) || key == "storageVersionHash" {
                    continue;
                }
                let value = plain(names, key, &without_behaviour(key, value), shown);
                if key == "annotations" && value == json!({}) {
                    continue;
                }
                out.insert(names.text(key), value);
            }
            if out.contains_key("columnDefinitions") && out.contains_key("rows") {
                table(&mut out, shown);
            }
            Value::Object(out)
        }
        Value::Array(list) => {
            let mut out: Vec<Value> = list.iter().map(|value| plain(names, key, value, shown)).collect();
            let made_up =
                |value: &Value| value.pointer("/metadata/name").is_some_and(|name| name.to_string().contains('{'));
            if out.iter().any(made_up) {
                out.sort_by_key(Value::to_string);
            }
            match key.rsplit('/').next().unwrap_or_default() {
                // Which condition was first depends on how the writes met; everybody looks for the type.
                "conditions" => out.sort_by_key(|one| one["type"].to_string()),
                // In the order of their times, which have whole seconds.
                "managedFields" => {
                    out.sort_by_key(|one| format!("{}{}{}", one["operation"], one["subresource"], one["manager"]))
                }
                // In the order of a Go map.
                "resourceRules" | "nonResourceRules" => out.sort_by_key(Value::to_string),
                _ => {}
            }
            Value::Array(out)
        }
        Value::String(text) => Value::String(string(names, key, text, shown)),
        other => other.clone(),
    }
}

/// Annotations without those that tell the emulator, which runs nothing, what a container does.
fn without_behaviour(key: &str, value: &Value) -> Value {
    let mut value = value.clone();
    if key == "annotations"
        && let Some(annotations) = value.as_object_mut()
    {
        annotations.retain(|key, _| !key.starts_with(crate::script::BEHAVIOUR));
    }
    value
}

fn string(names: &mut Names, key: &str, text: &str, shown: &Shown) -> String {
    // A part that was asked for has its whole path as key.
    match key.rsplit('/').next().unwrap_or_default() {
        _ if text.is_empty() => String::new(),
        "resourceVersion" if shown.versions => names.version(text),
        "resourceVersion" => "{version}".to_owned(),
        "containerID" | "imageID" => "{id}".to_owned(),
        "hostIP" | "podIP" | "ip" => "{ip}".to_owned(),
        "nodeName" | "host" => "{node}".to_owned(),
        "continue" => "{continue}".to_owned(),
        _ => names.text(text),
    }
}

/// The cells of a table by the names of their columns, without ages and addresses.
fn table(table: &mut Map<String, Value>, shown: &Shown) {
    let columns: Vec<String> = table["columnDefinitions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|column| column["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    let rows = table.get_mut("rows").and_then(Value::as_array_mut);
    for row in rows.into_iter().flatten() {
        let cells = row["cells"].as_array().cloned().unwrap_or_default();
        let mut named = Map::new();
        for (index, cell) in cells.into_iter().enumerate() {
            let column = columns.get(index).cloned().unwrap_or_else(|| format!("beyond column {index}"));
            let cell = match column.as_str() {
                "Age" | "Last Seen" | "First Seen" => json!("{age}"),
                "IP" => json!("{ip}"),
                "Node" => json!("{node}"),
                _ => cell,
            };
            named.insert(column, cell);
        }
        row["cells"] = Value::Object(named);
    }
    if !shown.whole {
        table.insert("columnDefinitions".to_owned(), json!(columns));
    }
}
