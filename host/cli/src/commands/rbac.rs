//! `rbac`: the smallest role for what the commands do. No engine is asked, and no credential is needed.

use std::ffi::OsString;

use workload_host::model::Fault;
use workload_host::rbac::{self, Subject};
use workload_host::{Places, transport};

use super::Session;
use crate::args::Rbac;
use crate::connect;
use crate::exit::Exit;
use crate::output::roles;
use crate::output::table::plain;

/// A list of files of which none is there. One that is missing beside others is passed over, as `kubectl` does.
fn nowhere(list: Option<OsString>) -> Option<OsString> {
    let list = list.filter(|list| !list.is_empty())?;
    let found = std::env::split_paths(&list).any(|path| path.exists());
    (!found).then_some(list)
}

impl Session<'_> {
    pub(super) async fn rbac(&mut self, command: Rbac) -> Result<Exit, Fault> {
        let options = connect::kubeconfig(&self.global);
        let find = move || transport::namespace(&options).map_err(|error| connect::configuration(&error));
        let namespace = self.read(find).await?;
        let chosen = self.global.kubeconfig.is_some() || self.global.namespace.is_some();
        if !chosen && let Some(list) = self.read(|| Ok(nowhere(std::env::var_os("KUBECONFIG")))).await? {
            let list = plain(&list.to_string_lossy());
            let warning =
                format!("warning: no file that KUBECONFIG names is there ({list}); the namespace is {namespace}\n");
            self.console.notice(&warning);
        }
        let places = if command.all_namespaces { Places::All } else { Places::only([namespace.as_str()]) };
        let global = self.global.clone();
        let grants = self.prepare(connect::grants(&global, places)).await?;

        let accounts = command.service_account.into_iter();
        let accounts = accounts.map(|found| Subject::ServiceAccount { namespace: found.namespace, name: found.name });
        let named = command.user.into_iter().map(Subject::User).chain(command.group.into_iter().map(Subject::Group));
        let mut subjects: Vec<Subject> = named.chain(accounts).collect();
        let by_default = subjects.is_empty();
        if by_default {
            subjects.push(Subject::ServiceAccount { namespace, name: rbac::NAME.to_owned() });
        }
        let roles = rbac::roles(&grants, &subjects);
        self.console.either(|_| roles::yaml(&roles, by_default), &roles::list(&roles));
        Ok(Exit::Ok)
    }
}
