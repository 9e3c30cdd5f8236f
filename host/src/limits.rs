//! Every limit of the sandbox, each with its reason, and [`Limits`] to lower them.

use std::time::Duration;

/// Linear memory of one instance, in bytes. A list of 500 objects of 6 KB, its decoded form and the records of the
/// answer take about 15 MB; this leaves room for a provider in a language with a garbage collector.
pub const MEMORY: usize = 64 << 20;

/// Elements of one table. Providers in Rust need some hundred, in Python about 9,000.
pub const TABLE_ELEMENTS: usize = 10_000;

/// Tables of one component, over all its core instances; in a pool, one for each core module.
pub const TABLES: usize = 200;

/// Linear memories of one component. One is ordinary; a component made by an adapter has a second.
pub const MEMORIES: usize = 4;

/// Core instances of one component. A Python component has 108.
pub const CORE_INSTANCES: usize = 200;

/// Components within components. Ordinary tools nest once or twice.
pub const NESTING: usize = 4;

/// Live instances of one engine: the pool's slots. A thousand waiting operations take about 27 MB.
pub const INSTANCES: u32 = 1024;

/// What a pool's slot keeps resident of a memory, in bytes. It is zeroed by the runtime before the next use; more of
/// it costs more time for zeroing than the page faults it saves.
pub const KEEP_RESIDENT: usize = 1 << 20;

/// Slots that stay mapped for the same component.
pub const WARM_SLOTS: u32 = 16;

/// Native stack that a guest may use, in bytes. Recursion traps here, far below a step thread's own stack.
pub const GUEST_STACK: usize = 512 << 10;

/// Stack of a step thread, in bytes: the guest's and, above it, what lifting and lowering need.
pub const THREAD_STACK: usize = 4 << 20;

/// Wall time of one step, of a constructor and of `describe`. Decoding a page of 16 MiB takes below 100 ms.
pub const STEP: Duration = Duration::from_secs(2);

/// Time between two ticks of the epoch, so how late a step can be interrupted.
pub const TICK: Duration = Duration::from_millis(10);

/// Time of an operation unless the caller says otherwise. Pulling an image and starting takes a few minutes at worst.
pub const OPERATION: Duration = Duration::from_secs(5 * 60);

/// Time of an operation at most, whatever the caller says. A followed one runs until it is dropped.
pub const OPERATION_MAX: Duration = Duration::from_secs(60 * 60);

/// Time to wind down after a stop: one request and its answer.
pub const WIND_DOWN: Duration = Duration::from_secs(2);

/// Time to wind down while the provider says that it is cleaning up: several requests, and a grace period of Pods.
pub const WIND_DOWN_CLEANING: Duration = Duration::from_secs(60);

/// Bytes copied from the guest to the host in one call (wasmtime's hostcall fuel, whose own default is 128 MiB).
pub const HOSTCALL: usize = 8 << 20;

/// Bytes of answers handed to one step. Bounds what lowering allocates in the guest at once.
pub const ANSWERS: usize = 8 << 20;

/// Events handed to one step. Answers without a body cost nothing of [`ANSWERS`], so their number is bounded too.
pub const EVENTS: usize = 1024;

/// Effects that an operation may ask for at once in a burst, before [`EFFECT_RATE`] counts.
pub const EFFECT_BURST: u32 = 512;

/// Effects a second and workload, after the burst. More is a loop.
pub const EFFECT_RATE: u32 = 10;

/// Requests of one operation that are on their way at the same time; more wait in a queue.
pub const IN_FLIGHT: usize = 32;

/// Streams of one operation that are open at the same time, beside [`IN_FLIGHT`]: they last, so they must not take the
/// places of what has an end. More wait in a queue.
pub const STREAMS: usize = 16;

/// Effects of one operation that are outstanding, waiting ones included, and four more for each of its ids. Beyond it
/// the provider is at fault.
pub const OUTSTANDING: usize = 4096;

/// Steps in a row without a result and with no answer but the host's own refusals. More is a livelock.
pub const IDLE_STEPS: u32 = 256;

