//! What an engine's own access control must allow for the granted operations, and the smallest role that does.

use serde_json::{Value, json};
use workload_policy::{Grants, Places, Rbac};

/// The name of everything that is made here.
pub const NAME: &str = "workload";

/// A permission, and what it is needed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// As the engine's access control calls it.
    pub rbac: Rbac,
    /// The granted operations that need it, in the words of the catalogue.
    pub words: Vec<&'static str>,
    /// What each of them does.
    pub sentences: Vec<&'static str>,
}

impl Need {
    /// The resource as a role names it, such as `deployments/scale`.
    #[must_use]
    pub fn resource(&self) -> String {
        match self.rbac.subresource {
            Some(part) => format!("{}/{part}", self.rbac.resource),
            None => self.rbac.resource.to_owned(),
        }
    }
}

/// Every permission that the granted operations need, each once, in the order of the catalogue.
///
/// ```
/// use workload_host::{Places, rbac};
/// use workload_policy::{Engine, Grants};
///
/// let grants = Grants::new(Engine::Kubernetes, ["deployments/scale:patch"], ["*"], Places::only(["shop"]))?;
/// let needs = rbac::needs(&grants);
/// assert_eq!((needs[0].rbac.verb, needs[0].resource().as_str()), ("patch", "deployments/scale"));
/// # Ok::<(), workload_policy::GrantError>(())
/// ```
#[must_use]
pub fn needs(grants: &Grants) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for operation in grants.engine().operations().iter().filter(|operation| grants.allows(operation.word())) {
        let (rbac, word, sentence) = (*operation.rbac(), operation.word(), operation.sentence());
        match needs.iter_mut().find(|need| need.rbac == rbac) {
            Some(need) => {
                need.words.push(word);
                need.sentences.push(sentence);
            }
            None => needs.push(Need { rbac, words: vec![word], sentences: vec![sentence] }),
        }
    }
    needs
}

/// Whom a role is given to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A user by the name that the server knows.
    User(String),
    /// Everybody of a group.
    Group(String),
    /// A service account.
    ServiceAccount {
        /// Where it is.
        namespace: String,
        /// What it is called.
        name: String,
    },
}

impl Subject {
    fn document(&self) -> Value {
        let named = |kind: &str, name: &str| json!({"apiGroup": GROUP, "kind": kind, "name": name});
        match self {
            Self::User(name) => named("User", name),
            Self::Group(name) => named("Group", name),
            Self::ServiceAccount { namespace, name } => {
                json!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
            }
        }
    }
}

const GROUP: &str = "rbac.authorization.k8s.io";
const VERSION: &str = "rbac.authorization.k8s.io/v1";

/// One rule of a role: the verbs that one resource needs, each with what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The API group; empty for the core group.
    pub api_group: &'static str,
    /// The resource, with its part if it is about one.
    pub resource: String,
    /// The verbs, in the order of the catalogue.
    pub verbs: Vec<Verb>,
}

/// A verb of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verb {
    /// The verb.
    pub verb: &'static str,
    /// What it is needed for.
    pub sentences: Vec<&'static str>,
}

/// The smallest role for what is granted in one place, and who has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The namespace that it is for; none: all of them.
    pub namespace: Option<String>,
    /// What it allows.
    pub rules: Vec<Rule>,
    /// Who has it.
    pub subjects: Vec<Subject>,
}

/// The smallest roles that the granted operations need: one for each namespace, or one for all.
#[must_use]
pub fn roles(grants: &Grants, subjects: &[Subject]) -> Vec<Role> {
    let places = match grants.places() {
        Places::All => vec![None],
        Places::Only(places) => places.iter().cloned().map(Some).collect(),
    };
    let mut rules: Vec<Rule> = Vec::new();
    for need in needs(grants) {
        let (api_group, resource) = (need.rbac.api_group, need.resource());
        let verb = Verb { verb: need.rbac.verb, sentences: need.sentences };
        match rules.iter_mut().find(|rule| (rule.api_group, &rule.resource) == (api_group, &resource)) {
            Some(rule) => rule.verbs.push(verb),
            None => rules.push(Rule { api_group, resource, verbs: vec![verb] }),
        }
    }
    places.into_iter().map(|namespace| Role { namespace, rules: rules.clone(), subjects: subjects.to_vec() }).collect()
}

impl Role {
    /// `Role`, or `ClusterRole` for all namespaces.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.namespace.is_some() { "Role" } else { "ClusterRole" }
    }

    /// The role and its binding as JSON documents, to be applied in this order.
    ///
    /// ```
    /// use workload_host::{Places, rbac};
    /// use workload_policy::{Engine, Grants};
    ///
    /// let grants = Grants::new(Engine::Kubernetes, ["pods:list"], ["*"], Places::only(["shop"]))?;
    /// let [role, binding] = rbac::roles(&grants, &[rbac::Subject::User("ann".to_owned())])[0].manifests();
    /// let rules = serde_json::json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]);
    /// assert_eq!(role["rules"], rules);
    /// assert_eq!(binding["subjects"][0]["name"], "ann");
    /// # Ok::<(), workload_policy::GrantError>(())
    /// ```
    #[must_use]
    pub fn manifests(&self) -> [Value; 2] {
        let kind = self.kind();
        let metadata = match &self.namespace {
            Some(namespace) => json!({"name": NAME, "namespace": namespace}),
            None => json!({"name": NAME}),
        };
        let rule = |rule: &Rule| {
            let verbs: Vec<&str> = rule.verbs.iter().map(|verb| verb.verb).collect();
            json!({"apiGroups": [rule.api_group], "resources": [rule.resource], "verbs": verbs})
        };
        let rules: Vec<Value> = self.rules.iter().map(rule).collect();
        let subjects: Vec<Value> = self.subjects.iter().map(Subject::document).collect();
        let role = json!({"apiVersion": VERSION, "kind": kind, "metadata": metadata, "rules": rules});
        let binding = json!({
            "apiVersion": VERSION, "kind": format!("{kind}Binding"), "metadata": metadata, "subjects": subjects,
            "roleRef": {"apiGroup": GROUP, "kind": kind, "name": NAME},
        });
        [role, binding]
    }
}
