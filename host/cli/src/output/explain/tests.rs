use rstest::rstest;

use super::*;
use crate::output::style::Paint;
use crate::testing::workload;

fn look(width: Option<usize>) -> Look {
    Look { width, paint: Paint(false) }
}

fn explained(workload: &Workload, look: Look) -> String {
    explanation(workload, &Ownership::new("example.org", "team-a"), look)
}

/// A workload whose new revision has an image that is not there.
fn broken() -> Workload {
    let facts = [
        ("generation", "2"),
        ("observed-generation", "2"),
        ("replicas", "2"),
        ("condition Available", "True MinimumReplicasAvailable: Deployment has minimum availability"),
        ("condition Progressing", "True ReplicaSetUpdated: ReplicaSet \"web-2\" is progressing"),
        ("replica-set web-1", "1 of 1 available"),
        ("replica-set web-2", "0 of 1 available"),
        ("pod web-1-a", "Running on node-1"),
        ("container web-1-a/main", "running"),
        ("pod web-2-b", "Pending on node-1"),
        ("container web-2-b/main", "waiting ImagePullBackOff: Back-off pulling image \"shop/web:nope\""),
        ("event 1", "Normal Scheduled pod/web-2-b: Successfully assigned shop/web-2-b to node-1"),
        ("event 2", "Warning Failed pod/web-2-b (3x): Failed to pull image \"shop/web:nope\": not found"),
        ("advice", "name an image that its registry has, or let the registry have it"),
        ("not-allowed", "list events in namespace shop"),
    ];
    Workload {
        status: Status::Creating,
        reason: "image-pull".to_owned(),
        rule: "15 pods".to_owned(),
        message: Some("1 of 1 replica available; pod web-2-b: ImagePullBackOff".to_owned()),
        settled: false,
        serving_old: true,
        image: Some("shop/web:nope".to_owned()),
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        ..workload("shop/web")
    }
}

#[test]
fn everything_in_a_pipe() {
    let expected = r#"shop/web  creating  image-pull
message   1 of 1 replica available; pod web-2-b: ImagePullBackOff
meaning   its image could not be pulled, which is tried again
rule      15 pods
settled   no, the engine is still moving to what was asked
serving   an older revision answers, the newest does not
advice    name an image that its registry has, or let the registry have it
not seen  not allowed to list events in namespace shop

State
  kind     Deployment
  ready    1 of 1 available
  image    shop/web:nope
  created  2026-01-02T03:04:05Z
  owner    default
  uid      c0ffee

Facts
  generation           2
  observed-generation  2
  replicas             2

Conditions
  Available    True MinimumReplicasAvailable: Deployment has minimum availability
  Progressing  True ReplicaSetUpdated: ReplicaSet "web-2" is progressing

Replica sets
  web-1  1 of 1 available
  web-2  0 of 1 available

Pods
  web-1-a  Running on node-1
    main   running
  web-2-b  Pending on node-1
    main   waiting ImagePullBackOff: Back-off pulling image "shop/web:nope"

Last events
  Normal Scheduled pod/web-2-b: Successfully assigned shop/web-2-b to node-1
  Warning Failed pod/web-2-b (3x): Failed to pull image "shop/web:nope": not found
"#;
    assert_eq!(explained(&broken(), look(None)), expected);
}

#[test]
fn a_terminal_of_48_columns() {
    let text = explained(&broken(), look(Some(48)));
    let part = r#"
advice    name an image that its registry has,
          or let the registry have it
"#;
    assert!(text.contains(part), "{text}");
    let part = r#"
Pods
  web-1-a  Running on node-1
    main   running
  web-2-b  Pending on node-1
    main   waiting ImagePullBackOff: Back-off
           pulling image "shop/web:nope"

Last events
  Normal Scheduled pod/web-2-b: Successfully
    assigned shop/web-2-b to node-1
  Warning Failed pod/web-2-b (3x): Failed to
    pull image "shop/web:nope": not found
"#;
    assert!(text.ends_with(part), "{text}");
}

