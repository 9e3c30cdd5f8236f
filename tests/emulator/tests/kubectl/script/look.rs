//! Reading: every output form, descriptions, selectors, mistakes.

use super::{Form, Step, deployment, k, seen, settled, until, watch};

const QUOTA: &str = "create quota small --hard=pods=9,count/replicasets.apps=9";

pub fn steps() -> Vec<Step> {
    let mut steps = vec![k("create -f -").input(&deployment("web", 2))];
    steps.extend(settled("web", 2));
    steps.extend(forms());
    steps.extend(descriptions());
    steps.extend(selections());
    steps.extend(mistakes());
    steps
}

fn forms() -> Vec<Step> {
    vec![
        k("get deployments"),
        k("get deployment web"),
        k("get deployment web -o wide"),
        k("get deployment web -o name"),
        k("get deployment web -o json"),
        k("get deployment web -o yaml"),
        k("get deployment web -o 'jsonpath={.spec.replicas} {.status.readyReplicas}'"),
        k("get deployment web -o 'custom-columns=NAME:.metadata.name,WANTED:.spec.replicas,NONE:.spec.nothing'"),
        k("get deployment web -o 'go-template={{.metadata.name}} {{.spec.strategy.type}}'"),
        k("get deployments --show-labels"),
        k("get deployments -L app,none"),
        k("get deployments --no-headers"),
        k("get deployments --sort-by=.metadata.name"),
        k("get rs"),
        k("get rs -o wide"),
        k("get pods"),
        k("get pods -o wide"),
        k("get pods -o name"),
        k("get pods -l app=web -o yaml"),
        k("get deployments,rs,pods"),
        k("get deploy/web rs"),
        k("get all"),
        k("get deployment web --output-watch-events --watch-only=false"),
        k("get namespace {ns}"),
        k("get namespace {ns} -o yaml"),
        k("get nodes -o name"),
        k("get deployments -A -l app=nothing"),
        k("get --raw /readyz"),
        k("get --raw /apis/apps/v1/namespaces/{ns}/deployments/absent"),
        k("version"),
        k("api-resources --no-headers").form(Form::Served),
        k("api-resources --api-group=apps --verbs=list -o name").form(Form::Served),
        k("api-resources --namespaced=false -o wide").form(Form::Served),
    ]
}

fn descriptions() -> Vec<Step> {
    let events =
        "get events --field-selector=involvedObject.kind=Pod -o 'jsonpath={.items[?(@.reason==\"Started\")].reason}'";
    vec![
        until(events, "Started Started"),
        k("describe deployment web"),
        k("describe rs -l app=web"),
        k("describe pods -l app=web"),
        k("describe deployment web --show-events=false"),
        k("describe node").form(Form::Headings),
        k("describe namespace {ns}"),
        k(QUOTA),
        until("get quota small -o 'jsonpath={.status.used.pods}'", "2"),
        k("get quota"),
        k("describe quota small"),
        k("get events --field-selector=involvedObject.name=web"),
        k("get events --field-selector=involvedObject.name=web -o name"),
        k("events --for deployment/web"),
        k("events --types=Warning"),
        k("create -f -").input(
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec:\n  storageClassName: none\n  \
             accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n",
        ),
        until("get pvc data -o 'jsonpath={.status.phase}'", "Pending"),
        k("get pvc"),
        k("describe pvc data --show-events=false"),
        k("delete pvc data"),
    ]
}

fn selections() -> Vec<Step> {
    vec![
        k("create -f -").input(&deployment("other", 0)),
        k("get deployments -l app=web"),
        k("get deployments -l 'app in (web,other)'"),
        k("get deployments -l 'app notin (web)'"),
        k("get deployments --field-selector=metadata.name=other"),
        k("get pods --field-selector=status.phase=Running"),
        k("get pods --field-selector=status.phase!=Running"),
        k("get deployments --chunk-size=1"),
        k("get roles"),
        watch("get roles -w", "get roles --watch --output-watch-events"),
        k("create role one --verb=get --resource=pods"),
        k("label role one tier=front"),
        k("delete role one"),
        seen("get roles -w", 4),
    ]
}

fn mistakes() -> Vec<Step> {
    vec![
        k("get deployment absent"),
        k("get deployment absent --ignore-not-found"),
        k("get deployment web absent"),
        k("get nonsense"),
        k("get deployment web -o strange"),
        k("get deployments -l a===b"),
        k("get deployments --field-selector=spec.replicas=1"),
        k("get deployment web -n nowhere"),
        k("get deployments -n nowhere"),
        k("describe deployment absent"),
        k("get --raw /nope"),
        k("get deployment web --request-timeout=nonsense"),
        k("create -f -").input(&deployment("web", 1)),
        k("create -f -").input(&deployment("Capital", 1)),
        k("create -f -").input(&deployment("late", 1).replace("replicas:", "replicaz:")),
        k("create -f - --validate=ignore --dry-run=server -o name")
            .input(&deployment("late", 1).replace("replicas:", "replicaz:")),
        k("create -f - -n nowhere").input(&deployment("late", 1)),
        k("create -f -").input("apiVersion: example.org/v1\nkind: Nothing\nmetadata: {name: x}\n"),
    ]
}
