use super::command::Ids;
use super::*;
use clap::error::ErrorKind;
use rstest::rstest;

fn words(line: &str) -> Vec<OsString> {
    std::iter::once("workload").chain(line.split_whitespace()).map(OsString::from).collect()
}

fn cli(line: &str) -> Cli {
    parse(words(line)).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn defaults() {
    let cli = cli("list");
    assert_eq!(cli.global.output, Format::Table);
    assert_eq!(cli.global.timeout, Duration::from_secs(300));
    assert_eq!(cli.global.owner, "default");
    assert_eq!((cli.global.label_prefix, cli.global.labels, cli.global.verbose), (None, None, 0));
    assert!(matches!(cli.command, Command::List(List { all_namespaces: false, watch: false })));
    assert!(!cli.global.limited);
}

#[rstest]
#[case::before("--timeout 5m status web --watch", true)]
#[case::after("status web --watch --timeout 5m", true)]
#[case::of_a_list("list --watch --timeout=30s -A", true)]
#[case::not_given("status web --watch", false)]
fn a_watch_ends_by_itself_only_if_that_was_asked_for(#[case] line: &str, #[case] limited: bool) {
    let Cli { global, command } = cli(line);
    assert_eq!(global.limited, limited);
    assert!(matches!(command, Command::List(List { watch: true, .. }) | Command::Status(Status { watch: true, .. })));
}

#[rstest]
#[case("list -o manager")]
#[case("list -A --watch -o manager")]
#[case("status a b -o manager")]
#[case("create web --image a -o manager")]
#[case("start web -o manager")]
#[case("stop web -o manager")]
#[case("delete web -o manager")]
#[case("doctor -o manager")]
fn snapshots(#[case] line: &str) {
    assert_eq!(cli(line).global.output, Format::Manager);
}

#[rstest]
#[case::before("-n shop -o json --timeout 90s --owner me --context c --kubeconfig k --component p -v status web")]
#[case::after("status web -n shop -o json --timeout 90s --owner me --context c --kubeconfig k --component p -v")]
#[case::long(
    "status --namespace=shop web --output=json --timeout=1m30s --owner=me --context=c --kubeconfig=k --component=p --verbose"
)]
#[case::both_sides("-n shop -o json --timeout 90s status web --owner me --context c --kubeconfig k --component p -v")]
fn global_options_stand_anywhere(#[case] line: &str) {
    let Cli { global, command } = cli(line);
    assert_eq!(global.namespace.as_deref(), Some("shop"));
    assert_eq!(global.output, Format::Json);
    assert_eq!(global.timeout, Duration::from_secs(90));
    assert_eq!((global.owner.as_str(), global.context.as_deref(), global.verbose), ("me", Some("c"), 1));
    assert_eq!(global.kubeconfig, Some(PathBuf::from("k")));
    assert_eq!(global.component, Some(PathBuf::from("p")));
    assert!(matches!(command, Command::Status(Status { ids: Ids { ids }, watch: false }) if ids == ["web"]));
}

#[rstest]
#[case::no_command("")]
#[case::unknown_command("restart web")]
#[case::unknown_option("list --frobnicate")]
#[case::watch_of_a_write("start web --watch")]
#[case::explain_nothing("explain")]
#[case::explain_several("explain a b")]
#[case::no_id("status")]
#[case::no_id_to_delete("delete")]
#[case::bad_format("list -o yaml")]
#[case::bad_timeout("list --timeout 5")]
#[case::long_timeout("list --timeout 2h")]
#[case::bad_namespace("list -n Shop_1")]
#[case::path_as_namespace("list -n ../etc")]
#[case::bad_preset("list --labels other")]
#[case::both_labels("list --label-prefix p --labels opensource-server")]
#[case::both_labels_apart("--label-prefix p list --labels opensource-server")]
#[case::snapshot_of_an_explanation("explain web -o manager")]
#[case::snapshot_of_a_plan("start web --plan -o manager")]
#[case::snapshot_of_providers("provider list -o manager")]
#[case::empty_owner("list --owner=")]
#[case::bad_intent("stop web --intent whenever")]
#[case::settle_of_stop("stop web --settle 1s")]
#[case::create_nothing("create")]
#[case::create_without_image("create web")]
#[case::create_both("create web -f web.json")]
#[case::create_file_and_image("create -f web.json --image a")]
#[case::bad_variable("create web --image a --env FOO")]
#[case::nameless_variable("create web --image a --env =x")]
#[case::negative_replicas("create web --image a --replicas=-1")]
#[case::command_with_a_hyphen("create web --image a --command sh -c x")]
#[case::provider_alone("provider")]
#[case::doctor_of_an_id("doctor web")]
#[case::account_without_a_namespace("rbac --service-account manager")]
#[case::account_of_no_name("rbac --service-account tools:")]
#[case::account_of_more("rbac --service-account tools:a:b")]
#[case::nameless_user("rbac --user=")]
#[case::hidden_in_a_user("rbac --user a\u{202e}b")]
#[case::role_as_a_snapshot("rbac -o manager")]
#[case::inspect_nothing("provider inspect")]
fn refused(#[case] line: &str) {
    let error = parse(words(line)).err().unwrap_or_else(|| panic!("{line} was accepted"));
    assert_eq!(error.exit_code(), 2, "{line}: {error}");
}

