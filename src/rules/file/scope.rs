//! `path` and `methods`

use http::Method;

use super::{
    super::{path::Path, scope::Scope},
    field::Field,
    problems::Reported,
    table::Table,
};

pub(super) fn read(table: &mut Table<'_>) -> Result<Scope, Reported> {
    let path = table.read("path", |path| Path::parse(path.text()?).map_err(|must| path.must(must)));
    let methods = table.read("methods", |methods| methods.some(method));
    let (path, methods) = (path?, methods?);
    Ok(Scope { path, methods })
}

/// Methods are told apart by their case, and none that HTTP defines has a small letter.
fn method(field: &Field<'_>) -> Result<Method, Reported> {
    let method = Method::from_bytes(field.text()?.as_bytes()).ok();
    method
        .filter(|method| !method.as_str().bytes().any(|byte| byte.is_ascii_lowercase()))
        .ok_or_else(|| field.must("be a method in capital letters, like GET"))
}
