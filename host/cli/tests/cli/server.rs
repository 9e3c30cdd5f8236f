//! A server that gives a test's own answers, or none.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

/// A request, as far as a test looks at it.
pub struct Asked<'a> {
    pub method: &'a str,
    /// Without the query.
    pub path: &'a str,
    pub query: &'a str,
    pub body: &'a Value,
}

/// What becomes of a request.
pub enum Reply {
    /// An answer, with further headers.
    Answer(u16, Vec<(&'static str, String)>, Value),
    /// A stream of these lines, which then stays open and says no more.
    Lines(Vec<Value>),
    /// Nothing.
    Silence,
}

impl Reply {
    /// A usual answer.
    pub fn ok(document: Value) -> Reply {
        Reply::Answer(200, Vec::new(), document)
    }
}

type Script = dyn Fn(&Asked<'_>) -> Reply + Send + Sync;

/// Starts one, which answers a method, a path without its query, and a body with a status and a document; or is silent.
/// It serves as long as the tests run.
pub fn serve(script: impl Fn(&str, &str, &Value) -> Option<(u16, Value)> + Send + Sync + 'static) -> SocketAddr {
    serve_all(move |asked| match script(asked.method, asked.path, asked.body) {
        Some((status, document)) => Reply::Answer(status, Vec::new(), document),
        None => Reply::Silence,
    })
}

/// The same for all that there is of requests and answers.
pub fn serve_all(script: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let script: Arc<Script> = Arc::new(script);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let script = Arc::clone(&script);
            thread::spawn(move || converse(&stream, &*script));
        }
    });
    address
}

/// Answers one request after another, until the client has no more or gets no answer.
fn converse(stream: &TcpStream, script: &Script) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?, words.next()?);
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match script(&Asked { method, path, query, body: &body }) {
            Reply::Answer(status, headers, document) => {
                let body = document.to_string();
                let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}");
                write!(writer, "{head}content-length: {}\r\n\r\n{body}", body.len()).ok()?;
            }
            Reply::Lines(lines) => {
                let head = "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked";
                write!(writer, "{head}\r\n\r\n").ok()?;
                for line in lines {
                    let line = format!("{line}\n");
                    write!(writer, "{:x}\r\n{line}\r\n", line.len()).ok()?;
                }
                return silent(reader);
            }
            Reply::Silence => return silent(reader),
        }
    }
}

/// Until the client goes away.
fn silent(mut reader: BufReader<&TcpStream>) -> Option<()> {
    let _ = reader.read(&mut [0]);
    None
}

/// A Deployment of ours in the namespace `shop`.
pub fn deployment(name: &str, image: &str, wanted: u32, available: u32) -> Value {
    let labels = json!({"workload-provider/managed": "true", "workload-provider/owner": "default"});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-{name}"), "resourceVersion": "7", "generation": 3,
            "labels": labels, "creationTimestamp": "2026-01-02T03:04:05Z",
        },
        "spec": {
            "replicas": wanted, "selector": {"matchLabels": labels}, "progressDeadlineSeconds": 600,
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}},
        },
        "status": {
            "observedGeneration": 3, "replicas": wanted, "updatedReplicas": wanted, "readyReplicas": available,
            "availableReplicas": available, "unavailableReplicas": wanted - available,
        },
    })
}

/// The same with what its controller says of its progress.
pub fn stuck(name: &str, image: &str, message: &str) -> Value {
    let mut found = deployment(name, image, 1, 0);
    found["status"]["conditions"] = json!([
        {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": message},
    ]);
    found
}

/// The ReplicaSet that its controller made for it.
pub fn replica_set(of: &Value) -> Value {
    let (meta, spec, status) = (&of["metadata"], &of["spec"], &of["status"]);
    let owner = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "name": meta["name"], "uid": meta["uid"], "controller": true,
    });
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-1", meta["name"].as_str().unwrap()), "namespace": "shop", "resourceVersion": "8",
            "uid": format!("{}-1", meta["uid"].as_str().unwrap()), "generation": 1, "labels": meta["labels"],
            "ownerReferences": [owner], "creationTimestamp": "2026-01-02T03:04:05Z",
        },
        "spec": {"replicas": spec["replicas"], "selector": spec["selector"], "template": spec["template"]},
        "status": {
            "observedGeneration": 1, "replicas": status["replicas"], "availableReplicas": status["availableReplicas"],
        },
    })
}

/// A list of these, all of it.
pub fn list(kind: &str, items: &[Value]) -> Value {
    let version = if kind == "Pod" { "v1" } else { "apps/v1" };
    json!({"apiVersion": version, "kind": format!("{kind}List"), "metadata": {"resourceVersion": "9"}, "items": items})
}

/// What the server says of something that is not there, or may not be.
pub fn refusal(code: u16, reason: &str, kind: &str, name: &str) -> (u16, Value) {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason,
        "message": format!("{kind} {name:?}: {reason}"), "details": {"group": "apps", "kind": kind, "name": name},
    });
    (code, status)
}
