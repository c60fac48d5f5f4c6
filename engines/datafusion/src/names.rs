//! Names: functions and parameters of PTC-Lisp as names in SQL.

/// Returns the name of a function in SQL, where names that are not quoted have letters in lower case, digits and `_`:
/// `net-price` is `net_price`, and `large?` is `large`.
pub(crate) fn sql_name(name: &str) -> String {
    let plain = name.trim_end_matches(['?', '!']).to_lowercase();
    let mut text: String = plain.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        text.insert(0, '_');
    }
    text
}

/// Returns the namespace of a file that declares none: the name of the file.
pub(crate) fn namespace_of(origin: &str) -> String {
    let file = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
    let stem = file.split('.').next().unwrap_or(file).to_lowercase();
    let text: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let text = text.trim_matches('-');
    match text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => text.to_string(),
        false => format!("f-{text}").trim_end_matches('-').to_string(),
    }
}

/// Returns names of parameters for messages and records: destructured ones, and those that a record could not have, are
/// called after their place. A name that begins with `_` would hide its value.
pub(crate) fn parameters(params: &[String]) -> Vec<String> {
    let is_plain = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let mut names: Vec<String> = Vec::with_capacity(params.len());
    for (at, param) in params.iter().enumerate() {
        let name = match is_plain(param) && !names.contains(param) {
            true => param.clone(),
            false => format!("arg{}", at + 1),
        };
        // `arg1` may be the name of another parameter.
        let name = if names.contains(&name) { format!("{name}-{}", at + 1) } else { name };
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{namespace_of, parameters, sql_name};

    #[test]
    fn names_are_those_that_sql_finds_without_quotes() {
        let names = ["fee", "net-price", "large?", "store!", "a->b", "netPrice", "2x", "æ"].map(sql_name);
        assert_eq!(names, ["fee", "net_price", "large", "store", "a__b", "netprice", "_2x", "æ"]);
    }

    #[test]
    fn files_name_their_namespaces() {
        let names = ["a/fee.clj", "by_country.clj", "2024 rates.clj", "C:\\x\\Fee.CLJ", ""].map(namespace_of);
        assert_eq!(names, ["fee", "by-country", "f-2024-rates", "fee", "f"]);
    }

    #[test]
    fn parameters_are_names_of_columns() {
        let names =
            |params: &[&str]| parameters(&params.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(
            names(&["price", "_", "{:keys [a]}", "price", "_x"]),
            ["price", "arg2", "arg3", "arg4", "arg5"]
        );
        assert_eq!(names(&["arg2", "_"]), ["arg2", "arg2-2"]);
    }
}
