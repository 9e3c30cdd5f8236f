//! A server that the script can run against, described by the files that the real cluster and the emulator both write.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// An administrator by client certificate.
    Admin,
    /// An administrator by token.
    AdminByToken,
    /// A user who may do what the script's own Roles give, by token.
    Nobody,
    /// A token that nobody has.
    BadToken,
    /// Neither certificate nor token.
    Anonymous,
}

/// Where a server is and how to be somebody there.
pub struct Server {
    /// Host and port.
    pub authority: String,
    /// How a client with the administrator's certificate connects, and how one without.
    pub with_certificate: Arc<ClientConfig>,
    pub without: Arc<ClientConfig>,
    admin_token: String,
    nobody_token: String,
}

impl Server {
    /// Reads `kubeconfig`, `kubeconfig-token` and `kubeconfig-nobody` of a folder.
    pub fn from_folder(folder: &Path) -> Result<Server> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("{} (make cluster)", path.display()))
        };
        let (admin, token, nobody) = (read("kubeconfig")?, read("kubeconfig-token")?, read("kubeconfig-nobody")?);
        let pem = |key: &str| -> Result<Vec<u8>> { Ok(STANDARD.decode(field(&admin, key)?)?) };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&pem("certificate-authority-data")?) {
            roots.add(certificate?)?;
        }
        let builder = || -> Result<_> {
            Ok(ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_root_certificates(roots.clone()))
        };
        let chain = CertificateDer::pem_slice_iter(&pem("client-certificate-data")?).collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(&pem("client-key-data")?)?;
        let address = field(&admin, "server")?;
        Ok(Server {
            authority: address.strip_prefix("https://").context("a server that is not https")?.to_owned(),
            with_certificate: Arc::new(builder()?.with_client_auth_cert(chain, key)?),
            without: Arc::new(builder()?.with_no_client_auth()),
            admin_token: field(&token, "token")?,
            nobody_token: field(&nobody, "token")?,
        })
    }

    /// The token somebody shows, if any.
    pub fn token(&self, who: Who) -> Option<&str> {
        match who {
            Who::Admin | Who::Anonymous => None,
            Who::AdminByToken => Some(&self.admin_token),
            Who::Nobody => Some(&self.nobody_token),
            Who::BadToken => Some("a-token-that-nobody-has"),
        }
    }
}

/// The value of a key that occurs once, in block or flow style. Enough for the two programs that write these files.
fn field(text: &str, key: &str) -> Result<String> {
    let name = format!("{key}:");
    let found = text.match_indices(&name).find(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || c == '{' || c == ',')
            && !text[at + name.len()..].trim_start_matches([' ', '"']).is_empty()
            && !text[at + name.len()..].starts_with(" {")
            && !text[at + name.len()..].starts_with('\n')
    });
    let (at, _) = found.ok_or_else(|| anyhow!("a kubeconfig without {key}"))?;
    let rest = text[at + name.len()..].trim_start().trim_start_matches('"');
    let end = rest.find(|c: char| c.is_whitespace() || "\",}".contains(c)).unwrap_or(rest.len());
    Ok(rest[..end].to_owned())
}
