//! What is shown, in order.

use std::io::{IsTerminal as _, Write as _};
use std::process::Stdio;

use anyhow::{Context as _, bail, ensure};
use serde_json::json;
use tokio::process::Command;
use workload_host::model::{Media, Method};
use workload_host::transport::TransportLimits;
use workload_host::upstream::{Outgoing, Upstream as _};

use crate::Options;
use crate::stage::Stage;
use crate::swap;

const WEB: &str = "demo-web";
const API: &str = "demo-api";
const WORKER: &str = "demo-worker";

/// The Deployments that the demo makes.
pub const NAMES: [&str; 3] = [WEB, API, WORKER];

/// Runs until it is told to stop, and then ends at once.
const SCRIPT: &str = "trap exit TERM; while :; do sleep 0.2; done";

/// An image that no registry has.
const NO_SUCH_IMAGE: &str = "busybox:does-not-exist";

/// How `start` ends when a rollout can never finish, or when a registry took too long to say so.
const NOT_STARTED: &[i32] = &[8, 7];

/// The play, and what it has made so far.
pub struct Play<'a> {
    options: &'a Options,
    stage: &'a Stage,
    made: Vec<&'static str>,
}

impl Play<'_> {
    /// Nothing has happened yet.
    pub fn new<'a>(options: &'a Options, stage: &'a Stage) -> Play<'a> {
        Play { options, stage, made: Vec::new() }
    }

    /// All of it.
    ///
    /// # Errors
    /// When a command ends otherwise than it should.
    pub async fn all(&mut self) -> anyhow::Result<()> {
        say("A workload is created, and started when it is wanted");
        self.create(WEB, 2).await?;
        self.run(&["start", WEB], &[0]).await?;
        self.run(&["list"], &[0]).await?;
        self.run(&["status", WEB, "--output", "json"], &[0]).await?;

        say("Stop returns when no container is left, start when all replicas are available");
        self.run(&["stop", WEB], &[0]).await?;
        self.run(&["status", WEB], &[0]).await?;
        self.run(&["start", WEB], &[0]).await?;

        say("Several at once; one that is not there stops no other");
        self.create(API, 1).await?;
        self.create(WORKER, 3).await?;
        self.run(&["start", API, WORKER, "demo-nothing"], &[3]).await?;
        self.run(&["list"], &[0]).await?;

        say("A rollout to an image that does not exist");
        self.image(NO_SUCH_IMAGE).await?;
        self.run(&["start", WEB, "--timeout", "30s"], NOT_STARTED).await?;
        self.run(&["explain", WEB], &[0]).await?;
        self.image(&self.options.image).await?;
        self.run(&["start", WEB], &[0]).await?;

        say("What a command would do, without doing it");
        self.run(&["stop", WEB, "--plan"], &[0]).await?;

        say("A Manager whose provider is replaced while it runs");
        swap::show(self.stage, &self.options.components, WEB).await?;

        say("The end");
        self.run(&["delete", WEB, API, WORKER], &[0]).await?;
        self.made.clear();
        self.run(&["status", WEB], &[0]).await
    }

    /// Deletes what the demo made and has not deleted yet.
    ///
    /// # Errors
    /// When it could not be deleted.
    pub async fn clean(&mut self) -> anyhow::Result<()> {
        if self.made.is_empty() {
            return Ok(());
        }
        say("What was made is deleted");
        let names = std::mem::take(&mut self.made);
        self.run(&[&["delete"], names.as_slice()].concat(), &[0]).await
    }

    async fn create(&mut self, name: &'static str, replicas: u32) -> anyhow::Result<()> {
        let Options { image, pull_policy, .. } = self.options;
        let replicas = replicas.to_string();
        let what = ["create", name, "--image", image, "--pull-policy", pull_policy, "--replicas", &replicas];
        self.run(&[&what[..], &["--", "sh", "-c", SCRIPT]].concat(), &[0]).await?;
        // Only what was certainly made here is deleted at the end.
        self.made.push(name);
        Ok(())
    }

    /// Prints a command and runs it; it must end with one of these exit codes.
    async fn run(&self, arguments: &[&str], codes: &[i32]) -> anyhow::Result<()> {
        let code = self.ends(arguments).await?;
        if code != 0 && codes.contains(&code) {
            println!("(exit code {code})");
        }
        ensure!(
            codes.contains(&code),
            "`workload {}` ended with exit code {code} and not {codes:?}",
            arguments.join(" ")
        );
        Ok(())
    }

    async fn ends(&self, arguments: &[&str]) -> anyhow::Result<i32> {
        let place = self.options.namespace.as_deref().map(|namespace| ["--namespace", namespace]);
        let arguments = [place.as_ref().map_or(&[][..], |place| place.as_slice()), arguments].concat();
        let shown: Vec<_> = arguments.iter().map(|word| quoted(word)).collect();
        println!("{}", bold(&format!("$ workload {}", shown.join(" "))));
        std::io::stdout().flush()?;
        let mut command = Command::new(&self.options.workload);
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        if let Some(file) = &self.stage.kubeconfig {
            command.env("KUBECONFIG", file);
        }
        let status = command.status().await.context("the command could not be run")?;
        status.code().context("the command was killed")
    }

    /// Sets the image as somebody else's tool would: the command line has no command for it.
    async fn image(&self, image: &str) -> anyhow::Result<()> {
        let target = format!("/apis/apps/v1/namespaces/{}/deployments/{WEB}", self.stage.connection.namespace());
        let patch = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image}]);
        println!("(the demo itself patches the image, through the API)\nPATCH {target}\n{patch}");
        let request = Outgoing {
            method: Method::Patch,
            target,
            accept: Media::Json,
            body: Some((Media::JsonPatch, patch.to_string().into())),
            streaming: false,
        };
        let upstream = self.stage.connection.upstream(TransportLimits::default())?;
        match upstream.send(request).await {
            Ok(answer) if answer.status == 200 => Ok(()),
            Ok(answer) => bail!("the patch was answered with {}", answer.status),
            Err(failure) => bail!("the patch could not be sent: {failure:?}"),
        }
    }
}

/// A headline between two parts.
fn say(text: &str) {
    println!("\n{}", bold(&format!("# {text}")));
}

fn bold(text: &str) -> String {
    let plain = !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain { text.to_owned() } else { format!("\u{1b}[1m{text}\u{1b}[0m") }
}

/// A word as one would type it.
fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
