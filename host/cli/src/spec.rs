//! What `create` is to make, from options or from a JSON document.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::{Map, Value};
use workload_host::model::{Fault, FaultKind, Spec};

use crate::args::{self, Fields};
use crate::ids;

/// What is read of a file at most: some thousand specs. More is another file, given by mistake.
const MAX_DOCUMENT: u64 = 4 << 20;

/// One spec from the options of the command line.
pub fn from_options(name: &str, namespace: &str, fields: Fields) -> Spec {
    let mut document = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            document.insert(key.to_owned(), value);
        }
    };
    let words = |words: Vec<String>| (!words.is_empty()).then(|| Value::from(words));
    put("image", fields.image.map(Value::from));
    put("command", words([fields.command, fields.command_line].concat()));
    put("args", words(fields.args));
    put("env", (!fields.env.is_empty()).then(|| variables(&fields.env)));
    put("cpu", fields.cpu.map(Value::from));
    put("memory", fields.memory.map(Value::from));
    put("replicas", fields.replicas.map(Value::from));
    put("pull_policy", fields.pull_policy.map(Value::from));
    put("pull_secrets", words(fields.pull_secret));
    Spec {
        id: ids::qualified(name, namespace),
        document: Value::Object(document).to_string(),
        id_label: fields.container_id,
    }
}

/// Of a variable given twice the last counts, as in a shell.
fn variables(texts: &[String]) -> Value {
    let named = texts.iter().filter_map(|text| args::variable(text));
    named.map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<Map<_, _>>().into()
}

/// The specs of a file, or of standard input for `-`, and whether they came as a list.
///
/// # Errors
/// The file can't be read, is no JSON, or has not the form; the fault says where.
pub fn from_file(file: &Path, namespace: &str) -> Result<(Vec<Spec>, bool), Fault> {
    let stdin = file == Path::new("-");
    let shown = if stdin { "standard input".to_owned() } else { file.display().to_string() };
    let bytes = if stdin { read(io::stdin().lock()) } else { File::open(file).and_then(read) };
    let bytes = bytes.map_err(|error| configuration(format!("{shown}: {}", crate::text::io_error(&error))))?;
    if bytes.len() as u64 > MAX_DOCUMENT {
        return Err(configuration(format!("{shown}: larger than {} MiB", MAX_DOCUMENT >> 20)));
    }
    parse(&bytes, namespace).map_err(|message| Fault::new(FaultKind::InvalidSpec, format!("{shown}: {message}")))
}

fn read(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_DOCUMENT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn configuration(message: String) -> Fault {
    Fault::new(FaultKind::Configuration, message)
}

fn parse(bytes: &[u8], namespace: &str) -> Result<(Vec<Spec>, bool), String> {
    // Only the place is told: the parser's own words may repeat a part of the document, and that may be a secret.
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| format!("not a JSON document (line {}, column {})", error.line(), error.column()))?;
    match value {
        Value::Array(items) if items.is_empty() => Err("an empty list makes nothing".to_owned()),
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            let mut specs = Vec::with_capacity(items.len());
            for (at, item) in items.into_iter().enumerate() {
                let spec = one(item, namespace).map_err(|message| format!("[{at}]: {message}"))?;
                if !seen.insert(spec.id.clone()) {
                    return Err(format!("[{at}]: {} is in the list twice", spec.id));
                }
                specs.push(spec);
            }
            Ok((specs, true))
        }
        item => Ok((vec![one(item, namespace)?], false)),
    }
}

/// Takes the host's own fields out; what remains is the provider's document.
fn one(value: Value, namespace: &str) -> Result<Spec, String> {
    let Value::Object(mut fields) = value else { return Err("expected an object, or a list of objects".to_owned()) };
    let name = match (text(&mut fields, "id")?, text(&mut fields, "name")?) {
        (Some(_), Some(_)) => return Err("has both id and name".to_owned()),
        (Some(name), None) | (None, Some(name)) => name,
        (None, None) => return Err("has no name".to_owned()),
    };
    let id_label = text(&mut fields, "container_id")?;
    Ok(Spec { id: ids::qualified(&name, namespace), document: Value::Object(fields).to_string(), id_label })
}

