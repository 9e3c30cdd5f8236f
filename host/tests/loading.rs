//! What is refused when a component is loaded, and what is said about it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod common;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use common::{Fake, Host, component, limits};
use rstest::rstest;
use wasmparser::{Parser, Payload};
use workload_host::{Error, Limits, Places, Provider, Source};

fn bytes(source: Source) -> Vec<u8> {
    match source {
        Source::File(path) => std::fs::read(path).expect("a component"),
        Source::Bytes(bytes) => bytes.into_owned(),
    }
}

async fn refused(bytes: impl Into<Cow<'static, [u8]>>) -> Error {
    let host = Host::new(limits(), Fake::fine());
    host.manager.inspect(Source::Bytes(bytes.into())).await.expect_err("an error")
}

#[tokio::test]
async fn an_import_of_a_function_is_refused_by_name() {
    let error = refused(bytes(component("hostile-import"))).await;
    assert!(matches!(&error, Error::Imports { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("evil:net/sockets@1.0.0 (connect)"), "{text}");
    assert!(!text.contains("workload:provider"), "{text}");
}

const UTF16: &str = r#"(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0)
    (func (export "f") (param i32 i32)))
  (core instance $i (instantiate $m))
  (func (export "f") (param "text" string)
    (canon lift (core func $i "f") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))
      string-encoding=utf16)))"#;

const RESOURCE: &str = r#"(component (import "evil:net/pipe@1.0.0" (instance (export "pipe" (type (sub resource))))))"#;

const INCOMPLETE: &str = r#"(component (instance $i) (export "workload:provider/lifecycle@0.1.0" (instance $i)))"#;

const FUNCTION: &str = r#"(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
  (func $f (canon lift (core func $i "f"))) (export "workload:provider/lifecycle@0.1.0" (func $f)))"#;

#[rstest]
#[case::core_module("(module)", "not a component: a core module")]
#[case::code_in_a_nested_component("(component (component (core module)))", "code in a nested component")]
#[case::deep("(component (component (component (component (component (component))))))", "nested more than 4 deep")]
#[case::utf16(UTF16, "strings are not UTF-8")]
#[case::imports_a_resource(RESOURCE, "imports evil:net/pipe@1.0.0 (pipe)")]
#[case::imports_a_module(r#"(component (import "m" (core module)))"#, "imports m")]
#[case::imports_a_function(r#"(component (import "f" (func)))"#, "imports f")]
#[case::another_world("(component)", "not a provider of workload:provider/lifecycle@0.1.0: it exports nothing")]
#[case::incomplete(INCOMPLETE, "not a provider of workload:provider/lifecycle@0.1.0: ")]
#[case::not_an_interface(FUNCTION, "is no interface")]
#[case::memory64("(component (core module (memory i64 1)))", "does not compile")]
#[case::two_memories("(component (core module (memory 1) (memory 1)))", "does not compile")]
#[case::threads("(component (core module (memory 1 1 shared)))", "does not compile")]
#[case::tail_calls("(component (core module (func return_call 0)))", "does not compile")]
#[case::exceptions("(component (core module (tag)))", "does not compile")]
#[tokio::test]
async fn what_no_ordinary_tool_makes(#[case] text: &str, #[case] says: &str) {
    let error = refused(wat::parse_str(text).expect("a component")).await;
    let shown = error.to_string();
    assert!(shown.contains(says), "{shown}");
    assert!(!shown.chars().any(char::is_control), "{shown}");
}

/// The scripted provider with a core module more, and so many instances of it.
fn swollen(module: &str, instances: usize) -> Source {
    let mut whole = bytes(component("hostile-script"));
    let is_module = |payload: &wasmparser::Result<Payload<'_>>| matches!(payload, Ok(Payload::ModuleSection { .. }));
    let modules = Parser::new(0).parse_all(&whole).filter(is_module).count();
    let module = wat::parse_str(module).expect("a module");
    section(&mut whole, 1, &module);
    let mut content = number(instances);
    for _ in 0..instances {
        // Instantiates the module of this index with nothing.
        content.extend([&[0], &number(modules)[..], &[0]].concat());
    }
    section(&mut whole, 2, &content);
    Source::Bytes(whole.into())
}

fn section(whole: &mut Vec<u8>, id: u8, content: &[u8]) {
    whole.push(id);
    whole.extend(number(content.len()));
    whole.extend(content);
}

/// As WebAssembly writes a length: seven bits in each byte.
fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).expect("seven bits");
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

const MEMORY: &str = "(module (memory 1))";
const LONG: &str = "(module (table 10000 funcref))";
const LONGER: &str = "(module (table 10001 funcref))";
const TABLE: &str = "(module (table 1 funcref))";
/// One table in each of 201 modules would be too many instances first.
static TABLES: LazyLock<String> = LazyLock::new(|| format!("(module {})", "(table 1 funcref)".repeat(50)));

