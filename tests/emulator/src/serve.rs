//! The emulator behind a listener: HTTP/1.1 over TLS, on loopback.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::call::User;
use crate::emulator::{Emulator, Running};

mod certificates;
mod connection;
pub mod kubeconfig;
mod listener;
mod tap;

use certificates::Authority;
pub use certificates::Issued;
use kubeconfig::Kubeconfig;
pub use kubeconfig::{Access, Written};
use listener::Door;

/// Why a server could not begin, or could not give what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The certificate is for loopback only, and so is the server: there is nothing secret in it and nothing safe.
    #[error("{0} is not an address of this machine alone; use 127.0.0.1 or [::1]")]
    Address(IpAddr),
    /// The address is taken, or not there.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A certificate could not be made.
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// A certificate has no place for so many groups; a token has.
    #[error("a certificate for {user} has room for {most} groups")]
    Groups {
        /// The user.
        user: String,
        /// How many there can be.
        most: usize,
    },
    /// A name cannot be written into a certificate, or one of ours is not understood.
    #[error("cannot set up TLS")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A file could not be written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is there that was made by somebody else.
    #[error("{path} is there and was not written by kube-emulator; it is left as it is")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
}

/// A server on loopback, and its controllers. It ends when this is dropped.
pub struct Server {
    emulator: Emulator,
    address: SocketAddr,
    authority: Arc<Authority>,
    admin: Issued,
    admin_token: String,
    nobody_token: String,
    door: Door,
    task: JoinHandle<()>,
    _controllers: Running,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Emulator {
    /// Serves at an address of loopback, port 0 for any that is free, and lets the controllers work. Several servers
    /// of one emulator serve the same objects, each with an authority of its own.
    ///
    /// # Errors
    /// When the address is not on loopback or is taken.
    pub async fn listen(&self, address: SocketAddr) -> Result<Server, ServeError> {
        if !address.ip().is_loopback() {
            return Err(ServeError::Address(address.ip()));
        }
        let authority = Arc::new(Authority::new()?);
        let admin = User::authenticated("admin", &["system:masters"]);
        let (admin_token, nobody_token) = (authority.token("admin"), authority.token("nobody"));
        let identities = self.identities();
        let by_token = User::authenticated("admin-by-token", &["system:masters"]).with_uid("admin-by-token");
        identities.add_token(&admin_token, by_token);
        identities.add_token(&nobody_token, User::authenticated("nobody", &[]).with_uid("nobody"));
        let issued = authority.issue(&admin, certificates::Validity::Now)?;
        identities.add_certificate(&issued.der, admin);

        let tls = authority.server_config()?;
        let failed = |source| ServeError::Listen { address, source };
        let listener = listener::Listener::bind(address).map_err(failed)?;
        let address = listener.address();
        let door = listener.door();
        // Before the task runs: an outage could begin and end until then.
        let outages = self.faults().outages();
        let task = tokio::spawn(listener.run(self.clone(), outages, tls, Arc::clone(&authority)));
        Ok(Server {
            emulator: self.clone(),
            address,
            authority,
            admin: issued,
            admin_token,
            nobody_token,
            door,
            task,
            _controllers: self.run_controllers(),
        })
    }
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as a URL without a path.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// What it serves.
    pub fn emulator(&self) -> &Emulator {
        &self.emulator
    }

    /// The certificate of the authority, in PEM.
    pub fn ca_pem(&self) -> &str {
        self.authority.pem()
    }

    /// A certificate and its key, in PEM and PKCS#8, of a user who is allowed everything.
    pub fn admin_certificate(&self) -> (&str, &str) {
        (&self.admin.certificate, &self.admin.key)
    }

    /// The token of a user who is allowed everything.
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// The token of a user who is allowed nothing.
    pub fn nobody_token(&self) -> &str {
        &self.nobody_token
    }

    /// A certificate for any user of any groups.
    ///
    /// # Errors
    /// When a name cannot be written into a certificate.
    pub fn issue(&self, user: &User) -> Result<Issued, ServeError> {
        self.issue_for(user, certificates::Validity::Now)
    }

    /// A certificate whose time is over.
    ///
    /// # Errors
    /// When a name cannot be written into a certificate.
    pub fn issue_expired(&self, user: &User) -> Result<Issued, ServeError> {
        self.issue_for(user, certificates::Validity::Over)
    }

    fn issue_for(&self, user: &User, validity: certificates::Validity) -> Result<Issued, ServeError> {
        let issued = self.authority.issue(user, validity)?;
        self.emulator.identities().add_certificate(&issued.der, user.clone());
        Ok(issued)
    }

    /// The text of a kubeconfig for this server; it needs no other file.
    pub fn kubeconfig(&self, user: &str, access: &Access<'_>) -> String {
        Kubeconfig { server: &self.url(), authority: self.ca_pem(), user, access }.to_string()
    }

    /// The kubeconfig of a user who is allowed everything, by certificate.
    pub fn admin_kubeconfig(&self) -> String {
        let (certificate, key) = self.admin_certificate();
        self.kubeconfig("admin", &Access::Certificate { certificate, key })
    }

    /// Writes `kubeconfig` (by certificate), `kubeconfig-token`, `kubeconfig-nobody` (allowed nothing), `token` and
    /// `ca.crt` into a folder, which is made if it is not there. Only the owner can read them.
    ///
    /// # Errors
    /// When a file cannot be written, or a kubeconfig of somebody else is in the way.
    pub fn write_kubeconfigs(&self, folder: &Path) -> Result<Written, ServeError> {
        let files = [
            ("kubeconfig", self.admin_kubeconfig()),
            ("kubeconfig-token", self.kubeconfig("admin-by-token", &Access::Token(&self.admin_token))),
            ("kubeconfig-nobody", self.kubeconfig("nobody", &Access::Token(&self.nobody_token))),
            ("token", format!("{}\n", self.admin_token)),
            ("ca.crt", self.ca_pem().to_owned()),
        ];
        let files: Vec<_> = files.into_iter().map(|(name, text)| (folder.join(name), text)).collect();
        kubeconfig::make_folder(folder)?;
        kubeconfig::write(files)
    }

    /// Writes the kubeconfig of a user who is allowed everything. Only the owner can read it.
    ///
    /// # Errors
    /// When the file cannot be written, or is a kubeconfig of somebody else.
    pub fn write_kubeconfig(&self, file: &Path) -> Result<Written, ServeError> {
        kubeconfig::write(vec![(file.to_owned(), self.admin_kubeconfig())])
    }

    /// The server is gone: its connections are reset and new ones refused, for so long or until
    /// [`Faults::accept`](crate::fault::Faults::accept). Returns when it is so.
    pub async fn refuse(&self, time: Option<Duration>) {
        let door = self.door.now();
        self.emulator.faults().refuse(time);
        door.closed().await;
    }

    /// The server is back. Returns when it is so.
    pub async fn accept(&self) {
        self.emulator.faults().accept();
        self.door.open().await;
    }

    /// Waits until new connections are accepted, after an outage that ends by itself.
    pub async fn until_listening(&self) {
        self.door.open().await;
    }

    /// Ends it, and returns when the port is free and every connection is closed.
    pub async fn close(mut self) {
        self.task.abort();
        // An error is what an aborted task ends with.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}
