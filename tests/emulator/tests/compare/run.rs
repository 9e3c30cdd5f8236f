//! Runs the chapters of the script against a server and notes its answers.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::client::{Answer, Call, PATIENCE, Stream, open, send};
use crate::names::Names;
use crate::server::{Server, Who};
use crate::step::{Body, Chapter, Does, Step, Wanted};
use crate::{normal, wanted};

/// The time between two reads while waiting for something.
const PAUSE: Duration = Duration::from_millis(100);

/// The field that says why the rest of a chapter was not run.
pub const BROKEN_OFF: &str = "broken off";

/// An answer as it is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub title: String,
    pub request: String,
    pub answer: Map<String, Value>,
}

/// A chapter under way.
pub struct Run<'a> {
    server: &'a Server,
    names: Names,
    /// What stands for the words in braces.
    values: BTreeMap<String, String>,
    watches: BTreeMap<String, Stream>,
}

/// Runs one chapter in a namespace of its own, which is deleted afterwards.
pub async fn chapter(server: &Server, chapter: &Chapter, unique: &str) -> Result<Vec<Recorded>> {
    let ns = format!("compare-{}-{unique}", chapter.name);
    let mut run = Run { server, names: Names::default(), values: BTreeMap::new(), watches: BTreeMap::new() };
    for (name, value) in [
        ("ns", ns.clone()),
        ("apps", format!("/apis/apps/v1/namespaces/{ns}")),
        ("core", format!("/api/v1/namespaces/{ns}")),
        ("rbac", format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}")),
    ] {
        run.values.insert(name.to_owned(), value);
    }
    run.names.fix(&ns, "{ns}");
    run.prepare(&ns).await.with_context(|| format!("chapter {}: its namespace", chapter.name))?;
    let mut recorded = Vec::new();
    for step in &chapter.steps {
        let done = run.step(step).await;
        let broken = done.is_err();
        // What comes after builds on it; other chapters do not.
        let answer =
            done.unwrap_or_else(|error| Some(Map::from_iter([(BROKEN_OFF.to_owned(), json!(format!("{error:#}")))])));
        recorded.extend(answer.map(|answer| Recorded { title: step.title.clone(), request: step.line(), answer }));
        if broken {
            break;
        }
    }
    let end = run.call(Who::Admin, "DELETE", &format!("/api/v1/namespaces/{ns}"), None);
    send(server, &end).await?;
    Ok(recorded)
}

