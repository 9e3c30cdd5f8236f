//! Pods without an owner: made, run, stopped.

use serde_json::{Value, json};

use super::{exits, pod, with};
use crate::step::*;

const ALL: &str = "{core}/pods";

fn running(name: &str) -> Step {
    until(
        &format!("until {name} is ready"),
        &format!("{ALL}/{name}"),
        Wanted::Fields(vec![("/status/phase", json!("Running")), ("/status/containerStatuses/0/ready", json!(true))]),
    )
}

/// A Pod that no scheduler takes.
fn idle(name: &str) -> Value {
    with(pod(name), &[("/spec/schedulerName", json!("none"))])
}

pub fn steps() -> Vec<Step> {
    let web = "{core}/pods/web";
    let mut steps = vec![
        post("create", ALL, pod("web")).keep("uid of web", "/metadata/uid"),
        post("create again", ALL, pod("web")),
        running("web"),
        get("get", web),
        get("get /status", &format!("{web}/status")).only(&["/status/phase"]),
        get("as a table", web).accept(TABLE),
        get("list by phase", &format!("{ALL}?fieldSelector=status.phase=Running")),
        get("list by node", &format!("{ALL}?fieldSelector=spec.nodeName={{node}}")),
        get("list whole", ALL).whole(),
        until(
            "until its scheduling is told",
            "{core}/events?fieldSelector=involvedObject.name=web,reason=Scheduled",
            Wanted::Items(1),
        ),
        get("its Events", "{core}/events?fieldSelector=involvedObject.name=web,reason=Scheduled").whole(),
        merge("label added", web, json!({"metadata": {"labels": {"more": "yes"}}}))
            .only(&["/metadata/labels", "/metadata/generation"]),
        merge(
            "image changed",
            &format!("{web}?dryRun=All"),
            json!({"spec": {"containers": [{"name": "main", "image": "localhost/busybox:2"}]}}),
        )
        .no_message("it ends in a difference of Go structures"),
        patch(
            "image changed by strategic merge (dry run)",
            &format!("{web}?dryRun=All"),
            STRATEGIC,
            json!({"spec": {"containers": [{"name": "main", "image": "localhost/busybox:2"}]}}),
        )
        .only(&["/spec/containers/0/image", "/metadata/generation"]),
        patch(
            "command changed",
            web,
            STRATEGIC,
            json!({"spec": {"containers": [{"name": "main", "command": ["true"]}]}}),
        )
        .no_message("it ends in a difference of Go structures"),
        merge("wrong uid", web, json!({"metadata": {"uid": OTHER_UID}})),
        delete("delete with a wrong uid", web, json!({"preconditions": {"uid": OTHER_UID}})),
        delete("delete, dry run", web, json!({"dryRun": ["All"]})).only(&[
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/deletionTimestamp",
            "/metadata/generation",
        ]),
        delete("delete with grace 3", web, json!({"gracePeriodSeconds": 3, "preconditions": {"uid": "{uid of web}"}}))
            .only(&[
                "/metadata/deletionGracePeriodSeconds",
                "/metadata/deletionTimestamp",
                "/metadata/generation",
                "/metadata/finalizers",
            ]),
        gone("until web is gone", web),
        get("get after the delete", web),
        delete("delete again", web, json!(null)),
    ];
    steps.extend(not_scheduled());
    steps.extend(refused());
    steps.extend(ended());
    steps
}

