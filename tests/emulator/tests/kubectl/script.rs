//! The commands: each chapter in a namespace of its own, so that they run side by side.

mod apply;
mod change;
mod delete;
mod look;
mod rights;
mod rollout;

pub use crate::output::Form;

/// One command.
pub struct Step {
    pub line: String,
    pub does: Does,
    pub input: Option<String>,
    /// The file with the credentials.
    pub kubeconfig: &'static str,
    pub form: Form,
}

/// What a step does.
pub enum Does {
    /// Runs it and records what it prints.
    Record,
    /// Runs it again and again until it prints this; records nothing.
    Until(String),
    /// Starts it and lets it run.
    Watch(&'static str),
    /// Reads so many different lines of what was started, and ends it.
    Seen(&'static str, usize),
}

/// All chapters by name.
pub fn chapters() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("apply", apply::steps()),
        ("change", change::steps()),
        ("delete", delete::steps()),
        ("look", look::steps()),
        ("rights", rights::steps()),
        ("rollout", rollout::steps()),
    ]
}

impl Step {
    fn new(line: &str, does: Does) -> Step {
        Step { line: line.to_owned(), does, input: None, kubeconfig: "kubeconfig", form: Form::Lines }
    }

    pub fn input(mut self, text: &str) -> Step {
        self.input = Some(text.to_owned());
        self
    }

    /// As the user `nobody`, who may do what the script's own Roles give.
    pub fn nobody(mut self) -> Step {
        self.kubeconfig = "kubeconfig-nobody";
        self
    }

    /// As an administrator by token.
    pub fn by_token(mut self) -> Step {
        self.kubeconfig = "kubeconfig-token";
        self
    }

    pub fn form(mut self, form: Form) -> Step {
        self.form = form;
        self
    }

    /// Whether what it prints is compared.
    pub fn is_recorded(&self) -> bool {
        matches!(self.does, Does::Record | Does::Seen(..))
    }

    /// The command as the recorded output names it.
    pub fn shown(&self) -> String {
        let who = match self.kubeconfig {
            "kubeconfig-nobody" => " (as nobody)",
            "kubeconfig-token" => " (by token)",
            _ => "",
        };
        format!("{}{who}", self.line)
    }
}

/// A command whose output is recorded.
fn k(line: &str) -> Step {
    Step::new(line, Does::Record)
}

/// Waits until a command prints this.
fn until(line: &str, wanted: &str) -> Step {
    Step::new(line, Does::Until(wanted.to_owned()))
}

/// Starts a command that goes on.
fn watch(name: &'static str, line: &str) -> Step {
    Step::new(line, Does::Watch(name))
}

fn seen(name: &'static str, count: usize) -> Step {
    Step::new("", Does::Seen(name, count))
}

/// Waits until the controllers have nothing left to do for a Deployment and so many Pods with its name as label `app`.
fn settled(name: &str, replicas: usize) -> Vec<Step> {
    let count = if replicas == 0 { "<no value>".to_owned() } else { replicas.to_string() };
    let counters = "{{.status.replicas}} {{.status.updatedReplicas}} {{.status.availableReplicas}} {{.status.terminatingReplicas}}";
    let reason = "{{range .status.conditions}}{{if eq .type \"Progressing\"}} {{.reason}}{{end}}{{end}}";
    let observed = "{{if .status.observedGeneration}}{{if eq .metadata.generation .status.observedGeneration}}";
    let template = format!("{observed}{counters}{reason}{{{{end}}}}{{{{end}}}}");
    vec![
        until(
            &format!("get deployment {name} -o 'go-template={template}'"),
            &format!("{count} {count} {count} 0 NewReplicaSetAvailable"),
        ),
        until(
            &format!("get pods -l app={name} -o 'jsonpath={{.items[*].kind}}'"),
            vec!["Pod"; replicas].join(" ").as_str(),
        ),
    ]
}

/// A Deployment whose Pods have the label `app` with its name, as YAML.
fn deployment(name: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{app: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      automountServiceAccountToken: false
      dnsPolicy: Default
      enableServiceLinks: false
      terminationGracePeriodSeconds: 5
      containers:
      - name: main
        image: localhost/busybox:1
        imagePullPolicy: Never
        command: [sh, -c, \"trap 'exit 0' TERM; sleep 3600 & wait\"]
"
    )
}
