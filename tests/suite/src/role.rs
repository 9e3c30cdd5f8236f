//! The user of a namespace: one who may do what `workload rbac` prints, and nothing else.

use std::io::Write as _;
use std::process::Stdio;

use kube_emulator::call::User;
use serde_json::{Value, json};
use tempfile::TempPath;

use crate::server::{Kind, kubectl, kubectl_command};
use crate::{Cli, Namespace, Server, until};

/// What the service account is called that the tests run as.
pub const TESTER: &str = "tester";

impl Server {
    /// Puts into force what `workload rbac` prints with these arguments.
    #[track_caller]
    pub fn apply_role(&self, cli: &Cli, rbac: &[&str]) {
        let rbac = [&["rbac"], rbac].concat();
        if let Kind::Real = self.0 {
            // As a user does it.
            let yaml = cli.run(&rbac).exits(0).stdout;
            let mut applying = kubectl_command(&["apply", "--filename", "-"]);
            let applying = applying.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let mut applying = applying.expect("kubectl runs");
            let mut stdin = applying.stdin.take().expect("it is piped");
            stdin.write_all(yaml.as_bytes()).expect("kubectl reads");
            drop(stdin);
            let applied = applying.wait_with_output().expect("kubectl ends");
            assert!(applied.status.success(), "{}{yaml}", String::from_utf8_lossy(&applied.stderr));
            return;
        }
        let list = cli.json(&rbac).exits(0).json();
        for object in list["items"].as_array().expect("a list") {
            let plural = object["kind"].as_str().expect("a kind").to_lowercase() + "s";
            let namespace = object["metadata"]["namespace"].as_str();
            let place = namespace.map(|namespace| format!("namespaces/{namespace}/")).unwrap_or_default();
            let path = format!("/apis/rbac.authorization.k8s.io/v1/{place}{plural}");
            self.request("POST", &path, "application/json", object);
        }
    }

    /// A kubeconfig for somebody with this token.
    pub fn kubeconfig_of(&self, token: &str) -> TempPath {
        let text = |name| std::fs::read_to_string(self.file(name)).expect("the server's files can be read");
        let text = text("kubeconfig-token").replace(text("token").trim(), token);
        let path = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
        std::fs::write(&path, text).expect("it can be written");
        path
    }

    /// The token of a new service account of the tests in this namespace.
    pub(crate) fn tester(&self, namespace: &str) -> String {
        match &self.0 {
            Kind::Real => {
                kubectl(&["create", "serviceaccount", TESTER, "--namespace", namespace]);
                kubectl(&["create", "token", TESTER, "--namespace", namespace]).trim().to_owned()
            }
            Kind::Emulated(_) => {
                let token = format!("token-of-the-tester-of-{namespace}");
                let groups = ["system:serviceaccounts", &format!("system:serviceaccounts:{namespace}")];
                let user = User::authenticated(&format!("system:serviceaccount:{namespace}:{TESTER}"), &groups);
                self.emulated().identities().add_token(&token, user);
                token
            }
        }
    }
}

impl Namespace<'_> {
    /// Waits until the tester may do all that is needed: a real server learns of a role a moment after it is stored.
    #[track_caller]
    pub(crate) fn role_is_in_force(&self) {
        if let Kind::Real = self.server.0 {
            until("the role is in force", || self.cli().run(&["doctor"]).code == 0);
        }
    }

    /// The rules of the tester's role.
    #[track_caller]
    pub fn rules(&self) -> Value {
        let list = self.cli().json(&["rbac"]).exits(0).json();
        list["items"][0]["rules"].clone()
    }

    /// Gives the tester's role other rules.
    #[track_caller]
    pub fn set_rules(&self, rules: &Value) {
        let patch = json!({ "rules": rules });
        match &self.server.0 {
            Kind::Real => {
                let patch = ["patch", "role", "workload", "--type", "merge", "--patch", &patch.to_string()];
                kubectl(&[&["--namespace", self.name.as_str()], &patch[..]].concat());
            }
            Kind::Emulated(_) => {
                let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles/workload", self.name);
                self.server.request("PATCH", &path, "application/merge-patch+json", &patch);
            }
        }
    }
}
