//! Who may connect: loopback without a token, others with one; pages of other origins never.

use std::fmt;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::{HeaderMap, HeaderName, header};

/// What clients must show on an address that others can reach.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The cookie that carries the token of a page.
pub(crate) const COOKIE: &str = "dragoman_token";
/// Minimum length of a token in a file, characters.
const MIN_TOKEN_LENGTH: usize = 16;

/// Error reading a token.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    #[error("the file can be read by others: its mode must be 0600")]
    Mode,
    #[error("a token has at least {MIN_TOKEN_LENGTH} letters, digits, '-' and '_'")]
    Invalid,
    #[error(transparent)]
    File(#[from] std::io::Error),
}

impl Token {
    /// A new random token.
    pub fn random() -> Self {
        Self(super::random_uuid("console token").simple().to_string())
    }

    /// The token in a file that only its owner may read.
    ///
    /// # Errors
    /// The file cannot be read, or others may read it; an invalid token.
    pub fn from_file(path: &std::path::Path) -> Result<Self, TokenError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            if std::fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
                return Err(TokenError::Mode);
            }
        }
        let text = std::fs::read_to_string(path)?;
        let token = text.trim();
        let is_valid = token.len() >= MIN_TOKEN_LENGTH
            && token.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
        if is_valid { Ok(Self(token.to_owned())) } else { Err(TokenError::Invalid) }
    }

    /// For the address line of a browser.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `given` is the token, in a time that does not depend on where they differ.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = own.iter().enumerate().fold(0, |found, (at, byte)| {
            found | black_box(byte ^ given.get(at).copied().unwrap_or_default())
        });
        black_box(differences) == 0 && own.len() == given.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(..)")
    }
}

/// Reason for a refused request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The token is missing or wrong.
    Token,
    /// A page of another origin.
    Origin,
    /// A host name that is not ours: a page may have let its own name point to this machine.
    Host,
}

/// Checks the head of a request. Pages of `origins` may connect as well as our own.
pub(crate) fn check(
    token: Option<&Token>,
    origins: &[String],
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<(), Refusal> {
    let host = only(headers, &header::HOST).map_err(|()| Refusal::Host)?;
    let host = host.map(|text| Host::parse(text).ok_or(Refusal::Host)).transpose()?;
    if token.is_none() && !host.as_ref().is_some_and(Host::is_loopback) {
        return Err(Refusal::Host);
    }
    if let Some(origin) = only(headers, &header::ORIGIN).map_err(|()| Refusal::Origin)? {
        let is_ours = host.is_some_and(|host| host.is_of(origin));
        if !is_ours && !origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
            return Err(Refusal::Origin);
        }
    }
    match token {
        Some(token) if !given(headers, query).any(|given| token.is(given)) => Err(Refusal::Token),
        _ => Ok(()),
    }
}

/// The token in the query of an address.
pub(crate) fn token_of_query(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

fn given<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> impl Iterator<Item = &'a str> {
    let text = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let bearer = text(header::AUTHORIZATION).filter_map(|value| value.strip_prefix("Bearer "));
    let cookies = text(header::COOKIE).flat_map(|cookies| cookies.split(';'));
    let cookies = cookies.filter_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    query.and_then(token_of_query).into_iter().chain(bearer).chain(cookies)
}

/// The text of a header that may be there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_not_ascii| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

