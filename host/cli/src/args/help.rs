//! What stands below the options in the help of each command: examples first of all.
//!
//! Lines have at most 78 characters: clap wraps longer ones on a terminal of 80 columns.

use clap::builder::{StyledStr, Styles};

/// Two forms, since clap would show one with everything optional.
pub const CREATE_USAGE: &str = "\
workload create [OPTIONS] <NAME> --image <IMAGE> [-- <COMMAND>...]
       workload create [OPTIONS] --file <FILE>";

const ALL: &str = "\
Examples:
  workload create web --image nginx:1.29 --cpu 100m --memory 64Mi
  workload start web                    wait until it runs
  workload explain web                  why it does not, and what would help
  workload stop web api batch/nightly   several at once, in two namespaces
  workload list -A -o json              in all namespaces, for a program
  workload delete web --plan            print what would be sent, write nothing
  workload doctor                       what stands in the way
  workload start --help                 one command in detail

JSON:
  With -o json there is one document, also on a fault: {\"id\",\"error\"} for a
  workload, and {\"error\"} for the whole command.

Exit codes:
  0 ok, 1 other, 2 usage or configuration, 3 not found, 4 unauthorized,
  5 forbidden, 6 unavailable, 7 timeout, 8 rollout failed, 9 invalid id,
  10 conflict, 11 superseded, 12 not owned, 13 denied by policy,
  14 provider fault, 15 unsupported, 130 interrupted. Of several, the highest.

Environment:
  KUBECONFIG      files to merge, as kubectl does; else ~/.kube/config
  NO_COLOR        no colour, if set to anything, unless --color says otherwise
  CLICOLOR_FORCE  colour also where there is no terminal
  TERM            where it is dumb, lines are plain, one below the other";

const LIST: &str = "\
Examples:
  workload list                         the namespace of the context
  workload list -n shop                 another one
  workload list -A --owner node-7       all, of another owner
  workload list -A --watch              and each change, until Ctrl-C
  workload list -o json | jq -r '.workloads[].id'
  workload list -o manager --labels opensource-server --owner 7

With --watch there is one line for each change: a row, or with -o json an
object, as `status` has it, {\"place\",\"error\"} for a place that could not be
read, or {\"error\"}. Ctrl-C ends it with 130; with --timeout it ends by itself,
with the code of what could not be read. A reader that goes away ends it, too.
With -o manager a list with a place that could not be read is {\"error\"}.";

const STATUS: &str = "\
Examples:
  workload status web
  workload status web batch/nightly     several, in two namespaces
  workload status web --watch           and each change, until Ctrl-C
  workload status web -o json | jq -r .reason
  workload status web --watch -o json | jq --unbuffered -r .status

It ends with 0 when the state is known, missing included.
With --watch there is one line for each change: a row, or with -o json an
object. Ctrl-C ends it with 130; with --timeout it ends by itself and as it
would have without --watch. A reader that goes away ends it, too.
With -o manager what is missing or unknown is no entry, and the command ends
with its code: of one id the document is {\"error\"}, of several it is the list
of the other entries.";

const EXPLAIN: &str = "\
Examples:
  workload explain web
  workload explain batch/nightly        in another namespace
  workload explain web -o json | jq -r '.advice // .message'
  workload explain web -o json | jq -r '.evidence[] | .name + \": \" + .value'

It ends as `status` does. In JSON it is the object of `status` with `meaning`,
the reason in words, `advice`, what can be done, and `evidence`: all facts in
order, also those of one name.";

const CREATE: &str = "\
Examples:
  workload create web --image nginx:1.29 --env MODE=fast --env LEVEL=2
  workload create job --image busybox:1.37 -- sh -c 'sleep 3600'
  workload create -f web.json
  echo '[{\"name\":\"a\",\"image\":\"nginx\"}]' | workload create -f -

A file holds one JSON object, or a list of them, each with `name` (or `id`),
perhaps `container_id`, and the provider's own fields, whose schema
`workload provider inspect FILE` shows.

What is made begins to run at once: `workload start` then only waits for it.
With --replicas 0 nothing runs before that.";

const START: &str = "\
Examples:
  workload start web                    wait until it runs, for 5 minutes
  workload start web api --timeout 90s  two at once, for less
  workload start web --settle 10s       until it has run for 10 seconds
  workload start web --plan             print what would be sent, write nothing

Where no replica is wanted, as after a stop, it asks for 1; any other count it
leaves as it is.";

const STOP: &str = "\
Examples:
  workload stop web                     wait until nothing of it runs
  workload stop web api batch/nightly   several at once, in two namespaces
  workload stop web -o json | jq .elapsed_ms
  workload stop web --plan              print what would be sent, write nothing

It sets the count of replicas to 0, and nothing keeps what it was: the next
start asks for 1.";

const DELETE: &str = "\
Examples:
  workload delete web                   wait until it is gone
  workload delete web api --timeout 30s
  workload delete web --plan            print what would be sent, write nothing";

const DOCTOR: &str = "\
Examples:
  workload doctor                       what the commands need in one namespace
  workload doctor -A                    in all namespaces
  workload doctor --kubeconfig new.yaml --timeout 10s
  workload doctor -o json | jq -r '.checks[] | select(.result==\"failed\").message'

Each line is a check, in an order in which a failure explains what is below it:
ok, note (it works, but it is good to know), failed (with what to do), or
skipped. It shows the server's address, but no credential.
It ends with 0 if nothing failed, 2 by the kubeconfig, 3 without the namespace,
4 by the credential, 5 by a missing permission, 6 out of reach, and 1 if what
answers is no API server; of several, the highest.";

const RBAC: &str = "\
Examples:
  workload rbac | kubectl apply -f -    for the service account workload
  workload rbac -n shop --user ann --group operators
  workload rbac -A --service-account tools:manager
  workload rbac -o json                 the same as a List

It asks nobody: the namespace is that of --namespace or of the kubeconfig, else
`default`. `workload doctor` says what is missing.";

const PROVIDER_LIST: &str = "\
Examples:
  workload provider list
  workload provider list --component mine.wasm";

const PROVIDER_INSPECT: &str = "\
Examples:
  workload provider inspect mine.wasm
  workload provider inspect mine.wasm -o json | jq .spec_schema";

const COMPLETION: &str = "\
Examples:
  workload completion bash > ~/.local/share/bash-completion/completions/workload
  workload completion zsh > \"${fpath[1]}/_workload\"
  workload completion fish > ~/.config/fish/completions/workload.fish

Each is found by the next shell that is started. For this shell only:
  source <(workload completion bash)    (also zsh)
  workload completion fish | source

In a file that the shell reads when it starts:
  elvish, in rc.elv:       eval (workload completion elvish | slurp)
  powershell, in $PROFILE: workload completion powershell | Out-String |
                             Invoke-Expression";

macro_rules! shown {
    ($($name:ident $text:ident)*) => {
        $(
            /// Below the options of the command of this name.
            pub fn $name() -> StyledStr {
                styled($text)
            }
        )*
    };
}

shown! {
    all ALL
    list LIST
    status STATUS
    explain EXPLAIN
    create CREATE
    start START
    stop STOP
    delete DELETE
    doctor DOCTOR
    rbac RBAC
    provider_list PROVIDER_LIST
    provider_inspect PROVIDER_INSPECT
    completion COMPLETION
}

/// One or two words and a colon are a heading, and look like clap's own.
fn styled(text: &str) -> StyledStr {
    let head = *Styles::styled().get_header();
    let lines = text.lines().map(|line| {
        let heading = line.ends_with(':') && line.split(' ').count() <= 2;
        if heading { format!("{head}{line}{head:#}") } else { line.to_owned() }
    });
    StyledStr::from(lines.collect::<Vec<_>>().join("\n"))
}