#[rstest]
#[case::a_list("list -A -n shop")]
#[case::long("--namespace shop list --all-namespaces")]
#[case::the_doctor("doctor -A -n shop")]
fn one_namespace_and_all(#[case] line: &str) {
    let text = parse(words(line)).err().unwrap_or_else(|| panic!("{line} was accepted")).to_string();
    assert!(text.contains("leave out -A for that namespace alone, or -n for all"), "{text}");
}

#[test]
fn a_role_for_all_has_its_account_in_one_namespace() {
    assert_eq!(cli("rbac -A -n tools").global.namespace.as_deref(), Some("tools"));
}

#[test]
fn the_timeout_has_one_sentence_on_its_default() {
    let help = Cli::command().render_help().to_string();
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, after) = words.split_once("--timeout <TIME> ").unwrap();
    let about = after.split(" -v,").next().unwrap_or_default();
    assert_eq!(about.matches("[default").count(), 1, "{about}");
}

#[test]
fn a_refused_variable_is_not_repeated_in_the_reason() {
    let error = parse(words("create web --image a --env =hunter2")).err().map(|error| error.to_string());
    assert!(error.is_some_and(|text| text.contains("is not of the form NAME=VALUE") && !text.contains("hunter2")));
}

#[rstest]
#[case("--help", ErrorKind::DisplayHelp)]
#[case("create --help", ErrorKind::DisplayHelp)]
#[case("--version", ErrorKind::DisplayVersion)]
fn information(#[case] line: &str, #[case] kind: ErrorKind) {
    let error = parse(words(line)).err();
    assert_eq!(error.as_ref().map(clap::Error::kind), Some(kind));
    assert_eq!(error.map(|error| error.exit_code()), Some(0));
}

