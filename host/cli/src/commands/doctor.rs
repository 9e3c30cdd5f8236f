//! `doctor`: what stands between this machine and its engine. It is the host's own: no operation of a provider runs.

use workload_host::model::Fault;
use workload_host::transport::Connection;
use workload_host::{Places, doctor};

use super::Session;
use crate::args::{Doctor, Format};
use crate::connect;
use crate::exit::Exit;
use crate::output::checks;

impl Session<'_> {
    pub(super) async fn doctor(&mut self, command: Doctor) -> Result<Exit, Fault> {
        let options = connect::kubeconfig(&self.global);
        let connection = self.read(move || Ok(Connection::from_kubeconfig(options))).await?;
        let found = match &connection {
            Err(error) => doctor::unconfigured(error),
            Ok(connection) => {
                let namespace = connection.namespace();
                let places = if command.all_namespaces { Places::All } else { Places::only([namespace]) };
                let (global, limit) = (self.global.clone(), self.global.timeout);
                self.prepare(async {
                    let grants = connect::grants(&global, places).await?;
                    Ok(doctor::examine(connection, &grants, limit).await)
                })
                .await?
            }
        };
        self.console.either(|look| checks::table(&found, look), &checks::document(&found));
        if self.global.output == Format::Table && checks::misses_permissions(&found) {
            let place = connection.ok().filter(|_| !command.all_namespaces);
            let place = place.map_or_else(|| "-A".to_owned(), |connection| format!("-n {}", connection.namespace()));
            self.console.notice(&format!("`workload rbac {place}` prints a role with all that is needed\n"));
        }
        Ok(checks::exit(&found))
    }
}
