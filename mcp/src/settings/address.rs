//! Addresses for display, without the secrets that people put into them.

/// Replacement for a secret.
pub(super) const REDACTED: &str = "[REDACTED]";

/// Substrings of parameter names that mark a secret.
const SECRET: [&str; 10] =
    ["key", "token", "secret", "pass", "pwd", "auth", "sig", "cred", "session", "code"];

/// Returns a text with the user part of every address in it hidden, and the values of parameters with
/// secret-sounding names. Other text stays as it is.
pub(super) fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (scheme, after) = rest.split_at(at + 3);
        shown.push_str(scheme);
        let end = after.find(|c: char| c.is_whitespace() || c == ',' || c == '"').unwrap_or(after.len());
        let (address, more) = after.split_at(end);
        let address = without_user(address, &mut shown);
        shown.push_str(&parameters(address));
        rest = more;
    }
    shown.push_str(rest);
    shown
}

/// Returns the address from its `@` on, and writes to `shown` that there was a user part.
fn without_user<'a>(address: &'a str, shown: &mut String) -> &'a str {
    let end = address.find(['/', '?', '#']).unwrap_or(address.len());
    // Handles an unescaped `/` in a password: the apparent host then has a port that is not a number.
    let is_odd = |host: &str| host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_err());
    let end = if is_odd(&address[..end]) { address.len() } else { end };
    match address[..end].rfind('@') {
        None => address,
        Some(at) => {
            shown.push_str(REDACTED);
            &address[at..]
        }
    }
}

fn parameters(address: &str) -> String {
    let Some(start) = address.find(['?', '#']) else { return address.to_string() };
    let (place, query) = address.split_at(start);
    let mut shown = place.to_string();
    for part in query.split_inclusive(['?', '&', ';', '#']) {
        let (pair, end) = match part.char_indices().next_back() {
            Some((at, '?' | '&' | ';' | '#')) => part.split_at(at),
            _ => (part, ""),
        };
        let name = pair.split_once('=').map(|(name, _)| name);
        match name.filter(|name| SECRET.iter().any(|word| name.to_lowercase().contains(word))) {
            Some(name) => shown.extend([name, "=", REDACTED]),
            None => shown.push_str(pair),
        }
        shown.push_str(end);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (text, shown) in [
            ("https://ann:s3cret@host:4318/v1", "https://[REDACTED]@host:4318/v1"),
            ("https://s3cret@host", "https://[REDACTED]@host"),
            ("http://ann:s3/cr@t@host/v1", "http://[REDACTED]@host/v1"),
            (
                "https://host/a?region=eu&api_key=s3cret&n=1#access_token=s3cret",
                "https://host/a?region=eu&api_key=[REDACTED]&n=1#access_token=[REDACTED]",
            ),
            ("https://a:s3cret@x/,https://y?sig=s3cret", "https://[REDACTED]@x/,https://y?sig=[REDACTED]"),
            ("https://host:4318/users/@me?page=2", "https://host:4318/users/@me?page=2"),
            ("http://[::1]:4318/v1", "http://[::1]:4318/v1"),
            ("/srv/keys?token=1", "/srv/keys?token=1"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(text), shown, "{text}");
        }
    }
}