/// The host and port of a `Host` or `Origin` (RFC 3986, 3.2.2 and 3.2.3).
#[derive(Debug, PartialEq, Eq)]
struct Host {
    name: Name,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Name {
    Address(IpAddr),
    /// In small letters.
    Registered(String),
}

impl Host {
    /// Parses `NAME`, `NAME:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
    fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                (Name::Address(address.parse::<Ipv6Addr>().ok()?.into()), port)
            }
            None => {
                let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
                let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
                if name.is_empty() || !name.chars().all(is_allowed) {
                    return None;
                }
                let address = name.parse::<Ipv4Addr>().map(|address| Name::Address(address.into()));
                (address.unwrap_or_else(|_| Name::Registered(name.to_ascii_lowercase())), port)
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            // A number's parser would accept a sign.
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
                Some(digits.parse().ok().filter(|port| *port > 0)?)
            }
            _ => return None,
        };
        Some(Self { name, port })
    }

    /// Whether it is this machine by an address, or by the name that always is.
    fn is_loopback(&self) -> bool {
        match &self.name {
            Name::Address(address) => address.is_loopback(),
            Name::Registered(name) => name == "localhost",
        }
    }

    /// Whether a page of `origin` comes from this host and port.
    fn is_of(&self, origin: &str) -> bool {
        let scheme_and_host =
            origin.split_once("://").map(|(scheme, host)| (scheme.to_ascii_lowercase(), host));
        let Some((scheme, host)) = scheme_and_host else { return false };
        let default = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return false,
        };
        Self::parse(host).is_some_and(|other| {
            other.name == self.name && other.port.unwrap_or(default) == self.port.unwrap_or(default)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn check_of(
        token: Option<&Token>,
        pairs: &[(&'static str, &str)],
        query: Option<&str>,
    ) -> Result<(), Refusal> {
        check(token, &[], &headers(pairs), query)
    }

    #[test]
    fn loopback_needs_no_token_but_its_own_name() {
        for host in [
            "127.0.0.1:8080",
            "127.1.2.3",
            "localhost:8080",
            "[::1]:8080",
            "[::1]",
            "LOCALHOST",
            "localhost:65535",
        ] {
            assert_eq!(check_of(None, &[("host", host)], None), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "127.0.0.1.evil",
            "localhost.evil.example",
            "localhost.",
            "[::1].evil.example",
            "[::1]evil",
            "[::1",
            "[localhost]",
            "[127.0.0.1]",
            "::1",
            "localhost:80:evil",
            "localhost:80.evil.example",
            "localhost:",
            "localhost:0",
            "localhost:+80",
            "localhost:65536",
            "localhost:http",
            "[::1]:",
            "[::1]:http",
            ":8080",
            "user@localhost",
            "localhost/",
            "localhost ",
            "127.1",
            "2130706433",
            "",
            "192.168.1.2",
        ] {
            assert_eq!(check_of(None, &[("host", host)], None), Err(Refusal::Host), "{host}");
        }
        assert_eq!(check_of(None, &[], None), Err(Refusal::Host));
        let mut two = headers(&[("host", "localhost")]);
        two.append("host", "evil.example".parse().unwrap());
        assert_eq!(check(None, &[], &two, None), Err(Refusal::Host));
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let host = ("host", "127.0.0.1:8080");
        for (host, origin) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("localhost:8080", "HTTP://LOCALHOST:8080"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080"),
            ("localhost:80", "http://localhost"),
            ("localhost", "https://localhost:443"),
        ] {
            assert_eq!(
                check_of(None, &[("host", host), ("origin", origin)], None),
                Ok(()),
                "{host} {origin}"
            );
        }
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://",
            "127.0.0.1:8080",
            "http://127.0.0.1",
            "http://127.0.0.1:",
            "http://127.0.0.1:8081",
            "http://127.0.0.1:8080:8080",
            "http://127.0.0.1:8080.evil.example",
            "http://127.0.0.1:8080/",
            "http://127.0.0.1:8080@evil.example",
            "http://evil.example@127.0.0.1:8080",
            "http://localhost:8080",
            "file://127.0.0.1:8080",
            "http://http://127.0.0.1:8080",
        ] {
            assert_eq!(check_of(None, &[host, ("origin", origin)], None), Err(Refusal::Origin), "{origin}");
        }
        let mut two = headers(&[host, ("origin", "http://127.0.0.1:8080")]);
        two.append("origin", "http://evil.example".parse().unwrap());
        assert_eq!(check(None, &[], &two, None), Err(Refusal::Origin));
    }

    #[test]
    fn listed_origins_may_connect() {
        let origins = ["https://app.foxglove.dev".to_owned()];
        let given = |origin| headers(&[("host", "127.0.0.1:8765"), ("origin", origin)]);
        assert_eq!(check(None, &origins, &given("https://app.foxglove.dev"), None), Ok(()));
        for origin in
            ["http://app.foxglove.dev", "https://app.foxglove.dev.evil.example", "https://foxglove.dev"]
        {
            assert_eq!(check(None, &origins, &given(origin), None), Err(Refusal::Origin), "{origin}");
        }
        let token = Token("0123456789abcdef".to_owned());
        let refused = check(Some(&token), &origins, &given("https://app.foxglove.dev"), None);
        assert_eq!(refused, Err(Refusal::Token), "a listed origin needs the token as well");
    }

    #[test]
    fn a_token_is_taken_from_address_header_or_cookie() {
        let token = Token("0123456789abcdef".to_owned());
        let host = ("host", "robot:8080");
        type Way<'a> = (&'a [(&'static str, &'a str)], Option<&'a str>);
        let ways: [Way<'_>; 3] = [
            (&[host], Some("a=b&token=0123456789abcdef")),
            (&[host, ("authorization", "Bearer 0123456789abcdef")], None),
            (&[host, ("cookie", "x=y; dragoman_token=0123456789abcdef")], None),
        ];
        for (headers, query) in ways {
            assert_eq!(check_of(Some(&token), headers, query), Ok(()), "{headers:?}");
        }
        for query in [
            None,
            Some("token="),
            Some("token=0123456789abcdee"),
            Some("token=0123456789abcdef0"),
            Some("token=0"),
        ] {
            assert_eq!(check_of(Some(&token), &[host], query), Err(Refusal::Token), "{query:?}");
        }
        assert!(!format!("{token:?}").contains("0123"));
        assert_ne!(Token::random(), Token::random());
    }
}