fn text(fields: &mut Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match fields.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{key} is not a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn document(spec: &Spec) -> Value {
        serde_json::from_str(&spec.document).unwrap()
    }

    #[test]
    fn options_become_a_document() {
        let fields = Fields {
            image: Some("nginx:1.29".to_owned()),
            cpu: Some("100m".to_owned()),
            memory: Some("64Mi".to_owned()),
            env: vec!["A=1".to_owned(), "B=x=y".to_owned()],
            command_line: vec!["sh".to_owned(), "-c".to_owned()],
            args: vec!["sleep 1".to_owned()],
            replicas: Some(2),
            pull_policy: Some("Never".to_owned()),
            pull_secret: vec!["registry".to_owned()],
            container_id: Some("4711".to_owned()),
            ..Fields::default()
        };
        let spec = from_options("web", "shop", fields);
        assert_eq!((spec.id.as_str(), spec.id_label.as_deref()), ("shop/web", Some("4711")));
        assert_eq!(
            document(&spec),
            json!({"image": "nginx:1.29", "cpu": "100m", "memory": "64Mi", "env": {"A": "1", "B": "x=y"},
                "command": ["sh", "-c"], "args": ["sleep 1"], "replicas": 2, "pull_policy": "Never",
                "pull_secrets": ["registry"]})
        );
    }

    #[test]
    fn a_command_goes_on_after_the_dashes() {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let fields = Fields { command: owned(&["sh"]), command_line: owned(&["-c", "sleep 1"]), ..Fields::default() };
        assert_eq!(document(&from_options("web", "shop", fields)), json!({"command": ["sh", "-c", "sleep 1"]}));
    }

    #[test]
    fn what_was_not_said_is_not_there() {
        let spec = from_options("prod/web", "shop", Fields { image: Some("a".to_owned()), ..Fields::default() });
        assert_eq!((spec.id.as_str(), spec.id_label.as_deref()), ("prod/web", None));
        assert_eq!(document(&spec), json!({"image": "a"}));
    }

    #[rstest]
    #[case::by_name(r#"{"name": "web", "image": "a"}"#, &["shop/web"], false)]
    #[case::by_id(r#"{"id": "prod/web", "image": "a"}"#, &["prod/web"], false)]
    #[case::a_list(r#"[{"name": "a"}, {"name": "b"}]"#, &["shop/a", "shop/b"], true)]
    #[case::a_list_of_one(r#"[{"name": "a"}]"#, &["shop/a"], true)]
    fn documents(#[case] text: &str, #[case] expected: &[&str], #[case] list: bool) {
        let (specs, was_list) = parse(text.as_bytes(), "shop").unwrap();
        assert_eq!(specs.iter().map(|spec| spec.id.as_str()).collect::<Vec<_>>(), expected);
        assert_eq!(was_list, list);
    }

    #[test]
    fn the_hosts_fields_are_taken_out() {
        let text = r#"{"name": "web", "container_id": "4711", "image": "a", "replicas": 3}"#;
        let (specs, _) = parse(text.as_bytes(), "shop").unwrap();
        assert_eq!(specs[0].id_label.as_deref(), Some("4711"));
        assert_eq!(document(&specs[0]), json!({"image": "a", "replicas": 3}));
    }

    #[rstest]
    #[case::no_json("{\"env\": {\"PASSWORD\": hunter2}}", "not a JSON document (line 1, column 22)")]
    #[case::a_number("3", "expected an object, or a list of objects")]
    #[case::nothing("[]", "an empty list makes nothing")]
    #[case::nameless("{}", "has no name")]
    #[case::nameless_in_list(r#"[{"name": "a"}, {}]"#, "[1]: has no name")]
    #[case::both(r#"{"name": "a", "id": "b/a"}"#, "has both id and name")]
    #[case::wrong_type(r#"{"name": 3}"#, "name is not a string")]
    #[case::twice(r#"[{"name": "a"}, {"id": "shop/a"}]"#, "[1]: shop/a is in the list twice")]
    fn refused(#[case] text: &str, #[case] message: &str) {
        assert_eq!(parse(text.as_bytes(), "shop").map(|_| ()), Err(message.to_owned()));
    }
}
