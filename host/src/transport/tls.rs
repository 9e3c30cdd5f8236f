//! The TLS configuration: whom we trust and who we are.
//!
//! Made with rustls itself and not by kube's helper, which needs a process-wide default provider (and panics when two
//! are linked) and runs exec plugins while it builds.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// Whom to trust.
pub(super) enum Trust {
    /// The certificate authorities in these PEM texts.
    Authorities(Vec<u8>),
    /// The machine's own, as `kubectl` does without a `certificate-authority`.
    System,
    /// Anyone: `insecure-skip-tls-verify`.
    Anyone,
}

/// Which part could not be used, and why.
#[derive(Debug)]
pub(super) enum Bad {
    Authorities(&'static str),
    System,
    Certificate(&'static str),
    Key(&'static str),
}

/// A client's configuration and the name to verify the server by, when it is not the host.
#[derive(Clone)]
pub(super) struct Tls {
    config: ClientConfig,
    server_name: Option<ServerName<'static>>,
}

impl Tls {
    /// `identity` is the PEM of the certificate chain and of its key.
    pub(super) fn new(
        trust: Trust,
        identity: Option<(&[u8], &[u8])>,
        server_name: Option<ServerName<'static>>,
    ) -> Result<Tls, Bad> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|_| Bad::System)?;
        let builder = match trust {
            Trust::Authorities(pem) => builder.with_root_certificates(authorities(&pem).map_err(Bad::Authorities)?),
            Trust::System => builder.with_platform_verifier().map_err(|_| Bad::System)?,
            Trust::Anyone => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(VerifiesNothing { provider }))
            }
        };
        let config = match identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let (chain, key) = (certificates(chain).map_err(Bad::Certificate)?, private_key(key)?);
                builder.with_client_auth_cert(chain, key).map_err(|error| match error {
                    rustls::Error::InconsistentKeys(_) => Bad::Key("it does not belong to the client certificate"),
                    _ => Bad::Key("it is of no supported kind"),
                })?
            }
        };
        Ok(Tls { config, server_name })
    }

    /// A configuration with an own cache of TLS sessions, so that none is resumed by another user of the connection.
    pub(super) fn config(&self) -> ClientConfig {
        let mut config = self.config.clone();
        config.resumption = rustls::client::Resumption::default();
        config
    }

    pub(super) fn server_name(&self) -> Option<ServerName<'static>> {
        self.server_name.clone()
    }
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, &'static str> {
    let mut store = RootCertStore::empty();
    for certificate in certificates(pem)? {
        store.add(certificate).map_err(|_| "it holds a certificate that cannot be read")?;
    }
    Ok(store)
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, &'static str> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|_| "it is not valid PEM")?;
    if found.is_empty() {
        return Err("it holds no certificate in PEM");
    }
    Ok(found)
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, Bad> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound => Bad::Key("it holds no private key in PEM that is not encrypted"),
        _ => Bad::Key("it is not valid PEM"),
    })
}

/// Accepts any certificate; the peer must still hold the key of the one it shows.
struct VerifiesNothing {
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for VerifiesNothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerifiesNothing")
    }
}

impl ServerCertVerifier for VerifiesNothing {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
