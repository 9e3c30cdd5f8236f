//! `kubectl apply`, on both sides, and what it says about conflicts.

use super::{Form, Step, deployment, k, settled, until};

pub fn steps() -> Vec<Step> {
    let web = |replicas: u32| deployment("web", replicas);
    let mut steps = vec![
        k("apply -f - --dry-run=client").input(&web(1)),
        k("apply -f - --dry-run=server").input(&web(1)),
        k("apply -f -").input(&web(1)),
        k("apply -f -").input(&web(1)),
        k("apply -f -").input(&web(0)),
        k("apply -f - -o 'jsonpath={.spec.replicas}'")
            .input(&web(0).replace("labels: {app: web}\nspec", "labels: {app: web, more: yes-it-is}\nspec")),
        k("get deployment web -o 'jsonpath={.metadata.labels}'"),
        k("apply -f -").input(&web(0)),
        k("get deployment web -o 'jsonpath={.metadata.labels}'"),
        k("apply view-last-applied deployment web"),
        k("apply -f -").input(
            &web(0)
                .replace("matchLabels: {app: web}", "matchLabels: {app: other}")
                .replace("labels: {app: web}", "labels: {app: other}"),
        ),
        k("apply -f -").input(&web(0).replace("replicas:", "replicaz:")),
        k("apply -f -").input(&format!("{}---\n{}", deployment("one", 0), deployment("two", 0))),
        k("create -f -").input(&deployment("three", 0)),
        k("apply -f -").input(&deployment("three", 0)),
    ];
    steps.extend(settled("web", 0));
    steps.extend([k("get deployments"), k("delete deployments --all")]);
    steps.extend(server_side());
    steps
}

fn server_side() -> Vec<Step> {
    let app = |replicas: u32| deployment("ssa", replicas);
    let owners = "get deployment ssa --show-managed-fields -o 'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {.subresource}{\"\\n\"}{end}'";
    let mut steps = vec![k("apply --server-side -f -").input(&app(1)), k("apply --server-side -f -").input(&app(1))];
    steps.extend(settled("ssa", 1));
    steps.extend([
        k(owners).form(Form::Sorted),
        k("scale deployment ssa --replicas=0"),
        k("apply --server-side -f -").input(&app(1)),
    ]);
    steps.extend(settled("ssa", 1));
    steps.extend([
        k("scale deployment ssa --replicas=2"),
        k("apply --server-side -f -").input(&app(1)),
        k("apply --server-side --force-conflicts -f -").input(&app(0)),
        k("apply --server-side --field-manager=other -f -").input(&app(5)),
        k("apply --server-side --field-manager=other --dry-run=server --force-conflicts -f -").input(&app(5)),
    ]);
    steps.extend(settled("ssa", 0));
    steps.extend([
        k(owners).form(Form::Sorted),
        k("apply -f -").input(&app(0)),
        k("apply --server-side -f -").input(&app(0)),
        until("get deployment ssa -o 'jsonpath={.spec.replicas}'", "0"),
        k(owners).form(Form::Sorted),
    ]);
    steps
}
