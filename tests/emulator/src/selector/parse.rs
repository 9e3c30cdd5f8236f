//! The grammar of label selectors, with the messages of the real server for what is outside of it.

use std::collections::BTreeSet;

use super::{Operator, Requirement};
use crate::quote::quoted;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Error,
    End,
    Close,
    Comma,
    Not,
    Equal,
    Above,
    Word,
    In,
    Below,
    NotEqual,
    NotIn,
    Open,
}

/// A word where only keys and operators can be, or where `in` and `notin` can be values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Operator,
    Value,
}

fn symbol(text: &str) -> Option<Token> {
    Some(match text {
        ")" => Token::Close,
        "," => Token::Comma,
        "!" => Token::Not,
        "==" | "=" => Token::Equal,
        ">" => Token::Above,
        "in" => Token::In,
        "<" => Token::Below,
        "!=" => Token::NotEqual,
        "notin" => Token::NotIn,
        "(" => Token::Open,
        _ => return None,
    })
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];
const SYMBOLS: [char; 7] = ['=', '!', '(', ')', ',', '>', '<'];

fn scan(text: &str) -> Vec<(Token, String)> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(SPACES);
    // A zero byte is the end for the real server, unless it ends a word.
    while !rest.is_empty() && !rest.starts_with('\0') {
        let (token, literal, taken) = if rest.starts_with(SYMBOLS) { scan_symbol(rest) } else { scan_word(rest) };
        tokens.push((token, literal));
        rest = rest.get(taken..).unwrap_or_default().trim_start_matches(SPACES);
    }
    tokens.push((Token::End, String::new()));
    tokens
}

fn scan_word(rest: &str) -> (Token, String, usize) {
    let ends = |letter| SPACES.contains(&letter) || SYMBOLS.contains(&letter) || letter == '\0';
    let end = rest.find(ends).unwrap_or(rest.len());
    let word = rest.get(..end).unwrap_or_default();
    let zero = usize::from(rest.get(end..).is_some_and(|after| after.starts_with('\0')));
    (symbol(word).unwrap_or(Token::Word), word.to_owned(), end + zero)
}

/// The longest symbol at the beginning.
fn scan_symbol(rest: &str) -> (Token, String, usize) {
    let longest = (1..=2).rev().find_map(|length| {
        let text = rest.get(..length)?;
        Some((symbol(text)?, text.to_owned(), length))
    });
    // Every single sign is a symbol, so there is one.
    longest.unwrap_or_else(|| (Token::Error, format!("error expected: keyword found '{rest}'"), rest.len()))
}

struct Parser {
    tokens: std::vec::IntoIter<(Token, String)>,
}

type Parsed<T> = Result<T, String>;

pub(super) fn parse(text: &str) -> Parsed<Vec<Requirement>> {
    let mut parser = Parser { tokens: scan(text).into_iter() };
    let mut requirements = Vec::new();
    loop {
        match parser.peek(At::Value) {
            (Token::Word | Token::Not, _) => {
                let requirement =
                    parser.requirement().map_err(|error| format!("unable to parse requirement: {error}"))?;
                requirements.push(requirement);
                match parser.next(At::Value) {
                    (Token::End, _) => break,
                    (Token::Comma, _) => {
                        let (token, literal) = parser.peek(At::Value);
                        if token != Token::Word && token != Token::Not {
                            return Err(format!("found '{literal}', expected: identifier after ','"));
                        }
                    }
                    (_, literal) => return Err(format!("found '{literal}', expected: ',' or 'end of string'")),
                }
            }
            (Token::End, _) => break,
            (_, literal) => return Err(format!("found '{literal}', expected: !, identifier, or 'end of string'")),
        }
    }
    requirements.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(requirements)
}

impl Parser {
    fn peek(&self, at: At) -> (Token, &str) {
        let (token, literal) =
            self.tokens.as_slice().first().map_or((Token::End, ""), |(token, literal)| (*token, literal.as_str()));
        (as_at(token, at), literal)
    }

    fn next(&mut self, at: At) -> (Token, String) {
        let (token, literal) = self.tokens.next().unwrap_or((Token::End, String::new()));
        (as_at(token, at), literal)
    }

