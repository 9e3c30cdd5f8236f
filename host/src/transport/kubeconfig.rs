//! From a kubeconfig to a [`Connection`]: which files, which context of them, and what it says.

mod files;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{AuthInfo, Cluster, Context, Kubeconfig};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use secrecy::{ExposeSecret as _, SecretString, zeroize::Zeroizing};

use super::credentials::{Credentials, Token, TokenFile, Unusable};
use super::endpoint::Endpoint;
use super::origin::{Origin, Trusted};
use super::tls::{Bad, Tls, Trust};
use super::validity::Validity;
use super::{ConfigError, Connection};
use files::{Found, Merged, find};

/// Where a Pod finds its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Which kubeconfig, and which of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KubeconfigOptions {
    /// Read this file and no other; it must exist.
    pub file: Option<PathBuf>,
    /// The context, instead of the current one.
    pub context: Option<String>,
    /// The namespace, instead of the context's.
    pub namespace: Option<String>,
}

/// What the environment says. A value of its own, so that tests need not change the process's.
pub(super) struct Surroundings {
    pub(super) kubeconfig: Option<OsString>,
    pub(super) home: Option<PathBuf>,
    /// `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, when both are set.
    pub(super) service: Option<(String, String)>,
    pub(super) service_account: PathBuf,
}

impl Surroundings {
    pub(super) fn of_process() -> Surroundings {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Surroundings {
            kubeconfig: std::env::var_os("KUBECONFIG"),
            home: std::env::home_dir(),
            service: variable("KUBERNETES_SERVICE_HOST").zip(variable("KUBERNETES_SERVICE_PORT")),
            service_account: PathBuf::from(SERVICE_ACCOUNT),
        }
    }
}

/// See [`Connection::from_kubeconfig`].
pub(super) fn connection(options: &KubeconfigOptions, around: &Surroundings) -> Result<Connection, ConfigError> {
    let (mut connection, namespace) = match find(options, around)? {
        Found::Merged(merged) => selected(&merged, options.context.as_deref())?,
        Found::Nothing { looked, named } => match &around.service {
            Some((host, port)) if options.context.is_none() && !named => {
                in_cluster(host, port, &around.service_account)?
            }
            _ => return Err(ConfigError::NoKubeconfig { looked }),
        },
    };
    let asked = options.namespace.clone().filter(|name| !name.is_empty());
    connection.namespace = asked.or(namespace).filter(|name| !name.is_empty()).unwrap_or_else(|| "default".to_owned());
    Ok(connection)
}

/// See [`super::namespace`].
pub(super) fn namespace(options: &KubeconfigOptions, around: &Surroundings) -> Result<String, ConfigError> {
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    if let Some(asked) = given(&options.namespace) {
        return Ok(asked);
    }
    let found = match find(options, around)? {
        Found::Merged(merged) => match chosen(&merged.config, options.context.as_deref()) {
            Ok((_, context)) => context.namespace.clone(),
            Err(ConfigError::NoContext { .. }) => None,
            Err(error) => return Err(error),
        },
        Found::Nothing { looked, .. } if options.context.is_some() => {
            return Err(ConfigError::NoKubeconfig { looked });
        }
        Found::Nothing { named, .. } if !named && around.service.is_some() => of_the_pod(&around.service_account),
        Found::Nothing { .. } => None,
    };
    Ok(given(&found).unwrap_or_else(|| "default".to_owned()))
}

/// A connection whose namespace is still to be decided, and the one that the source names.
type Unnamed = (Connection, Option<String>);

