//! `path` and `methods`

use http::Method;

use super::{
    super::scope::{PathPattern, Scope},
    diagnostics::Reported,
    field::Field,
    table::Table,
};

pub(super) fn read(table: &mut Table<'_>) -> Result<Scope, Reported> {
    let path = table.read("path", |path| {
        PathPattern::parse(path.text()?).map_err(|must| path.must(must))
    });
    let methods = table.read("methods", |methods| methods.non_empty_list(method));
    let (path, methods) = (path?, methods?);
    Ok(Scope { path, methods })
}

/// Methods are case-sensitive, and all methods that HTTP defines are in uppercase.
fn method(field: &Field<'_>) -> Result<Method, Reported> {
    let method = Method::from_bytes(field.text()?.as_bytes()).ok();
    method
        .filter(|method| !method.as_str().bytes().any(|byte| byte.is_ascii_lowercase()))
        .ok_or_else(|| field.must("be a method in capital letters, like GET"))
}
