//! The authority of a server, and the certificates that it gives.

use std::fmt;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    DigitallySignedStruct, DistinguishedName as TlsName, Error as TlsError, RootCertStore, ServerConfig,
    SignatureScheme,
};
use sha2::{Digest, Sha256};

use super::ServeError;
use crate::call::User;

/// A certificate for a client and its key.
#[derive(Clone)]
pub struct Issued {
    /// The certificate, in PEM.
    pub certificate: String,
    /// The key, in PEM and PKCS#8.
    pub key: String,
    pub(crate) der: Vec<u8>,
}

impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Issued")
    }
}

/// When a certificate is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Validity {
    Now,
    Over,
}

/// Signs certificates, and says whether one is among them.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pem: String,
    clients: Arc<dyn ClientCertVerifier>,
    provider: Arc<CryptoProvider>,
}

impl Authority {
    pub(super) fn new() -> Result<Authority, ServeError> {
        let mut params = named("kube-emulator-ca", &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(issuer.der().clone()).map_err(tls)?;
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let clients = clients.allow_unauthenticated().build().map_err(tls)?;
        Ok(Authority { pem: issuer.pem(), issuer, clients, provider })
    }

    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// A token that nobody can guess who does not have the authority's key.
    pub(super) fn token(&self, of: &str) -> String {
        let digest = Sha256::new().chain_update(self.issuer.key().serialized_der()).chain_update(of).finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn issue(&self, user: &User, validity: Validity) -> Result<Issued, ServeError> {
        // Everybody with a credential gets this one from the server.
        let groups = user.groups.iter().map(String::as_str).filter(|group| *group != "system:authenticated");
        let groups: Vec<_> = groups.collect();
        if groups.len() > ORGANISATIONS.len() {
            return Err(ServeError::Groups { user: user.name.clone(), most: ORGANISATIONS.len() });
        }
        let mut params = named(&user.name, &groups);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        if validity == Validity::Over {
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem(), der: certificate.der().to_vec() })
    }

    /// Whether a client's certificates are good now.
    pub(super) fn accepts(&self, certificates: &[CertificateDer<'_>]) -> bool {
        let Some((end, between)) = certificates.split_first() else { return false };
        self.clients.verify_client_cert(end, between, UnixTime::now()).is_ok()
    }

    pub(super) fn server_config(&self) -> Result<Arc<ServerConfig>, ServeError> {
        let mut params = named("kube-apiserver", &[]);
        let names = ["127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
        params.subject_alt_names = CertificateParams::new(names.map(str::to_owned))?.subject_alt_names;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(tls)?
            .with_client_cert_verifier(Arc::new(AskOnly(Arc::clone(&self.clients))))
            .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
            .map_err(tls)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn tls(error: impl std::error::Error + Send + Sync + 'static) -> ServeError {
    ServeError::Tls(Box::new(error))
}

/// Two ways to say "organisation": rcgen keeps one value for each, and a client certificate has one for each group.
const ORGANISATIONS: [fn() -> DnType; 2] = [|| DnType::OrganizationName, || DnType::CustomDnType(vec![2, 5, 4, 10])];

/// A subject whose name is the user and whose organisations are the groups.
fn named(name: &str, groups: &[&str]) -> CertificateParams {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    for (organisation, group) in ORGANISATIONS.iter().zip(groups) {
        subject.push(organisation(), *group);
    }
    let mut params = CertificateParams::default();
    params.distinguished_name = subject;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 1, 1);
    params
}

/// Asks for a certificate and takes any whose key the client has. The real server does the same: it answers 401 to a
/// client with a certificate of somebody else, and does not break the connection.
#[derive(Debug)]
struct AskOnly(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for AskOnly {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[TlsName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _end: &CertificateDer<'_>,
        _between: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
