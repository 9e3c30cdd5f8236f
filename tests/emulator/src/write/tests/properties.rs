//! What holds for any patch and any configuration.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{APPLY, MERGE, STRATEGIC, app, ask, with_namespace};
use crate::resource::DEPLOYMENTS;
use crate::store::Key;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..9i64).prop_map(Value::from),
        prop_oneof!["[a-z]{0,3}", Just("merge".to_owned()), Just("delete".to_owned()), Just("replace".to_owned())]
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "spec",
        "metadata",
        "template",
        "containers",
        "name",
        "labels",
        "replicas",
        "image",
        "$patch",
        "env",
        "ports",
        "$retainKeys",
        "$setElementOrder/containers",
        "$deleteFromPrimitiveList/finalizers",
        "finalizers",
        "strategy",
        "managedFields",
        "fieldsV1",
        "operation",
        "op",
        "path",
        "value",
        "status",
        "ownerReferences",
        "uid",
    ]);
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

/// A configuration that the server takes.
fn any_config() -> impl Strategy<Value = Value> {
    let labels = prop::collection::btree_map("[a-c]", "[a-z]{0,2}", 0..3);
    let containers = prop::collection::btree_map("[d-f]", ("[a-z]{1,3}", 1..4u16), 1..3);
    (labels, containers, prop::option::of(0..4i32)).prop_map(|(labels, containers, replicas)| {
        let mut config = app();
        config["metadata"]["labels"] = json!(labels);
        let container = |(name, (image, port)): (String, (String, u16))| {
            json!({"name": name, "image": image, "ports": [{"containerPort": port}], "env": [{"name": "A", "value": image}]})
        };
        config["spec"]["template"]["spec"]["containers"] = containers.into_iter().map(container).collect();
        match replicas {
            Some(replicas) => config["spec"]["replicas"] = replicas.into(),
            None => drop(config["spec"].as_object_mut().unwrap().remove("replicas")),
        }
        config
    })
}

fn in_tokio<T>(test: impl FnOnce() -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async { test() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_patch_breaks_the_server(body in any_json(), media in prop::sample::select(vec![
        MERGE, STRATEGIC, APPLY, "application/json-patch+json",
    ]), place in prop::sample::select(vec!["n/app", "n/app/scale", "n/app/status"])) {
        in_tokio(|| {
            let state = with_namespace("n");
            ask(&state, "POST", "n", "", "", &app()).unwrap();
            let query = if media == APPLY { "fieldManager=x&force=true" } else { "" };
            let answer = ask(&state, "PATCH", place, query, media, &body);
            let stored = state.store.get(&Key::new(&DEPLOYMENTS, "n", "app")).unwrap().value();
            // Whatever came in, what is stored is an object that can be written again. The first time its owners may
            // be put in order.
            let once = ask(&state, "PUT", "n/app", "fieldManager=y", "", &stored).map(|written| written.value);
            prop_assert_eq!(once.as_ref().map(|once| &once["spec"]), Ok(&stored["spec"]));
            let twice = ask(&state, "PUT", "n/app", "fieldManager=y", "", &once.clone().unwrap_or_default());
            prop_assert_eq!(twice.map(|written| written.value), once);
            prop_assert!(answer.is_ok_and(|written| written.code == 200) || stored["metadata"]["generation"] == 1);
            Ok(())
        })?;
    }

    #[test]
    fn applying_twice_is_applying_once(config in any_config(), other in any_config()) {
        in_tokio(|| {
            let state = with_namespace("n");
            let query = "fieldManager=gitops&force=true";
            ask(&state, "PATCH", "n/app", "fieldManager=other&force=true", APPLY, &other).unwrap();
            let once = ask(&state, "PATCH", "n/app", query, APPLY, &config).unwrap().value;
            let version = state.store.version();
            let twice = ask(&state, "PATCH", "n/app", query, APPLY, &config).unwrap().value;
            prop_assert_eq!(&once, &twice);
            prop_assert_eq!(state.store.version(), version);
            // All that was applied is there.
            for label in config["metadata"]["labels"].as_object().unwrap() {
                prop_assert_eq!(&once["metadata"]["labels"][label.0], label.1);
            }
            Ok(())
        })?;
    }

    #[test]
    fn what_is_applied_and_given_up_again_leaves_no_trace(config in any_config()) {
        in_tokio(|| {
            let state = with_namespace("n");
            let base = ask(&state, "PATCH", "n/app", "fieldManager=base", APPLY, &app()).unwrap().value;
            let mut more = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app"}});
            let nothing = more.clone();
            more["metadata"]["annotations"] = config["metadata"]["labels"].clone();
            ask(&state, "PATCH", "n/app", "fieldManager=more", APPLY, &more).unwrap();
            let after = ask(&state, "PATCH", "n/app", "fieldManager=more", APPLY, &nothing).unwrap().value;
            prop_assert_eq!(&base["spec"], &after["spec"]);
            prop_assert_eq!(&base["metadata"]["annotations"], &after["metadata"]["annotations"]);
            Ok(())
        })?;
    }
}
