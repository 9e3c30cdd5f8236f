//! How much a decision allocates: counted, since times on a shared machine say little.
//!
//! Alone in its file, because the counter is the allocator of the whole test program.

#![allow(unsafe_code, reason = "an allocator cannot be written without; it only counts and passes on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use workload_policy::{Engine, Grants, Media, Method, Places, Request, authorize};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the contract of this same method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above; `at` came from `System`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The target and the namespace that are handed out, and nothing besides.
#[test]
fn a_read_allocates_what_it_returns() {
    let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::only(["default"])).expect("valid");
    let query =
        [("labelSelector".to_owned(), "workload-provider/managed=true,workload-provider/owner=default".to_owned())];
    for (path, query) in [("deployments/web", &[][..]), ("deployments", &query[..]), ("replicasets", &[])] {
        let path = format!("apis/apps/v1/namespaces/default/{path}");
        let segments: Vec<String> = path.split('/').map(String::from).collect();
        let request = Request {
            method: Method::Get,
            segments: &segments,
            query,
            accept: Media::Json,
            body: None,
            streaming: false,
        };
        let before = COUNT.get();
        let allowed = authorize(&grants, &request);
        let allocations = COUNT.get() - before;
        assert!(allowed.is_ok());
        assert_eq!(allocations, 2, "for {path}");
    }
}

/// A request that is too large is denied before anything of its size is made.
#[test]
fn a_denial_allocates_its_words_only() {
    let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::All).expect("valid");
    let segments = vec!["a".repeat(1 << 20); 16];
    let request = Request {
        method: Method::Get,
        segments: &segments,
        query: &[],
        accept: Media::Json,
        body: None,
        streaming: false,
    };
    let before = COUNT.get();
    let denied = authorize(&grants, &request);
    assert!(COUNT.get() - before <= 2);
    assert!(denied.is_err());
}
