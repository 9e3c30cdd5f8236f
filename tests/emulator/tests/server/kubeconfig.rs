//! The files for clients, read by another reader than ours.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube_emulator::serve::kubeconfig::Access;
use rstest::rstest;

use crate::client::{Client, NAMESPACES, server};

async fn read(text: &str) -> (kube::Config, kube::config::AuthInfo) {
    let kubeconfig = Kubeconfig::from_yaml(text).unwrap();
    let user = kubeconfig.auth_infos[0].auth_info.clone().unwrap();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    (config, user)
}

fn decoded(base64: &str) -> String {
    use base64::Engine;
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(base64).unwrap()).unwrap()
}

#[tokio::test]
async fn another_reader_understands_every_file() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("a/b");
    let written = server.write_kubeconfigs(&inside).unwrap();
    let names: Vec<_> = written.paths().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["kubeconfig", "kubeconfig-token", "kubeconfig-nobody", "token", "ca.crt"]);
    for path in written.paths() {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
    assert_eq!(fs::read_dir(&inside).unwrap().count(), 5, "nothing else is left");
    assert_eq!(fs::read_to_string(inside.join("ca.crt")).unwrap(), server.ca_pem());
    assert_eq!(fs::read_to_string(inside.join("token")).unwrap(), format!("{}\n", server.admin_token()));

    let text = |name: &str| fs::read_to_string(inside.join(name)).unwrap();
    let (config, user) = read(&text("kubeconfig")).await;
    assert_eq!(config.cluster_url.to_string(), format!("{}/", server.url()));
    assert_eq!(config.root_cert.unwrap().len(), 1);
    assert_eq!(config.default_namespace, "default");
    let certificate = decoded(&user.client_certificate_data.unwrap());
    let key = decoded(secrecy::ExposeSecret::expose_secret(&user.client_key_data.unwrap()));
    assert_eq!((certificate.as_str(), key.as_str()), server.admin_certificate());

    for (name, status) in [("kubeconfig-token", 200), ("kubeconfig-nobody", 403)] {
        let (_, user) = read(&text(name)).await;
        let token = secrecy::ExposeSecret::expose_secret(&user.token.unwrap()).to_owned();
        let client = Client::anonymous(&server).with_token(&token);
        assert_eq!(client.get(NAMESPACES).await.status(), status, "{name}");
    }
}

#[tokio::test]
async fn any_name_and_token_can_be_written() {
    let server = server().await;
    let odd = "a: \"b\" # c\\n{}";
    let (_, user) = read(&server.kubeconfig(odd, &Access::Token(odd))).await;
    assert_eq!(secrecy::ExposeSecret::expose_secret(&user.token.unwrap()), odd);
    let (_, user) = read(&server.kubeconfig(odd, &Access::Anonymous)).await;
    assert!(user.token.is_none() && user.client_certificate_data.is_none());
}

#[rstest]
#[case::of_somebody_else(Some("apiVersion: v1\nkind: Config\n"), false)]
#[case::empty(Some(""), true)]
#[case::absent(None, true)]
#[tokio::test]
async fn only_a_file_of_ours_is_replaced(#[case] there: Option<&str>, #[case] replaced: bool) {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig-nobody");
    if let Some(text) = there {
        fs::write(&file, text).unwrap();
    }
    match server.write_kubeconfigs(folder.path()) {
        Ok(_) => assert!(replaced),
        Err(error) => {
            assert!(!replaced && error.to_string().contains("not written by kube-emulator"), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), there.unwrap());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "none of the others is written");
        }
    }
}

#[tokio::test]
async fn what_was_written_is_taken_away_unless_it_is_of_another() {
    let (one, two) = (server().await, server().await);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let first = one.write_kubeconfig(&file).unwrap();
    let second = two.write_kubeconfig(&file).unwrap();
    first.remove();
    assert_eq!(fs::read_to_string(&file).unwrap(), two.admin_kubeconfig());
    second.remove();
    assert!(!file.exists());
}
