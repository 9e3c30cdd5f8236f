//! What holds for every request: never a panic, never more by fewer grants, and a target that means what was asked.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use workload_policy::{Engine, Grants, Media, Method, Places};

use crate::ask::{Ask, deployment, everything, with};
use crate::catalogue::rows;

const METHODS: &[Method] = &[Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete];
const MEDIA: &[Media] = &[
    Media::Json,
    Media::JsonTable,
    Media::JsonMetadata,
    Media::MergePatch,
    Media::JsonPatch,
    Media::ApplyPatch,
    Media::Octets,
    Media::Text,
];

/// A request: one of the catalogue's as it is or with one thing changed, or a wild one.
fn request() -> impl Strategy<Value = Ask> {
    prop_oneof![4 => changed(), 1 => wild()]
}

/// A request of the catalogue in some namespace, often with one thing taken from a wild one.
fn changed() -> impl Strategy<Value = Ask> {
    let rows: Vec<Ask> = rows().into_iter().map(|(_, ask, _)| ask).collect();
    let created = document().prop_map(|document| Ask::create(&document));
    let good = prop_oneof![2 => select(rows), 1 => created];
    (good, select(&["default", "other"][..]), wild(), 0..12_u8).prop_map(|(mut ask, place, wild, change)| {
        for segment in ask.segments.iter_mut().filter(|segment| *segment == "default") {
            *segment = place.into();
        }
        match change {
            0 => ask.method = wild.method,
            1 => ask.segments = wild.segments,
            2 => ask.query.extend(wild.query),
            3 => ask.accept = wild.accept,
            4 => ask.body = wild.body,
            5 => ask.streaming = wild.streaming,
            _ => {}
        }
        ask
    })
}

/// Any request at all, made of pieces that mean something by themselves.
fn wild() -> impl Strategy<Value = Ask> {
    let segment = prop_oneof![8 => select(WORDS).prop_map(String::from), 1 => any::<String>()];
    let path = prop_oneof![
        3 => paths().prop_map(|path| path.split('/').map(String::from).collect()),
        1 => prop::collection::vec(segment, 0..18),
    ];
    let value = prop_oneof![3 => select(VALUES).prop_map(String::from), 1 => any::<String>()];
    let pair = (prop_oneof![6 => select(KEYS).prop_map(String::from), 1 => any::<String>()], value);
    let body = prop::option::of((select(MEDIA), bodies()));
    (select(METHODS), path, prop::collection::vec(pair, 0..4), select(MEDIA), body, any::<bool>()).prop_map(
        |(method, segments, query, accept, body, streaming)| Ask { method, segments, query, accept, body, streaming },
    )
}

const WORDS: &[&str] = &[
    "api",
    "apis",
    "apps",
    "v1",
    "namespaces",
    "default",
    "other",
    "deployments",
    "replicasets",
    "pods",
    "events",
    "scale",
    "web",
    "secrets",
    "watch",
    "..",
    "",
    "%2e",
    "a/b",
];
const KEYS: &[&str] = &[
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "watch",
    "resourceVersion",
    "timeoutSeconds",
    "dryRun",
    "force",
    "fieldManager",
];
const VALUES: &[&str] = &["true", "1", "0", "All", "metadata.name=a", "metadata.namespace=a", "a=b", "workload"];

fn paths() -> impl Strategy<Value = String> {
    const PATHS: &[&str] = &[
        "apis/apps/v1/deployments",
        "apis/apps/v1/namespaces/N/deployments",
        "apis/apps/v1/namespaces/N/deployments/web",
        "apis/apps/v1/namespaces/N/deployments/web/scale",
        "apis/apps/v1/namespaces/N/replicasets",
        "api/v1/pods",
        "api/v1/namespaces/N/pods",
        "api/v1/namespaces/N/pods/web-1",
        "api/v1/namespaces/N/events",
        "api/v1/namespaces/N/secrets",
    ];
    (select(PATHS), select(&["default", "other"][..])).prop_map(|(path, place)| path.replace('N', place))
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        r#"\{("(spec|metadata|kind|a)":(1|"a"|\[\]|\{\}|null),?){0,3}\}"#.prop_map(String::into_bytes),
        document().prop_map(|document| document.to_string().into_bytes()),
        Just(json!({"metadata": {"uid": "d1"}, "spec": {"replicas": 1}}).to_string().into_bytes()),
        Just(json!({"propagationPolicy": "Foreground", "preconditions": {"uid": "d1"}}).to_string().into_bytes()),
    ]
}

/// A create with some of the fields that need a grant, and some that are never allowed.
fn document() -> impl Strategy<Value = Value> {
    let fields = vec![
        ("hostNetwork", json!(true)),
        ("hostPID", json!(false)),
        ("serviceAccountName", json!("a")),
        ("priorityClassName", json!("a")),
        ("containers[0].securityContext.privileged", json!(true)),
        ("containers[0].envFrom[0].secretRef.name", json!("s")),
        ("containers[0].envFrom[1].configMapRef.name", json!("c")),
        ("volumes[0]", json!({"name": "h", "hostPath": {"path": "/"}})),
        ("volumes[1]", json!({"name": "p", "projected": {"sources": [{"secret": {"name": "s"}}]}})),
        ("volumes[2]", json!({"name": "d", "persistentVolumeClaim": {"claimName": "d"}})),
        ("nodeName", json!("n")),
    ];
    subsequence(fields, 0..4).prop_map(|fields| {
        fields.into_iter().fold(deployment(), |document, (field, value)| {
            with(document, &format!("spec.template.spec.{field}"), value)
        })
    })
}

