//! Who we are to the server: nobody beyond the client certificate, a token, or a file that holds one.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::redact::{Needles, SHORTEST};
use super::validity::Validity;

/// How old a token from a file may get before the file is read again. The kubelet replaces a service account's token
/// when a fifth of its life is left, two minutes at the least; client-go also takes a minute.
const TOKEN_AGE: Duration = Duration::from_secs(60);

/// Bytes of a token file that are read. Tokens are below 8 KiB, the limit of many servers for all headers.
const TOKEN_FILE_BYTES: u64 = 64 << 10;

/// A token, ready to be sent. `Debug` does not show it.
pub(super) struct Token {
    secret: SecretString,
    header: HeaderValue,
    needles: Arc<Needles>,
}

impl Token {
    /// # Errors
    /// What is wrong with it.
    pub(super) fn new(text: &str) -> Result<Token, &'static str> {
        let text = text.trim();
        if text.is_empty() {
            return Err("it is empty");
        }
        // What may follow `Bearer` is narrower still, but servers decide that; it must not break out of the line.
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("it has blanks, control characters or characters outside ASCII");
        }
        if text.len() < SHORTEST {
            tracing::warn!("a token is too short to be recognised in answers; it will not be searched for");
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| "it does not fit a header")?;
        header.set_sensitive(true);
        Ok(Token { secret: SecretString::from(text), header, needles: Arc::new(Needles::of(text)) })
    }

    /// The value of `authorization`, marked as sensitive.
    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// From when to when it is good, if it says so.
    pub(super) fn validity(&self) -> Validity {
        Validity::of_token(self.secret.expose_secret()).unwrap_or_default()
    }

    fn same(&self, other: &Token) -> bool {
        self.secret.expose_secret() == other.secret.expose_secret()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Where tokens come from. Clones share what was read.
#[derive(Clone)]
pub(super) enum Credentials {
    /// No token: the client certificate says who we are, or a loopback proxy does.
    None,
    /// One that does not change.
    Fixed(Arc<Token>),
    /// From a file that somebody keeps fresh.
    File(Arc<TokenFile>),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Credentials::None => "None",
            Credentials::Fixed(_) => "Fixed",
            Credentials::File(_) => "File",
        })
    }
}

/// What one request is sent with.
pub(super) struct Granted {
    pub(super) token: Option<Arc<Token>>,
    /// What must not come back in its answer: this token, and the one before it.
    pub(super) needles: Vec<Arc<Needles>>,
}

impl Credentials {
    /// The token to send now.
    pub(super) async fn current(&self) -> Granted {
        match self {
            Credentials::None => Granted { token: None, needles: Vec::new() },
            Credentials::Fixed(token) => {
                Granted { token: Some(Arc::clone(token)), needles: vec![Arc::clone(&token.needles)] }
            }
            Credentials::File(file) => file.current().await,
        }
    }

    /// After a 401 to `refused`: another token, if there is one by now.
    pub(super) async fn after_401(&self, refused: &Granted) -> Option<Granted> {
        match (self, &refused.token) {
            (Credentials::File(file), Some(token)) => file.after_401(token).await,
            _ => None,
        }
    }
}

/// A token file and what was last read from it.
pub(super) struct TokenFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    token: Arc<Token>,
    previous: Option<Arc<Token>>,
    read_at: Instant,
}

impl State {
    fn granted(&self) -> Granted {
        let tokens = std::iter::once(&self.token).chain(&self.previous);
        Granted {
            token: Some(Arc::clone(&self.token)),
            needles: tokens.map(|token| Arc::clone(&token.needles)).collect(),
        }
    }

    fn take(&mut self, read: Result<Token, Unusable>) {
        self.read_at = Instant::now();
        match read {
            Ok(fresh) if fresh.same(&self.token) => {}
            Ok(fresh) => self.previous = Some(std::mem::replace(&mut self.token, Arc::new(fresh))),
            Err(Unusable::Unreadable(error)) => {
                tracing::warn!(kind = ?error.kind(), "the token file cannot be read; the last token stays in use");
            }
            Err(Unusable::Bad(why)) => {
                tracing::warn!(why, "what the token file holds is no token; the last token stays in use");
            }
        }
    }
}