fn not_scheduled() -> Vec<Step> {
    vec![
        post("create one that nobody schedules", ALL, idle("idle")).only(&["/metadata/generation", "/status"]),
        get("get it", "{core}/pods/idle"),
        merge(
            "phase by hand",
            "{core}/pods/idle/status",
            json!({"status": {"phase": "Failed", "reason": "Tried"}, "metadata": {"labels": {"ignored": "yes"}}}),
        )
        .only(&["/status/phase", "/status/reason", "/metadata/labels"]),
        get("list of Pods that failed", &format!("{ALL}?fieldSelector=status.phase=Failed")),
        delete("delete one without a node: gone at once", "{core}/pods/idle", json!(null))
            .only(&["/metadata/deletionGracePeriodSeconds", "/status"]),
        get("it is gone", "{core}/pods/idle"),
        post(
            "create one with a finalizer",
            ALL,
            with(idle("held"), &[("/metadata/finalizers", json!(["example.org/hold"]))]),
        )
        .only(&["/metadata/finalizers"]),
        delete("delete it", "{core}/pods/held", json!(null)).only(&[
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/finalizers",
            "/metadata/generation",
        ]),
        get("it is still there", "{core}/pods/held").only(&[
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/finalizers",
            "/metadata/deletionTimestamp",
        ]),
        merge("the finalizer is taken off", "{core}/pods/held", json!({"metadata": {"finalizers": []}}))
            .only(&["/metadata/finalizers"]),
        get("now it is gone", "{core}/pods/held"),
        post(
            "create with a generated name",
            ALL,
            with(idle("x"), &[("/metadata/name", json!(null)), ("/metadata/generateName", json!("made-"))]),
        )
        .keep("made", "/metadata/name")
        .only(&["/metadata/name", "/metadata/generateName"]),
        delete("delete with grace 0", "{core}/pods/{made}", json!({"gracePeriodSeconds": 0}))
            .only(&["/metadata/deletionGracePeriodSeconds"]),
        post("create c1", ALL, idle("c1")).only(&["/metadata/name"]),
        post("create c2", ALL, idle("c2")).only(&["/metadata/name"]),
        request("DELETE", "delete a collection", &format!("{ALL}?labelSelector=app in (c1,c2)")),
        get("the collection is gone", ALL),
    ]
}

fn refused() -> Vec<Step> {
    let bad = |name: &str, changes: &[(&str, Value)]| with(pod(name), changes);
    vec![
        post("create without containers", ALL, bad("a", &[("/spec/containers", json!([]))])),
        post("create with a name of 254 characters", ALL, pod(&"p".repeat(254))),
        post(
            "create with a restart policy that is none",
            ALL,
            bad("a", &[("/spec/restartPolicy", json!("Sometimes"))]),
        ),
        post(
            "create with a pull policy that is none",
            ALL,
            bad("a", &[("/spec/containers/0/imagePullPolicy", json!("Perhaps"))]),
        ),
        post(
            "create with a negative grace period (dry run)",
            &format!("{ALL}?dryRun=All"),
            bad("a", &[("/spec/terminationGracePeriodSeconds", json!(-1))]),
        )
        .only(&["/spec/terminationGracePeriodSeconds"]),
        post(
            "create with a mount of no volume",
            ALL,
            bad("a", &[("/spec/containers/0/volumeMounts", json!([{"name": "v", "mountPath": "/v"}]))]),
        ),
        post(
            "create with a service account that is not there",
            ALL,
            bad("a", &[("/spec/serviceAccountName", json!("absent"))]),
        ),
        post(
            "create with a priority class that is not there",
            ALL,
            bad("a", &[("/spec/priorityClassName", json!("absent"))]),
        ),
        post(
            "create with defaults to be set (dry run)",
            &format!("{ALL}?dryRun=All"),
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain"},
                "spec": {"automountServiceAccountToken": false, "containers": [{
                    "name": "main", "image": "localhost/busybox", "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"cpu": "0.5", "memory": "1024Ki"}},
                    "livenessProbe": {"exec": {"command": ["true"]}}
                }]}
            }),
        ),
    ]
}

/// Containers that end by themselves.
fn ended() -> Vec<Step> {
    let ends = |name: &str, code: i64| {
        with(
            pod(name),
            &[
                ("/spec/restartPolicy", json!("Never")),
                ("/spec/containers/0/command", json!(["sh", "-c", format!("exit {code}")])),
                ("/metadata/annotations", exits(code)),
            ],
        )
    };
    let until_phase = |name: &str, phase: &str| {
        until(
            &format!("until {name} has ended"),
            &format!("{ALL}/{name}"),
            // The sandbox ends after the container.
            Wanted::Condition("PodReadyToStartContainers", "False", vec![("/status/phase", json!(phase))]),
        )
    };
    vec![
        post("create one that ends well", ALL, ends("well", 0)).only(&["/spec/restartPolicy"]),
        until_phase("well", "Succeeded"),
        get("ended well", "{core}/pods/well").only(&["/status"]),
        post("create one that fails", ALL, ends("badly", 3)).only(&["/spec/restartPolicy"]),
        until_phase("badly", "Failed"),
        get("failed", "{core}/pods/badly").only(&["/status"]),
        get("both as a table", ALL).accept(TABLE),
        delete("delete one that has ended: gone at once", "{core}/pods/well", json!(null))
            .only(&["/metadata/deletionGracePeriodSeconds"]),
    ]
}
