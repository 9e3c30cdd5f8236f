//! The emulator, in this process.

use kube_emulator::{Emulator, Options};

use crate::{accepted, compare, printed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the real cluster: make test"]
async fn kubectl_with_the_emulator_prints_as_recorded() {
    let emulator = Emulator::new(Options::default()).expect("the scenario of the defaults");
    let listening = emulator.listen(([127, 0, 0, 1], 0).into()).await.expect("a port on loopback");
    let folder = tempfile::tempdir().expect("a folder for the kubeconfigs");
    let written = listening.write_kubeconfigs(folder.path()).expect("kubeconfigs are written");
    let path = folder.path().to_owned();
    let found = tokio::task::spawn_blocking(move || printed(&path)).await.expect("the script ran to its end");
    drop(written);
    compare(&found, &accepted::read("kubectl"));
}
