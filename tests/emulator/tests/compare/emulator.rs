//! The emulator, in this process.

use kube_emulator::scenario::Scenario;
use kube_emulator::{Emulator, Options};

use crate::server::Server;
use crate::{answers, unexplained};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_emulator_answers_as_recorded() {
    // No annotation tells of this image, since the recorded template has none.
    let scenario = r#"{"images": [{"image": "localhost/absent:*", "script": {"image": "never"}}]}"#;
    let scenario = Scenario::parse(scenario, "of the comparison").expect("a scenario");
    let emulator = Emulator::new(Options { scenario, ..Options::default() }).expect("an emulator");
    let listening = emulator.listen(([127, 0, 0, 1], 0).into()).await.expect("a port on loopback");
    let folder = tempfile::tempdir().expect("a folder for the kubeconfigs");
    let written = listening.write_kubeconfigs(folder.path()).expect("kubeconfigs are written");
    let found = answers(Server::from_folder(folder.path()).expect("kubeconfigs are read")).await;
    drop(written);
    let unexplained = unexplained(&found);
    assert!(unexplained.is_empty(), "{unexplained}");
}
