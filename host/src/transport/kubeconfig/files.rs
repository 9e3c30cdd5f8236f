//! Finding, reading and merging the files.
//!
//! kube gives the format and the merging of two files. The rest is ours: as in `kubectl`, a file of `KUBECONFIG` that
//! does not exist is passed over, and an empty `current-context` does not hide another's.

use std::io;
use std::path::{Path, PathBuf};

use kube::config::{Context, Kubeconfig, KubeconfigError};
use secrecy::zeroize::Zeroizing;

use super::{KubeconfigOptions, Surroundings};
use crate::transport::ConfigError;
use crate::transport::origin::{Kind, Origin, Twice};

/// What was found.
pub(super) enum Found {
    Merged(Box<Merged>),
    /// `named`: a file was asked for, so nothing else may take its place.
    Nothing {
        looked: String,
        named: bool,
    },
}

/// The files that were found, as one.
pub(super) struct Merged {
    pub(super) config: Kubeconfig,
    files: Vec<PathBuf>,
    /// Who defines what: its kind, its name, and the file by its place in `files`.
    defined: Vec<(Kind, String, usize)>,
}

impl Merged {
    fn new() -> Merged {
        Merged { config: Kubeconfig::default(), files: Vec::new(), defined: Vec::new() }
    }

    fn add(&mut self, path: &Path, mut next: Kubeconfig) -> Result<(), ConfigError> {
        let at = self.files.len();
        let names = |named: &dyn Fn(&Kubeconfig) -> Vec<String>, kind| {
            named(&next).into_iter().map(move |name| (kind, name, at)).collect::<Vec<_>>()
        };
        let of_contexts = |config: &Kubeconfig| config.contexts.iter().map(|named| named.name.clone()).collect();
        let of_clusters = |config: &Kubeconfig| config.clusters.iter().map(|named| named.name.clone()).collect();
        let of_users = |config: &Kubeconfig| config.auth_infos.iter().map(|named| named.name.clone()).collect();
        self.defined.extend(names(&of_contexts, Kind::Context));
        self.defined.extend(names(&of_clusters, Kind::Cluster));
        self.defined.extend(names(&of_users, Kind::User));
        self.files.push(path.to_owned());
        next.current_context = next.current_context.filter(|name| !name.is_empty());
        let first = std::mem::take(&mut self.config);
        self.config = if at == 0 { next } else { first.merge(next).map_err(|_| ConfigError::Merge)? };
        Ok(())
    }

    /// Where a context of this comes from.
    pub(super) fn origin(&self, name: &str, context: &Context) -> Origin {
        let user = context.user.clone().filter(|user| !user.is_empty());
        let used =
            [(Kind::Context, Some(name)), (Kind::Cluster, Some(&context.cluster)), (Kind::User, user.as_deref())];
        let twice = used.into_iter().filter_map(|(kind, name)| {
            let name = name?;
            let by = self.defined.iter().filter(|(of, defined, _)| *of == kind && defined == name);
            let files: Vec<PathBuf> = by.filter_map(|(_, _, at)| self.files.get(*at).cloned()).collect();
            (files.len() > 1).then(|| Twice { kind, name: name.to_owned(), files })
        });
        let twice = twice.collect();
        Origin { files: self.files.clone(), cluster: Some(context.cluster.clone()), user, twice, ..Origin::default() }
    }
}

/// Reads what `options` and the environment name.
pub(super) fn find(options: &KubeconfigOptions, around: &Surroundings) -> Result<Found, ConfigError> {
    let mut merged = Merged::new();
    if let Some(path) = &options.file {
        merged.add(path, read(path)?.ok_or_else(|| missing(path))?)?;
        return Ok(Found::Merged(Box::new(merged)));
    }
    let listed = around.kubeconfig.as_ref().filter(|list| !list.is_empty());
    let paths: Vec<PathBuf> = match (listed, &around.home) {
        (Some(list), _) => std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect(),
        (None, Some(home)) => vec![home.join(".kube").join("config")],
        (None, None) => Vec::new(),
    };
    for path in &paths {
        if let Some(next) = read(path)? {
            merged.add(path, next)?;
        }
    }
    if !merged.files.is_empty() {
        return Ok(Found::Merged(Box::new(merged)));
    }
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let looked = if shown.is_empty() { "KUBECONFIG and a home directory".to_owned() } else { shown.join(", ") };
    Ok(Found::Nothing { looked, named: listed.is_some() })
}

fn missing(path: &Path) -> ConfigError {
    ConfigError::Read { path: path.to_owned(), source: io::ErrorKind::NotFound.into() }
}

/// Reads one file; none if it does not exist.
fn read(path: &Path) -> Result<Option<Kubeconfig>, ConfigError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    let invalid = |line| ConfigError::Parse { path: path.to_owned(), line };
    let text = Zeroizing::new(text(&bytes).ok_or_else(|| invalid(None))?);
    let mut config = Kubeconfig::from_yaml(&text).map_err(|error| match error {
        // The text of this error shows lines of the file, so only the number is taken of it.
        KubeconfigError::Parse(error) => invalid(error.location().map(|location| location.line())),
        KubeconfigError::KindMismatch | KubeconfigError::ApiVersionMismatch => ConfigError::Merge,
        _ => invalid(None),
    })?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let absolute = |file: &mut Option<String>| {
        if let Some(relative) = file.as_mut().filter(|file| !file.is_empty()) {
            // A `join` with an absolute path is that path. What is not UTF-8 cannot be named in YAML either.
            if let Some(joined) = directory.join(&*relative).to_str() {
                *relative = joined.to_owned();
            }
        }
    };
    for cluster in config.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        absolute(&mut cluster.certificate_authority);
    }
    for user in config.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
        absolute(&mut user.client_certificate);
        absolute(&mut user.client_key);
        absolute(&mut user.token_file);
    }
    Ok(Some(config))
}

/// UTF-8, or UTF-16 as Windows' tools write it.
fn text(bytes: &[u8]) -> Option<String> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        rest.is_empty().then(|| String::from_utf16(&units).ok()).flatten()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    }
}
