//! Generated pages are what their generators make. `just gen` writes them anew.

use std::fs;

use waymark_tests::{error_manual, sources};

fn same(path: &str, made: &str) {
    let file = sources::root().join(path);
    if std::env::var_os("WAYMARK_WRITE_DOCS").is_some() {
        fs::write(&file, made).expect("the page can be written");
        return;
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == made, "{path} is not what its generator makes: run `just gen` and commit the page");
}

#[test]
fn the_page_of_settings_is_up_to_date() {
    same("docs/CONFIG.md", &waymark_api::settings::manual::markdown());
}

#[test]
fn the_page_of_errors_is_up_to_date() {
    same("docs/ERRORS.md", &error_manual::markdown());
}

#[test]
fn links_between_pages_lead_somewhere() {
    let root = sources::root();
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned(), "CHANGELOG.md".to_owned()];
    for entry in fs::read_dir(root.join("docs")).expect("docs") {
        pages.push(format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy()));
    }
    let mut broken = Vec::new();
    for page in pages {
        let text = fs::read_to_string(root.join(&page)).expect("a page");
        let folder = root.join(&page).parent().map(ToOwned::to_owned).unwrap_or_default();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}
