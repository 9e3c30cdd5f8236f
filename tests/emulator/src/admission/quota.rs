//! Quotas: what an object counts for, and refusing what is too much.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Sub};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::quantity::Quantity;
use crate::registry::section;
use crate::resource::{PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS, Resource, is_last_phase};
use crate::state::State;
use crate::store::Write;
use crate::value::{has, int, list, map, text};

/// Amounts by the name of what is counted, such as `pods` or `requests.cpu`.
pub type Amounts = BTreeMap<String, Quantity>;

/// What an object counts for. A Pod that has ended, or should have long ago, only counts as an object.
pub fn usage(resource: &Resource, value: &Value, now: Timestamp) -> Amounts {
    let one = || Quantity::whole(1);
    let mut used = Amounts::from([(format!("count/{}", resource.qualified()), one())]);
    if resource == &PODS {
        if counts(value, now) {
            used.insert("pods".to_owned(), one());
            used.extend(compute(&requests(value, "requests"), &requests(value, "limits")));
        }
    } else if resource == &PERSISTENT_VOLUME_CLAIMS {
        used.insert("persistentvolumeclaims".to_owned(), one());
        let storage = map(value, "/spec/resources/requests").get("storage").and_then(amount);
        if let Some(storage) = storage {
            let class = text(value, "/spec/storageClassName");
            if !class.is_empty() {
                used.insert(format!("{class}.storageclass.storage.k8s.io/requests.storage"), storage);
                used.insert(format!("{class}.storageclass.storage.k8s.io/persistentvolumeclaims"), one());
            }
            used.insert("requests.storage".to_owned(), storage);
        }
    } else if resource == &RESOURCE_QUOTAS {
        used.insert("resourcequotas".to_owned(), one());
    }
    used
}

/// Whether a quota is for this object, by its scopes.
pub fn matches(quota: &Value, resource: &Resource, value: &Value) -> bool {
    let scopes = list(quota, "/spec/scopes").iter().filter_map(Value::as_str).map(|scope| (scope, "Exists", vec![]));
    let selectors = list(quota, "/spec/scopeSelector/matchExpressions").iter().map(|selector| {
        let values = list(selector, "/values").iter().filter_map(Value::as_str).collect();
        (text(selector, "/scopeName"), text(selector, "/operator"), values)
    });
    scopes.chain(selectors).all(|(scope, operator, values)| {
        resource == &PODS
            && match scope {
                "Terminating" => has(value, "/spec/activeDeadlineSeconds"),
                "NotTerminating" => !has(value, "/spec/activeDeadlineSeconds"),
                "BestEffort" => quality(value) == "BestEffort",
                "NotBestEffort" => quality(value) != "BestEffort",
                "PriorityClass" => {
                    let class = text(value, "/spec/priorityClassName");
                    match operator {
                        "In" => values.contains(&class),
                        "NotIn" => !values.contains(&class),
                        "DoesNotExist" => class.is_empty(),
                        _ => !class.is_empty(),
                    }
                }
                _ => false,
            }
    })
}

/// Refuses a new object for which a quota has no room, and counts it in all quotas of its namespace.
///
/// # Errors
/// 403.
pub fn admit(state: &State, resource: &Resource, namespace: &str, value: &Value, dry: bool) -> Result<(), ApiError> {
    if !resource.namespaced {
        return Ok(());
    }
    let quotas = state.store.all(&RESOURCE_QUOTAS, Some(namespace));
    if quotas.is_empty() {
        return Ok(());
    }
    let now = state.clock.wall();
    let used = usage(resource, value, now);
    let checks: Vec<_> = quotas.iter().filter(|quota| matches(&quota.value(), resource, value)).collect();
    for quota in &checks {
        check(resource, value, &quota.value(), &used)?;
    }
    if dry {
        return Ok(());
    }
    for (done, quota) in checks.iter().enumerate() {
        let counted = state.store.write(&quota.key, |old| {
            let Some(old) = old.map(|old| old.value()) else { return Ok(Write::Keep) };
            check(resource, value, &old, &used).map(|delta| count(old, &delta, Quantity::add))
        });
        if let Err(error) = counted {
            // Somebody was faster. What the quotas before have counted is given back.
            for quota in checks.iter().take(done) {
                state.store.write::<ApiError>(&quota.key, |old| {
                    let Some(old) = old.map(|old| old.value()) else { return Ok(Write::Keep) };
                    let delta = relevant(&old, &used);
                    Ok(count(old, &delta, Quantity::sub))
                })?;
            }
            return Err(error);
        }
    }
    Ok(())
}