/// With the pool it is refused before it runs, otherwise when it is instantiated.
#[rstest]
#[case::core_instances(("(module)", 100), ("(module)", 201), "core module instances", "instance count")]
#[case::tables((TABLE, 100), (&TABLES[..], 4), "tables count of 50 exceeds", "table count")]
#[case::memories((MEMORY, 3), (MEMORY, 4), "5 Wasm linear memories", "memory count")]
#[case::table_elements((LONG, 1), (LONGER, 1), "minimum element size of 10001", "more than 10000 elements")]
#[tokio::test]
async fn one_that_takes_more_than_its_share(
    #[case] fits: (&str, usize),
    #[case] more: (&str, usize),
    #[case] refused: &str,
    #[case] broken: &str,
) {
    let probed = Host::probed(limits(), Fake::fine(), Arc::new(|_: &[u8]| {}));
    for (host, says) in [(Host::new(limits(), Fake::fine()), refused), (probed, broken)] {
        let error = host.manager.inspect(swollen(more.0, more.1)).await.expect_err("an error");
        assert!(error.to_string().contains(says), "{error:?}");
        match &error {
            Error::Describe { fault } => assert_eq!(common::detail(fault, "cause"), Some("limit"), "{fault:?}"),
            other => assert!(matches!(other, Error::Compile { .. }), "{other:?}"),
        }
        host.manager.inspect(swollen(fits.0, fits.1)).await.expect("one that fits");
        host.works().await;
    }
}

#[rstest]
#[case::empty(b"", "the file is empty")]
#[case::text(b"#!/bin/sh\n", "does not begin as WebAssembly")]
#[case::magic_only(b"\0asm", "cut or damaged")]
#[case::version_cut(b"\0asm\x0d\0", "cut or damaged")]
#[tokio::test]
async fn what_is_no_webassembly(#[case] bytes: &'static [u8], #[case] says: &str) {
    let text = refused(bytes).await.to_string();
    assert!(text.contains(says), "{text}");
}

#[tokio::test]
async fn a_file_that_was_cut_is_refused_wherever_it_was_cut() {
    let host = Host::new(limits(), Fake::fine());
    let whole = bytes(component("hostile-script"));
    for at in (0..64).chain((64..whole.len()).step_by(whole.len() / 97)) {
        let cut = Source::Bytes(whole[..at].to_vec().into());
        let error = host.manager.inspect(cut).await.expect_err("an error");
        let says = matches!(error, Error::NotAComponent { .. } | Error::World { .. } | Error::Compile { .. });
        assert!(says, "{at}: {error:?}");
    }
    host.works().await;
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_read() {
    let host = Host::new(Limits { component: 1000, ..limits() }, Fake::fine());
    let file = component("hostile-script");
    for source in [file.clone(), Source::Bytes(bytes(file).into())] {
        let error = host.manager.inspect(source).await.expect_err("an error");
        assert_eq!(error.to_string(), "the component is larger than 1000 bytes");
    }
}

#[tokio::test]
async fn a_file_that_is_not_there() {
    let host = Host::new(limits(), Fake::fine());
    let error = host.manager.inspect(Source::File("/nowhere/at-all.wasm".into())).await.expect_err("an error");
    assert_eq!(error.to_string(), "cannot read the component /nowhere/at-all.wasm");
}

#[tokio::test]
async fn a_grant_that_does_not_exist_is_a_mistake() {
    let host = Host::new(limits(), Fake::fine());
    let provider = Provider { given: vec!["deployment:get".to_owned()], ..host.provider(&[]) };
    let error = host.manager.load("p", component("hostile-script"), provider).await.expect_err("an error");
    assert!(matches!(error, Error::Grants { .. }), "{error:?}");
    assert!(host.manager.providers().is_empty());
}

#[tokio::test]
async fn nothing_given_is_nothing_allowed() {
    let host = Host::new(limits(), Fake::fine());
    let provider = Provider { given: Vec::new(), places: Places::All, ..host.provider(&[("behaviour", "echo")]) };
    host.manager.load("echo", component("hostile-script"), provider).await.expect("a component that loads");
    let report = host.start("echo", &["default/web"]).await;
    assert_eq!(common::fact(&report, "failed"), Some("denied"));
    assert_eq!(host.upstream.targets(), Vec::<String>::new());
    assert_eq!(host.manager.providers()[0].granted, Vec::<String>::new());
}

#[rstest]
#[case::hostile("hostile-script", "hostile")]
#[case::kubernetes("kubernetes", "kubernetes")]
#[tokio::test]
async fn a_provider_imports_nothing_but_types(#[case] file: &str, #[case] name: &str) {
    let host = Host::new(limits(), Fake::fine());
    let source = component(file);
    let inspection = host.manager.inspect(source.clone()).await.expect("a component");
    assert_eq!(inspection.descriptor.name, name);
    assert_eq!((inspection.descriptor.engine.as_str(), inspection.descriptor.world), ("kubernetes", "0.1"));
    assert_eq!(inspection.size, bytes(source).len());
    assert_eq!(inspection.sha256.len(), 64);
    let types = ["workload:provider/types@0.1.0", "workload:provider/effects@0.1.0"];
    assert!(inspection.imports.iter().all(|import| types.contains(&import.as_str())), "{inspection:?}");
}