/// Bytes of bodies of one operation that wait to be sent or are on their way. A thousand creates are 10 MB.
pub const QUEUED: usize = 64 << 20;

/// Bytes of an answer's body, after decoding. A page of 500 objects is about 3 MB.
pub const RESPONSE_BODY: usize = 16 << 20;

/// Time between two chunks of a body, after which an answer is given up. API servers send watch bookmarks each minute,
/// so a stream has its own.
pub const RESPONSE_IDLE: Duration = Duration::from_secs(30);

/// Time between two chunks of a stream. A watch ends by itself after 5 to 10 minutes.
pub const STREAM_IDLE: Duration = Duration::from_secs(10 * 60);

/// Bytes of one line of a stream: one object with its envelope. etcd holds 1.5 MiB of an object.
pub const LINE: usize = 4 << 20;

/// Bytes of a stream that may wait in the host for the guest's next step.
pub const STREAM_BUFFER: usize = 1 << 20;

/// Bytes of workloads and places that an operation tells, unless it is followed: what its caller collects. 100,000
/// workloads of 2 KB.
pub const TOLD: usize = 256 << 20;

/// Bytes of a component's file. Python makes 18 MB.
pub const COMPONENT: usize = 32 << 20;

/// Ids or specs of one call.
pub const IDS: usize = 10_000;

/// Names and values in one list of facts or details that are kept.
pub const PAIRS: usize = 64;

/// Bytes of a message or another text of a provider that is kept.
pub const TEXT: usize = 4 << 10;

/// Bytes of a word of a provider that is kept: a name, a reason, a label.
pub const WORD: usize = 512;

/// The limits that an embedder or a test may lower. [`Default`] is the constants of this module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one instance, in bytes: [`MEMORY`].
    pub memory: usize,
    /// Live instances, so operations at the same time: [`INSTANCES`].
    pub instances: u32,
    /// Wall time of one step: [`STEP`].
    pub step: Duration,
    /// Time of an operation that names none: [`OPERATION`].
    pub operation: Duration,
    /// Time of an operation at most: [`OPERATION_MAX`].
    pub operation_max: Duration,
    /// Time to wind down: [`WIND_DOWN`].
    pub wind_down: Duration,
    /// Time to wind down while cleaning: [`WIND_DOWN_CLEANING`].
    pub wind_down_cleaning: Duration,
    /// Bytes copied from the guest in one call: [`HOSTCALL`].
    pub hostcall: usize,
    /// Bytes of answers handed to one step: [`ANSWERS`].
    pub answers: usize,
    /// Effects at once in a burst: [`EFFECT_BURST`].
    pub effect_burst: u32,
    /// Effects a second and workload after the burst: [`EFFECT_RATE`].
    pub effect_rate: u32,
    /// Requests on their way at the same time: [`IN_FLIGHT`].
    pub in_flight: usize,
    /// Effects outstanding: [`OUTSTANDING`].
    pub outstanding: usize,
    /// Steps in a row that get nowhere: [`IDLE_STEPS`].
    pub idle_steps: u32,
    /// Bytes of one answer's body: [`RESPONSE_BODY`].
    pub response_body: usize,
    /// Bytes of one line of a stream: [`LINE`].
    pub line: usize,
    /// Bytes of a component's file: [`COMPONENT`].
    pub component: usize,
    /// Ids or specs of one call: [`IDS`].
    pub ids: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: MEMORY,
            instances: INSTANCES,
            step: STEP,
            operation: OPERATION,
            operation_max: OPERATION_MAX,
            wind_down: WIND_DOWN,
            wind_down_cleaning: WIND_DOWN_CLEANING,
            hostcall: HOSTCALL,
            answers: ANSWERS,
            effect_burst: EFFECT_BURST,
            effect_rate: EFFECT_RATE,
            in_flight: IN_FLIGHT,
            outstanding: OUTSTANDING,
            idle_steps: IDLE_STEPS,
            response_body: RESPONSE_BODY,
            line: LINE,
            component: COMPONENT,
            ids: IDS,
        }
    }
}