fn count(mut quota: Value, delta: &Amounts, add: fn(Quantity, Quantity) -> Quantity) -> Write {
    if delta.is_empty() {
        return Write::Keep;
    }
    let status = section(&mut quota, "status");
    if let Some(used) = status.entry("used").or_insert_with(|| json!({})).as_object_mut() {
        for (name, more) in delta {
            let before = used.get(name).and_then(amount).unwrap_or(Quantity::ZERO);
            used.insert(name.clone(), add(before, *more).to_string().into());
        }
    }
    Write::Put(quota)
}

/// The part of what is used that a quota limits.
fn relevant(quota: &Value, used: &Amounts) -> Amounts {
    let hard = map(quota, "/status/hard");
    used.iter()
        .filter(|(name, amount)| hard.contains_key(*name) && **amount != Quantity::ZERO)
        .map(|(name, amount)| (name.clone(), *amount))
        .collect()
}

/// What an object takes of a quota, if there is room for it.
fn check(resource: &Resource, value: &Value, quota: &Value, used: &Amounts) -> Result<Amounts, ApiError> {
    let refuse = |why: String| Err(ApiError::forbidden(resource, text(value, "/metadata/name"), &why));
    let name = text(quota, "/metadata/name");
    let (hard, already) = (map(quota, "/status/hard"), map(quota, "/status/used"));
    let concerned: Vec<_> = hard.keys().filter(|name| concerns(resource, name)).collect();
    if resource == &PODS
        && let Some(missing) = missing(value, &concerned)
    {
        return refuse(format!("failed quota: {name}: must specify {missing}"));
    }
    if concerned.iter().any(|name| !already.contains_key(*name)) {
        let names: Vec<_> = concerned.iter().map(|name| name.as_str()).collect();
        return refuse(format!("status unknown for quota: {name}, resources: {}", names.join(",")));
    }
    let delta = relevant(quota, used);
    let of = |amounts: &Map<String, Value>, name: &str| amounts.get(name).and_then(amount).unwrap_or(Quantity::ZERO);
    let exceeded: Vec<_> =
        delta.iter().filter(|(name, more)| of(already, name) + **more > of(hard, name)).map(|(name, _)| name).collect();
    if exceeded.is_empty() {
        return Ok(delta);
    }
    let said = |of: &dyn Fn(&str) -> Quantity| {
        exceeded.iter().map(|name| format!("{name}={}", of(name))).collect::<Vec<_>>().join(",")
    };
    refuse(format!(
        "exceeded quota: {name}, requested: {}, used: {}, limited: {}",
        said(&|name| delta.get(name).copied().unwrap_or(Quantity::ZERO)),
        said(&|name| of(already, name)),
        said(&|name| of(hard, name)),
    ))
}

/// Whether a name in a quota is about objects of this resource.
fn concerns(resource: &Resource, name: &str) -> bool {
    if name == format!("count/{}", resource.qualified()) {
        return true;
    }
    match resource.plural {
        "pods" => {
            name == "pods"
                || ["cpu", "memory", "ephemeral-storage"]
                    .iter()
                    .any(|base| name == *base || name == format!("requests.{base}") || name == format!("limits.{base}"))
                || name.starts_with("hugepages-")
                || name.starts_with("requests.hugepages-")
                || name.strip_prefix("requests.").is_some_and(|rest| rest.contains('/'))
        }
        "persistentvolumeclaims" => {
            matches!(name, "persistentvolumeclaims" | "requests.storage")
                || name.contains(".storageclass.storage.k8s.io/")
        }
        "resourcequotas" => name == "resourcequotas",
        _ => false,
    }
}