/// Some words and places, and some of these.
fn more_and_fewer() -> impl Strategy<Value = (Grants, Grants)> {
    let words: Vec<&str> = Engine::Kubernetes.words().map(|word| word.word).collect();
    let most = words.len() - 4..=words.len();
    let some = prop_oneof![Just(words.clone()), subsequence(words.clone(), most), subsequence(words, 0..8)];
    // A bit each for `default`, `other` and all the rest.
    let places = select(&[0b111_u8, 0b111, 0b011, 0b001, 0b000][..]);
    (some.clone(), some, places.clone(), places).prop_map(|(words, kept, places, kept_places)| {
        let fewer: Vec<_> = words.iter().copied().filter(|word| kept.contains(word)).collect();
        (held(&words, places), held(&fewer, places & kept_places))
    })
}

fn held(words: &[&str], places: u8) -> Grants {
    let named = [(0b001, "default"), (0b010, "other")];
    let places = match places {
        0b111 => Places::All,
        bits => Places::only(named.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, place)| *place)),
    };
    Grants::new(Engine::Kubernetes, words, words, places).expect("valid")
}

/// As a server reads a target, written independently of how it is made.
fn read(target: &str) -> (Vec<String>, Vec<(String, String)>) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').expect("a pair"));
    let segments = path.strip_prefix('/').expect("absolute").split('/').map(decode).collect();
    (segments, pairs.map(|(key, value)| (decode(key), decode(value))).collect())
}

fn decode(part: &str) -> String {
    let mut pieces = part.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(&piece[..2], 16).expect("hexadecimal"));
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// The properties below say something only if enough requests come through: with everything granted, with a body, and
/// with the fewer of two sets.
#[test]
fn enough_is_allowed_to_say_something() {
    let mut runner = TestRunner::deterministic();
    let mut draw = || {
        let strategy = (request(), more_and_fewer());
        strategy.new_tree(&mut runner).expect("no filter").current()
    };
    let (mut allowed, mut bodies, mut by_fewer, mut lost) = (0, 0, 0, 0);
    for (ask, (more, fewer)) in (0..1_000).map(|_| draw()) {
        let decided = ask.decide(&everything());
        allowed += u32::from(decided.is_ok());
        bodies += u32::from(decided.is_ok_and(|allowed| allowed.body.is_some()));
        by_fewer += u32::from(ask.decide(&fewer).is_ok());
        lost += u32::from(ask.decide(&fewer).is_err() && ask.decide(&more).is_ok());
    }
    assert!(allowed > 300 && bodies > 80 && by_fewer > 70 && lost > 70, "{allowed} {bodies} {by_fewer} {lost}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Fewer words or places never allow more, and what they allow is the same request.
    #[test]
    fn monotone(ask in request(), (more, fewer) in more_and_fewer()) {
        if let Ok(allowed) = ask.decide(&fewer) {
            let with_more = ask.decide(&more);
            prop_assert!(with_more.is_ok(), "{:?} only with fewer", allowed);
            prop_assert_eq!(with_more.expect("checked").target, allowed.target);
            prop_assert!(fewer.allows(allowed.operation));
            prop_assert!(allowed.place.is_none_or(|place| fewer.places().cover(&place)));
        }
    }

    /// Nothing is allowed by no grant, whatever is asked.
    #[test]
    fn nothing_by_default(ask in request()) {
        let none = Grants::new(Engine::Kubernetes, ["*"], [""; 0], Places::All).expect("valid");
        prop_assert!(ask.decide(&none).is_err());
    }

    /// a09: the server sees the segments that were asked for and the pairs that were asked for, once each; only a page
    /// size is brought down or put in.
    #[test]
    fn a09_a_target_means_what_was_asked(ask in request()) {
        if let Ok(allowed) = ask.decide(&everything()) {
            prop_assert!(allowed.target.len() <= 4096 && allowed.target.bytes().all(|byte| byte.is_ascii_graphic()));
            let (segments, mut pairs) = read(&allowed.target);
            prop_assert_eq!(segments, ask.segments);
            let mut asked = ask.query;
            pairs.retain(|(key, _)| key != "limit");
            asked.retain(|(key, _)| key != "limit");
            prop_assert_eq!(pairs, asked);
        }
    }

    /// Whatever text is in a selector, it stays one value.
    #[test]
    fn a08_a_selector_stays_one_value(selector in any::<String>(), path in paths()) {
        let ask = Ask::get(&path).query("labelSelector", &selector);
        if let Ok(allowed) = ask.decide(&everything()) {
            let (_, pairs) = read(&allowed.target);
            prop_assert_eq!(&pairs[0], &("labelSelector".to_owned(), selector));
            prop_assert_eq!(&pairs[1..], &[("limit".to_owned(), "500".to_owned())]);
        }
    }

    /// Text of any kind at any place is answered, not a panic.
    #[test]
    fn never_panics(
        segments in prop::collection::vec(any::<String>(), 0..20),
        query in prop::collection::vec(any::<(String, String)>(), 0..40),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        words in prop::collection::vec(any::<String>(), 0..4),
    ) {
        let ask = Ask { segments, query, ..Ask::get("").body(Media::Json, bytes) };
        prop_assert!(ask.decide(&everything()).is_err());
        let given = Grants::new(Engine::Kubernetes, &words, &words, Places::only(&words));
        prop_assert!(given.is_err() || words.is_empty());
    }
}
