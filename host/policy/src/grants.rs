//! What a provider is allowed: what it asks for, of that what the operator gives, in the places configured.

use std::collections::BTreeSet;

use crate::catalogue::{Engine, Word};
use crate::limits;
use crate::names;

/// The namespaces that a provider may touch.
///
/// ```
/// use workload_policy::Places;
///
/// let places = Places::only(["default", "team-a"]);
/// assert!(places.cover("team-a") && !places.cover("kube-system"));
/// assert!(Places::All.cover("kube-system"));
/// assert!(!Places::only::<[String; 0]>([]).cover("default"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Places {
    /// All of them, so that lists over all namespaces are possible too.
    All,
    /// Only these. None means none.
    Only(BTreeSet<String>),
}

impl Places {
    /// Only these.
    ///
    /// ```
    /// # use workload_policy::Places;
    /// assert_ne!(Places::only(["a"]), Places::All);
    /// ```
    pub fn only<I>(places: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        Self::Only(places.into_iter().map(Into::into).collect())
    }

    /// Whether this namespace is among them.
    ///
    /// ```
    /// # use workload_policy::Places;
    /// assert!(!Places::only(["a"]).cover("b"));
    /// ```
    #[must_use]
    pub fn cover(&self, place: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(places) => places.contains(place),
        }
    }
}

/// Why a configuration gives no valid grants.
///
/// ```
/// use workload_policy::{Engine, Grants, Places};
///
/// let error = Grants::new(Engine::Kubernetes, ["*"], ["event:list"], Places::All).unwrap_err();
/// assert_eq!(error.to_string(), "unknown grant \"event:list\": there is events:list");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// The operator gives a word that the catalogue does not have.
    #[error("unknown grant {word:?}: there is {}", valid.join(", "))]
    Unknown {
        /// The word.
        word: String,
        /// The words of the kind that is spelled most like it.
        valid: Vec<&'static str>,
    },
    /// A wildcard for what each must be given by name.
    #[error("{word:?} gives nothing: each of these must be given by name: {}", valid.join(", "))]
    ByName {
        /// The wildcard.
        word: String,
        /// What there is of this kind.
        valid: Vec<&'static str>,
    },
    /// A place that cannot be the name of a namespace.
    #[error("{place:?} is not the name of a namespace")]
    Place {
        /// The place.
        place: String,
    },
    /// A prefix that cannot start a label key.
    #[error("{prefix:?} is not the prefix of a label")]
    Prefix {
        /// The prefix.
        prefix: String,
    },
}

/// A word that a provider asks for and does not get.
///
/// ```
/// use workload_policy::{DropReason, Engine, Grants, Places};
///
/// let grants = Grants::new(Engine::Kubernetes, ["pods:list", "secrets:get"], ["*"], Places::All)?;
/// assert_eq!(grants.dropped()[0].word, "secrets:get");
/// assert_eq!(grants.dropped()[0].reason, DropReason::Unknown);
/// # Ok::<(), workload_policy::GrantError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The word, cut and escaped so that it can be printed: it comes from the provider.
    pub word: String,
    /// Why.
    pub reason: DropReason,
}

/// Why a word that a provider asks for is dropped.
///
/// ```
/// assert_eq!(workload_policy::DropReason::NotGiven.to_string(), "not given by the configuration");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// The catalogue has no such word.
    Unknown,
    /// The operator does not give it, or of a wildcard not all.
    NotGiven,
    /// It came after more words than a provider may ask for.
    TooMany,
}

impl std::fmt::Display for DropReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unknown => "not in the catalogue",
            Self::NotGiven => "not given by the configuration",
            Self::TooMany => "too many words asked for",
        })
    }
}

/// A set of words of one engine, by their place in [`Engine::words`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Words(u128);

impl Words {
    const fn one(index: usize) -> Self {
        // The tables are held to fewer words than bits by a test; beyond them nothing is ever held.
        if index < 128 { Self(1 << index) } else { Self(0) }
    }