/// The context that is meant, with its name.
fn chosen<'a>(config: &'a Kubeconfig, wanted: Option<&'a str>) -> Result<(&'a str, &'a Context), ConfigError> {
    let available = || {
        let names: Vec<&str> = config.contexts.iter().map(|named| named.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let current = config.current_context.as_deref().filter(|name| !name.is_empty());
    let name = wanted.or(current).ok_or_else(|| ConfigError::NoContext { available: available() })?;
    let context = config
        .contexts
        .iter()
        .find(|named| named.name == name)
        .and_then(|named| named.context.as_ref())
        .ok_or_else(|| ConfigError::ContextNotFound { context: name.to_owned(), available: available() })?;
    Ok((name, context))
}

fn selected(merged: &Merged, wanted: Option<&str>) -> Result<Unnamed, ConfigError> {
    let config = &merged.config;
    let (name, context) = chosen(config, wanted)?;
    let cluster = config
        .clusters
        .iter()
        .find(|named| named.name == context.cluster)
        .and_then(|named| named.cluster.as_ref())
        .ok_or_else(|| ConfigError::ClusterNotFound { context: name.to_owned(), cluster: context.cluster.clone() })?;
    let user = match context.user.as_deref().filter(|user| !user.is_empty()) {
        None => None,
        Some(user) => Some(
            config
                .auth_infos
                .iter()
                .find(|named| named.name == user)
                .map(|named| named.auth_info.clone().unwrap_or_default())
                .ok_or_else(|| ConfigError::UserNotFound { context: name.to_owned(), user: user.to_owned() })?,
        ),
    };
    let origin = merged.origin(name, context);
    let connection = Checked { name, context, cluster, user: &user.unwrap_or_default() }.connection(origin)?;
    Ok((connection, context.namespace.clone()))
}

/// The PEM of a client certificate, and of its key.
type Identity = (Zeroizing<Vec<u8>>, Zeroizing<Vec<u8>>);

/// One context with what it names.
struct Checked<'a> {
    name: &'a str,
    context: &'a Context,
    cluster: &'a Cluster,
    user: &'a AuthInfo,
}

