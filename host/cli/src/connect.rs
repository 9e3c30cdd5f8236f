//! From the options to a Manager with one provider that may do what the command needs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use workload_host::model::{Fault, FaultKind};
use workload_host::transport::{ConfigError, Connection, KubeconfigOptions, TransportLimits};
use workload_host::{Error, Manager, Places, Provider, Settings, Source};
use workload_policy::Grants;

use crate::args::Global;
use crate::requests::Told;
use crate::{ids, ownership};

/// The built-in provider: the finished component that the build script found.
const KUBERNETES: &[u8] = include_bytes!(env!("WORKLOAD_KUBERNETES_COMPONENT"));

/// How the Manager of this process calls its one provider.
pub const PROVIDER: &str = "kubernetes";

/// What the operator gives without a configuration: all that Deployments need, and nothing that needs a grant by name.
/// Pods and events are only looked at.
const GIVEN: [&str; 7] =
    ["deployments:*", "deployments/scale:*", "replicasets:*", "pods:get", "pods:list", "pods:watch", "events:list"];

/// The component that the options name.
pub fn source(global: &Global) -> Source {
    match &global.component {
        Some(file) => Source::File(file.clone()),
        None => Source::Bytes(Cow::Borrowed(KUBERNETES)),
    }
}

/// The same for a person.
pub fn source_name(global: &Global) -> String {
    match &global.component {
        Some(file) => file.display().to_string(),
        None => "built-in".to_owned(),
    }
}

/// The cluster that the options name.
///
/// # Errors
/// What is wrong with the kubeconfig.
pub fn connection(global: &Global) -> Result<Connection, Fault> {
    let connection = Connection::from_kubeconfig(kubeconfig(global)).map_err(|error| configuration(&error))?;
    // What was typed was checked; what the kubeconfig says was not.
    if !ids::is_place(connection.namespace()) {
        let message = format!("the namespace {:?} of the context cannot be one", connection.namespace());
        return Err(Fault::new(FaultKind::Configuration, message));
    }
    Ok(connection)
}

/// Which kubeconfig the options name.
pub fn kubeconfig(global: &Global) -> KubeconfigOptions {
    KubeconfigOptions {
        file: global.kubeconfig.clone(),
        context: global.context.clone(),
        namespace: global.namespace.clone(),
    }
}

/// What the provider may do in these places: what [`manager`] gives it.
///
/// # Errors
/// What is wrong with the component, or with a place.
pub async fn grants(global: &Global, places: Places) -> Result<Grants, Fault> {
    let file = global.component.as_deref();
    let inspected = empty_manager()?.inspect(source(global)).await;
    let descriptor = inspected.map_err(|error| unusable_file(&error, file))?.descriptor;
    let given = GIVEN.map(str::to_owned);
    workload_host::grants(PROVIDER, &descriptor, &given, places).map_err(|error| unusable_file(&error, file))
}

/// A Manager without a provider.
///
/// # Errors
/// The sandbox cannot be set up on this machine.
pub fn empty_manager() -> Result<Manager, Fault> {
    Manager::new(Settings::default()).map_err(|error| unusable(&error))
}

/// A Manager whose provider may reach the cluster in these places, and with these settings of its own.
///
/// # Errors
/// What is wrong with the component, or with what it asks for.
pub async fn manager(
    global: &Global,
    connection: &Connection,
    places: Option<BTreeSet<String>>,
    settings: Vec<(String, String)>,
) -> Result<Manager, Fault> {
    let upstream = connection.upstream(TransportLimits::default()).map_err(|error| configuration(&error))?;
    let provider = Provider {
        upstream: Arc::new(Told::new(upstream)),
        given: GIVEN.map(str::to_owned).to_vec(),
        places: places.map_or(Places::All, Places::Only),
        ownership: ownership::ownership(global),
        settings,
    };
    let manager = empty_manager()?;
    manager
        .load(PROVIDER, source(global), provider)
        .await
        .map_err(|error| unusable_file(&error, global.component.as_deref()))?;
    Ok(manager)
}

/// What is wrong with a kubeconfig, as a fault.
pub fn configuration(error: &ConfigError) -> Fault {
    Fault::new(FaultKind::Configuration, chain(error))
}

/// Why a component cannot be used, as a fault.
pub fn unusable(error: &Error) -> Fault {
    let kind = match error {
        Error::Describe { fault } => return Fault { message: chain(error), ..fault.clone() },
        Error::NoProvider { .. } | Error::Sandbox { .. } => FaultKind::Internal,
        _ => FaultKind::Configuration,
    };
    Fault::new(kind, chain(error))
}

/// The same with the file in front, where the error is about one and does not name it.
pub fn unusable_file(error: &Error, file: Option<&Path>) -> Fault {
    let mut fault = unusable(error);
    let about_file =
        !matches!(error, Error::Read { .. } | Error::NoProvider { .. } | Error::Sandbox { .. } | Error::Grants { .. });
    if let Some(file) = file.filter(|_| about_file) {
        fault.message = format!("{}: {}", file.display(), fault.message);
    }
    fault
}

/// An error and its sources in one sentence.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let said = error.downcast_ref().map_or_else(|| error.to_string(), crate::text::io_error);
        let _ = write!(text, ": {said}");
        source = error.source();
    }
    text
}
