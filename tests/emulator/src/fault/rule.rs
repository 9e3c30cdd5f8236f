//! A rule: on what, how often, and what goes wrong.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Deserializer};

use crate::pattern::{Asked, Pattern};

/// Whether the request takes effect before the fault comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// It does not: the fault comes first.
    Before,
    /// It does, and the client is not told.
    After,
}

/// Where in the body of an answer something happens. A body that is shorter comes whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// After so many bytes; 0 is after the headers.
    Bytes(usize),
    /// After so many whole lines: the events of a watch.
    Lines(usize),
}

/// How a body ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// As if this were all of it.
    Complete,
    /// The connection is closed, though more was promised.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing more comes.
    Silence,
    /// Nothing more comes, and the server does not notice when the client goes.
    HalfOpen,
}

/// An answer that is given instead of the server's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canned {
    /// The status code, from 200 on.
    pub status: u16,
    /// The headers; a length is added.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default, deserialize_with = "text")]
    pub body: Bytes,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The server is gone from here on: all connections are reset and new ones refused. For so long, or until
    /// [`crate::fault::Faults::accept`].
    #[serde(deserialize_with = "maybe_seconds")]
    Refuse(Option<Duration>),
    /// The connection is reset.
    Reset(When),
    /// It takes so long.
    Delay(When, #[serde(deserialize_with = "seconds")] Duration),
    /// No answer comes.
    Stall(When),
    /// No answer comes, and the server does not notice when the client goes.
    HalfOpen(When),
    /// These bytes come instead of an answer, then the connection is closed. On a connection they come instead of TLS.
    Garbage(When, #[serde(deserialize_with = "text")] Bytes),
    /// Another answer comes.
    Answer(When, Canned),
    /// The answer has this body instead of its own.
    Body(#[serde(deserialize_with = "text")] Bytes),
    /// The body ends before its end.
    Break(Point, Ending),
    /// The body comes in pieces of so many bytes, each after so long.
    Drip(usize, #[serde(deserialize_with = "seconds")] Duration),
    /// A watch loses the first event of this type and name after so many of them; `*` stands for anything.
    DropEvent {
        /// Such as `DELETED`.
        #[serde(default = "anything", rename = "type")]
        kind: String,
        /// The name of the object.
        #[serde(default = "anything")]
        name: String,
        /// How many such events come before the one that is lost.
        #[serde(default)]
        skip: usize,
    },
    /// After so many events a watch says that its version is too old, and ends.
    Expire(usize),
}

impl Fault {
    /// An answer with this status, of JSON.
    pub fn status(when: When, status: u16, body: impl Into<Bytes>) -> Fault {
        Fault::canned(when, status, &[("content-type", "application/json")], body)
    }

    /// An answer with this status, these headers and this body.
    pub fn canned(when: When, status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Fault {
        let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Fault::Answer(when, Canned { status, headers, body: body.into() })
    }

    /// A page, as something between client and server answers.
    pub fn html(when: When, status: u16) -> Fault {
        let page = format!("<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>\n");
        Fault::canned(when, status, &[("content-type", "text/html")], page)
    }

    /// Sends the client elsewhere.
    pub fn redirect(status: u16, location: &str) -> Fault {
        Fault::canned(When::Before, status, &[("location", location)], Bytes::new())
    }

    /// 410 as an answer: what a list gets whose token is too old, and a watch that could not even begin.
    pub fn gone() -> Fault {
        Fault::status(When::Before, 410, super::expired().status().to_string())
    }

    /// 410 as an event of a watch, the first one: the other form.
    pub fn expired() -> Fault {
        Fault::Expire(0)
    }

    /// Nothing comes after so many bytes of the body.
    pub fn silence(after: usize) -> Fault {
        Fault::Break(Point::Bytes(after), Ending::Silence)
    }

    /// The connection is closed after so many bytes of the body, though more was promised.
    pub fn cut(after: usize) -> Fault {
        Fault::Break(Point::Bytes(after), Ending::Close)
    }

    /// A watch ends in good order after so many events, as it does when its time is over.
    pub fn end_watch(after: usize) -> Fault {
        Fault::Break(Point::Lines(after), Ending::Complete)
    }

    /// A watch loses the first event of this type of the object of this name.
    pub fn drop_event(kind: &str, name: &str) -> Fault {
        Fault::DropEvent { kind: kind.to_owned(), name: name.to_owned(), skip: 0 }
    }

    fn of_watches_only(&self) -> bool {
        matches!(self, Fault::DropEvent { .. } | Fault::Expire(_) | Fault::Break(Point::Lines(_), _))
    }
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    /// New connections, before anything was said. What is about answers has no meaning there, and is ignored.
    Connection,
    /// Requests.
    Request(Box<Pattern>),
}

/// On what, how often, and what goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is about.
    #[serde(default = "every_request")]
    pub on: On,
    /// How many that fit are spared first.
    #[serde(default)]
    pub skip: usize,
    /// To how many it applies after that; none for no end.
    #[serde(default)]
    pub times: Option<usize>,
    /// What goes wrong.
    pub fault: Fault,
}

impl Rule {
    /// On requests, each that fits.
    pub fn on(requests: Pattern, fault: Fault) -> Rule {
        Rule { on: On::Request(Box::new(requests)), skip: 0, times: None, fault }
    }

    /// On new connections, each.
    pub fn on_connections(fault: Fault) -> Rule {
        Rule { on: On::Connection, skip: 0, times: None, fault }
    }

    /// Only so often.
    #[must_use]
    pub fn times(mut self, times: usize) -> Rule {
        self.times = Some(times);
        self
    }

    /// Only once.
    #[must_use]
    pub fn once(self) -> Rule {
        self.times(1)
    }

    /// Not before so many that fit have passed.
    #[must_use]
    pub fn skip(mut self, number: usize) -> Rule {
        self.skip = number;
        self
    }

    /// Whether this can ever happen: what is read from a file is looked at so.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self) -> Result<(), String> {
        if let Fault::Answer(_, canned) = &self.fault {
            if !(200..1000).contains(&canned.status) {
                return Err(format!("{} is no status of an answer", canned.status));
            }
            for (name, value) in &canned.headers {
                if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() {
                    return Err(format!("{name:?}: {value:?} is no header"));
                }
            }
        }
        let of_connections = matches!(
            self.fault,
            Fault::Refuse(_)
                | Fault::Reset(_)
                | Fault::Delay(..)
                | Fault::Stall(_)
                | Fault::HalfOpen(_)
                | Fault::Garbage(..)
        );
        match &self.on {
            On::Connection if !of_connections => Err("this is about an answer, and a connection has none".to_owned()),
            On::Request(pattern)
                if self.fault.of_watches_only() && pattern.verb.as_deref().is_some_and(|verb| verb != "watch") =>
            {
                Err("this happens to watches only".to_owned())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn fits(&self, asked: &Asked) -> bool {
        match &self.on {
            On::Connection => false,
            On::Request(pattern) => pattern.matches(asked) && (asked.verb == "watch" || !self.fault.of_watches_only()),
        }
    }
}

fn every_request() -> On {
    On::Request(Box::default())
}

fn anything() -> String {
    "*".to_owned()
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    String::deserialize(from).map(Bytes::from)
}

fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(serde::de::Error::custom)
}

fn maybe_seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let number = Option::<f64>::deserialize(from)?;
    number.map(Duration::try_from_secs_f64).transpose().map_err(serde::de::Error::custom)
}
