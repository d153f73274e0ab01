//! `path` and `methods`.

use super::{assert_diagnostics, limit};

#[test]
fn a_path_has_the_syntax_of_axum() {
    assert_diagnostics(PATHS, limit);
}

const PATHS: &str = r#"
path = "/"
    nothing

path = "/api/{id}/{*rest}"
    nothing

path = "/a{{b}}"
    nothing

path = ""
    7:8 limit "api": path = "": it must begin with a slash, like /api/search

path = "api"
    7:8 limit "api": path = "api": it must begin with a slash, like /api/search

path = "api/search"
    7:8 limit "api": path = "api/search": it must begin with a slash, like /api/search

path = "https://example.com/api"
    7:8 limit "api": path = "https://example.com/api": it must begin with a slash, like /api/search

path = "/users/:id"
    7:8 limit "api": path = "/users/:id": it must have its parameters in braces, like /users/{id}

path = "/files/*"
    7:8 limit "api": path = "/files/*": it must have its wildcard in braces and with a name, like /files/{*rest}

path = "/files/*rest"
    7:8 limit "api": path = "/files/*rest": it must have its wildcard in braces and with a name, like /files/{*rest}

path = "/search?q=1"
    7:8 limit "api": path = "/search?q=1": it must be a path without a query or a fragment

path = "/a#b"
    7:8 limit "api": path = "/a#b": it must be a path without a query or a fragment

path = "/users/{id"
    7:8 limit "api": path = "/users/{id": it must have a name in each pair of braces, like /users/{id}; a brace itself is written twice

path = "/users/id}"
    7:8 limit "api": path = "/users/id}": it must have a name in each pair of braces, like /users/{id}; a brace itself is written twice

path = "/users/{}"
    7:8 limit "api": path = "/users/{}": it must have a name in each pair of braces, like /users/{id}; a brace itself is written twice

path = "/files/{*}"
    7:8 limit "api": path = "/files/{*}": it must have a name in each pair of braces, like /users/{id}; a brace itself is written twice

path = "/files/{*rest}/more"
    7:8 limit "api": path = "/files/{*rest}/more": it must have its wildcard at the end, as a whole segment, like /files/{*rest}

path = "/files/a{*rest}"
    nothing

path = "/files/{a}{b}"
    7:8 limit "api": path = "/files/{a}{b}": it must have one parameter in a segment at most, and nothing after it, like /users/{id}/orders

path = "/files/{a}.png"
    7:8 limit "api": path = "/files/{a}.png": it must have one parameter in a segment at most, and nothing after it, like /users/{id}/orders

path = "/files/{a/b}"
    7:8 limit "api": path = "/files/{a/b}": it must have a name in each pair of braces, like /users/{id}; a brace itself is written twice

path = "/files/{a}/{a}"
    nothing

path = "/two words"
    7:8 limit "api": path = "/two words": it must be percent-encoded, as in requests: a space is %20, and an é is %C3%A9

path = "/größe"
    7:8 limit "api": path = "/größe": it must be percent-encoded, as in requests: a space is %20, and an é is %C3%A9

path = "/gr%C3%B6%C3%9Fe"
    nothing

path = 7
    7:8 limit "api": path = 7: it must be text in quotes

path = ["/a", "/b"]
    7:8 limit "api": path = ["/a", "/b"]: it must be text in quotes
"#;

#[test]
fn methods_are_a_list_in_capital_letters() {
    assert_diagnostics(METHODS, limit);
}

const METHODS: &str = r#"
methods = ["GET", "PURGE"]
    nothing

methods = "GET"
    7:11 limit "api": methods = "GET": it must be a list in brackets, like ["GET"]

methods = []
    7:11 limit "api": methods = []: it must have at least one value

methods = ["get"]
    7:12 limit "api": methods = "get": it must be a method in capital letters, like GET

methods = ["Get", "POST", "put"]
    7:12 limit "api": methods = "Get": it must be a method in capital letters, like GET
    7:27 limit "api": methods = "put": it must be a method in capital letters, like GET

methods = [""]
    7:12 limit "api": methods = "": it must be a method in capital letters, like GET

methods = ["GET POST"]
    7:12 limit "api": methods = "GET POST": it must be a method in capital letters, like GET

methods = [7]
    7:12 limit "api": methods = 7: it must be text in quotes

methods = true
    7:11 limit "api": methods = true: it must be a list in brackets, of texts in quotes
"#;
