//! Sends requests through a layer, one after the other.

use tollgate::{Key, KeyError, KeyExtractor};
use tower::{BoxError, Layer, Service, ServiceExt, service_fn, util::BoxCloneService};

/// A service that accepts every request.
type Inner = BoxCloneService<&'static str, (), BoxError>;

/// How many of these requests a layer admits.
pub async fn count_admitted<L>(layer: &L, requests: impl IntoIterator<Item = &'static str>) -> usize
where
    L: Layer<Inner, Service: Service<&'static str, Response = (), Error = BoxError> + Clone>,
{
    let service = layer.layer(BoxCloneService::new(service_fn(async |_| Ok(()))));
    let mut admitted = 0;
    for request in requests {
        admitted += usize::from(service.clone().oneshot(request).await.is_ok());
    }
    admitted
}

/// The user's name, no key for "nobody", and an ambiguous one for "janus". "admin" is not counted.
#[derive(Clone, Copy)]
pub struct UserKey;

impl KeyExtractor<&'static str> for UserKey {
    fn extract(&self, request: &&'static str) -> Result<Key, KeyError> {
        match *request {
            "nobody" => Err(KeyError::missing("a name")),
            "janus" => Err(KeyError::ambiguous("the name")),
            name => Ok(Key::named("user", name)),
        }
    }

    fn extract_optional(&self, request: &&'static str) -> Result<Option<Key>, KeyError> {
        match *request {
            "admin" => Ok(None),
            _ => self.extract(request).map(Some),
        }
    }
}