    const fn has(self, index: usize) -> bool {
        self.0 & Self::one(index).0 != 0
    }
}

/// What a provider is allowed. Empty denies everything.
///
/// A word is one of [`Engine::words`], `resource:*` for all verbs of a resource, or `*`. Wildcards never include what
/// is dangerous; that has to be asked for and given by name.
///
/// ```
/// use workload_policy::{Engine, Grants, Places};
///
/// let asks = ["deployments:*", "deployments/scale:patch", "pod:secret"];
/// let grants = Grants::new(Engine::Kubernetes, asks, ["*"], Places::only(["default"]))?;
/// assert!(grants.allows("deployments:get") && grants.allows("deployments/scale:patch"));
/// assert!(!grants.allows("pods:list")); // given, but not asked for
/// assert!(!grants.allows("pod:secret")); // asked for, but `*` does not give it
/// # Ok::<(), workload_policy::GrantError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants {
    engine: Engine,
    words: Words,
    places: Places,
    prefix: String,
    dropped: Vec<Dropped>,
}

/// The prefix of our labels and annotations unless the operator says otherwise.
const PREFIX: &str = "workload-provider";

impl Grants {
    /// What is both asked for and given, in these places. What a provider asks for in vain is only noted, so that it
    /// loads with what is left.
    ///
    /// # Errors
    /// When the operator gives a word that does not exist, or names a place that cannot: a typo should not pass for a
    /// restriction.
    ///
    /// ```
    /// use workload_policy::{Engine, Grants, Places};
    ///
    /// assert!(Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::only(["Default"])).is_err());
    /// let nothing: [&str; 0] = [];
    /// let grants = Grants::new(Engine::Kubernetes, ["*"], nothing, Places::All)?;
    /// assert_eq!(grants.words().count(), 0);
    /// # Ok::<(), workload_policy::GrantError>(())
    /// ```
    pub fn new<A, G>(engine: Engine, asks: A, given: G, places: Places) -> Result<Self, GrantError>
    where
        A: IntoIterator<Item: AsRef<str>>,
        G: IntoIterator<Item: AsRef<str>>,
    {
        if let Places::Only(only) = &places
            && let Some(place) = only.iter().find(|place| !names::is_label(place))
        {
            return Err(GrantError::Place { place: place.clone() });
        }
        let mut held = Words::default();
        for word in given {
            let word = word.as_ref();
            let words = expand(engine, word);
            if words == Words::default() {
                return Err(unknown(engine, word));
            }
            held.0 |= words.0;
        }
        let (mut words, mut dropped) = (Words::default(), Vec::new());
        for (count, word) in asks.into_iter().enumerate() {
            let word = word.as_ref();
            if count >= limits::ASKED_WORDS {
                dropped.push(Dropped { word: printable(word), reason: DropReason::TooMany });
                break;
            }
            let asked = expand(engine, word);
            words.0 |= asked.0 & held.0;
            if asked == Words::default() {
                dropped.push(Dropped { word: printable(word), reason: DropReason::Unknown });
            } else if asked.0 & !held.0 != 0 {
                dropped.push(Dropped { word: printable(word), reason: DropReason::NotGiven });
            }
        }
        Ok(Self { engine, words, places, prefix: PREFIX.to_owned(), dropped })
    }

    /// With another prefix for our own annotations, the only ones that a patch may touch.
    ///
    /// # Errors
    /// When it cannot start the key of an annotation.
    ///
    /// ```
    /// use workload_policy::{Engine, Grants, Places};
    ///
    /// let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::All)?;
    /// assert!(grants.clone().with_prefix("org.example.manager").is_ok());
    /// assert!(grants.with_prefix("kubernetes.io").is_err());
    /// # Ok::<(), workload_policy::GrantError>(())
    /// ```
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self, GrantError> {
        if !names::is_subdomain(prefix) || names::reserved_domain(prefix).is_some() {
            return Err(GrantError::Prefix { prefix: prefix.to_owned() });
        }
        prefix.clone_into(&mut self.prefix);
        Ok(self)
    }