/// Where a quota limits processors or memory, every container must say what it wants.
fn missing(pod: &Value, concerned: &[&String]) -> Option<String> {
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in list(pod, "/spec/containers").iter().chain(list(pod, "/spec/initContainers")) {
        let said = compute(&amounts(container, "requests"), &amounts(container, "limits"));
        for name in concerned.iter().map(|name| name.as_str()) {
            let must = ["cpu", "memory"]
                .iter()
                .any(|base| name == *base || name == format!("requests.{base}") || name == format!("limits.{base}"));
            if must && !said.contains_key(name) {
                missing.entry(name).or_default().insert(text(container, "/name"));
            }
        }
    }
    let said = missing
        .into_iter()
        .map(|(name, containers)| format!("{name} for: {}", containers.into_iter().collect::<Vec<_>>().join(",")));
    let said: Vec<_> = said.collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn compute(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut used = Amounts::new();
    for (name, amount) in requests {
        let plain = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        if plain {
            used.insert(name.clone(), *amount);
        }
        if plain || name.contains('/') {
            used.insert(format!("requests.{name}"), *amount);
        }
    }
    for (name, amount) in limits {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            used.insert(format!("limits.{name}"), *amount);
        }
    }
    used
}

fn counts(pod: &Value, now: Timestamp) -> bool {
    if is_last_phase(text(pod, "/status/phase")) {
        return false;
    }
    let until = text(pod, "/metadata/deletionTimestamp").parse::<Timestamp>().ok();
    let grace = int(pod, "/metadata/deletionGracePeriodSeconds").and_then(|grace| u64::try_from(grace).ok());
    match (until, grace) {
        (Some(until), Some(grace)) => until.checked_add(Duration::from_secs(grace)).is_ok_and(|end| now <= end),
        _ => true,
    }
}

/// What a Pod needs: of its containers together, or of the hungriest init container if that is more.
fn requests(pod: &Value, what: &str) -> Amounts {
    let mut sum = Amounts::new();
    let mut add = |amounts: Amounts| {
        for (name, amount) in amounts {
            let before = sum.get(&name).copied().unwrap_or(Quantity::ZERO);
            sum.insert(name, before + amount);
        }
    };
    list(pod, "/spec/containers").iter().for_each(|container| add(amounts(container, what)));
    let mut beside = Amounts::new();
    let mut most = Amounts::new();
    for container in list(pod, "/spec/initContainers") {
        let own = amounts(container, what);
        let stays = text(container, "/restartPolicy") == "Always";
        for (name, amount) in own {
            let before = beside.get(&name).copied().unwrap_or(Quantity::ZERO);
            let with = before + amount;
            if stays {
                beside.insert(name.clone(), with);
                add(Amounts::from([(name.clone(), amount)]));
            }
            let largest = most.entry(name).or_insert(Quantity::ZERO);
            if with > *largest {
                *largest = with;
            }
        }
    }
    for (name, amount) in most {
        let now = sum.entry(name).or_insert(Quantity::ZERO);
        if amount > *now {
            *now = amount;
        }
    }
    sum
}

fn amounts(container: &Value, what: &str) -> Amounts {
    let said = map(container, &format!("/resources/{what}")).iter();
    said.filter_map(|(name, value)| Some((name.clone(), amount(value)?))).collect()
}

fn amount(value: &Value) -> Option<Quantity> {
    value.as_str().and_then(|text| Quantity::parse(text).ok())
}

/// The quality of service of a Pod.
pub fn quality(pod: &Value) -> &'static str {
    let (mut requests, mut limits, mut all_limited) = (Amounts::new(), Amounts::new(), true);
    for container in list(pod, "/spec/containers").iter().chain(list(pod, "/spec/initContainers")) {
        let mut limited = 0;
        for (what, sums) in [("requests", &mut requests), ("limits", &mut limits)] {
            for (name, amount) in amounts(container, what) {
                if matches!(name.as_str(), "cpu" | "memory") && amount > Quantity::ZERO {
                    limited += usize::from(what == "limits");
                    let sum = sums.entry(name).or_insert(Quantity::ZERO);
                    *sum += amount;
                }
            }
        }
        all_limited &= limited == 2;
    }
    match () {
        () if requests.is_empty() && limits.is_empty() => "BestEffort",
        () if all_limited && requests == limits => "Guaranteed",
        () => "Burstable",
    }
}

#[cfg(test)]
mod tests;
