//! Rights: who am I, what may I do, and what is said when I may not.

use super::{Form, Step, deployment, k, until};

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        k("auth whoami"),
        k("auth whoami").by_token(),
        k("auth whoami").nobody(),
        k("auth whoami -o json").nobody(),
        k("auth can-i get pods"),
        k("auth can-i get pods").nobody(),
        k("auth can-i '*' '*'").by_token(),
        k("auth can-i get pods --quiet").nobody(),
        k("auth can-i get nonsense"),
        k("auth can-i get /metrics").nobody(),
        k("get pods").nobody(),
        k("get nodes").nobody(),
        k("get deployment web").nobody(),
        k("create -f -").nobody().input(&deployment("web", 0)),
        k("delete deployment web").nobody(),
        k("get pods -A").nobody(),
        k("describe deployment web").nobody(),
        k("create role reader --verb=get,list,watch --resource=deployments.apps,replicasets.apps"),
        k("create rolebinding reader --role=reader --user=nobody"),
        k("create role reader --verb=get --resource=pods"),
        k("get role,rolebinding"),
        k("get rolebinding -o wide"),
        k("describe role reader"),
        k("describe rolebinding reader"),
        until("auth can-i list deployments.apps", "yes").nobody(),
    ];
    steps.extend(with_role());
    steps
}

fn with_role() -> Vec<Step> {
    vec![
        k("create -f -").input(&deployment("web", 0)),
        until("get deployment web -o 'jsonpath={.status.observedGeneration}'", "1"),
        k("get deployments").nobody(),
        k("scale deployment web --replicas=1").nobody(),
        k("patch deployment web -p '{}'").nobody(),
        k("get pods").nobody(),
        k("get deployments,pods").nobody(),
        k("rollout status deployment/web").nobody(),
        k("auth can-i update deployments --subresource=scale").nobody(),
        k("auth can-i patch deployment/web").nobody(),
        k("auth can-i --list --no-headers").form(Form::Sorted).nobody(),
        k("auth can-i list deployments --all-namespaces").nobody(),
        k("delete rolebinding reader"),
        until("auth can-i list deployments.apps", "no").nobody(),
        k("get deployments").nobody(),
        k("delete role reader"),
        k("get role,rolebinding"),
    ]
}
