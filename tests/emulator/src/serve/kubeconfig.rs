//! Kubeconfig files that need no other file.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::ServeError;

/// The first line of each file: what says that it may be replaced.
const MARK: &str = "# Written by kube-emulator, for as long as it runs.";

/// What a user shows.
#[derive(Clone, Copy)]
pub enum Access<'a> {
    /// A certificate and its key, in PEM.
    Certificate {
        /// The certificate.
        certificate: &'a str,
        /// The key.
        key: &'a str,
    },
    /// A token.
    Token(&'a str),
    /// Nothing.
    Anonymous,
}

impl fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Certificate { .. } => "Certificate",
            Access::Token(_) => "Token",
            Access::Anonymous => "Anonymous",
        })
    }
}

pub(super) struct Kubeconfig<'a> {
    pub(super) server: &'a str,
    /// In PEM.
    pub(super) authority: &'a str,
    pub(super) user: &'a str,
    pub(super) access: &'a Access<'a>,
}

impl fmt::Display for Kubeconfig<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A JSON text is one of YAML, whatever is in it.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let encoded = |pem: &str| STANDARD.encode(pem);
        let (user, server, authority) = (quoted(self.user), quoted(self.server), encoded(self.authority));
        let access = match self.access {
            Access::Certificate { certificate, key } => {
                format!("client-certificate-data: {}, client-key-data: {}", encoded(certificate), encoded(key))
            }
            Access::Token(token) => format!("token: {}", quoted(token)),
            Access::Anonymous => String::new(),
        };
        writeln!(f, "{MARK}")?;
        writeln!(f, "apiVersion: v1\nkind: Config\ncurrent-context: kube-emulator\nclusters:")?;
        writeln!(
            f,
            "- {{name: kube-emulator, cluster: {{server: {server}, certificate-authority-data: {authority}}}}}"
        )?;
        writeln!(f, "users:\n- {{name: {user}, user: {{{access}}}}}")?;
        writeln!(f, "contexts:\n- {{name: kube-emulator, context: {{cluster: kube-emulator, user: {user}}}}}")
    }
}

pub(super) fn make_folder(folder: &Path) -> Result<(), ServeError> {
    fs::create_dir_all(folder).map_err(|source| ServeError::Write { path: folder.to_owned(), source })
}

/// Files that were written. They stay when this is dropped.
pub struct Written {
    files: Vec<(PathBuf, String)>,
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.paths()).finish()
    }
}

impl Written {
    /// Where they are, the administrator's kubeconfig first.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// Takes them away, but not what somebody else put in their place.
    pub fn remove(self) {
        for (path, text) in self.files {
            if fs::read(&path).is_ok_and(|now| now == text.as_bytes()) {
                // Who removed it in between wanted the same.
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// Writes all files, or none if a kubeconfig of somebody else is in the way.
pub(super) fn write(files: Vec<(PathBuf, String)>) -> Result<Written, ServeError> {
    for (path, text) in &files {
        // The others, a token and a certificate, stand beside one and cannot be told apart.
        if text.starts_with(MARK) && is_foreign(path).map_err(|source| failed(path, source))? {
            return Err(ServeError::Foreign { path: path.clone() });
        }
    }
    for (path, text) in &files {
        replace(path, text).map_err(|source| failed(path, source))?;
    }
    Ok(Written { files })
}

fn failed(path: &Path, source: io::Error) -> ServeError {
    ServeError::Write { path: path.to_owned(), source }
}

fn is_foreign(path: &Path) -> io::Result<bool> {
    match fs::read(path) {
        Ok(text) => Ok(!text.starts_with(MARK.as_bytes()) && !text.is_empty()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Puts a file in the place of another at once, so that nobody reads a half, and never readable by others.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let fresh = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&fresh).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        drop(file);
        fs::rename(&fresh, path)
    });
    if written.is_err() {
        // What remains of it, if anything does.
        let _ = fs::remove_file(&fresh);
    }
    written
}