impl Checked<'_> {
    fn connection(&self, mut origin: Origin) -> Result<Connection, ConfigError> {
        self.refuse_unsupported()?;
        let cluster = || self.context.cluster.clone();
        let server = present(self.cluster.server.as_deref());
        let server = server.ok_or_else(|| ConfigError::NoServer { cluster: cluster() })?;
        let endpoint = Endpoint::parse(server).map_err(|why| ConfigError::BadServer { cluster: cluster(), why })?;
        let credentials = self.credentials()?;
        let identity = self.identity()?;
        // A client certificate is nothing without TLS. Over loopback without TLS the peer, `kubectl proxy` say,
        // authenticates for us.
        if matches!(credentials, Credentials::None) {
            match (endpoint.tls(), identity.is_some()) {
                (true, false) => return Err(ConfigError::NoCredential { context: self.name.to_owned() }),
                (false, true) => {
                    let why = "a client certificate, the only credential, is of no use without https";
                    return Err(ConfigError::BadServer { cluster: cluster(), why });
                }
                (true, true) | (false, false) => {}
            }
        }
        origin.certificate = identity.as_ref().map(|(certificate, _)| {
            let first = CertificateDer::from_pem_slice(certificate).ok();
            first.and_then(|first| Validity::of_certificate(&first)).unwrap_or_default()
        });
        let (tls, trusted) = self.tls(&endpoint, identity)?;
        origin.trusted = trusted;
        let (namespace, context) = (String::new(), Some(self.name.to_owned()));
        Ok(Connection { endpoint, tls, credentials, namespace, context, origin: Arc::new(origin) })
    }

    /// Each of these would otherwise be passed over, and the request be sent as somebody else or another way.
    fn refuse_unsupported(&self) -> Result<(), ConfigError> {
        let AuthInfo { exec, auth_provider, username, password, .. } = self.user;
        let impersonates = [&self.user.impersonate, &self.user.impersonate_uid].iter().any(|field| given(field))
            || self.user.impersonate_groups.as_ref().is_some_and(|groups| !groups.is_empty())
            || self.user.impersonate_user_extra.as_ref().is_some_and(|extra| !extra.is_empty());
        let password = password.as_ref().is_some_and(|password| !password.expose_secret().is_empty());
        let of_user = [
            ("exec (a credential plugin)", exec.is_some()),
            ("auth-provider", auth_provider.is_some()),
            ("username and password", given(username) || password),
            ("as (impersonation)", impersonates),
        ];
        let user = self.context.user.clone().unwrap_or_default();
        if let Some((field, _)) = of_user.into_iter().find(|(_, used)| *used) {
            return Err(ConfigError::Unsupported { field, of: user });
        }
        if given(&self.cluster.proxy_url) {
            return Err(ConfigError::Unsupported { field: "proxy-url", of: self.context.cluster.clone() });
        }
        Ok(())
    }

    fn bad_user(&self, field: &'static str, why: &'static str) -> ConfigError {
        ConfigError::BadUser { user: self.context.user.clone().unwrap_or_default(), field, why }
    }

    fn bad_cluster(&self, field: &'static str, why: &'static str) -> ConfigError {
        ConfigError::BadCluster { cluster: self.context.cluster.clone(), field, why }
    }

    /// A token file wins over a token, as in client-go.
    fn credentials(&self) -> Result<Credentials, ConfigError> {
        if let Some(path) = present(self.user.token_file.as_deref()) {
            let user = self.context.user.as_deref().unwrap_or_default();
            return token_file(user, "tokenFile", PathBuf::from(path));
        }
        let certificate = given(&self.user.client_certificate) || given(&self.user.client_certificate_data);
        match self.user.token.as_ref().map(SecretString::expose_secret) {
            None => Ok(Credentials::None),
            // Some tools write an empty one beside a certificate.
            Some("") if certificate => Ok(Credentials::None),
            Some(token) => Token::new(token)
                .map(|token| Credentials::Fixed(Arc::new(token)))
                .map_err(|why| self.bad_user("token", why)),
        }
    }

    /// Who we are by TLS.
    fn identity(&self) -> Result<Option<Identity>, ConfigError> {
        let bad = |field, why| self.bad_user(field, why);
        let key_data = self.user.client_key_data.as_ref().map(SecretString::expose_secret);
        let certificate = data_or_file(
            ("client-certificate-data", self.user.client_certificate_data.as_deref()),
            ("client-certificate", self.user.client_certificate.as_deref()),
            bad,
        )?;
        let key = data_or_file(("client-key-data", key_data), ("client-key", self.user.client_key.as_deref()), bad)?;
        match (certificate, key) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (Some(_), None) => Err(self.bad_user("client-certificate", "there is no client-key for it")),
            (None, Some(_)) => Err(self.bad_user("client-key", "there is no client-certificate for it")),
        }
    }

    fn tls(&self, endpoint: &Endpoint, identity: Option<Identity>) -> Result<(Tls, Trusted), ConfigError> {
        let authorities = data_or_file(
            ("certificate-authority-data", self.cluster.certificate_authority_data.as_deref()),
            ("certificate-authority", self.cluster.certificate_authority.as_deref()),
            |field, why| self.bad_cluster(field, why),
        )?;
        let skip = self.cluster.insecure_skip_tls_verify.unwrap_or(false);
        let trusted = match &authorities {
            _ if !endpoint.tls() => Trusted::Nobody,
            Some(_) => Trusted::Authorities,
            None if skip => Trusted::Anybody,
            None => Trusted::System,
        };
        let trust = match authorities {
            Some(_) if skip => {
                let why = "it contradicts a certificate-authority";
                return Err(self.bad_cluster("insecure-skip-tls-verify", why));
            }
            Some(pem) => Trust::Authorities(pem.to_vec()),
            // Without TLS nothing is verified, and a machine without authorities of its own must not matter.
            None if skip || !endpoint.tls() => Trust::Anyone,
            None => Trust::System,
        };
        if skip && endpoint.tls() {
            tracing::warn!(
                cluster = %self.context.cluster,
                "insecure-skip-tls-verify: whoever is in the way can read and use the credential"
            );
        }
        let name = present(self.cluster.tls_server_name.as_deref())
            .map(|name| ServerName::try_from(name.to_owned()))
            .transpose()
            .map_err(|_| self.bad_cluster("tls-server-name", "it is neither a DNS name nor an address"))?;
        if endpoint.tls() && name.is_none() && ServerName::try_from(endpoint.host()).is_err() {
            let why = "its host is neither a DNS name nor an address";
            return Err(ConfigError::BadServer { cluster: self.context.cluster.clone(), why });
        }
        let identity = identity.as_ref().map(|(certificate, key)| (certificate.as_slice(), key.as_slice()));
        let tls = Tls::new(trust, identity, name).map_err(|bad| match bad {
            Bad::Authorities(why) => self.bad_cluster("certificate-authority", why),
            Bad::System => ConfigError::SystemRoots { cluster: self.context.cluster.clone() },
            Bad::Certificate(why) => self.bad_user("client-certificate", why),
            Bad::Key(why) => self.bad_user("client-key", why),
        })?;
        Ok((tls, trusted))
    }
}

