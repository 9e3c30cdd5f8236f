//! Rollouts: status, history, pause, resume, undo, restart, and waiting for conditions.

use super::{Form, Step, deployment, k, settled, until};

fn status(rest: &str) -> Step {
    k(&format!("rollout status deployment/{rest}")).form(Form::Outcome)
}

pub fn steps() -> Vec<Step> {
    let mut steps = vec![k("create -f -").input(&deployment("web", 1)), status("web --timeout=60s")];
    steps.extend(settled("web", 1));
    steps.extend([
        status("web"),
        status("web --watch=false"),
        status("absent"),
        k("rollout history deployment/web"),
        k("set env deployment/web ROUND=two"),
        status("web --timeout=60s"),
    ]);
    steps.extend(settled("web", 1));
    steps.extend([
        k("annotate deployment web kubernetes.io/change-cause='second round'"),
        until(
            "get rs -l app=web -o 'jsonpath={.items[*].metadata.annotations.kubernetes\\.io/change-cause}'",
            "second round",
        ),
        k("rollout history deployment/web"),
        k("rollout history deployment/web --revision=1"),
        k("rollout history deployment/web --revision=2"),
        k("rollout history deployment/web --revision=9"),
        k("rollout undo deployment/web --to-revision=9"),
        k("rollout undo deployment/web --dry-run=server"),
        k("rollout undo deployment/web"),
        status("web --timeout=60s"),
    ]);
    steps.extend(settled("web", 1));
    steps.extend([
        k("rollout history deployment/web"),
        k("get rs -l app=web --sort-by=.spec.replicas"),
        k("rollout undo deployment/web --to-revision=2"),
        status("web --timeout=60s"),
    ]);
    steps.extend(settled("web", 1));
    steps.extend([k("rollout restart deployment/web"), status("web --timeout=60s")]);
    steps.extend(settled("web", 1));
    steps.push(k("get deployment web -o 'jsonpath={.spec.template.metadata.annotations}'"));
    steps.extend(paused());
    steps.extend(waits());
    steps.extend(broken());
    steps
}

fn paused() -> Vec<Step> {
    let mut steps = vec![
        k("rollout pause deployment/web"),
        k("rollout pause deployment/web"),
        until(
            "get deployment web -o 'jsonpath={.status.conditions[?(@.type==\"Progressing\")].reason}'",
            "DeploymentPaused",
        ),
        k("rollout undo deployment/web"),
        k("rollout restart deployment/web"),
        k("set env deployment/web ROUND=paused"),
        until("get deployment web -o 'jsonpath={.status.updatedReplicas}'", ""),
        k("rollout status deployment/web --watch=false"),
        k("get deployment web"),
        k("describe deployment web --show-events=false"),
        k("rollout resume deployment/web"),
        k("rollout resume deployment/web"),
        status("web --timeout=60s"),
    ];
    steps.extend(settled("web", 1));
    steps.push(k("get deployment web"));
    steps
}

fn waits() -> Vec<Step> {
    vec![
        k("wait deployment web --for=condition=Available --timeout=60s"),
        k("wait deployment/web --for=condition=available=false --timeout=1s"),
        k("wait deployment web --for='jsonpath={.status.readyReplicas}'=1 --timeout=60s"),
        k("wait deployment web --for='jsonpath={.status.readyReplicas}'=7 --timeout=1s"),
        k("wait pods -l app=web --for=condition=Ready --timeout=60s"),
        k("wait deployment absent --for=condition=Available --timeout=1s"),
        k("wait deployment absent --for=delete --timeout=1s"),
        k("wait deployment web --for=create --timeout=1s"),
        k("wait deployment absent --for=create --timeout=1s"),
        k("wait pods -l app=nothing --for=condition=Ready --timeout=1s"),
        k("scale deployment web --replicas=0"),
        status("web --timeout=60s"),
    ]
}

/// An image that is not there, and a deadline of three seconds.
fn broken() -> Vec<Step> {
    let annotations = "\n      annotations: {kube-emulator/image: never}\n      labels: {app: bad}\n    spec:";
    let manifest = deployment("bad", 1)
        .replace("localhost/busybox:1", "localhost/absent:1")
        .replace("  replicas: 1\n", "  replicas: 1\n  progressDeadlineSeconds: 3\n")
        .replace("\n      labels: {app: bad}\n    spec:", annotations);
    let mut steps = vec![
        k("create -f -").input(&manifest),
        status("bad --timeout=60s"),
        until(
            "get pods -l app=bad -o 'jsonpath={.items[0].status.containerStatuses[0].state.waiting.reason}'",
            "ErrImageNeverPull",
        ),
        status("bad --timeout=60s"),
        k("get deployment bad"),
        k("get pods -l app=bad"),
        k("describe deployment bad --show-events=false"),
        k("scale deployment bad --replicas=0"),
    ];
    steps.extend(settled("bad", 0));
    steps.push(status("bad --timeout=60s"));
    steps
}
