//! What `wit-bindgen` makes of `wit/`: the types of the boundary, and for wasm32 its exports.

#![allow(unsafe_code, reason = "the canonical ABI passes pointers; generated code reads them")]
#![allow(missing_docs, reason = "the comments come from the WIT, which has none where a name says it all")]
#![allow(unused_qualifications, reason = "generated code spells every path out")]

wit_bindgen::generate!({
    path: "../../wit",
    world: "workload-provider",
    additional_derives: [PartialEq, Eq, Clone],
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "workload_guest::bindings",
    generate_unused_types: true,
});
