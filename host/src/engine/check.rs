//! What can be read of a component before, and right after, it is compiled.

use wasmparser::{CanonicalFunction, CanonicalOption, Encoding, Parser, Payload};
use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use crate::error::Error;
use crate::limits::{self, NESTING};
use crate::text::clean;

/// Bytes of a name in a message.
const NAME: usize = 128;

/// Walks through the file without decoding any code.
///
/// Refuses what no ordinary tool makes and what wasmtime's advisories are about: strings that are not UTF-8 (all
/// transcoding faults), code in a nested component (transcoding between components), deep nesting.
pub(super) fn structure(bytes: &[u8]) -> Result<(), Error> {
    match bytes.get(..4) {
        Some(b"\0asm") => {}
        _ if bytes.is_empty() => return Err(not("the file is empty")),
        _ => return Err(not("it does not begin as WebAssembly does")),
    }
    // For each open component or module: whether it is a module.
    let mut open: Vec<bool> = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| not(&format!("cut or damaged at byte {}", error.offset())))?;
        match payload {
            Payload::Version { encoding: Encoding::Module, .. } => {
                match open.len() {
                    0 => {
                        return Err(not(
                            "a core module; wrap it with `wasm-component-ld` or `wasm-tools component new`",
                        ));
                    }
                    1 => {}
                    _ => return Err(refused("it has code in a nested component")),
                }
                open.push(true);
            }
            Payload::Version { encoding: Encoding::Component, .. } => {
                if open.len() > NESTING {
                    return Err(refused(&format!("its components are nested more than {NESTING} deep")));
                }
                open.push(false);
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    let function = function.map_err(|error| not(&format!("damaged at byte {}", error.offset())))?;
                    canonical(&function)?;
                }
            }
            Payload::End(_) => {
                open.pop();
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err(not("cut off")) }
}

fn canonical(function: &CanonicalFunction) -> Result<(), Error> {
    let options = match function {
        CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => options,
        CanonicalFunction::ResourceNew { .. }
        | CanonicalFunction::ResourceDrop { .. }
        | CanonicalFunction::ResourceRep { .. } => return Ok(()),
        // Tasks, streams, threads: all of what is asynchronous.
        _ => return Err(refused("it uses asynchronous parts of the component model")),
    };
    for option in options {
        match option {
            CanonicalOption::UTF8
            | CanonicalOption::Memory(_)
            | CanonicalOption::Realloc(_)
            | CanonicalOption::PostReturn(_) => {}
            CanonicalOption::UTF16 | CanonicalOption::CompactUTF16 => {
                return Err(refused("its strings are not UTF-8"));
            }
            _ => return Err(refused("it uses asynchronous or garbage-collected parts of the component model")),
        }
    }
    Ok(())
}

/// The interfaces of types that it imports; anything more is refused by name.
pub(super) fn imports(engine: &Engine, component: &Component) -> Result<Vec<String>, Error> {
    let mut harmless = Vec::new();
    let mut refused = Vec::new();
    for (name, import) in component.component_type().imports(engine) {
        let name = clean(name.to_owned(), NAME);
        match &import.ty {
            ComponentItem::Type(_) => harmless.push(name),
            ComponentItem::ComponentInstance(instance) => {
                let mut parts = Vec::new();
                for (part, export) in instance.exports(engine) {
                    if !matches!(export.ty, ComponentItem::Type(_)) {
                        parts.push(clean(part.to_owned(), NAME));
                    }
                }
                if parts.is_empty() {
                    harmless.push(name);
                } else {
                    refused.push(format!("{name} ({})", parts.join(", ")));
                }
            }
            _ => refused.push(name),
        }
    }
    if refused.is_empty() {
        Ok(harmless)
    } else {
        refused.truncate(limits::PAIRS);
        Err(Error::Imports { names: refused })
    }
}

fn not(what: &str) -> Error {
    Error::NotAComponent { what: what.to_owned() }
}

fn refused(what: &str) -> Error {
    Error::Refused { what: what.to_owned() }
}