impl TokenFile {
    /// Reads it for the first time. Blocks.
    pub(super) fn open(path: PathBuf) -> Result<TokenFile, Unusable> {
        let token = Arc::new(read(&path)?);
        Ok(TokenFile { path, state: Mutex::new(State { token, previous: None, read_at: Instant::now() }) })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    async fn current(&self) -> Granted {
        let mut state = self.state.lock().await;
        if state.read_at.elapsed() >= TOKEN_AGE {
            self.reread(&mut state).await;
        }
        state.granted()
    }

    async fn after_401(&self, refused: &Token) -> Option<Granted> {
        let mut state = self.state.lock().await;
        // Another request may have found the new one meanwhile.
        if state.token.same(refused) {
            self.reread(&mut state).await;
        }
        (!state.token.same(refused)).then(|| state.granted())
    }

    async fn reread(&self, state: &mut State) {
        let path = self.path.clone();
        // The file may be on a slow file system, and the reactor must not wait for it.
        let read = tokio::task::spawn_blocking(move || read(&path)).await;
        state.take(read.unwrap_or_else(|_| Err(Unusable::Bad("reading it was cut short"))));
    }
}

/// Why a token file gives no token.
#[derive(Debug)]
pub(super) enum Unusable {
    Unreadable(io::Error),
    Bad(&'static str),
}

fn read(path: &Path) -> Result<Token, Unusable> {
    let mut text = Zeroizing::new(Vec::new());
    let file = std::fs::File::open(path).map_err(Unusable::Unreadable)?;
    file.take(TOKEN_FILE_BYTES).read_to_end(&mut text).map_err(Unusable::Unreadable)?;
    let text = std::str::from_utf8(&text).map_err(|_| Unusable::Bad("it is not text"))?;
    Token::new(text).map_err(Unusable::Bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn header(granted: &Granted) -> String {
        granted.token.as_ref().unwrap().header().to_str().unwrap().to_owned()
    }

    #[rstest]
    #[case::plain("abc.def", true)]
    #[case::newline("abc.def\n", true)]
    #[case::empty("", false)]
    #[case::blank(" \n", false)]
    #[case::inner_newline("abc\ndef", false)]
    #[case::inner_blank("abc def", false)]
    #[case::not_ascii("abcé", false)]
    #[case::nul("abc\0", false)]
    fn tokens(#[case] text: &str, #[case] good: bool) {
        let token = Token::new(text);
        assert_eq!(token.is_ok(), good);
        if let Ok(token) = token {
            assert_eq!(token.header(), "Bearer abc.def");
            assert!(token.header().is_sensitive());
            assert_eq!(format!("{token:?} {:?}", token.header()), "Token Sensitive");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_read_again_after_a_minute() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "first-token\n").unwrap();
        let credentials = Credentials::File(Arc::new(TokenFile::open(file.path().to_owned()).unwrap()));
        std::fs::write(file.path(), "second-token\n").unwrap();

        tokio::time::advance(TOKEN_AGE - Duration::from_millis(1)).await;
        assert_eq!(header(&credentials.current().await), "Bearer first-token");
        tokio::time::advance(Duration::from_millis(1)).await;
        let second = credentials.current().await;
        assert_eq!(header(&second), "Bearer second-token");
        assert_eq!(second.needles.len(), 2, "the token before must not come back either");
    }

    #[rstest]
    #[case::gone(None)]
    #[case::empty(Some(""))]
    #[case::broken(Some("two words"))]
    #[tokio::test(start_paused = true)]
    async fn a_file_that_cannot_be_read_keeps_the_last(#[case] content: Option<&str>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        std::fs::write(&path, "first-token").unwrap();
        let credentials = Credentials::File(Arc::new(TokenFile::open(path.clone()).unwrap()));
        match content {
            None => std::fs::remove_file(&path).unwrap(),
            Some(content) => std::fs::write(&path, content).unwrap(),
        }
        tokio::time::advance(TOKEN_AGE).await;
        let granted = credentials.current().await;
        assert_eq!(header(&granted), "Bearer first-token");
        assert!(credentials.after_401(&granted).await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_401_reads_the_file_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "first-token").unwrap();
        let credentials = Credentials::File(Arc::new(TokenFile::open(file.path().to_owned()).unwrap()));
        let first = credentials.current().await;
        assert!(credentials.after_401(&first).await.is_none(), "nothing changed");
        std::fs::write(file.path(), "second-token").unwrap();
        assert_eq!(header(&credentials.after_401(&first).await.unwrap()), "Bearer second-token");
        // A second request that was refused with the first token does not read the file.
        std::fs::remove_file(file.path()).unwrap();
        assert_eq!(header(&credentials.after_401(&first).await.unwrap()), "Bearer second-token");
    }
}
