//! Who asks: bearer tokens and client certificates, tried in the order in which the real server tries them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};

use crate::call::User;
use crate::error::ApiError;

/// What a client showed when the connection was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Certificate {
    /// None.
    #[default]
    Absent,
    /// One that names this user.
    Of(User),
    /// One that is not to be trusted: of another authority, or not of this time.
    Invalid,
}

impl From<Option<User>> for Certificate {
    fn from(user: Option<User>) -> Certificate {
        user.map_or(Certificate::Absent, Certificate::Of)
    }
}

/// A digest, so that no token stands in memory longer than its owner keeps it.
type Mark = [u8; 32];

/// Every credential that is known.
#[derive(Default)]
pub struct Identities {
    tokens: Mutex<HashMap<Mark, User>>,
    certificates: Mutex<HashMap<Mark, User>>,
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identities")
    }
}

fn mark(bytes: &[u8]) -> Mark {
    Sha256::digest(bytes).into()
}

// What is guarded is one map, whole at any time.
fn lock(map: &Mutex<HashMap<Mark, User>>) -> MutexGuard<'_, HashMap<Mark, User>> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Identities {
    /// From now on this token is this user's. `system:authenticated` must be among the groups already, as
    /// [`User::authenticated`] sees to.
    pub fn add_token(&self, token: &str, user: User) {
        lock(&self.tokens).insert(mark(token.as_bytes()), user);
    }

    /// From now on nobody knows this token: what a client sees whose token ran out.
    pub fn remove_token(&self, token: &str) {
        lock(&self.tokens).remove(&mark(token.as_bytes()));
    }

    /// Remembers whose certificate this is, so that none has to be taken apart to tell.
    pub(crate) fn add_certificate(&self, der: &[u8], mut user: User) {
        let mark = mark(der);
        let digest: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
        let id = vec![format!("X509SHA256={digest}")];
        user.extra.insert("authentication.kubernetes.io/credential-id".to_owned(), id);
        lock(&self.certificates).insert(mark, user);
    }

    /// Whose certificate this is. Whether it is to be trusted is another question.
    pub(crate) fn of_certificate(&self, der: &[u8]) -> Option<User> {
        lock(&self.certificates).get(&mark(der)).cloned()
    }

    /// Who sent a request with these headers.
    ///
    /// # Errors
    /// 401 when a credential was shown and none of them is any good. The server does not take such a client for one
    /// without a credential.
    pub fn authenticate(&self, headers: &HeaderMap, certificate: &Certificate) -> Result<User, ApiError> {
        if let Certificate::Of(user) = certificate {
            return Ok(user.clone());
        }
        match bearer(headers) {
            Some(token) => lock(&self.tokens).get(&mark(token.as_bytes())).cloned().ok_or_else(unauthorized),
            None if *certificate == Certificate::Invalid => Err(unauthorized()),
            None => Ok(User::anonymous()),
        }
    }
}

fn unauthorized() -> ApiError {
    ApiError::new(401, "Unauthorized", "Unauthorized")
}

/// The token, as the real server finds it: any other scheme is no credential, an empty token neither.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let mut parts = text.trim().splitn(3, ' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| token.to_owned())
}

#[cfg(test)]
mod tests;
