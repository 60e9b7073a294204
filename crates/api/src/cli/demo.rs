//! `waymark demo`: a small blog on SQLite under `./data`. Repeating it changes nothing.

use std::{fs, io::Write, path::Path};

use rand::distr::{Alphanumeric, SampleString};

use super::{Failed, blog, bootstrap, serve, told};
use crate::settings::{Settings, Source};

const DIRECTORY: &str = "data";
const DATABASE: &str = "data/demo.db";
const KEYS: &str = "data/demo.env";

/// Bootstraps and fills the database when needed, tells what to try, and serves.
pub async fn run() -> Result<(), Failed> {
    let mut source = Source::of_process()?;
    fs::create_dir_all(DIRECTORY).map_err(|error| format!("./{DIRECTORY} can't be made: {error}"))?;
    // never another database, whatever is configured for the real server
    source.set("DB_CLIENT", "sqlite3");
    source.set("DB_CONNECTION_STRING", "");
    source.set("DB_FILENAME", DATABASE);
    for (name, value) in keys()? {
        source.set_default(&name, &value);
    }
    let settings = Settings::read(&source)?;
    crate::telemetry::start(&settings.log);
    let engine = bootstrap::open(&settings).await?;
    blog::load(&engine).await?;
    engine.db.clone().close().await.map_err(told)?;
    invite(&settings);
    serve::run(settings).await
}

/// Random keys and the admin's password, kept beside the database so that sessions survive a restart.
fn keys() -> Result<Vec<(String, String)>, Failed> {
    if !Path::new(KEYS).exists() {
        let random = |length| Alphanumeric.sample_string(&mut rand::rng(), length);
        let text = format!("KEY={}\nSECRET={}\nADMIN_PASSWORD={}\n", random(24), random(48), random(12));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options
            .open(KEYS)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| format!("{KEYS}: {error}"))?;
    }
    let text = fs::read_to_string(KEYS).map_err(|error| format!("{KEYS}: {error}"))?;
    Ok(text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

fn invite(settings: &Settings) {
    let base = format!("http://localhost:{}", settings.general.port);
    let email = &settings.security.admin_email;
    let password = settings.security.admin_password.as_ref().map(|password| password.reveal()).unwrap_or_default();
    println!(
        "
The blog is ready. Try:

curl -g '{base}/items/articles?fields=title,author.name,tags.tags_id.name'
curl -g '{base}/items/articles?filter[author][name][_eq]=Ada%20Birch&meta=filter_count'
curl -g '{base}/items/authors?fields=name,count(articles)'

As admin ({email}, {password}):

TOKEN=$(curl -s '{base}/auth/login' -H 'Content-Type: application/json' \\
  -d '{{\"email\":\"{email}\",\"password\":\"{password}\"}}' | sed 's/.*\"access_token\":\"\\([^\"]*\\)\".*/\\1/')
curl -g '{base}/items/articles?fields=*,comments.*' -H \"Authorization: Bearer $TOKEN\"
curl '{base}/items/articles' -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' \\
  -d '{{\"title\":\"Hello\",\"status\":\"published\",\"author\":{{\"name\":\"Me\"}}}}'
"
    );
}
