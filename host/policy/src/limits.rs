//! Every limit of a request, each with its reason.
//!
//! ```
//! use workload_policy::limits;
//!
//! assert_eq!(limits::SEGMENTS, 16);
//! assert_eq!(limits::SEGMENT_BYTES, 253);
//! assert_eq!(limits::BODY_BYTES, 1024 * 1024);
//! assert!(limits::PAGE <= 500 && limits::REPLICAS <= 1_000 && limits::WATCH_SECONDS <= 3_600);
//! ```

/// Segments of a path. The longest path of the Kubernetes catalogue has eight; Docker's are shorter.
pub const SEGMENTS: usize = 16;

/// Bytes of one segment: the longest name that Kubernetes has.
pub const SEGMENT_BYTES: usize = 253;

/// Query pairs of a request. No operation of the catalogue knows more than eight keys.
pub const QUERY_PAIRS: usize = 32;

/// Bytes of one query pair, key and value. A selector of twenty ids of ours fits.
pub const QUERY_PAIR_BYTES: usize = 1024;

/// Bytes of the encoded path and query. Servers and proxies refuse request lines of more than 8 KiB, some of 4 KiB.
pub const TARGET_BYTES: usize = 4 * 1024;

/// Bytes of a body. etcd stores no object of more than 1.5 MiB.
pub const BODY_BYTES: usize = 1024 * 1024;

/// Nesting of a JSON body. A Deployment needs about twelve; more only costs stack.
pub const JSON_DEPTH: usize = 64;

/// Objects of one page of a list, which is also what a list without a limit gets. At 6 KB each they are 3 MB, well below
/// the limit of a response.
pub const PAGE: u64 = 500;

/// Seconds that a watch may ask to last: the longest operation. The server's own default is less than that.
pub const WATCH_SECONDS: u64 = 60 * 60;

/// Replicas that a create or a scale may ask for. A provider that errs by a digit should not fill a cluster.
pub const REPLICAS: i64 = 1_000;

/// Bytes of the name of what is created. A ReplicaSet adds up to eleven characters to it, and a Pod cuts at 63.
pub const CREATED_NAME_BYTES: usize = 52;

/// Words that a provider may ask for. The whole catalogue is smaller.
pub const ASKED_WORDS: usize = 256;
