//! Changing: scale, patch, label, annotate, set, replace.

use super::{Form, Step, deployment, k, settled, until};

pub fn steps() -> Vec<Step> {
    let mut steps = vec![k("create deployment web --image=localhost/busybox:1 --replicas=0")];
    steps.extend(settled("web", 0));
    steps.push(k("get deployment web -o yaml"));
    steps.push(k("delete deployment web"));
    steps.push(k("create -f -").input(&deployment("web", 1)));
    steps.extend(settled("web", 1));
    steps.extend(scale());
    steps.extend(patch());
    steps.extend(labels());
    steps.extend(set());
    steps
}

fn scale() -> Vec<Step> {
    let mut steps = vec![k("scale deployment web --replicas=2 --timeout=60s")];
    steps.extend(settled("web", 2));
    steps.extend([
        k("get deployment web"),
        k("scale deployment web --replicas=2"),
        k("scale deployment web --replicas=3 --current-replicas=1"),
        k("scale deployment web --replicas=1 --current-replicas=2"),
        k("scale deployment web --replicas=0 --resource-version=1"),
        k("scale deployment web --replicas=5 --dry-run=server"),
        k("scale deployment web --replicas=5 --dry-run=client"),
        k("scale deployment web --replicas=-1"),
        k("scale deployment absent --replicas=1"),
        k("scale deployment -l app=web --replicas=0"),
    ]);
    steps.extend(settled("web", 0));
    steps.extend([
        k("get deployment web"),
        k("get rs"),
        k("scale rs -l app=web --replicas=0"),
        k("scale --replicas=0 -f -").input(&deployment("web", 1)),
        k("get deployment web --subresource=scale -o yaml"),
        k("get deployment web --subresource=status -o name"),
    ]);
    steps
}

fn patch() -> Vec<Step> {
    let containers = r#"{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"localhost/busybox:2"}]}}}}"#;
    vec![
        k(r#"patch deployment web -p '{"metadata":{"labels":{"more":"yes"}}}'"#),
        k(r#"patch deployment web -p '{"metadata":{"labels":{"more":"yes"}}}'"#),
        k(r#"patch deployment web --type=merge -p '{"metadata":{"labels":{"more":null}}}'"#),
        k(r#"patch deployment web --type=json -p '[{"op":"add","path":"/metadata/labels/json","value":"yes"}]'"#),
        k(r#"patch deployment web --type=json -p '[{"op":"test","path":"/spec/replicas","value":7}]'"#),
        k(r#"patch deployment web --type=json -p '{"op":"remove"}'"#),
        k(&format!(
            "patch deployment web --dry-run=server -o 'jsonpath={{.spec.template.spec.containers[*].image}}' -p '{containers}'"
        )),
        k(r#"patch deployment web --type=merge -p '{"metadata":{"uid":"00000000-0000-0000-0000-000000000000"}}'"#),
        k(r#"patch deployment web --type=merge -p '{"metadata":{"resourceVersion":"1"}}'"#),
        k(r#"patch deployment web --type=merge -p '{"spec":{"replicas":"one"}}'"#),
        k(r#"patch deployment web --type=merge -p '{"spec":{"selector":{"matchLabels":{"a":"b"}}}}'"#),
        k(r#"patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":0}}'"#),
        k(r#"patch deployment absent -p '{}'"#),
        k(r#"patch deployment web -p nonsense"#),
        k(r#"patch deployment web --type=merge -p '{"spec":{"replicaz":1}}'"#),
    ]
}

fn labels() -> Vec<Step> {
    vec![
        k("label deployment web tier=front"),
        k("label deployment web tier=back"),
        k("label deployment web tier=back --overwrite"),
        k("label deployment web tier=back --overwrite"),
        k("label deployment web tier-"),
        k("label deployment web tier-"),
        k("label deployment web tier=a/b"),
        k("label deployment web --list").form(Form::Sorted),
        k("label deployment absent a=b"),
        k("label deployments --all group=one"),
        k("annotate deployment web note='a b'"),
        k("annotate deployment web note=c"),
        k("annotate deployment web note=c --overwrite"),
        k("annotate deployment web note-"),
        k("annotate deployment web --list").form(Form::Sorted),
        k("annotate deployment web x=y --resource-version=1"),
    ]
}

fn set() -> Vec<Step> {
    let mut steps = vec![
        k(
            "set image deployment/web main=localhost/busybox:2 --dry-run=server -o 'jsonpath={.spec.template.spec.containers[0].image}'",
        ),
        k("set image deployment/web main=localhost/busybox:1"),
        k("set image deployment/web other=localhost/busybox:1"),
        k("set env deployment/web A=b"),
        k("set env deployment/web --list"),
        k("set resources deployment web --limits=cpu=100m,memory=64Mi --requests=cpu=10m"),
    ];
    steps.extend(settled("web", 0));
    steps.extend([
        k("get deployment web -o 'jsonpath={.spec.template.spec.containers[0].env} {.spec.template.spec.containers[0].resources}'"),
        k("replace -f -").input(&deployment("web", 0)),
        k("replace -f -").input(&deployment("absent", 0)),
        k("replace --force -f -").input(&deployment("web", 0)),
        until("get deployment web -o 'jsonpath={.status.observedGeneration}'", "1"),
        k("get deployment web"),
        k("run one --image=localhost/busybox:1 --image-pull-policy=Never --dry-run=server -o 'jsonpath={.spec.containers[0].imagePullPolicy}'"),
        k("create namespace {ns}"),
        k("cordon -l kubernetes.io/hostname --dry-run=server"),
        k("autoscale deployment web --max=2 --dry-run=client -o name"),
    ]);
    steps
}
