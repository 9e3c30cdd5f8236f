//! Which requests are meant: what a rule for faults and a question to the record have in common.

use http::Method;
use http::header::USER_AGENT;
use serde::Deserialize;

/// What a request asks for, as the API server would name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path as it came.
    pub path: String,
    /// The query as it came, without the question mark.
    pub query: String,
    /// The verb of Kubernetes, such as `list`, also of what does not exist; for a path that is no resource's, the
    /// method in small letters.
    pub verb: String,
    /// `plural` or `plural/subresource`; empty for a path that is no resource's.
    pub resource: String,
    /// The namespace; empty for none.
    pub namespace: String,
    /// The name; of a list or watch, the one that its field selector asks for; empty for none.
    pub name: String,
    /// The header `User-Agent`.
    pub agent: String,
    /// Who asked; empty if that could not be told.
    pub user: String,
}

impl Asked {
    /// Of a request and the name of who sent it.
    pub fn of<B>(request: &http::Request<B>, user: &str) -> Asked {
        let (method, path) = (request.method(), request.uri().path());
        let query = request.uri().query().unwrap_or_default();
        let agent = request.headers().get(USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let mut asked = Asked {
            method: method.as_str().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            agent: agent.unwrap_or_default().into_owned(),
            user: user.to_owned(),
            ..Asked::default()
        };
        let one = asked.read_path();
        asked.verb = asked.say_verb(method, one);
        asked
    }

    /// The resource, namespace and name, as the server's own reading of paths has them; says whether the path names
    /// one object.
    fn read_path(&mut self) -> bool {
        let parts: Vec<_> = self.path.split('/').filter(|part| !part.is_empty()).collect();
        let rest = match parts.as_slice() {
            ["api", _version, rest @ ..] => rest,
            ["apis", _group, _version, rest @ ..] => rest,
            _ => return false,
        };
        let (namespace, rest) = match rest {
            // These two are parts of the namespace itself.
            ["namespaces", _, "status" | "finalize", ..] => ("", rest),
            ["namespaces", namespace, inside @ ..] if !inside.is_empty() => (*namespace, inside),
            rest => ("", rest),
        };
        let (resource, name, sub) = match rest {
            [] => return false,
            [resource] => (*resource, "", ""),
            [resource, name] => (*resource, *name, ""),
            [resource, name, sub, ..] => (*resource, *name, *sub),
        };
        let resource = if sub.is_empty() { resource.to_owned() } else { format!("{resource}/{sub}") };
        let one = !name.is_empty();
        let name = if one { name.to_owned() } else { self.selected_name() };
        let namespace = if one && resource.starts_with("namespaces") { name.clone() } else { namespace.to_owned() };
        (self.namespace, self.resource, self.name) = (namespace, resource, name);
        one
    }

    fn selected_name(&self) -> String {
        let query = decoded(&self.query);
        let fields = query.split('&').filter_map(|pair| pair.strip_prefix("fieldSelector="));
        let terms = fields.flat_map(|selector| selector.split(','));
        let mut names = terms.filter_map(|term| term.strip_prefix("metadata.name=")).map(|n| n.trim_start_matches('='));
        names.next().unwrap_or_default().to_owned()
    }

    fn say_verb(&self, method: &Method, one: bool) -> String {
        let watch = self.query.split('&').any(|pair| matches!(pair, "watch" | "watch=true" | "watch=1"));
        let verb = match method.as_str() {
            method if self.resource.is_empty() => return method.to_ascii_lowercase(),
            "GET" | "HEAD" if watch => "watch",
            "GET" | "HEAD" if one => "get",
            "GET" | "HEAD" => "list",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" if one => "delete",
            "DELETE" => "deletecollection",
            method => return method.to_ascii_lowercase(),
        };
        verb.to_owned()
    }
}

/// Says which requests are meant. What is not said does not matter; `*` stands for any letters, also none and also
/// slashes.
///
/// ```
/// use kube_emulator::pattern::Pattern;
/// let scaling = Pattern::resource("patch", "deployments/scale").named("web");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pattern {
    /// The method, such as `GET`.
    pub method: Option<String>,
    /// The path, without the query.
    pub path: Option<String>,
    /// A part of the query, decoded, such as `continue=`.
    pub query: Option<String>,
    /// The verb, such as `watch`.
    pub verb: Option<String>,
    /// `plural` or `plural/subresource`, as in a Role.
    pub resource: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The header `User-Agent`.
    pub user_agent: Option<String>,
    /// Who asks.
    pub user: Option<String>,
}

impl Pattern {
    /// Every request.
    pub fn any() -> Pattern {
        Pattern::default()
    }

    /// By verb and resource, as a Role says it.
    pub fn resource(verb: &str, resource: &str) -> Pattern {
        Pattern { verb: Some(verb.to_owned()), resource: Some(resource.to_owned()), ..Pattern::default() }
    }

    /// By method and path.
    pub fn path(method: &str, path: &str) -> Pattern {
        Pattern { method: Some(method.to_owned()), path: Some(path.to_owned()), ..Pattern::default() }
    }

    /// And of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Pattern {
        self.name = Some(name.to_owned());
        self
    }

    /// And in this namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Pattern {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// And with this in the query.
    #[must_use]
    pub fn with_query(mut self, part: &str) -> Pattern {
        self.query = Some(part.to_owned());
        self
    }

    /// And from a client that names itself so.
    #[must_use]
    pub fn from_agent(mut self, agent: &str) -> Pattern {
        self.user_agent = Some(agent.to_owned());
        self
    }

    /// And from this user.
    #[must_use]
    pub fn from_user(mut self, user: &str) -> Pattern {
        self.user = Some(user.to_owned());
        self
    }

    /// Whether a request is meant.
    pub fn matches(&self, asked: &Asked) -> bool {
        let fits = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| glob(wanted, is));
        fits(&self.method, &asked.method)
            && fits(&self.path, &asked.path)
            && self.query.as_ref().is_none_or(|part| decoded(&asked.query).contains(part.as_str()))
            && fits(&self.verb, &asked.verb)
            && fits(&self.resource, &asked.resource)
            && fits(&self.namespace, &asked.namespace)
            && fits(&self.name, &asked.name)
            && fits(&self.user_agent, &asked.agent)
            && fits(&self.user, &asked.user)
    }
}

/// Whether a text is of a pattern in which `*` stands for anything.
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// A query with its `%xx` and `+` put back; what cannot be put back stays.
fn decoded(query: &str) -> String {
    let mut bytes = Vec::with_capacity(query.len());
    let mut rest = query.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let hex = (byte == b'%').then(|| after.split_at_checked(2)).flatten();
        let value = hex.and_then(|(hex, after)| {
            let value = u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok()?;
            rest = after;
            Some(value)
        });
        bytes.push(value.unwrap_or(if byte == b'+' { b' ' } else { byte }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
