//! Which certificates of a database server are trusted.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::{Result, StoreError};

/// The trust that the database URL asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TlsTrust {
    /// Any certificate is trusted.
    Anyone,
    /// Certificates that the system trusts are trusted.
    System,
    /// Certificates signed by the roots in this file are trusted.
    Roots(PathBuf),
}

impl TlsTrust {
    pub(super) fn is_strict(&self) -> bool {
        !matches!(self, Self::Anyone)
    }

    pub(super) fn config(&self) -> Result<ClientConfig> {
        let unavailable = |error: crate::BoxError| StoreError::Unavailable(error);
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| unavailable(error.into()))?;
        Ok(match self {
            Self::Anyone => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(NoCertificateCheck(provider)))
                .with_no_client_auth(),
            Self::System => builder
                .with_platform_verifier()
                .map_err(|error| unavailable(error.into()))?
                .with_no_client_auth(),
            Self::Roots(path) => {
                let mut roots = RootCertStore::empty();
                let found = CertificateDer::pem_file_iter(path)
                    .map_err(|error| unavailable(error.into()))?;
                for certificate in found {
                    let certificate = certificate.map_err(|error| unavailable(error.into()))?;
                    roots.add(certificate).map_err(|error| unavailable(error.into()))?;
                }
                builder.with_root_certificates(roots).with_no_client_auth()
            }
        })
    }
}

/// Encrypts without checking the certificate, as `sslmode=prefer` and `sslmode=require` do
/// in all clients.
#[derive(Debug)]
struct NoCertificateCheck(Arc<CryptoProvider>);

impl ServerCertVerifier for NoCertificateCheck {
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
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