/// The service account of the Pod that this runs in: a token file, a certificate authority and a namespace.
fn in_cluster(host: &str, port: &str, directory: &Path) -> Result<Unnamed, ConfigError> {
    let cluster = || "in-cluster".to_owned();
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let endpoint = Endpoint::parse(&format!("https://{host}:{port}"))
        .map_err(|why| ConfigError::BadServer { cluster: cluster(), why })?;
    let credentials = token_file("the service account", "token", directory.join("token"))?;
    let (field, path) = ("the service account's ca.crt", directory.join("ca.crt"));
    let pem = std::fs::read(&path).map_err(|source| ConfigError::File { field, path, source })?;
    let tls = Tls::new(Trust::Authorities(pem), None, None).map_err(|bad| match bad {
        Bad::Authorities(why) => ConfigError::BadCluster { cluster: cluster(), field, why },
        Bad::System | Bad::Certificate(_) | Bad::Key(_) => ConfigError::SystemRoots { cluster: cluster() },
    })?;
    let origin = Arc::new(Origin { trusted: Trusted::Authorities, ..Origin::default() });
    let connection = Connection { endpoint, tls, credentials, namespace: String::new(), context: None, origin };
    Ok((connection, of_the_pod(directory)))
}

/// The namespace that a Pod is in.
fn of_the_pod(directory: &Path) -> Option<String> {
    std::fs::read_to_string(directory.join("namespace")).ok().map(|name| name.trim().to_owned())
}

fn token_file(user: &str, field: &'static str, path: PathBuf) -> Result<Credentials, ConfigError> {
    match TokenFile::open(path.clone()) {
        Ok(file) => Ok(Credentials::File(Arc::new(file))),
        Err(Unusable::Unreadable(source)) => Err(ConfigError::File { field, path, source }),
        Err(Unusable::Bad(why)) => Err(ConfigError::BadUser { user: user.to_owned(), field, why }),
    }
}

/// Data in base64 wins over a file, as in `kubectl`.
fn data_or_file(
    (data_field, data): (&'static str, Option<&str>),
    (file_field, file): (&'static str, Option<&str>),
    bad: impl Fn(&'static str, &'static str) -> ConfigError,
) -> Result<Option<Zeroizing<Vec<u8>>>, ConfigError> {
    if let Some(data) = present(data) {
        // YAML may have folded it into lines.
        let compact: Zeroizing<Vec<u8>> =
            data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<_>>().into();
        let decoded = STANDARD.decode(&*compact).map_err(|_| bad(data_field, "it is not valid base64"))?;
        return Ok(Some(decoded.into()));
    }
    let Some(path) = present(file) else { return Ok(None) };
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes.into())),
        Err(source) => Err(ConfigError::File { field: file_field, path: PathBuf::from(path), source }),
    }
}

fn present(value: Option<&str>) -> Option<&str> {
    value.filter(|value| !value.is_empty())
}

fn given(value: &Option<String>) -> bool {
    value.as_deref().is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
