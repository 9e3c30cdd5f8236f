//! The commands about components themselves. They need no engine and no kubeconfig.

use workload_host::model::Fault;
use workload_host::{Inspection, Source};

use super::Session;
use crate::args::Provider;
use crate::connect;
use crate::exit::Exit;
use crate::output::{json, table};

impl Session<'_> {
    pub(super) async fn provider(&mut self, command: Provider) -> Result<Exit, Fault> {
        match command {
            Provider::List => {
                let source = connect::source_name(&self.global);
                let found = self.inspect(connect::source(&self.global)).await?;
                let rows = [(source.as_str(), &found.descriptor)];
                self.console.either(|look| table::providers(&rows, look), &json::providers(&rows));
            }
            Provider::Inspect { file } => {
                let found = self.inspect(Source::File(file)).await?;
                self.console.either(|look| table::inspection(&found, look), &json::inspection(&found));
            }
        }
        Ok(Exit::Ok)
    }

    async fn inspect(&mut self, source: Source) -> Result<Inspection, Fault> {
        let manager = connect::empty_manager()?;
        let file = match &source {
            Source::File(file) => Some(file.clone()),
            Source::Bytes(_) => None,
        };
        let inspected =
            async { manager.inspect(source).await.map_err(|error| connect::unusable_file(&error, file.as_deref())) };
        self.prepare(inspected).await
    }
}
