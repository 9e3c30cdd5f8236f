//! Deleting: every cascade, waiting and not, many at once, and what is not there.

use super::{Step, deployment, k, settled, until};

fn made(name: &str, replicas: u32) -> Vec<Step> {
    let mut steps = vec![k("create -f -").input(&deployment(name, replicas))];
    steps.extend(settled(name, usize::try_from(replicas).unwrap()));
    steps
}

fn left(name: &str, kinds: &str) -> Step {
    until(&format!("get deployments,rs,pods -l app={name} -o 'jsonpath={{.items[*].kind}}'"), kinds)
}

pub fn steps() -> Vec<Step> {
    let mut steps = made("back", 1);
    steps.extend([
        k("delete deployment back --dry-run=server"),
        k("delete deployment back --dry-run=client"),
        k("delete deployment back"),
        left("back", ""),
        k("delete deployment back"),
        k("delete deployment back --ignore-not-found"),
    ]);
    steps.extend(made("fore", 1));
    steps.extend([k("delete deployment fore --cascade=foreground"), k("get deployments,rs,pods -l app=fore")]);
    steps.extend(made("orph", 1));
    steps.extend([
        k("delete deployment orph --cascade=orphan"),
        until("get rs -l app=orph -o 'jsonpath={.items[0].metadata.ownerReferences}'", ""),
        k("get deployments,rs,pods -l app=orph"),
        k("delete rs -l app=orph --cascade=foreground"),
        k("get deployments,rs,pods -l app=orph"),
    ]);
    steps.extend(held());
    steps.extend(many());
    steps.extend(pods());
    steps
}

/// A finalizer keeps it, so that waiting can be seen.
fn held() -> Vec<Step> {
    let mut steps = made("held", 0);
    steps.extend([
        k(r#"patch deployment held --type=merge -p '{"metadata":{"finalizers":["example.org/keep"]}}'"#),
        k("delete deployment held --wait=false"),
        k("get deployment held -o 'jsonpath={.metadata.finalizers} {.metadata.deletionGracePeriodSeconds}'"),
        k("wait deployment held --for=delete --timeout=1s"),
        k("delete deployment held --timeout=1s"),
        k("create -f -").input(&deployment("held", 0)),
        k("scale deployment held --replicas=0"),
        k(r#"patch deployment held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'"#),
        k("wait deployment held --for=delete --timeout=60s"),
        k("get deployment held"),
    ]);
    steps
}

fn many() -> Vec<Step> {
    let mut steps = made("one", 0);
    steps.extend(made("two", 0));
    steps.extend([
        k("delete deployments one absent two"),
        k("create -f -").input(&format!("{}---\n{}", deployment("one", 0), deployment("two", 0))),
        k("delete -f -").input(&format!("{}---\n{}", deployment("one", 0), deployment("absent", 0))),
        k("delete deployments -l app=two"),
        k("delete deployments -l app=two"),
        k("delete deployments --all"),
        k("delete deployment"),
        k("delete deployment x --cascade=sideways"),
    ]);
    steps
}

fn pods() -> Vec<Step> {
    let pod = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  automountServiceAccountToken: false\n  \
             schedulerName: none\n  containers: [{{name: main, image: 'localhost/busybox:1'}}]\n"
        )
    };
    vec![
        k("create -f -").input(&pod("idle")),
        k("get pods"),
        k("describe pod idle"),
        k("delete pod idle"),
        k("create -f -").input(&pod("idle")),
        k("delete pod idle --grace-period=0 --force"),
        k("create -f -").input(&pod("idle")),
        k("delete pod idle --now"),
        k("get pods"),
    ]
}
