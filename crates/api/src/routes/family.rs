//! System collections served like `/items`, without the collection segment.

use actix_web::web::{self, Path, ServiceConfig};

use super::{
    get,
    list::{self, Manner},
    resource, search,
};
use crate::extract::Call;

const WITHOUT_KEYS: Manner = Manner { search_keys: false, unlimited: false };

pub fn configure(config: &mut ServiceConfig) {
    serve(config, "/users", "directus_users", WITHOUT_KEYS);
    serve(config, "/roles", "directus_roles", WITHOUT_KEYS);
    serve(config, "/flows", "directus_flows", WITHOUT_KEYS);
    serve(config, "/operations", "directus_operations", WITHOUT_KEYS);
    serve(config, "/permissions", "directus_permissions", Manner { search_keys: true, unlimited: true });
}

/// Serves all verbs of one collection. Routes of its own under the same prefix are registered before.
pub fn serve(config: &mut ServiceConfig, prefix: &'static str, name: &'static str, manner: Manner) {
    config.service(
        resource(prefix)
            .route(get().to(move |call: Call| list::list(call, name, manner)))
            .route(search().to(move |call: Call| list::search(call, name, manner)))
            .route(web::post().to(move |call: Call| list::create(call, name)))
            .route(web::patch().to(move |call: Call| list::update_many(call, name)))
            .route(web::delete().to(move |call: Call| list::delete_many(call, name))),
    );
    config.service(
        resource(&format!("{prefix}/{{key}}"))
            .route(get().to(move |call: Call, key: Path<String>| async move { list::one(call, name, &key).await }))
            .route(
                web::patch()
                    .to(move |call: Call, key: Path<String>| async move { list::update_one(call, name, &key).await }),
            )
            .route(
                web::delete()
                    .to(move |call: Call, key: Path<String>| async move { list::delete_one(call, name, &key).await }),
            ),
    );
}