    fn requirement(&mut self) -> Parsed<Requirement> {
        let (mut token, mut key) = self.next(At::Value);
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.next(At::Value);
        }
        if token != Token::Word {
            return Err(format!("found '{key}', expected: identifier"));
        }
        if let Some(problem) = key_problem(&key) {
            return Err(format!("<nil>: Invalid value: {}: {problem}", quoted(&key)));
        }
        let none = BTreeSet::new();
        if negated {
            return Ok(Requirement { key, operator: Operator::Missing, values: none });
        }
        if matches!(self.peek(At::Value).0, Token::End | Token::Comma) {
            return Ok(Requirement { key, operator: Operator::Exists, values: none });
        }
        let (token, literal) = self.next(At::Operator);
        let operator = match token {
            Token::In | Token::Equal => Operator::In,
            Token::NotIn | Token::NotEqual => Operator::NotIn,
            Token::Above => Operator::Above,
            Token::Below => Operator::Below,
            _ => return Err(format!("found '{literal}', expected: in, notin, =, ==, !=, gt, lt")),
        };
        let values = if matches!(token, Token::In | Token::NotIn) { self.values()? } else { self.value()? };
        check_values(&key, operator, &values)?;
        Ok(Requirement { key, operator, values })
    }

    fn values(&mut self) -> Parsed<BTreeSet<String>> {
        let (token, literal) = self.next(At::Value);
        if token != Token::Open {
            return Err(format!("found '{literal}' expected: '('"));
        }
        let (token, literal) = self.peek(At::Value);
        match token {
            Token::Word | Token::Comma => {
                let first = literal.to_owned();
                let values = self.list()?;
                match self.next(At::Value) {
                    (Token::Close, _) => Ok(values),
                    _ => Err(format!("found '{first}', expected: ')'")),
                }
            }
            Token::Close => {
                self.next(At::Value);
                Ok(BTreeSet::from([String::new()]))
            }
            _ => Err(format!("found '{literal}', expected: ',', ')' or identifier")),
        }
    }

    fn list(&mut self) -> Parsed<BTreeSet<String>> {
        let mut values = BTreeSet::new();
        loop {
            match self.next(At::Value) {
                (Token::Word, value) => {
                    values.insert(value);
                    match self.peek(At::Value) {
                        (Token::Comma, _) => {}
                        (Token::Close, _) => return Ok(values),
                        (_, literal) => return Err(format!("found '{literal}', expected: ',' or ')'")),
                    }
                }
                (Token::Comma, _) => {
                    if values.is_empty() {
                        values.insert(String::new());
                    }
                    match self.peek(At::Value).0 {
                        Token::Close => {
                            values.insert(String::new());
                            return Ok(values);
                        }
                        Token::Comma => {
                            values.insert(String::new());
                        }
                        _ => {}
                    }
                }
                (_, literal) => return Err(format!("found '{literal}', expected: ',', or identifier")),
            }
        }
    }

    fn value(&mut self) -> Parsed<BTreeSet<String>> {
        if matches!(self.peek(At::Value).0, Token::End | Token::Comma) {
            return Ok(BTreeSet::from([String::new()]));
        }
        match self.next(At::Value) {
            (Token::Word, value) => Ok(BTreeSet::from([value])),
            (_, literal) => Err(format!("found '{literal}', expected: identifier")),
        }
    }
}

fn as_at(token: Token, at: At) -> Token {
    match token {
        Token::In | Token::NotIn if at == At::Value => Token::Word,
        other => other,
    }
}

fn check_values(key: &str, operator: Operator, values: &BTreeSet<String>) -> Parsed<()> {
    let mut problems = Vec::new();
    if matches!(operator, Operator::Above | Operator::Below) {
        for value in values.iter().filter(|value| value.parse::<i64>().is_err()) {
            let value = quoted(value);
            problems.push(format!(
                "values[0]: Invalid value: {value}: for 'Gt', 'Lt' operators, the value must be an integer"
            ));
        }
    }
    for (index, value) in values.iter().enumerate() {
        if let Some(problem) = value_problem(value) {
            problems.push(format!("values[{index}][{key}]: Invalid value: {}: {problem}", quoted(value)));
        }
    }
    match problems.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

const WORD: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                    alphanumeric character";

/// Letters, digits, and between them also `-`, `_` and `.`.
fn is_word(text: &str) -> bool {
    let alphanumeric = |letter: char| letter.is_ascii_alphanumeric();
    text.starts_with(alphanumeric)
        && text.ends_with(alphanumeric)
        && text.chars().all(|letter| alphanumeric(letter) || "-_.".contains(letter))
}

fn key_problem(key: &str) -> Option<String> {
    let form = format!(
        "a valid label key {WORD} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    );
    let mut problems = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            match () {
                () if prefix.is_empty() => problems.push("prefix part must be non-empty".to_owned()),
                () if prefix.len() > 253 => problems.push("prefix part must be no more than 253 bytes".to_owned()),
                () if !is_subdomain(prefix) => problems.push(
                    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
                     '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex \
                     used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                        .to_owned(),
                ),
                () => {}
            }
            *name
        }
        _ => return Some(format!("{form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")),
    };
    match () {
        () if name.is_empty() => problems.push("name part must be non-empty".to_owned()),
        () if name.len() > 63 => problems.push("name part must be no more than 63 bytes".to_owned()),
        () => {}
    }
    if !is_word(name) {
        problems.push(form.replacen("a valid label key", "name part", 1));
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(|part| {
        let small = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        part.starts_with(small) && part.ends_with(small) && part.chars().all(|letter| small(letter) || letter == '-')
    })
}

fn value_problem(value: &str) -> Option<String> {
    let mut problems = Vec::new();
    if value.len() > 63 {
        problems.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_word(value) {
        problems.push(format!(
            "a valid label must be an empty string or {} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            WORD.replacen("must consist", "consist", 1)
        ));
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}