#[test]
fn create_by_options() {
    let Command::Create(create) = cli(
        "create web --image nginx --cpu 1 --memory 64Mi --env A=1 --env B=x=y --replicas 2 --command sh --args a b \
         --pull-policy Never --pull-secret one --pull-secret two --container-id 4711 --plan",
    )
    .command
    else {
        panic!("not a create");
    };
    assert_eq!(create.name.as_deref(), Some("web"));
    assert!(create.plan);
    let fields = create.fields;
    assert_eq!(fields.image.as_deref(), Some("nginx"));
    assert_eq!(fields.env, ["A=1", "B=x=y"]);
    assert_eq!((fields.command, fields.args), (vec!["sh".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!((fields.replicas, fields.pull_secret), (Some(2), vec!["one".to_owned(), "two".to_owned()]));
    assert_eq!((fields.cpu.as_deref(), fields.memory.as_deref()), (Some("1"), Some("64Mi")));
    assert_eq!((fields.pull_policy.as_deref(), fields.container_id.as_deref()), (Some("Never"), Some("4711")));
}

#[test]
fn create_with_a_command_line() {
    let Command::Create(create) = cli("create web --image busybox -- sh -c x --plan").command else {
        panic!("not a create");
    };
    assert_eq!(create.fields.command_line, ["sh", "-c", "x", "--plan"]);
    assert!(!create.plan);
}

#[test]
fn a_command_goes_on_after_the_dashes() {
    let Command::Create(create) = cli("create web --image a --command sh --plan -- -c x -n 5").command else {
        panic!("not a create");
    };
    assert!(create.plan);
    assert_eq!(create.fields.command, ["sh"]);
    assert_eq!(create.fields.command_line, ["-c", "x", "-n", "5"]);
}

#[rstest]
#[case("web")]
#[case("--image a")]
#[case("--cpu 1")]
#[case("--memory 1Mi")]
#[case("--env A=1")]
#[case("--command x")]
#[case("--args x")]
#[case("--replicas 1")]
#[case("--pull-policy Never")]
#[case("--pull-secret x")]
#[case("--container-id x")]
#[case("-- x")]
fn a_file_and_nothing_else(#[case] other: &str) {
    let Err(error) = parse(words(&format!("create -f web.json {other}"))) else { panic!("{other} was accepted") };
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    assert!(first.starts_with("error: the argument '--file <FILE>' cannot be used with '"), "{text}");
}

#[test]
fn a_number_below_zero_is_a_value() {
    let text = parse(words("create web --image a --replicas -1")).err().map(|error| error.to_string());
    assert!(text.is_some_and(|text| text.starts_with("error: invalid value '-1' for '--replicas <N>'")));
}

#[test]
fn create_from_a_file() {
    let Command::Create(create) = cli("create -f - --plan").command else { panic!("not a create") };
    assert_eq!((create.name, create.file), (None, Some(PathBuf::from("-"))));
}

#[rstest]
#[case("stop web", Intent::Preserve)]
#[case("stop web --intent recoverable-failure", Intent::RecoverableFailure)]
#[case("stop web --intent rollback-fresh", Intent::RollbackFresh)]
#[case("stop web --intent terminal", Intent::Terminal)]
#[case("stop web --intent forced", Intent::Forced)]
#[case("delete web", Intent::Terminal)]
#[case("delete web --intent preserve", Intent::Preserve)]
fn intents(#[case] line: &str, #[case] expected: Intent) {
    let intent = match cli(line).command {
        Command::Stop(stop) => stop.intent,
        Command::Delete(delete) => delete.intent,
        other => panic!("{other:?}"),
    };
    assert_eq!(intent, expected);
}

#[test]
fn a_role_has_as_many_subjects_as_are_named() {
    let line = "rbac -A --user ann --user oidc:bo --group g --service-account tools:a.b --service-account x:y";
    let Command::Rbac(rbac) = cli(line).command else { panic!("not an rbac") };
    assert!(rbac.all_namespaces);
    assert_eq!((rbac.user, rbac.group), (vec!["ann".to_owned(), "oidc:bo".to_owned()], vec!["g".to_owned()]));
    let accounts: Vec<_> = rbac.service_account.iter().map(|a| (a.namespace.as_str(), a.name.as_str())).collect();
    assert_eq!(accounts, [("tools", "a.b"), ("x", "y")]);
}

/// Every command that does something, with the words that lead to it.
fn leaves(command: &clap::Command, path: &str) -> Vec<(String, clap::Command)> {
    let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
    let within = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    let found: Vec<_> = within.flat_map(|sub| leaves(sub, &path)).collect();
    if found.is_empty() { vec![(path, command.clone())] } else { found }
}

/// The words of a command in an example, as a shell makes them of it.
fn split(command: &str) -> Vec<OsString> {
    let mut words = vec![String::new()];
    for (at, part) in command.split('\'').enumerate() {
        for (space, word) in part.split(|character| character == ' ' && at % 2 == 0).enumerate() {
            if space > 0 {
                words.push(String::new());
            }
            if let Some(last) = words.last_mut() {
                last.push_str(word);
            }
        }
    }
    words.into_iter().map(OsString::from).collect()
}

/// Our own commands in a line of an example, without what it explains behind them.
fn commands(line: &str) -> Vec<Vec<OsString>> {
    let line = line.trim_start().split("  ").next().unwrap_or_default();
    let parts = line.split(" | ").flat_map(|part| part.split(" > ")).map(|part| part.trim());
    parts.filter(|part| part.starts_with("workload ")).map(split).collect()
}

#[test]
fn the_help_of_every_command_has_examples_that_work() {
    let command = Cli::command();
    let all = leaves(&command, "");
    for (path, command) in all.iter().map(|(path, command)| (path.as_str(), command)).chain([("workload", &command)]) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<_> = help.lines().filter(|line| line.starts_with("  ")).flat_map(commands).collect();
        assert!(!examples.is_empty(), "{path} has no example");
        for example in examples {
            let words: Vec<_> = example.iter().map(|word| word.to_string_lossy()).collect();
            assert!(words.join(" ").starts_with(path), "{words:?} is no example of {path}");
            let help = words.iter().any(|word| word == "--help");
            assert_eq!(parse(example.clone()).is_err(), help, "{words:?}");
        }
    }
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let mut command = Cli::command().term_width(80);
    command.build();
    for (path, mut command) in leaves(&command, "").into_iter().chain([("workload".to_owned(), command.clone())]) {
        for help in [command.render_help(), command.render_long_help()] {
            for line in help.to_string().lines() {
                assert!(line.chars().count() <= 80, "{path}: {line}");
            }
        }
    }
}