impl Run<'_> {
    /// Makes the namespace and waits until Pods can be made in it.
    async fn prepare(&mut self, ns: &str) -> Result<()> {
        let nodes = self.read("/api/v1/nodes").await?;
        let node = nodes["items"][0]["metadata"]["name"].as_str().context("a server without a node")?.to_owned();
        self.names.fix(&node, "{node}");
        self.values.insert("node".to_owned(), node);
        let body =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns, "labels": {"chapter": ns}}});
        let answer = send(self.server, &self.call(Who::Admin, "POST", "/api/v1/namespaces", Some(body))).await?;
        ensure!(answer.code == 201, "create: {}", String::from_utf8_lossy(&answer.body));
        // The real server admits no Pod before a controller has made this; the emulator has no such resource.
        let account = self.call(Who::Admin, "GET", &format!("/api/v1/namespaces/{ns}/serviceaccounts/default"), None);
        let end = Instant::now() + PATIENCE;
        loop {
            let answer = send(self.server, &account).await?;
            let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            if answer.code == 200 || body["details"]["name"].is_null() {
                return Ok(());
            }
            ensure!(Instant::now() < end, "no service account");
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn call(&self, who: Who, method: &str, target: &str, body: Option<Value>) -> Call {
        let headers = vec![("accept", "application/json".to_owned()), ("content-type", "application/json".to_owned())];
        let body = body.map(|body| Bytes::from(body.to_string()));
        Call { who, method: method.parse().expect("a method"), target: target.to_owned(), headers, body }
    }

    async fn read(&self, target: &str) -> Result<Value> {
        let answer = send(self.server, &self.call(Who::Admin, "GET", target, None)).await?;
        serde_json::from_slice(&answer.body).with_context(|| format!("{target}: {}", answer.code))
    }

    async fn step(&mut self, step: &Step) -> Result<Option<Map<String, Value>>> {
        match &step.does {
            Does::Request(_) => {
                let answer = send(self.server, &self.prepared(step)?).await?;
                Ok(Some(self.recorded(step, &answer)?))
            }
            Does::Until(wanted) => self.until(step, wanted).await.map(|()| None),
            Does::Open => {
                let stream = open(self.server, &self.prepared(step)?).await?;
                self.watches.insert(step.title.clone(), stream);
                Ok(None)
            }
            Does::Events { of, count } => self.events(step, of, *count).await.map(Some),
        }
    }

    fn filled(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    fn prepared(&self, step: &Step) -> Result<Call> {
        let target = self.filled(&step.path);
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        ensure!(!target.contains(['{', '}']), "{target} has a word that stands for nothing");
        // What a query may not have as it is, and the script likes to.
        let query = query.replace(' ', "%20").replace('"', "%22").replace('>', "%3E");
        let method = match &step.does {
            Does::Request(method) => method.clone(),
            _ => http::Method::GET,
        };
        let mut headers = step.headers.clone();
        if !headers.iter().any(|(name, _)| *name == "accept") {
            headers.push(("accept", "application/json".to_owned()));
        }
        let body = match &step.body {
            Body::None => None,
            Body::Json(value) => Some(Bytes::from(self.filled(&value.to_string()))),
            Body::Text(text) => Some(Bytes::from(self.filled(text))),
        };
        let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        Ok(Call { who: step.who, method, target, headers, body })
    }

    fn recorded(&mut self, step: &Step, answer: &Answer) -> Result<Map<String, Value>> {
        let mut out = self.head(answer.code, &answer.headers);
        let text = String::from_utf8(answer.body.to_vec()).context("a body that is not UTF-8")?;
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => {
                for (name, pointer) in &step.kept {
                    let value = value.pointer(pointer).with_context(|| format!("no {pointer} in {text}"))?;
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    self.values.insert((*name).to_owned(), value);
                }
                out.insert("body".to_owned(), normal::body(&mut self.names, answer.code, &value, &step.shown));
            }
            Err(_) if text.is_empty() => {}
            Err(_) if !step.shown.only.is_empty() => {}
            Err(_) => {
                out.insert("text".to_owned(), json!(self.names.text(text.trim_end())));
            }
        }
        Ok(out)
    }

    fn head(&mut self, code: u16, headers: &http::HeaderMap) -> Map<String, Value> {
        let mut out = Map::new();
        out.insert("code".to_owned(), json!(code));
        for name in ["content-type", "retry-after", "warning", "www-authenticate", "location"] {
            let values: Vec<String> = headers
                .get_all(name)
                .iter()
                .map(|value| self.names.text(&String::from_utf8_lossy(value.as_bytes())))
                .filter(|value| !(name == "content-type" && value == "application/json"))
                .collect();
            if !values.is_empty() {
                out.insert(name.to_owned(), json!(values.join(", ")));
            }
        }
        out
    }

    async fn until(&mut self, step: &Step, wanted: &Wanted) -> Result<()> {
        let call = self.prepared(step)?;
        let end = Instant::now() + PATIENCE;
        let mut before = None;
        loop {
            let answer = send(self.server, &call).await?;
            let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            normal::learn(&mut self.names, &body);
            let missing = wanted::missing(self, wanted, answer.code, &body).await?;
            // Twice in a row, with nothing written in between: what controllers still have to write comes at once.
            let version = body["metadata"]["resourceVersion"].clone();
            if missing.is_none() && (before.as_ref() == Some(&version) || !matches!(wanted, Wanted::Settled(_))) {
                for (name, pointer) in &step.kept {
                    let value =
                        body.pointer(pointer).and_then(Value::as_str).with_context(|| format!("no {pointer}"))?;
                    self.values.insert((*name).to_owned(), value.to_owned());
                }
                return Ok(());
            }
            before = missing.is_none().then_some(version);
            if Instant::now() > end {
                bail!("waited in vain: {}; the last answer is {} {body:#}", missing.unwrap_or_default(), answer.code);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Reads another path of the chapter's namespace while waiting.
    pub async fn beside(&mut self, path: &str) -> Result<Value> {
        let body = self.read(&self.filled(path)).await?;
        normal::learn(&mut self.names, &body);
        Ok(body)
    }

    async fn events(&mut self, step: &Step, of: &str, count: Option<usize>) -> Result<Map<String, Value>> {
        let mut stream = self.watches.remove(of).with_context(|| format!("no watch {of:?} is open"))?;
        let mut out = self.head(stream.code, &stream.headers);
        let mut seen: Vec<Value> = Vec::new();
        while count.is_none_or(|count| seen.len() < count) {
            let Some(line) = stream.line().await? else {
                out.insert("ended".to_owned(), json!(true));
                break;
            };
            let event: Value = serde_json::from_slice(&line)?;
            let shown = self.event(stream.code, &event, step);
            if !(step.shown.merged && seen.last() == Some(&shown)) {
                seen.push(shown);
            }
        }
        out.insert("events".to_owned(), Value::Array(seen));
        self.watches.insert(of.to_owned(), stream);
        Ok(out)
    }

    fn event(&mut self, code: u16, event: &Value, step: &Step) -> Value {
        let Some(kind) = event["type"].as_str() else {
            return normal::body(&mut self.names, code, event, &step.shown);
        };
        let body = normal::body(&mut self.names, code, &event["object"], &step.shown);
        if step.shown.whole || kind == "ERROR" {
            return json!({kind: body});
        }
        let object = &event["object"];
        let name = object["metadata"]["name"].as_str().or(object["rows"][0]["object"]["metadata"]["name"].as_str());
        let name = self.names.text(name.unwrap_or_default());
        json!(format!("{kind} {} {name}", object["kind"].as_str().unwrap_or_default()).trim_end())
    }
}

impl Step {
    /// The request in one line, as the script has it.
    pub fn line(&self) -> String {
        let what = match &self.does {
            Does::Request(method) => format!("{method} {}", self.path),
            Does::Events { of, count: None } => format!("watch {of:?} to its end"),
            Does::Events { of, count: Some(count) } => format!("watch {of:?}, {count} events"),
            Does::Until(_) | Does::Open => self.path.clone(),
        };
        let who = match self.who {
            Who::Admin => "",
            Who::AdminByToken => " as admin by token",
            Who::Nobody => " as nobody",
            Who::BadToken => " with a bad token",
            Who::Anonymous => " as anonymous",
        };
        let headers =
            self.headers.iter().filter(|(name, value)| !(*name == "content-type" && value == "application/json"));
        headers.fold(what + who, |line, (name, value)| format!("{line}, {name}: {value}"))
    }
}
