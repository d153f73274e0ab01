//! Requests through a layer, one after the other.

use tollgate::{Key, KeyError};
use tower::{BoxError, Layer, Service, ServiceExt, service_fn, util::BoxCloneService};

/// A service that serves everybody.
type Inner = BoxCloneService<&'static str, (), BoxError>;

/// How many of these requests a layer lets pass.
pub async fn passed<L>(layer: &L, requests: impl IntoIterator<Item = &'static str>) -> usize
where
    L: Layer<Inner, Service: Service<&'static str, Response = (), Error = BoxError> + Clone>,
{
    let service = layer.layer(BoxCloneService::new(service_fn(async |_| Ok(()))));
    let mut passed = 0;
    for request in requests {
        passed += usize::from(service.clone().oneshot(request).await.is_ok());
    }
    passed
}

/// By their names, but for an admin who is not counted, and those who have none.
pub fn name(request: &&'static str) -> Result<Option<Key>, KeyError> {
    match *request {
        "nobody" => Err(KeyError::missing("a name")),
        "admin" => Ok(None),
        name => Ok(Some(Key::named("user", name))),
    }
}
