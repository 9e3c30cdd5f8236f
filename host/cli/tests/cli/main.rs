//! The built command line as a user meets it, without a Kubernetes.

#[cfg(test)]
mod home;
#[cfg(unix)]
mod interrupt;
mod offline;
