//! The built command line as a user meets it, without a Kubernetes.

#[cfg(test)]
mod completion;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod home;
#[cfg(test)]
mod interrupt;
#[cfg(test)]
mod live;
#[cfg(test)]
mod offline;
#[cfg(test)]
mod screen;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod server;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod watch;
