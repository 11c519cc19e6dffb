//! Who may connect: loopback without a token, others with one; pages of other origins never.

use std::fmt;
use std::hint::black_box;
use std::net::IpAddr;

use axum::http::{HeaderMap, header};

/// What clients must show on an address that others can reach.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The cookie that carries the token of a page.
pub(crate) const COOKIE: &str = "dragoman_token";
/// Shortest token in a file, characters.
const SHORTEST: usize = 16;

/// Error reading a token.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    #[error("the file can be read by others: its mode must be 0600")]
    Mode,
    #[error("a token has at least {SHORTEST} letters, digits, '-' and '_'")]
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
        let is_valid = token.len() >= SHORTEST
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

/// Why a request is refused.
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
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    if token.is_none() && !is_address_of_loopback(host) {
        return Err(Refusal::Host);
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let origin_host = origin.split_once("://").map(|(_, host)| host);
        let is_ours = origin_host.is_some_and(|origin| origin.eq_ignore_ascii_case(host));
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

/// Whether a `Host` is this machine by an address, or by the name that always is.
fn is_address_of_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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
        for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LOCALHOST"] {
            assert_eq!(check_of(None, &[("host", host)], None), Ok(()), "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1.evil.example", "", "192.168.1.2"] {
            assert_eq!(check_of(None, &[("host", host)], None), Err(Refusal::Host), "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let host = ("host", "127.0.0.1:8080");
        assert_eq!(check_of(None, &[host, ("origin", "http://127.0.0.1:8080")], None), Ok(()));
        for origin in
            ["http://evil.example", "null", "", "http://127.0.0.1:8081", "http://127.0.0.1:8080.evil.example"]
        {
            assert_eq!(check_of(None, &[host, ("origin", origin)], None), Err(Refusal::Origin), "{origin}");
        }
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