#[test]
fn values_go_below_long_names() {
    let facts = [("pod a-pod-with-a-long-name-7d448775cb-j2gmc", "Pending on a node with a name")];
    let found =
        Workload { facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(), ..workload("a/b") };
    let text = explained(&found, look(Some(50)));
    let part = "
Pods
  a-pod-with-a-long-name-7d448775cb-j2gmc
    Pending on a node with a name
";
    assert!(text.ends_with(part), "{text}");
}

/// What another provider tells.
#[test]
fn kinds_that_nobody_knows_have_groups_of_their_own() {
    let facts = [
        ("event 1", "something happened"),
        ("volume data", "bound"),
        ("container web", "up for 3 minutes"),
        ("volume logs", "lost"),
        ("health", "good"),
    ];
    let found =
        Workload { facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(), ..workload("a/b") };
    let text = explained(&found, look(None));
    let part = "
Facts
  health  good

Containers
  web  up for 3 minutes

volume
  data  bound
  logs  lost

Last events
  something happened
";
    assert!(text.ends_with(part), "{text}");
}

/// One of which a provider says no more than this.
fn bare(status: Status, reason: &str) -> Workload {
    Workload {
        status,
        reason: reason.to_owned(),
        message: None,
        facts: Vec::new(),
        rule: String::new(),
        image: None,
        created: None,
        owner: None,
        uid: None,
        ..workload("a/b")
    }
}

#[test]
fn no_evidence_is_said() {
    let expected = "\
a/b  running  available
meaning  every replica that is wanted serves

State
  kind   Deployment
  ready  1 of 1 available

the provider gives no evidence
";
    assert_eq!(explained(&bare(Status::Running, "available"), look(None)), expected);
}

#[test]
fn of_what_nothing_is_known_there_is_no_state() {
    let expected = "\
a/b  unknown  unreachable
meaning  the engine gave no answer, so nothing is known
advice   `workload doctor` says what stands in the way
";
    assert_eq!(explained(&bare(Status::Unknown, "unreachable"), look(None)), expected);
}

#[rstest]
#[case::of_the_provider(&[("advice", "wait"), ("not-allowed", "list pods")], "advice    wait\nnot seen  not allowed to list pods\n")]
#[case::our_own(&[("not-allowed", "list pods")], "advice    wait: `workload stop a/b` ends when nothing of it is left\nnot seen  ")]
fn the_provider_knows_better(#[case] facts: &[(&str, &str)], #[case] said: &str) {
    let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let text = explained(&Workload { facts, ..bare(Status::Offline, "stopping") }, look(None));
    assert!(text.contains(said), "{text}");
}

#[test]
fn what_a_provider_says_obeys_nobody() {
    let facts = vec![("pod \u{1b}[5m".to_owned(), "a\u{202e}b".to_owned())];
    let text = explained(&Workload { facts, reason: "x\u{1b}y".to_owned(), ..workload("a/b") }, look(None));
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    assert!(text.contains(r"\u{1b}[5m  a\u{202e}b"), "{text}");
}

#[rstest]
#[case(1)]
#[case(10)]
#[case(20)]
#[case(40)]
#[case(80)]
#[case(200)]
fn it_fits_every_terminal(#[case] columns: usize) {
    let text = explained(&broken(), look(Some(columns)));
    let words = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(words(&text), words(&explained(&broken(), look(None))), "nothing is left out");
    // Narrower than a name and its indent, there is nothing left to be done.
    for line in text.lines().filter(|_| columns >= 40) {
        assert!(width::columns(line) <= columns, "{columns}: {line}");
    }
}

#[test]
fn colour_says_no_more_than_the_words() {
    let painted = explained(&broken(), Look { width: Some(80), paint: Paint(true) });
    assert!(
        painted.contains("\u{1b}[33mcreating\u{1b}[0m") && painted.contains("\u{1b}[33mWarning\u{1b}[0m"),
        "{painted:?}"
    );
    let mut bare = String::new();
    for part in painted.split('\u{1b}') {
        bare.push_str(part.strip_prefix('[').and_then(|part| part.split_once('m')).map_or(part, |(_, rest)| rest));
    }
    assert_eq!(bare, explained(&broken(), look(Some(80))));
}