    /// The engine whose catalogue they are of.
    ///
    /// ```
    /// # use workload_policy::{Engine, Grants, Places};
    /// # let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::All).unwrap();
    /// assert_eq!(grants.engine(), Engine::Kubernetes);
    /// ```
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Whether a word, not a wildcard, is held.
    ///
    /// ```
    /// # use workload_policy::{Engine, Grants, Places};
    /// # let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::All).unwrap();
    /// assert!(grants.allows("pods:get") && !grants.allows("pod:privileged") && !grants.allows("*"));
    /// ```
    #[must_use]
    pub fn allows(&self, word: &str) -> bool {
        self.words().any(|held| held == word)
    }

    /// The words that are held.
    ///
    /// ```
    /// # use workload_policy::{Engine, Grants, Places};
    /// # let grants = Grants::new(Engine::Kubernetes, ["*"], ["pods:*"], Places::All).unwrap();
    /// assert_eq!(grants.words().collect::<Vec<_>>(), ["pods:get", "pods:list", "pods:watch"]);
    /// ```
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let held = self.words;
        self.engine.words().enumerate().filter(move |(index, _)| held.has(*index)).map(|(_, word)| word.word)
    }

    /// The places that they hold in.
    ///
    /// ```
    /// # use workload_policy::{Engine, Grants, Places};
    /// # let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::All).unwrap();
    /// assert_eq!(grants.places(), &Places::All);
    /// ```
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// What the provider asks for and does not get, in its order.
    ///
    /// ```
    /// # use workload_policy::{DropReason, Engine, Grants, Places};
    /// let grants = Grants::new(Engine::Kubernetes, ["pods:*"], ["pods:get"], Places::All)?;
    /// assert_eq!(grants.dropped()[0].reason, DropReason::NotGiven);
    /// # Ok::<(), workload_policy::GrantError>(())
    /// ```
    #[must_use]
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// Whether the operation at this place of the engine's table is held.
    pub(crate) fn holds(&self, operation: usize) -> bool {
        self.words.has(operation)
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// The words that a word or wildcard stands for; none if it is unknown or stands for dangerous ones only.
fn expand(engine: Engine, asked: &str) -> Words {
    let wildcard = asked.strip_suffix('*').filter(|kind| kind.is_empty() || kind.ends_with(':'));
    let stands_for = |word: &Word| match wildcard {
        Some(kind) => word.word.starts_with(kind) && !word.dangerous,
        None => word.word == asked,
    };
    let found = engine.words().enumerate().filter(|(_, word)| stands_for(word));
    found.fold(Words::default(), |all, (index, _)| Words(all.0 | Words::one(index).0))
}

/// The error for a given word that stands for nothing, with the words that were perhaps meant.
fn unknown(engine: Engine, word: &str) -> GrantError {
    let asked = kind(word);
    let nearest = engine.words().map(|w| kind(w.word)).min_by_key(|kind| distance(kind, asked)).unwrap_or_default();
    let valid = engine.words().map(|w| w.word).filter(|w| kind(w) == nearest).collect();
    let wildcard = asked == nearest && word.ends_with(":*");
    let word = printable(word);
    if wildcard { GrantError::ByName { word, valid } } else { GrantError::Unknown { word, valid } }
}

fn kind(word: &str) -> &str {
    word.split_once(':').map_or(word, |(kind, _)| kind)
}

/// Text from outside, cut and escaped, so that a log or terminal shows it and does nothing else.
fn printable(word: &str) -> String {
    word.chars().take(64).flat_map(char::escape_default).collect()
}

/// How many letters have to be put in, taken out or changed to make one word of the other. Both are short: what is longer
/// than any word is not close to one.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(&b) {
            let changed = diagonal + usize::from(from != *to);
            diagonal = *cell;
            left = changed.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
